"""The range that ships for a column of readings: round numbers a little beyond the extremes.

A bundle goes to every device, and the least and the largest reading of a log are readings. What
ships instead are multiples of a step, strictly outside: the next below the least reading and the
next above the largest. The step is 1, 2 or 5 times a power of ten, the first that is at least

- a tenth of the range's width, so that a bound tells one digit of it or less; and
- twice the smallest distance between two different readings, so that a sensor of few levels does
  not give the extremes away by its resolution.

A column that never changes has the width of its value (or 1).
"""

import math
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np

from precompute.mapping.joint import FloatArray

STEPS_IN_A_WIDTH = 10
LEAST_LEVELS_IN_A_STEP = 2
# Exact for every float64 and the sums of two: their digits reach from 10^308 to 10^-1074.
_EXACT = Context(prec=1500)
_LEAST_STEP = Decimal("1e-300")


def outward_range(values: FloatArray) -> tuple[float, float]:
    """(low, high) of one column, with every reading strictly between.

    Args:
        values: (n,) finite readings, at least one.
    """
    levels = np.unique(values)
    least, largest = _as_written(levels[0]), _as_written(levels[-1])
    if levels.size == 1:
        wanted = _EXACT.divide(abs(least) or Decimal(1), Decimal(STEPS_IN_A_WIDTH))
    else:
        near = int(np.argmin(np.diff(levels / 2)))  # halves: their differences cannot overflow
        nearest = _EXACT.subtract(_as_written(levels[near + 1]), _as_written(levels[near]))
        width = _EXACT.subtract(largest, least)
        wanted = max(
            _EXACT.divide(width, Decimal(STEPS_IN_A_WIDTH)),
            _EXACT.multiply(nearest, Decimal(LEAST_LEVELS_IN_A_STEP)),
        )
    step = _round_step(max(wanted, _LEAST_STEP))
    below = _EXACT.divide(least, step).to_integral_value(ROUND_CEILING, _EXACT) - 1
    above = _EXACT.divide(largest, step).to_integral_value(ROUND_FLOOR, _EXACT) + 1
    most = sys.float_info.max  # where rounding outward leaves float64, its ends are the range
    low = max(_to_float(_EXACT.multiply(below, step)), -most)
    high = min(_to_float(_EXACT.multiply(above, step)), most)
    # A multiple just beside a huge reading may round to that reading.
    low = min(low, math.nextafter(float(least), -most))
    high = max(high, math.nextafter(float(largest), most))
    return low, high


def _as_written(value: float) -> Decimal:
    """The shortest decimal that float64 takes for this: 0.3 is three tenths, as in the log."""
    return Decimal(repr(float(value)))


def _round_step(wanted: Decimal) -> Decimal:
    """The first of 1, 2, 5, 10 times a power of ten that is at least ``wanted``, above zero."""
    unit = Decimal(1).scaleb(wanted.adjusted(), _EXACT)
    return next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= wanted)


def _to_float(exact: Decimal) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)
