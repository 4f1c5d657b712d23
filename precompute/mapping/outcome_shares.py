"""How near each block of rows comes to an outcome's largest probability, few outcomes at a time.

A product of maps says z about a row x with f_z(x) within [m_z, M_z]; the row's share of z is
u_z = (f_z - m_z)/(M_z - m_z). All shares of a long log do not fit into memory (a million rows and
4096 outcomes are 32 GB), and nobody needs them at once: outcomes are taken in groups, and rows in
pieces of whole blocks, so that no array has more than ``MOST_ENTRIES``, or as many as the log has
rows if that is more.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from precompute.mapping.joint import FloatArray, IntArray, Maps
from precompute.mapping.learning import Rows

MOST_ENTRIES = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeShares:
    """Shares of the rows of a log, averaged over blocks.

    Attributes:
        maps: (|X_t|, |Z_t|) for each node.
        rows: of the log.
        blocks: (n,) number of each row's block, ascending from 0 without gaps.
        ratio: (outcomes,) r_z = M_z/m_z - 1, inf where m_z is 0; only of those that vary.
    """

    maps: Maps
    rows: Rows
    blocks: IntArray
    ratio: FloatArray = field(init=False)
    _low: FloatArray = field(init=False)
    _width: FloatArray = field(init=False)
    _varies: np.ndarray[tuple[int], np.dtype[np.bool_]] = field(init=False)
    _sizes: IntArray = field(init=False)

    def __post_init__(self) -> None:
        low, high = np.ones(1), np.ones(1)
        for one in self.maps:
            low = np.outer(low, one.min(axis=0)).ravel()
            high = np.outer(high, one.max(axis=0)).ravel()
        varies = high > low * (1 + 1e-12)  # others vary by rounding only
        with np.errstate(divide="ignore"):
            ratio = high[varies] / low[varies] - 1
        object.__setattr__(self, "ratio", ratio)
        object.__setattr__(self, "_low", low)
        object.__setattr__(self, "_width", high - low)
        object.__setattr__(self, "_varies", varies)
        object.__setattr__(self, "_sizes", np.bincount(self.blocks))

    def groups(self) -> Iterator[tuple[tuple[int, ...], slice]]:
        """What the first nodes say, and the group's part of ``ratio``; last nodes say anything."""
        heads = self._heads()
        width = math.prod(one.shape[1] for one in self.maps[heads:])
        first = 0
        for number, said in enumerate(np.ndindex(*(one.shape[1] for one in self.maps[:heads]))):
            count = int(self._varies[number * width : (number + 1) * width].sum())
            if count:
                yield said, slice(first, first + count)
            first += count

    def averages(self, said: tuple[int, ...], value: int) -> tuple[FloatArray, FloatArray]:
        """(outcomes, B) of a group: block averages of u where G is ``value``, and where not."""
        width = math.prod(one.shape[1] for one in self.maps[len(said) :])
        number = 0
        for one, symbol in zip(self.maps, said, strict=False):
            number = number * one.shape[1] + symbol
        part = slice(number * width, (number + 1) * width)
        varies = self._varies[part]
        low, spread = self._low[part][varies], self._width[part][varies]
        here = np.empty((self._sizes.size, low.size))
        elsewhere = np.empty_like(here)
        for blocks, rows in self._pieces(width):
            f = np.ones((rows.stop - rows.start, 1))
            for one, cells, symbol in zip(self.maps, self.rows.cells, said, strict=False):
                f *= one[cells[rows], symbol][:, None]
            for one, cells in zip(
                self.maps[len(said) :], self.rows.cells[len(said) :], strict=True
            ):
                f = (f[:, :, None] * one[cells[rows]][:, None, :]).reshape(f.shape[0], -1)
            share = np.clip((f[:, varies] - low) / spread, 0.0, 1.0)
            inside = (self.rows.private[rows] == value).astype(np.float64)[:, None]
            here[blocks] = self._average(inside * share, blocks)
            elsewhere[blocks] = self._average((1 - inside) * share, blocks)
        return here.T, elsewhere.T

    def frequencies(self, value: int) -> FloatArray:
        """(B,) how often G is ``value`` in each block."""
        inside = (self.rows.private == value).astype(np.float64)[:, None]
        return self._average(inside, slice(0, self._sizes.size))[:, 0]

    def _average(self, values: FloatArray, blocks: slice) -> FloatArray:
        sizes = self._sizes[blocks]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return np.asarray(np.add.reduceat(values, starts, axis=0) / sizes[:, None])

    def _heads(self) -> int:
        """So many nodes are held, that the others' symbols times blocks are few enough."""
        longest = max(self._sizes.size, int(self._sizes.max()))
        width, heads = 1, len(self.maps)
        while heads and width * self.maps[heads - 1].shape[1] * longest <= MOST_ENTRIES:
            heads -= 1
            width *= self.maps[heads].shape[1]
        return heads

    def _pieces(self, width: int) -> Iterator[tuple[slice, slice]]:
        """Blocks, and their rows, that are few enough; at least one block."""
        ends = np.cumsum(self._sizes)
        most = max(1, MOST_ENTRIES // width)
        block, row = 0, 0
        while block < self._sizes.size:
            after = max(block + 1, int(np.searchsorted(ends, row + most, side="right")))
            yield slice(block, after), slice(row, int(ends[after - 1]))
            block, row = after, int(ends[after - 1])
