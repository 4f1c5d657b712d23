"""Long logs cut at gaps and into windows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from precompute.priors.windows import Record, cut_windows, split_at_gaps, spread, thin


def log(times) -> Record:
    times = np.asarray(times, dtype=np.float64)
    return Record("walk", times, (times * 2, times * 3))


@pytest.mark.parametrize(
    ("times", "gap", "lengths"),
    [
        ([0, 5, 10, 400, 405], None, [3, 2]),  # 390 s is over 5 min
        ([0, 5, 10, 300, 305], None, [5]),  # 290 s is not
        ([0, 60, 120, 700, 760], None, [5]),  # nor is anything under 10 median steps
        ([0, 60, 120, 800, 860], None, [3, 2]),
        ([0, 5, 10, 31, 36], 20.0, [3, 2]),
        ([7], None, [1]),
    ],
)
def test_a_log_is_cut_where_it_pauses(times, gap, lengths) -> None:
    pieces = split_at_gaps(log(times), gap)
    assert [len(piece) for piece in pieces] == lengths
    np.testing.assert_array_equal(np.concatenate([p.times_seconds for p in pieces]), times)
    np.testing.assert_array_equal(np.concatenate([p.axes[1] for p in pieces]), np.array(times) * 3)


def test_a_rest_is_a_window_if_it_is_long_enough() -> None:
    pieces = [log(range(25)), log(range(3))]
    assert [len(w) for w in cut_windows(pieces, points=10, least=5)] == [10, 10, 5]
    assert [len(w) for w in cut_windows(pieces, points=10, least=6)] == [10, 10]


@given(st.integers(1, 300), st.integers(1, 40))
def test_windows_are_spread_evenly_and_in_order(many, most) -> None:
    windows = [log([k]) for k in range(many)]
    starts = [int(w.times_seconds[0]) for w in spread(windows, most)]
    assert len(starts) == min(many, most)
    assert starts == sorted(set(starts))
    gaps = np.diff([-1, *starts, many])
    assert gaps.max() <= max(2, 2 * many / min(many, most))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 100))
def test_thinning_keeps_the_first_point_of_every_slot(steps, every) -> None:
    times = np.cumsum(steps).astype(float)
    kept = thin(log(times), every).times_seconds
    slots = [(t - times[0]) // every for t in times]
    expected = [t for i, t in enumerate(times) if slots[i] not in slots[:i]]
    np.testing.assert_array_equal(kept, expected)


def test_a_record_does_not_show_its_values() -> None:
    assert repr(log([123.0, 456.0])) == "Record('walk', 2 points)"
