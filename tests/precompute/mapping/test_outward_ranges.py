"""Ranges that ship: round numbers outside the readings."""

import math
from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from precompute.mapping.outward_ranges import outward_range


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 3.7, 441.1], (-50.0, 450.0)),  # a tenth of the width is 44.11: steps of 50
        ([412.25, 500.0, 1180.0], (400.0, 1200.0)),  # 76.8: steps of 100
        (
            [400.0, 500.5, 501.0, 1200.0],
            (300.0, 1300.0),
        ),  # an extreme on a step moves by a whole one
        ([20.0, 20.1, 21.5], (19.8, 21.6)),  # 0.15, and twice 0.1: steps of 0.2
        ([0.0, 1.0], (-2.0, 2.0)),  # two levels, 1 apart: steps of 2
        ([0.0, 1.0, 2.0, 3.0, 4.0], (-2.0, 6.0)),
        ([21.3, 21.3], (20.0, 25.0)),  # no width: a tenth of 21.3, so steps of 5
        ([0.0], (-0.1, 0.1)),
        ([-0.0123, 0.0, 0.0001, 0.0077], (-0.014, 0.008)),
    ],
    ids=range(9),
)
def test_worked_ranges(values, expected):
    assert outward_range(np.array(values)) == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=1))
def test_every_reading_lies_strictly_between(values):
    low, high = outward_range(np.array(values))
    assert math.isfinite(low)
    assert math.isfinite(high)
    inside = [value for value in values if abs(value) < 1.7e308]
    assert all(low < value < high for value in inside)
    assert all(low <= value <= high for value in values)


@given(
    st.lists(st.integers(-1000, 1000), min_size=2, unique=True),
    st.sampled_from((Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(64))),
)
def test_bounds_are_the_next_multiples_of_a_step_that_holds_two_levels_and_a_tenth_of_the_width(
    levels, unit
):
    levels = sorted(levels)
    low, high = outward_range(np.array([float(level * unit) for level in levels]))
    nearest = min(after - before for before, after in pairwise(levels)) * unit
    wanted = max(2 * nearest, (levels[-1] - levels[0]) * unit / 10)
    tens = (Fraction(10) ** power for power in range(-9, 9))
    step = next(ten * digit for ten in tens for digit in (1, 2, 5) if ten * digit >= wanted)
    places = range(-(10**5), 10**5)
    least, largest = levels[0] * unit, levels[-1] * unit
    below = places[bisect_left(places, least, key=lambda place: place * step) - 1] * step
    above = places[bisect_right(places, largest, key=lambda place: place * step)] * step
    assert (low, high) == (float(below), float(above))
