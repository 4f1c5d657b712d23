"""One sensor node of a mapping: its quantiser, its tables of integer weights, its account.

A table has a row for each cell and an integer weight for each symbol; the weights of a row sum to
2^32, so that a symbol is drawn exactly by one 32-bit number. With two tables the second's rows are
the first's symbols.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

from agent.formats.errors import FormatError
from agent.formats.leakage_table import LeakageTable
from agent.formats.manifest_values import is_name
from agent.formats.quantisers import MAX_CELLS, Quantiser

WEIGHT_BITS = 32
WHOLE = 1 << WEIGHT_BITS
MAX_SYMBOLS = 64
MAX_TEXT = 64
# A node's name is part of a member's name in the bundle, beside the design's of up to 64.
MAX_NODE_NAME = 40
# Of the limit: what rounding may take from a steady state that was planned on a workstation.
ACCOUNT_ROUNDING = 1e-12
# Nats by which tables may exceed a stated budget: logarithms are rounded differently elsewhere.
BUDGET_TOLERANCE = 1e-9

WeightTable: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Node:
    """One sensor node.

    Attributes:
        name: of the node; its channel and its messages carry it.
        columns: what the numbers of a reading are, in order (words for people).
        low: for each column, the least value the design was made from.
        high: for each column, the largest.
        quantiser: from a reading to a cell.
        tables: one table (cells to symbols) or two (cells to y, y to symbols).
        local: epsilon_LD of a symbol about the cell, from the integer weights, rounded up (nats);
            infinite where some symbol rules a cell out.
        backward: L_B of the chain of cells; for accounted repeats only, else empty.
        forward: L_F.
        steady_backward: BPL that the account keeps below; accounted only, else 0.
        steady_forward: ceiling of FPL that the account keeps above; accounted only, else 0.

    Raises:
        FormatError: parts that do not fit each other, or weights that are no probabilities.
    """

    name: str
    columns: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    quantiser: Quantiser
    tables: tuple[WeightTable, ...]
    local: float
    backward: LeakageTable
    forward: LeakageTable
    steady_backward: float
    steady_forward: float

    def __post_init__(self) -> None:
        if not is_name(self.name) or len(self.name) > MAX_NODE_NAME:
            raise FormatError(
                f"node {self.name[:MAX_NODE_NAME]!a}: expected a name of 1 to {MAX_NODE_NAME} of "
                "the letters A to Z, digits, - and _"
            )
        self._require_columns()
        self._require_tables()
        least = local_epsilon(self.tables)
        if not least <= self.local + BUDGET_TOLERANCE:  # also when it is no number
            raise self.wrong(
                f"says that a symbol's epsilon is {self.local:.9g}; its tables have {least:.9g}"
            )
        if not all(
            math.isfinite(amount) and amount >= 0
            for amount in (self.steady_backward, self.steady_forward)
        ):
            raise self.wrong("a steady leakage is below zero or not finite")

    @property
    def symbols(self) -> int:
        """|Z|."""
        return len(self.tables[-1][0])

    @property
    def cells(self) -> int:
        """|X|."""
        return self.quantiser.cells

    def is_outside(self, values: tuple[float, ...]) -> bool:
        """Whether a number lies outside what the design was made from."""
        for value, low, high in zip(values, self.low, self.high, strict=True):
            if not low <= value <= high:
                return True
        return False

    def require_account(self, limit: float) -> None:
        """For accounted repeats: that a release in *every* step stays within the limit for ever.

        With x and y the steady leakages and e the node's epsilon: x - L_B(x) >= e,
        y - L_F(y) >= e and x + L_F(y) <= limit. By induction the account then never has more BPL
        than x, nor a ceiling below y, which is also why an account that was lost may begin again
        from just these.

        Raises:
            FormatError: one of them does not hold.
        """
        spare = ACCOUNT_ROUNDING * limit
        x, y = self.steady_backward, self.steady_forward
        if not (0 < x <= limit and 0 < y <= limit):
            raise self.wrong("a steady leakage is not above zero and at most the limit")
        behind, ahead = self.backward.look_up(x), self.forward.look_up(y)
        if max(self.local - (x - behind), self.local - (y - ahead), x + ahead - limit) > spare:
            raise self.wrong(
                f"a release in every step, of epsilon {self.local:.6g}, does not stay within the "
                f"limit {limit:.6g} for ever"
            )

    def require_no_account(self) -> None:
        """For memoised repeats.

        Raises:
            FormatError: there are parts of an account.
        """
        tables = (self.backward.starts, self.forward.starts)
        if any(tables) or self.steady_backward or self.steady_forward:
            raise self.wrong("parts of an account belong to accounted repeats, and only to them")

    def wrong(self, what: str) -> FormatError:
        """An error about this node, to be raised by the caller."""
        return FormatError(f"node {self.name!r}: {what}")

    def _require_columns(self) -> None:
        number = self.quantiser.columns
        if not len(self.columns) == len(self.low) == len(self.high) == number:
            raise self.wrong(
                f"{len(self.columns)} columns, {len(self.low)} least and {len(self.high)} largest "
                f"values; its quantiser takes {number}"
            )
        for text in self.columns:
            if not text or not text.isprintable() or len(text) > MAX_TEXT:
                raise self.wrong(f"a column is empty, over {MAX_TEXT} letters or not printable")
        for low, high in zip(self.low, self.high, strict=True):
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                raise self.wrong("a column's least and largest values are not finite and in order")

    def _require_tables(self) -> None:
        if not 1 <= len(self.tables) <= 2:
            raise self.wrong(f"found {len(self.tables)} tables; expected one or two")
        rows = self.quantiser.cells
        for number, table in enumerate(self.tables, start=1):
            most = MAX_SYMBOLS if number == len(self.tables) else MAX_CELLS
            width = len(table[0]) if table else 0
            if len(table) != rows or not 1 <= width <= most:
                raise self.wrong(
                    f"table {number} has {len(table)} rows of {width} weights; expected {rows} "
                    f"rows of 1 to {most}"
                )
            for row in table:
                whole = all(type(weight) is int and weight >= 0 for weight in row)
                if len(row) != width or not whole or sum(row) != WHOLE:
                    raise self.wrong(
                        f"table {number}: a row is not {width} whole numbers from 0 whose sum is "
                        f"2^{WEIGHT_BITS}"
                    )
            rows = width


def local_epsilon(tables: tuple[WeightTable, ...]) -> float:
    """The largest log p(z|x)/p(z|x') of the tables' product, from the integers, rounded up."""
    rows: list[tuple[int, ...]] = list(tables[0])
    for table in tables[1:]:
        rows = [
            tuple(
                sum(weight * table[middle][symbol] for middle, weight in enumerate(row))
                for symbol in range(len(table[0]))
            )
            for row in rows
        ]
    worst = 0.0
    for column in zip(*rows, strict=True):
        if max(column) == 0:
            continue
        if min(column) == 0:
            return math.inf
        worst = max(worst, math.log(max(column) / min(column)) * (1 + 1e-14))
    return worst
