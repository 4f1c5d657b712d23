"""How a node's reading becomes one of few cells: cuts on a line, nearest centres, or a tree.

A quantiser is public: it is part of the design. A reading has one number for each column of its
node. Every reading has a cell; whether it lies outside the range that the design was made from is
asked apart (:class:`agent.formats.mapping_design.Node`), because such readings go to an end cell
and are counted.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agent.formats.errors import FormatError

MAX_CELLS = 256
MAX_COLUMNS = 64
# In scales from the first centre; halves of squares of centres stay finite below 1e154.
_FAR = 1e100


@dataclass(frozen=True, slots=True)
class Cuts:
    """One column: cell k holds cuts[k-1] <= value < cuts[k]; cuts ascend strictly."""

    cuts: tuple[float, ...]

    def __post_init__(self) -> None:
        _require_finite("cuts", self.cuts)
        for number, (before, after) in enumerate(zip(self.cuts, self.cuts[1:], strict=False), 2):
            if after <= before:
                raise FormatError(
                    f"quantiser: the cuts do not ascend: cut {number} is not above the one before "
                    "it; expected each above the last; sort them"
                )
        _require_cells(self.cells)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.cuts) + 1

    @property
    def columns(self) -> int:
        """Numbers in a reading."""
        return 1

    def cell(self, values: tuple[float, ...]) -> int:
        """The cell of a reading; values are finite and ``columns`` in number."""
        return bisect_right(self.cuts, values[0])


@dataclass(frozen=True, slots=True)
class Centres:
    """The nearest centre, columns weighed by 1/scale; the first of equals (k-means cells).

    With v and c_k scaled and taken from the first centre, |v - c_k|^2 is least where
    v . c_k - |c_k|^2 / 2 is largest: sums of products, with what does not depend on v made once.
    """

    centres: tuple[tuple[float, ...], ...]
    scales: tuple[float, ...]
    _columns: tuple[tuple[float, float, tuple[float, ...]], ...] = field(
        init=False, repr=False, compare=False
    )
    _halves: tuple[float, ...] = field(init=False, repr=False, compare=False)
    _pairs: tuple[tuple[float, float, float], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _require_finite("scales", self.scales)
        if not 1 <= len(self.scales) <= MAX_COLUMNS or min(self.scales) <= 0:
            raise FormatError(f"quantiser: expected 1 to {MAX_COLUMNS} scales above zero")
        for centre in self.centres:
            _require_finite("centres", centre)
            if len(centre) != len(self.scales):
                raise FormatError("quantiser: a centre has another number of columns")
        _require_cells(self.cells)
        first = self.centres[0]
        scaled = [
            tuple((c - f) / s for c, f, s in zip(centre, first, self.scales, strict=True))
            for centre in self.centres
        ]
        halves = tuple(-sum(c * c for c in centre) / 2 for centre in scaled)
        _require_finite("centres, in units of the scales,", halves)
        columns = zip(first, self.scales, zip(*scaled, strict=True), strict=True)
        object.__setattr__(self, "_columns", tuple(columns))
        object.__setattr__(self, "_halves", halves)
        pairs = [(half, *one) for half, one in zip(halves, scaled, strict=True)]
        object.__setattr__(self, "_pairs", tuple(pairs) if len(self.scales) == 2 else ())

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.centres)

    @property
    def columns(self) -> int:
        """Numbers in a reading."""
        return len(self.scales)

    def cell(self, values: tuple[float, ...]) -> int:
        """The cell of a reading; values are finite and ``columns`` in number."""
        # Bounded, so that no product of a far value overflows and leaves nothing to compare.
        apart = [
            min(max((value - first) / scale, -_FAR), _FAR)
            for value, (first, scale, _) in zip(values, self._columns, strict=True)
        ]
        scores: Sequence[float]
        if len(apart) == 2:
            # The commonest case in one pass; the sums are those below.
            one, two = apart
            scores = [half + one * a + two * b for half, a, b in self._pairs]
        else:
            scores = self._halves
            for from_first, (_, _, weights) in zip(apart, self._columns, strict=True):
                scores = [
                    score + from_first * weight
                    for score, weight in zip(scores, weights, strict=True)
                ]
        return scores.index(max(scores))


@dataclass(frozen=True, slots=True)
class Tree:
    """Questions ``value[column] < cut?`` from node 0; a child c >= 0 is a node, -1-k is cell k.

    Children come after their parents, so every walk ends.
    """

    questions: tuple[tuple[int, float], ...]
    children: tuple[tuple[int, int], ...]
    columns: int

    def __post_init__(self) -> None:
        _require_finite("cuts", tuple(cut for _, cut in self.questions))
        if not 1 <= self.columns <= MAX_COLUMNS:
            raise FormatError(f"quantiser: expected 1 to {MAX_COLUMNS} columns")
        if len(self.children) != len(self.questions):
            raise FormatError("quantiser: a tree with another number of questions than children")
        if not all(0 <= column < self.columns for column, _ in self.questions):
            raise FormatError("quantiser: a tree asks for a column that is not there")
        leaves, inner = [], []
        for number, pair in enumerate(self.children):
            for child in pair:
                if number < child < len(self.children):
                    inner.append(child)
                elif child < 0:
                    leaves.append(-1 - child)
                else:
                    raise FormatError("quantiser: a tree whose branches do not lead downwards")
        if sorted(inner) != list(range(1, len(self.children))):
            raise FormatError("quantiser: a tree with a node of no or two parents")
        # Without a question there is one cell and no leaf that names it.
        if self.questions and sorted(leaves) != list(range(self.cells)):
            raise FormatError("quantiser: the leaves of a tree are not cells 0, 1, …")
        _require_cells(self.cells)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.questions) + 1

    def cell(self, values: tuple[float, ...]) -> int:
        """The cell of a reading; values are finite and ``columns`` in number."""
        if not self.questions:
            return 0
        place = 0
        while place >= 0:
            column, cut = self.questions[place]
            place = self.children[place][0 if values[column] < cut else 1]
        return -1 - place


Quantiser: TypeAlias = Cuts | Centres | Tree


def _require_finite(what: str, values: tuple[float, ...]) -> None:
    if not all(math.isfinite(value) for value in values):
        raise FormatError(f"quantiser: the {what} are not finite numbers")


def _require_cells(cells: int) -> None:
    if not 1 <= cells <= MAX_CELLS:
        raise FormatError(f"quantiser: found {cells} cells; expected 1 to {MAX_CELLS}")
