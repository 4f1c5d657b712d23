"""Tables of readings as text: CSV and its relatives, with a header or without.

The layout is read off the first lines: the separator (tab, semicolon, comma or blanks), whether
a header stands on top (bare, or behind ``#``), and how many fields a row has. Lines that start
with ``#`` and blank lines are skipped. Cells may be quoted, but not run over a line's end. With
semicolons or tabs a decimal comma is understood. One field more than the header has names is a
row number in front, as R writes it.

Rows go straight into arrays, a batch of lines at a time, so that memory stays at some 33 bytes
a row.
"""

import csv
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from agent.formats.clock_text import MILLISECONDS_ABOVE, ClockReader, iso_seconds
from agent.formats.columns import ColumnNames, ColumnPlan, plan_columns
from agent.formats.errors import FormatError
from agent.formats.raw_rows import NO_FAULT, NUMBER_LACKS, TEXT_LACKS, WRONG_FIELDS, RawRows
from agent.formats.text_blocks import Batch

MAX_FIELDS = 1024
MAX_GROUPS = 1 << 16
MAX_NAME = 80
# Comments on top may fill this many blocks before the search for a row is given up.
MAX_OPENING_BATCHES = 16
CellParser = Callable[[list[str]], list[float]]
_SEPARATORS = ("\t", ";", ",", None)  # None: runs of blanks


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Table:
    """Raw rows, the traces they belong to (by first appearance), and how they were read.

    ``group_names`` is empty where the file is not split, else ``group_of`` has one entry a row.
    """

    rows: RawRows
    group_of: "array[int]"
    group_names: tuple[str, ...]
    notes: tuple[str, ...]

    def groups(self) -> Iterator[tuple[str | None, npt.NDArray[np.intp] | None]]:
        """Each trace's name and its rows' indices in file order; (None, None) if not split."""
        if not self.group_names:
            yield None, None
            return
        codes = np.asarray(self.group_of)
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(self.group_names) + 1))
        for code, name in enumerate(self.group_names):
            yield name, order[bounds[code] : bounds[code + 1]]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines are cut.

    Attributes:
        separator: None for runs of blanks.
        names: None without a header.
        fields: in every row.
        names_in_row: the header is the first line that is no comment, so no row.
    """

    separator: str | None
    names: tuple[str, ...] | None
    fields: int
    names_in_row: bool


def read_table(
    batches: Iterable[Batch],
    where: str,
    roles: tuple[str, ...],
    *,
    columns: ColumnNames | None,
    clock: ClockReader,
    parse: CellParser | Sequence[CellParser | None] | None = None,
) -> Table:
    """All rows of a table; what is wrong with a row is marked on it, not raised.

    ``parse`` turns the cells of a value column into numbers, NaN where it cannot; one for all
    columns, or one for each (None: plain numbers).

    Raises:
        FormatError: no rows, or columns that cannot be told (see :func:`plan_columns`).
    """
    stream = iter(batches)
    opening: list[Batch] = []
    layout = None
    for batch in stream:
        opening.append(batch)
        layout = _layout([line for _, lines in opening for line in lines], last=False)
        if layout is not None or len(opening) == MAX_OPENING_BATCHES:
            break
    layout = layout or _layout([line for _, lines in opening for line in lines], last=True)
    if layout is None:
        raise FormatError(f"{where}: has no rows; expected a table of readings")
    if not 2 <= layout.fields <= MAX_FIELDS:
        raise FormatError(
            f"{where}: has {layout.fields} columns; expected a time and a reading, separated by "
            "commas, semicolons, tabs or blanks (or a GPX, PLT or OwnTracks .rec file)"
        )
    plan = plan_columns(layout.names, layout.fields, roles, columns, where)
    return read_rows(chain(opening, stream), where, layout, plan, clock, parse=parse)


def read_rows(
    batches: Iterable[Batch],
    where: str,
    layout: Layout,
    plan: ColumnPlan,
    clock: ClockReader,
    *,
    parse: CellParser | Sequence[CellParser | None] | None = None,
) -> Table:
    """The rows of a table whose layout and columns are known."""
    group_of: array[int] = array("q")
    codes: dict[tuple[str, ...], int] = {}
    header_due = layout.names_in_row
    parsers = parse if isinstance(parse, Sequence) else (parse,) * len(plan.values)
    lacks = (
        f"{role} {TEXT_LACKS if parser else NUMBER_LACKS}"
        for role, parser in zip(plan.roles, parsers, strict=True)
    )
    rows = RawRows.empty(len(plan.values), tuple(lacks))
    for first_line, lines in batches:
        numbers, cells = _cut(lines, first_line, layout.separator)
        if header_due and numbers:
            header_due = False
            del numbers[0], cells[0]
        faulty = [len(row) != layout.fields for row in cells]
        if any(faulty):
            blank = [""] * layout.fields
            cells = [blank if bad else row for row, bad in zip(cells, faulty, strict=True)]
        rows.lines.extend(numbers)
        rows.faults.extend(WRONG_FIELDS if bad else NO_FAULT for bad in faulty)
        if len(plan.time) == 1:
            rows.times.extend(clock.seconds([row[plan.time[0]] for row in cells]))
        else:
            day, hour = plan.time
            rows.times.extend(clock.seconds([f"{row[day]} {row[hour]}" for row in cells]))
        comma = layout.separator in (";", "\t")
        for column, index, parser in zip(rows.values, plan.values, parsers, strict=True):
            texts = [row[index] for row in cells]
            column.extend(parser(texts) if parser else _numbers(texts, decimal_comma=comma))
        if plan.keys:
            for row in cells:
                key = tuple(row[index].strip() for index in plan.keys)
                group_of.append(codes.setdefault(key, len(codes)))
            if len(codes) > MAX_GROUPS:
                raise FormatError(
                    f"{where}: holds over {MAX_GROUPS} different traces; is that really the "
                    "column that tells them apart?"
                )
    if not len(rows):
        raise FormatError(f"{where}: has a header but no rows; expected a table of readings")
    notes = [plan.note, *_scale_milliseconds(rows)]
    if clock.saw_local:
        notes.append("times without an offset are taken as UTC, or as the offset given")
    names = tuple("/".join(key)[:MAX_NAME] for key in codes)
    return Table(rows, group_of, names, tuple(notes))


def _cut(
    lines: list[str], first_line: int, separator: str | None
) -> tuple[list[int], list[list[str]]]:
    """Line numbers and cells of the lines that are neither blank nor comments."""
    numbers: list[int] = []
    cells: list[list[str]] = []
    for number, line in enumerate(lines, first_line):
        bare = line.strip()
        if bare and bare[0] != "#":
            numbers.append(number)
            cells.append(_cells(line, separator))
    return numbers, cells


def _layout(lines: list[str], *, last: bool) -> Layout | None:
    """The layout, from the lines so far; None while there are too few (then read on)."""
    plain = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not plain or (len(plain) == 1 and not last):
        return None
    row = plain[min(1, len(plain) - 1)]
    separator = _separator(plain[0], row)
    top = tuple(cell.strip() for cell in _cells(plain[0], separator))
    if not any(map(_is_reading, top)):
        fields = len(_cells(row, separator))
        if fields == len(top) + 1:
            top = ("", *top)
        return Layout(separator, top, len(top), names_in_row=True)
    for line in lines:
        if line.lstrip().startswith("#"):
            behind = tuple(map(str.strip, _cells(line.lstrip().lstrip("#").strip(), separator)))
            if len(behind) == len(top) and not any(map(_is_reading, behind)):
                return Layout(separator, behind, len(top), names_in_row=False)
    return Layout(separator, None, len(top), names_in_row=False)


def _separator(top: str, row: str) -> str | None:
    """The first separator that cuts both lines alike, else the first that cuts the row at all."""
    counts = [(len(_cells(top, sign)), len(_cells(row, sign)), sign) for sign in _SEPARATORS]
    for above, below, sign in counts:
        if below > 1 and above in (below, below - 1):
            return sign
    return next((sign for _, below, sign in counts if below > 1), ",")


def _cells(line: str, separator: str | None) -> list[str]:
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator or " ", skipinitialspace=True), [])
    except csv.Error:
        return []


def _is_reading(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return not math.isnan(iso_seconds(cell))


def _numbers(cells: list[str], *, decimal_comma: bool) -> list[float]:
    """Each cell as a number, NaN where it is none."""
    joined = "".join(cells)
    if "_" not in joined:  # float() reads 1_000 as a thousand; a table never means that
        try:
            return list(map(float, cells))
        except ValueError:
            pass
    return [_number(cell, decimal_comma=decimal_comma) for cell in cells]


def _number(cell: str, *, decimal_comma: bool) -> float:
    if "_" in cell:
        return math.nan
    if decimal_comma and "." not in cell:
        cell = cell.replace(",", ".", 1)
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _scale_milliseconds(rows: RawRows) -> tuple[str, ...]:
    """Times in milliseconds become seconds, in place; the note that says so."""
    times = np.asarray(rows.times)
    known = times[np.isfinite(times)]
    if not known.size or float(np.median(known)) < MILLISECONDS_ABOVE:
        return ()
    times /= 1000.0
    return ("times are in milliseconds",)
