"""Maps on the grid of 2^-32, so that a device draws each symbol exactly by one 32-bit number.

Rounding must not raise the largest ratio p(z|x)/p(z|x') above exp(limit). Every symbol's column
gets integer bounds [low, floor(low exp(limit))], and each row is rounded within them to the sum
2^32: rounded down, what is left goes where most was cut off and the bound leaves room.

Slack: the least entry of a column is rounded down by less than a grid step, which lowers what its
largest may be by less than exp(limit) steps; a row passes on what its |Z| columns lose, so that
probabilities move by less than |Z| (exp(limit) + 2) 2^-32. Where a row cannot reach 2^32 within
the bounds the map is first mixed with the mean row by 2^-30, 2^-29, … until it can; each such
doubling moves probabilities by as much.
"""

import math
from fractions import Fraction

import numpy as np

from agent.formats.mapping_design import WHOLE, WeightTable
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray


def to_weights(one: FloatArray, local_limit: float) -> WeightTable:
    """Rows of integers that sum to 2^32 and whose ratios never exceed exp(local_limit).

    Args:
        one: (|X|, |Z|) stochastic.
        local_limit: epsilon_LD in nats; inf rounds to the nearest, keeping zeros.

    Raises:
        MappingError: the map itself exceeds the limit by more than rounding could mend.
    """
    one = np.asarray(one, dtype=np.float64)
    if math.isinf(local_limit):
        nothing, everything = [0] * one.shape[1], [WHOLE] * one.shape[1]
        rows = [_rounded(row, nothing, everything) for row in one]
        assert all(row is not None for row in rows)
        return tuple(tuple(row) for row in rows if row is not None)
    # The limit as a fraction that is surely not above exp(limit).
    ratio = Fraction(math.exp(local_limit) * (1.0 - 1e-15)) if local_limit > 0 else Fraction(1)
    mean = np.where(one.max(axis=0) > 0, one.mean(axis=0), 0.0)
    share = 0.0
    while share < 1e-6:
        mixed = (1.0 - share) * one + share * mean
        found = _bounded(mixed, ratio)
        if found is not None:
            return found
        share = max(2.0**-30, 2.0 * share)
    raise MappingError(
        "weights: the map's ratios exceed its local budget by more than the grid of 2^-32 can "
        f"mend; the limit is {local_limit:g}"
    )


def from_weights(table: WeightTable) -> FloatArray:
    """(|X|, |Z|) the probabilities that a table of weights stands for."""
    return np.asarray(table, dtype=np.float64) / WHOLE


def _bounded(one: FloatArray, ratio: Fraction) -> WeightTable | None:
    """The map rounded within bounds that keep the ratio; None where a row finds no place."""
    lows, highs = [], []
    for column in one.T:
        low = math.floor(Fraction(float(column.min())) * WHOLE)
        if low == 0 and float(column.max()) * WHOLE >= 1:
            low = 1
        lows.append(low)
        highs.append(math.floor(low * ratio))
    rows = [_rounded(row, lows, highs) for row in one]
    if any(row is None for row in rows):
        return None
    return tuple(tuple(row) for row in rows if row is not None)


def _rounded(row: FloatArray, lows: list[int], highs: list[int]) -> list[int] | None:
    """Integers within bounds that sum to 2^32, near the row; None where there are none."""
    wanted = [float(chance) * WHOLE for chance in row]
    weights = [
        min(max(math.floor(value), low), high)
        for value, low, high in zip(wanted, lows, highs, strict=True)
    ]
    missing = WHOLE - sum(weights)
    # First where rounding cut off most; zeros of a map without limit stay zeros.
    step = 1 if missing > 0 else -1
    order = sorted(
        (place for place in range(len(weights)) if wanted[place] > 0),
        key=lambda place: (-step * (wanted[place] - weights[place]), place),
    )
    for limited in (True, False):
        for place in order:
            bound = highs[place] if step > 0 else lows[place]
            room = max(0, step * (bound - weights[place]))
            taken = min(room, 1 if limited else room, abs(missing))
            weights[place] += step * taken
            missing -= step * taken
    return weights if missing == 0 else None
