"""Logs of intervals: start, end and state, one a line.

Cells are separated by tabs, commas or semicolons; empty ones are dropped. Start and end are dates
and times without a zone (``2011-11-28 02:27:59``, or with a ``T``); the last cell is the state.
Comments (``#``), lines of dashes and a first line of titles are skipped. Messages give line
numbers, never what stands there.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.formats.errors import FormatError
from agent.formats.raw_rows import FaultyRowError

Row = tuple[int, list[str]]
_RULE = re.compile(r"^[\s\-=]+$")


@dataclass(frozen=True, slots=True, repr=False)
class Interval:
    """A state that lasted from ``start`` up to ``end``, local times."""

    start: datetime
    end: datetime
    state: str


def split_rows(lines: Iterable[tuple[int, str]]) -> list[Row]:
    """The numbered lines that are rows, cut into cells."""
    return [
        (number, [cell.strip() for cell in re.split(r"[\t,;]", line) if cell.strip()])
        for number, line in lines
        if line.strip() and not line.lstrip().startswith("#") and not _RULE.match(line)
    ]


def without_titles(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows, without a first one that is the titles of intervals."""
    if len(rows) > 1 and parse_interval(rows[0][1]) is None and parse_interval(rows[1][1]):
        return rows[1:]
    return rows


def parse_interval(cells: Sequence[str]) -> Interval | None:
    """The interval, when the first two cells are dates and times and a state follows."""
    if len(cells) < 3:
        return None
    try:
        start, end = (datetime.fromisoformat(cell) for cell in cells[:2])
    except ValueError:
        return None
    zoned = start.tzinfo is not None or end.tzinfo is not None
    return None if zoned else Interval(start, end, cells[-1])


def read_intervals(
    rows: Iterable[Row], where: str, *, repair: bool
) -> tuple[tuple[Interval, ...], int]:
    """The intervals in order, none overlapping the one before, and how many were dropped.

    Args:
        rows: from :func:`split_rows`, without titles.
        where: the file, for messages.
        repair: drop intervals that end before they start or overlap an earlier one.

    Raises:
        FormatError: a row that is no interval, one that needs ``repair``, or none that is usable.
    """
    kept: list[Interval] = []
    dropped = 0
    for number, cells in rows:
        interval = parse_interval(cells)
        if interval is None:
            raise FormatError(f"{where}: line {number}: expected start, end and state")
        wrong = ""
        if interval.end < interval.start:
            wrong = "ends before it starts"
        elif kept and interval.start < kept[-1].end:
            wrong = "starts before the one above it ends"
        if wrong and not repair:
            raise FaultyRowError(f"{where}: line {number}: the interval {wrong}; correct the file")
        if wrong:
            dropped += 1
        else:
            kept.append(interval)
    if not kept:
        raise FormatError(f"{where}: no usable interval; expected start, end and state")
    return tuple(kept), dropped
