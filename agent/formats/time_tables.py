"""A table's columns over time: what its readers for series, for nodes and for logs share."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent.formats.clock_text import ClockReader
from agent.formats.columns import ColumnNames
from agent.formats.raw_rows import Tally, clean
from agent.formats.tables import CellParser, read_table
from agent.formats.text_blocks import read_blocks, read_lines
from agent.formats.traces import FloatArray


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TimeTable:
    """(n,) strictly ascending Unix seconds, (n,) finite numbers for each role, and notes."""

    times_seconds: FloatArray
    values: tuple[FloatArray, ...]
    notes: tuple[str, ...]


def read_time_table(
    path: Path,
    roles: tuple[str, ...],
    *,
    columns: ColumnNames,
    clock: ClockReader,
    repair: bool,
    limit_bytes: int,
    parse: Sequence[CellParser | None] | None = None,
) -> TimeTable:
    """The usable rows, of which there may be none.

    Args:
        path: of the table, plain or ``.gz``.
        roles: of the columns; see :func:`agent.formats.columns.plan_columns`.
        columns: where each role stands, and ``time``.
        clock: reads the times.
        repair: drop unusable rows and sort, instead of refusing the file; counted in the notes.
        limit_bytes: most that the file may hold once decompressed.
        parse: from the cells of each role to numbers; None for plain numbers.

    Raises:
        FormatError: the file cannot be read, or (unless ``repair``) holds a faulty row.
    """
    where = str(path)
    with closing(read_blocks(path, limit_bytes)) as blocks:
        lines = read_lines(blocks, where)
        table = read_table(lines, where, roles, columns=columns, clock=clock, parse=parse)
    tally = Tally()
    times, values = clean(table.rows, where, tally, repair=repair)
    return TimeTable(times, values, (*table.notes, *tally.notes()))
