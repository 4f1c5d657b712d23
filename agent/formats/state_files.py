"""States over time from text files: a table of times and states, or a log of intervals.

A table has one row for each moment at which the state was noted (columns ``time`` and ``state``,
guessed from the header or given); the state holds until the next row. A log of intervals (see
state_intervals.py) says ``none`` between them. Messages name a file, a line and a fault, never a
state.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timezone
from itertools import chain
from pathlib import Path

import numpy as np

from agent.formats.clock_text import ClockReader
from agent.formats.columns import STATE_ROLES, ColumnNames
from agent.formats.errors import FormatError
from agent.formats.raw_rows import Tally, clean
from agent.formats.state_intervals import parse_interval, read_intervals, split_rows, without_titles
from agent.formats.tables import read_table
from agent.formats.text_blocks import Batch, read_blocks, read_lines
from agent.formats.traces import FloatArray

MAX_STATE_FILE_BYTES = 64 << 20
MAX_DIFFERENT = 1 << 16
NOTHING = "none"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StateFile:
    """(n,) strictly ascending Unix seconds, the state from each on, and notes on the reading."""

    times_seconds: FloatArray
    states: tuple[str, ...]
    notes: tuple[str, ...]


def read_state_file(
    path: Path | str,
    *,
    columns: ColumnNames | None = None,
    time_format: str | None = None,
    utc_offset_seconds: float = 0.0,
    repair: bool = False,
) -> StateFile:
    """The states of a file.

    Args:
        path: of the table or log, plain or ``.gz``.
        columns: for tables: ``time`` (one column, or date and time) and ``state``, each by header
            name or number from 1. None to guess, and for a log of intervals.
        time_format: for tables: a ``strptime`` pattern, where times are neither Unix nor ISO.
        utc_offset_seconds: of local times that are written without an offset.
        repair: drop unusable rows instead of refusing the file; counted in the notes.

    Raises:
        FormatError: the file cannot be read, holds no states, or (unless ``repair``) a faulty row.
    """
    path = Path(path)
    where = str(path)
    clock = ClockReader(time_format, utc_offset_seconds)
    with closing(read_blocks(path, MAX_STATE_FILE_BYTES)) as blocks:
        batches = read_lines(blocks, where)
        opening = [batch for _, batch in zip(range(1), batches, strict=False)]
        whole = chain(opening, batches)
        if columns is None and time_format is None and _are_intervals(opening):
            return _from_intervals(whole, where, utc_offset_seconds, repair=repair)
        coder = _Coder(where)
        table = read_table(
            whole, where, STATE_ROLES, columns=columns, clock=clock, parse=coder.numbers
        )
    tally = Tally()
    times, (codes,) = clean(table.rows, where, tally, repair=repair)
    if not times.size:
        raise FormatError(f"{where}: no usable row is left; expected times and states")
    names = tuple(coder.codes)
    states = tuple(names[int(code)] for code in codes)
    return StateFile(times, states, (*table.notes, *tally.notes(), f"{times.size:,} rows"))


class _Coder:
    """States as numbers, so that they pass through a reader of numbers."""

    def __init__(self, where: str) -> None:
        self.codes: dict[str, int] = {}
        self._where = where

    def numbers(self, cells: list[str]) -> list[float]:
        """Each state's number; NaN for an empty cell, or one that was no text."""
        found = [
            float(self.codes.setdefault(state, len(self.codes)))
            if (state := cell.strip()) and state.isprintable() and "\ufffd" not in state
            else float("nan")
            for cell in cells
        ]
        if len(self.codes) > MAX_DIFFERENT:
            raise FormatError(
                f"{self._where}: holds over {MAX_DIFFERENT} different states; is that really the "
                "column of the state?"
            )
        return found


def _are_intervals(opening: list[Batch]) -> bool:
    lines = [(number, line) for first, lines in opening for number, line in enumerate(lines, first)]
    rows = without_titles(split_rows(lines))
    return bool(rows) and parse_interval(rows[0][1]) is not None


def _from_intervals(
    batches: Iterator[Batch], where: str, utc_offset_seconds: float, *, repair: bool
) -> StateFile:
    lines = ((number, line) for first, lines in batches for number, line in enumerate(lines, first))
    intervals, dropped = read_intervals(without_titles(split_rows(lines)), where, repair=repair)
    times: list[float] = []
    states: list[str] = []
    for interval in intervals:
        start, end = (
            moment.replace(tzinfo=timezone.utc).timestamp() - utc_offset_seconds
            for moment in (interval.start, interval.end)
        )
        if times and times[-1] == start:  # nothing lay between
            times.pop()
            states.pop()
        if end > start:
            times += [start, end]
            states += [interval.state, NOTHING]
    if not times:
        raise FormatError(f"{where}: no interval lasts; expected start, end and state")
    notes = [f"{len(intervals):,} intervals; between them the state is {NOTHING!r}"]
    if dropped:
        notes.append(f"dropped {dropped:,} intervals that overlap or end before they start")
    return StateFile(np.array(times), tuple(states), tuple(notes))
