"""Traces and series from files of any kind that is read here, told apart by their content.

GPX (XML), GeoLife PLT, OwnTracks Recorder ``.rec``, and tables (CSV and relatives); each plain
or gzipped. See :mod:`agent.formats.raw_rows` for what strict reading refuses and what ``repair``
does. Messages name a file, a line and a fault, never a value.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from agent.formats.clock_text import ClockReader
from agent.formats.columns import POSITION_ROLES, VALUE_ROLES, ColumnNames
from agent.formats.errors import FormatError
from agent.formats.gpx import looks_like_xml, read_gpx
from agent.formats.owntracks import looks_like_recorder, read_recorder
from agent.formats.plt import looks_like_plt, read_plt
from agent.formats.raw_rows import Tally, clean
from agent.formats.tables import Table, read_table
from agent.formats.text_blocks import MAX_TRACE_BYTES, read_blocks, read_lines
from agent.formats.time_tables import read_time_table
from agent.formats.traces import Series, Trace

_NOT_READ = {
    "{": "JSON",
    "[": "JSON",
    "$G": "NMEA",
    "!AIVDM": "AIS",
}


@dataclass(frozen=True, slots=True)
class TraceFile:
    """The traces of one file, in the file's order, and what the user should know of its reading.

    Traces of one file may overlap in time (several people); each alone ascends.
    """

    traces: tuple[Trace, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeriesFile:
    """The series of one file, and what the user should know of its reading."""

    series: Series
    notes: tuple[str, ...]


def read_traces(
    path: Path | str,
    *,
    repair: bool = False,
    columns: ColumnNames | None = None,
    time_format: str | None = None,
    utc_offset_seconds: float = 0.0,
    limit_bytes: int = MAX_TRACE_BYTES,
) -> TraceFile:
    """Every trace in a file.

    Args:
        path: of a GPX, PLT, ``.rec`` or table file, plain or ``.gz``.
        repair: drop unusable rows and sort, instead of refusing the file; counted in the notes.
        columns: for tables: ``time`` (one column, or date and time), ``latitude``, ``longitude``
            and optionally ``trace``, each by header name or number from 1. None to guess.
        time_format: for tables: a ``strptime`` pattern, where times are neither Unix nor ISO.
        utc_offset_seconds: for tables: of local times that are written without an offset.
        limit_bytes: most that the file may hold once decompressed.

    Raises:
        FormatError: the file cannot be read, is of no known kind, is empty, has fewer than two
            usable fixes, or (unless ``repair``) a faulty row.
    """
    path = Path(path)
    where = str(path)
    clock = ClockReader(time_format, utc_offset_seconds)
    by_table = columns is not None or time_format is not None or utc_offset_seconds != 0
    with closing(read_blocks(path, limit_bytes)) as blocks:
        table = _read_any(blocks, path, clock, columns, by_table=by_table)
    tally = Tally()
    traces: list[Trace] = []
    for name, rows in table.groups():
        times, (latitude, longitude) = clean(
            table.rows, where, tally, repair=repair, positions=True, select=rows
        )
        if times.size:
            traces.append(Trace(name or _stem(path), times, latitude, longitude))
    fixes = sum(map(len, traces))
    notes = (*table.notes, *tally.notes())
    if fixes < 2:
        raise FormatError(_too_few(where, fixes, "fix", "fixes", notes if repair else ()))
    return TraceFile(tuple(traces), (*notes, f"{fixes:,} fixes in {len(traces):,} traces"))


def read_series(
    path: Path | str,
    *,
    columns: ColumnNames,
    time_format: str | None = None,
    utc_offset_seconds: float = 0.0,
    repair: bool = False,
    limit_bytes: int = MAX_TRACE_BYTES,
) -> SeriesFile:
    """One scalar over time, from a table.

    Args:
        path: of the table, plain or ``.gz``.
        columns: ``time`` (one column, or date and time) and ``value``, each by header name or
            number from 1.
        time_format: a ``strptime`` pattern, where times are neither Unix nor ISO; date and time
            columns are joined by one blank.
        utc_offset_seconds: of local times that are written without an offset.
        repair: drop unusable rows and sort, instead of refusing the file; counted in the notes.
        limit_bytes: most that the file may hold once decompressed.

    Raises:
        FormatError: as :func:`read_traces`.
    """
    path = Path(path)
    where = str(path)
    if "trace" in columns:
        raise FormatError(f"{where}: columns has the key 'trace'; expected time and value")
    table = read_time_table(
        path,
        VALUE_ROLES,
        columns=columns,
        clock=ClockReader(time_format, utc_offset_seconds),
        repair=repair,
        limit_bytes=limit_bytes,
    )
    times, (values,), notes = table.times_seconds, table.values, table.notes
    if times.size < 2:
        raise FormatError(_too_few(where, times.size, "value", "values", notes if repair else ()))
    return SeriesFile(Series(_stem(path), times, values), (*notes, f"{times.size:,} values"))


def _read_any(
    blocks: Iterator[bytes],
    path: Path,
    clock: ClockReader,
    columns: ColumnNames | None,
    *,
    by_table: bool,
) -> Table:
    where = str(path)
    head = next(blocks)  # there is one: an empty file is refused where it is read
    opening = head[:4096].decode("utf-8", "replace").lstrip()
    content = chain([head], blocks)
    kind = None
    table: Table
    if looks_like_xml(opening):
        kind, table = "GPX", read_gpx(content, where)
    elif looks_like_plt(opening):
        kind, table = "PLT", read_plt(read_lines(content, where), where)
    elif looks_like_recorder(opening):
        kind, table = "OwnTracks", read_recorder(read_lines(content, where), where)
    else:
        rows = (line for line in opening.split("\n") if line.strip() and line[0] != "#")
        first_row = next(rows, "")
        for mark, name in _NOT_READ.items():
            if first_row.startswith(mark):
                raise FormatError(
                    f"{where}: looks like {name}; expected GPX, PLT, OwnTracks .rec or a table"
                )
        table = read_table(
            read_lines(content, where), where, POSITION_ROLES, columns=columns, clock=clock
        )
    if kind is not None and by_table:
        raise FormatError(
            f"{where}: is a {kind} file, which says itself what its fields are; leave out columns, "
            "time_format and the UTC offset"
        )
    return table


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _too_few(where: str, found: int, one: str, many: str, notes: tuple[str, ...]) -> str:
    dropped = f" ({'; '.join(n for n in notes if n.startswith('dropped'))})" if notes else ""
    what = one if found == 1 else many
    return f"{where}: has {found} usable {what}{dropped}; expected two or more {many}"
