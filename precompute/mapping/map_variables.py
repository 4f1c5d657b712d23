"""The variables by which linear programs write a map, local differential privacy built in.

With m_y the least of p(y|.) and w = 1 - exp(-limit),

    p(y|x) = m_y + w q(y|x),    exp(-limit) q(y|x) <= m_y,    q >= 0,    sum_y p(y|x) = 1

says m_y <= p(y|x) <= exp(limit) m_y; q is of order 1 whatever the limit. Two symbols need the
second one's q alone, and its largest, d:

    q(x) <= d,    exp(-limit) d <= m,    d <= 1 - m.

A map is an affine function of the variables v: ``base + spread @ v``, x slowest.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from precompute.mapping.joint import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class MapVariables:
    """Maps of one shape, with or without a limit on their ratios.

    Attributes:
        shape: (|X|, |Y|).
        limit: epsilon_LD to solve with; inf for none.
        base: (|X| |Y|,).
        spread: (|X| |Y|, N).
        rows: (R, N) low <= rows @ v <= high; v itself is between 0 and 1.
        low: (R,).
        high: (R,).
    """

    shape: tuple[int, int]
    limit: float
    base: FloatArray
    spread: FloatArray
    rows: FloatArray
    low: FloatArray
    high: FloatArray

    def map(self, v: FloatArray) -> FloatArray:
        """(|X|, |Y|) the map of some variables."""
        return np.asarray((self.base + self.spread @ v).reshape(self.shape))

    def of(self, one: FloatArray) -> FloatArray:
        """(N,) the variables of a map."""
        if math.isinf(self.limit):
            return np.array(one[:, 1]) if self.shape[1] == 2 else one.ravel()
        width = -math.expm1(-self.limit)
        least = one.min(axis=0)
        q = (one - least) / width
        if self.shape[1] == 2:
            return np.concatenate([q[:, 1], [least[1], q[:, 1].max()]])
        return np.concatenate([q.ravel(), least])

    def held(self, one: FloatArray) -> FloatArray:
        """(R,) ``high``, but where the map is a hair's breadth above it, as repairs leave it."""
        return np.where(
            self.low == self.high, self.high, np.maximum(self.high, self.rows @ self.of(one))
        )

    def written(self, left: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows over v, and constants to add to them, of rows (R, |X| |Y|) over the map."""
        return left @ self.spread, left @ self.base


@lru_cache(maxsize=256)
def map_variables(cells: int, symbols: int, limit: float) -> MapVariables:
    """The variables of maps (cells, symbols) with ratios of at most exp(limit)."""
    free = math.isinf(limit)
    if symbols == 2:
        base, spread, rows, high = _binary(cells, limit)
        low = np.full(high.size, -np.inf)
    else:
        size = cells * symbols
        base = np.zeros(size)
        least = np.tile(np.eye(symbols), (cells, 1))
        width = 1.0 if free else -math.expm1(-limit)
        spread = width * np.eye(size)
        if not free:
            spread = np.hstack([spread, least])
        sums = np.repeat(np.eye(cells), symbols, axis=1) @ spread
        below = (
            np.zeros((0, size)) if free else np.hstack([math.exp(-limit) * np.eye(size), -least])
        )
        rows = np.vstack([sums, below])
        high = np.concatenate([np.ones(cells), np.zeros(len(below))])
        low = np.concatenate([np.ones(cells), np.full(len(below), -np.inf)])
    for array in (base, spread, rows, low, high):
        array.setflags(write=False)
    return MapVariables((cells, symbols), limit, base, spread, rows, low, high)


def _binary(cells: int, limit: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """base, spread, rows and high of two symbols."""
    free = math.isinf(limit)
    second = np.eye(cells)
    if not free:
        flat, none = np.ones((cells, 1)), np.zeros((cells, 1))
        second = np.hstack([-math.expm1(-limit) * second, flat, none])
    spread = np.empty((2 * cells, second.shape[1]))
    spread[0::2], spread[1::2] = -second, second
    base = np.tile([1.0, 0.0], cells)
    if free:
        return base, spread, np.zeros((0, cells)), np.zeros(0)
    rows = np.zeros((cells + 2, cells + 2))
    rows[:cells, :cells] = np.eye(cells)
    rows[:cells, cells + 1] = -1.0
    rows[cells, cells:] = -1.0, math.exp(-limit)
    rows[cells + 1, cells:] = 1.0, 1.0
    return base, spread, rows, np.concatenate([np.zeros(cells + 1), [1.0]])
