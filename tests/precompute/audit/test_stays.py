import math

import numpy as np
import pytest

from precompute.audit.stays import attack_stay, find_stays, group_by_place

MINUTE = 60.0


def day():
    """(times, points): 8 h home, half an hour to the office, 8 h there, back, 7 h home."""
    rng = np.random.default_rng(3)
    home, office = np.array([0.0, 0.0]), np.array([5000.0, 2000.0])
    way = np.linspace(0.0, 1.0, 32)[1:-1, None]
    points = np.vstack(
        [
            np.repeat(home[None], 480, axis=0),
            home + way * (office - home),
            np.repeat(office[None], 480, axis=0),
            office + way * (home - office),
            np.repeat(home[None], 420, axis=0),
        ]
    )
    return np.arange(points.shape[0]) * MINUTE, points + rng.normal(0.0, 6.0, points.shape)


def test_nights_and_office_hours_are_found():
    times, points = day()
    stays = find_stays(times, points)
    assert [round((times[s.stop - 1] - times[s.start]) / 3600) for s in stays] == [8, 8, 7]
    assert abs(stays[0].stop - 480) <= 3


def test_a_jump_of_the_receiver_does_not_end_a_stay():
    times, points = day()
    points[100:102] += 900.0
    assert len(find_stays(times, points)) == 3


def test_a_journey_has_no_stay():
    times = np.arange(1000) * MINUTE
    points = np.column_stack([times * 5.0, times * 0.0])
    assert find_stays(times, points) == []
    assert find_stays(times[:1], points[:1]) == []


def test_stays_at_one_place_belong_together():
    times, points = day()
    groups = group_by_place(points, find_stays(times, points), radius=200.0)
    assert [len(group) for group in groups] == [2, 1]


def test_mean_place_by_hand():
    # Γ = diag(1, 4): the weighted mean leans 4:1 to the first; precision 1 + 1/4.
    times, truth = np.array([0.0, 60.0]), np.zeros((2, 2))
    released = np.array([[0.0, 0.0], [10.0, 0.0]])
    found = attack_stay(times, truth, released, lambda t: np.diag([1.0, 4.0]))
    assert found.plain_mean == pytest.approx(5.0)
    assert found.weighted_mean == pytest.approx(2.0)
    assert found.expected_weighted == pytest.approx(math.sqrt(math.pi / 2) / math.sqrt(1.25))


def test_averaging_finds_a_place_behind_independent_noise_only():
    times, truth = np.arange(480) * MINUTE, np.zeros((480, 2))
    rng = np.random.default_rng(8)
    independent = attack_stay(
        times, truth, 200.0 * rng.normal(size=(480, 2)), lambda t: 4e4 * np.eye(t.size)
    )
    assert independent.expected_weighted == pytest.approx(
        math.sqrt(math.pi / 2) * 200 / math.sqrt(480)
    )
    assert independent.weighted_mean < 40.0

    def slow(t):
        return 4e4 * np.exp(-np.abs(t[:, None] - t) / 86400.0)

    times, truth, errors = times[::4], truth[::4], []
    factor = np.linalg.cholesky(slow(times))
    for _ in range(60):
        noise = factor @ rng.normal(size=(120, 2))
        errors.append(attack_stay(times, truth, noise, slow).weighted_mean)
    predicted = attack_stay(times, truth, truth, slow).expected_weighted
    assert predicted > 180.0
    assert np.mean(errors) == pytest.approx(predicted, rel=0.25)


def test_a_long_stay_is_thinned_not_refused():
    times = np.arange(6000) * MINUTE
    truth = np.zeros((6000, 2))

    def slow(t):
        assert t.size <= 1500
        return np.exp(-np.abs(t[:, None] - t) / 1e4)

    assert attack_stay(times, truth, truth, slow).hours == pytest.approx(100.0, rel=1e-3)
