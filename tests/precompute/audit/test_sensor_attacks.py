import builtins

import numpy as np
import pytest

from precompute.audit.sensor_attacks import (
    balanced_accuracy,
    best_attack,
    drawn,
    memoised,
    one_hot,
    windowed,
)
from precompute.errors import PrecomputeError

FLIP = (np.array([[0.7, 0.3], [0.3, 0.7]]),)


def test_balanced_accuracy_by_hand() -> None:
    truth, guess = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    assert balanced_accuracy(truth, guess) == pytest.approx((2 / 3 + 1) / 2)
    assert balanced_accuracy(truth, np.zeros(4, dtype=int)) == 0.5


def test_what_is_told_is_found_and_what_is_not_told_is_not() -> None:
    random = np.random.default_rng(0)
    truth, later = random.integers(2, size=800), random.integers(2, size=400)
    choosing = np.arange(800) % 4 == 0
    told = best_attack(one_hot([truth], [2]), truth, choosing, one_hot([later], [2]), later)
    assert told.accuracy == told.balanced == 1.0
    noise = random.normal(size=(1200, 2))
    blind = best_attack(noise[:800], truth, choosing, noise[800:], later)
    assert abs(blind.balanced - 0.5) < 0.1
    assert 0.4 < blind.majority < 0.6


def test_symbols_are_drawn_with_the_probabilities_of_their_cells() -> None:
    cells = np.repeat([0, 1], 20_000)
    symbols = drawn(FLIP, [cells], np.random.default_rng(1))[0]
    # Five standard deviations of a share of 20,000 draws.
    assert abs(symbols[cells == 0].mean() - 0.3) < 0.017
    assert abs(symbols[cells == 1].mean() - 0.7) < 0.017


def test_memoised_symbols_stay_for_a_cell_and_period_and_are_fresh_in_the_next() -> None:
    cells, period = np.tile([0, 1], 3000), np.repeat(np.arange(300), 20)
    symbols = memoised(FLIP, [cells], period, np.random.default_rng(2))[0]
    first = symbols[cells == 0].reshape(300, 10)
    assert np.all(first == first[:, :1])
    assert 0.15 < first[:, 0].mean() < 0.45


def test_windows_are_means_that_do_not_reach_across_gaps() -> None:
    released = np.array([[0.0], [1.0], [1.0], [0.0], [1.0]])
    found = windowed(released, np.array([0, 0, 0, 1, 1]), (1, 2, 9))
    np.testing.assert_allclose(found[:, 0], released[:, 0])
    np.testing.assert_allclose(found[:, 1], [0, 0.5, 1, 0, 0.5])
    np.testing.assert_allclose(found[:, 2], [0, 0.5, 2 / 3, 0, 0.5])


def test_fresh_symbols_average_away_and_memoised_ones_do_not() -> None:
    random = np.random.default_rng(3)
    truth = np.repeat(random.integers(2, size=60), 50)  # stretches of one value
    stretch = np.repeat(np.arange(60), 50)
    late = np.arange(3000) % 50 >= 30
    learn, test = late & (stretch < 40), late & (stretch >= 40)

    def score(symbols: np.ndarray) -> float:
        seen = windowed(one_hot([symbols], [2]), stretch, (30,))
        choosing = (stretch[learn] % 4) == 0
        return best_attack(seen[learn], truth[learn], choosing, seen[test], truth[test]).balanced

    assert score(drawn(FLIP, [truth], random)[0]) > 0.95
    assert score(memoised(FLIP, [truth], stretch, random)[0]) < 0.9


def test_a_single_value_to_learn_from_is_refused() -> None:
    with pytest.raises(PrecomputeError, match="single value"):
        best_attack(
            np.zeros((4, 1)),
            np.array([0, 0, 0, 1]),
            np.array([0, 0, 1, 1]),
            np.zeros((1, 1)),
            np.array([0]),
        )


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name, *rest, **named):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    truth = np.array([0, 1, 0, 1])
    with pytest.raises(PrecomputeError, match=r"sfumato\[audit\]"):
        best_attack(np.zeros((4, 1)), truth, np.array([0, 0, 1, 1]), np.zeros((1, 1)), truth[:1])
