"""Readings of several numbers over time, from a table: what a sensor node measures together."""

from dataclasses import dataclass
from pathlib import Path

from agent.formats.clock_text import ClockReader
from agent.formats.columns import VALUES_ROLES, ColumnNames
from agent.formats.errors import FormatError
from agent.formats.text_blocks import MAX_TRACE_BYTES
from agent.formats.time_tables import read_time_table
from agent.formats.traces import FloatArray


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ColumnFile:
    """(n,) strictly ascending Unix seconds, (n,) finite numbers for each column, and notes."""

    times_seconds: FloatArray
    values: tuple[FloatArray, ...]
    notes: tuple[str, ...]


def read_column_file(
    path: Path | str,
    *,
    columns: ColumnNames,
    time_format: str | None = None,
    utc_offset_seconds: float = 0.0,
    repair: bool = False,
    limit_bytes: int = MAX_TRACE_BYTES,
) -> ColumnFile:
    """The rows of a table.

    Args:
        path: of the table, plain or ``.gz``.
        columns: ``time`` (one column, or date and time) and ``values``, one column or several in
            the order wanted (``value`` means the same), each by header name or number from 1.
        time_format: a ``strptime`` pattern, where times are neither Unix nor ISO.
        utc_offset_seconds: of local times that are written without an offset.
        repair: drop unusable rows and sort, instead of refusing the file; counted in the notes.
        limit_bytes: most that the file may hold once decompressed.

    Raises:
        FormatError: the file cannot be read, holds no usable row, or (unless ``repair``) a faulty
            one.
    """
    path = Path(path)
    where = str(path)
    if "trace" in columns:
        raise FormatError(f"{where}: columns has the key 'trace'; expected time and values")
    if "value" in columns and "values" not in columns:
        columns = {("values" if key == "value" else key): columns[key] for key in columns}
    table = read_time_table(
        path,
        VALUES_ROLES,
        columns=columns,
        clock=ClockReader(time_format, utc_offset_seconds),
        repair=repair,
        limit_bytes=limit_bytes,
    )
    rows = table.times_seconds.size
    if not rows:
        raise FormatError(f"{where}: no usable row is left; expected times and values")
    return ColumnFile(table.times_seconds, table.values, (*table.notes, f"{rows:,} rows"))
