import math

import numpy as np
import pytest

from precompute.audit.attack_bound import expected_release_error, least_attacker_error
from precompute.audit.grids import continuous_pieces, coverage, cut_windows, onto_grid
from precompute.audit.paths import path_length, path_length_ratio
from precompute.audit.summaries import summarise


def test_a_silence_ends_a_piece():
    assert continuous_pieces(np.array([0.0, 1.0, 50.0]), 10.0) == [slice(0, 2), slice(2, 3)]


def test_between_fixes_the_grid_is_straight():
    times = np.array([10.0, 70.0])
    points = np.array([[0.0, 0.0], [60.0, 120.0]])
    (trace,) = onto_grid(times, points, 30.0, 100.0)
    np.testing.assert_allclose(trace.times_seconds, [30.0, 60.0])
    np.testing.assert_allclose(trace.points, [[20.0, 40.0], [50.0, 100.0]])


def test_pieces_shorter_than_two_steps_are_left_out():
    assert onto_grid(np.array([1.0, 2.0]), np.zeros((2, 2)), 30.0, 100.0) == []
    assert onto_grid(np.array([1.0]), np.zeros((1, 2)), 30.0, 100.0) == []


def test_windows_lie_side_by_side():
    (trace,) = onto_grid(np.array([0.0, 300.0]), np.zeros((2, 2)), 30.0, 1000.0)
    assert [w.times_seconds[0] for w in cut_windows(trace, 4)] == [0.0, 120.0]


def test_coverage_counts_grid_times_with_a_fix_nearby():
    grid = np.array([0.0, 30.0, 60.0, 90.0])
    assert coverage(np.array([5.0, 58.0]), grid, 10.0) == 0.5


def test_path_ratio_by_hand():
    raw = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    assert path_length(raw) == pytest.approx(5.0)
    assert path_length_ratio(2.0 * raw, raw) == pytest.approx(2.0)
    assert math.isnan(float(path_length_ratio(raw, np.zeros((3, 2)))))


def test_bound_by_hand():
    # K = 1/100² and a flat prior: √(π/2)·100 m; a prior of 100 m halves the variance.
    assert least_attacker_error(1e-4) == pytest.approx(125.33, abs=0.01)
    assert least_attacker_error(1e-4, 100.0) == pytest.approx(125.33 / math.sqrt(2), abs=0.01)
    assert expected_release_error(200.0) == pytest.approx(250.66, abs=0.01)


def test_mean_distance_constant_against_drawn_points():
    rng = np.random.default_rng(1)
    drawn = np.mean(np.hypot(*rng.normal(size=(2, 400_000))))
    assert expected_release_error(1.0) == pytest.approx(drawn, rel=5e-3)


def test_summary_by_hand_and_without_the_missing():
    summary = summarise(np.array([1.0, 2.0, 3.0, np.nan]))
    assert (summary.mean, summary.median, summary.count) == (2.0, 2.0, 3)
    assert 1.0 <= summary.low <= summary.mean <= summary.high <= 3.0
    with pytest.raises(ValueError, match="no window"):
        summarise(np.array([np.nan]))
