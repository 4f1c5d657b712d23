"""Rows as a reader found them, and the one place that decides which of them are usable.

Strict by default: the first faulty row refuses the file, by its line and never by its value.
With ``repair`` faulty rows are dropped, rows out of order are sorted, and both are counted; how to
ask for it is for the command to say (:func:`naming_way_out`), as each has its own way or none.
A row that repeats the time before it is a receiver's habit rather than a fault: the first is
kept and the rest counted in either case.
"""

from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from agent.formats.clock_text import EARLIEST_SECONDS, LATEST_SECONDS
from agent.formats.errors import FormatError
from agent.formats.traces import FloatArray

NO_FAULT = 0
WRONG_FIELDS = 1
NOT_A_RECORD = 2
NO_TIME = 3
NOT_A_TIME = 4
NO_POSITION = 5
LATITUDE = 6
LONGITUDE = 7
NO_VALUE = 8
BACKWARDS = 9
NUMBER_LACKS = "missing or not a finite number"
TEXT_LACKS = "missing or not readable text"
# How a command is asked to repair what it reads.
BY_OPTION = "give --repair"
UNDER_SOURCE = "set repair: true under source"
UNDER_LOG = "set repair: true under log"

FAULTS = {
    WRONG_FIELDS: "more or fewer fields than the table has columns",
    NOT_A_RECORD: "not a record that can be read",
    NO_TIME: "without a time",
    NOT_A_TIME: "time missing, unreadable or outside 1970 to 2100",
    NO_POSITION: "latitude or longitude missing or not a finite number",
    LATITUDE: "latitude beyond ±90 degrees",
    LONGITUDE: "longitude beyond ±180 degrees",
    NO_VALUE: f"value {NUMBER_LACKS}",
    BACKWARDS: "earlier than the row before it",
}


class FaultyRowError(FormatError):
    """A row that repairing would drop or put in order."""


@contextmanager
def naming_way_out(how: str) -> Iterator[None]:
    """Refusals of faulty rows also say how this command is asked to repair them.

    Args:
        how: BY_OPTION, UNDER_SOURCE or UNDER_LOG.
    """
    try:
        yield
    except FaultyRowError as error:
        raise FormatError(f"{error}, or {how}, which drops unusable rows and sorts") from None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RawRows:
    """Rows in file order, a few bytes each, so that a device can hold a long trace.

    Attributes:
        lines: line in the file, from 1.
        faults: NO_FAULT, or what the reader saw to be wrong.
        times: Unix seconds, NaN where unreadable.
        values: one array per column: latitude and longitude, or the one value of a series.
        lacks: for each column, what is said of a row without a number in it, by the column's
            role; empty where the faults say all.
    """

    lines: "array[int]"
    faults: "array[int]"
    times: "array[float]"
    values: tuple["array[float]", ...]
    lacks: tuple[str, ...] = ()

    @classmethod
    def empty(cls, columns: int, lacks: tuple[str, ...] = ()) -> "RawRows":
        """No rows yet, of this many value columns."""
        values = tuple(array("d") for _ in range(columns))
        return cls(array("q"), array("B"), array("d"), values, lacks)

    def add(self, line: int, fault: int, time: float, *values: float) -> None:
        """Append one row."""
        self.lines.append(line)
        self.faults.append(fault)
        self.times.append(time)
        for column, value in zip(self.values, values, strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self.lines)


@dataclass(slots=True)
class Tally:
    """What cleaning did, over all the traces of a file."""

    dropped: "Counter[int]" = field(default_factory=Counter)
    sorted_rows: int = 0
    repeated_times: int = 0

    def notes(self) -> tuple[str, ...]:
        """One line for each kind of change, most important first."""
        lines = [f"dropped {self.dropped[c]:,} rows: {FAULTS[c]}" for c in sorted(self.dropped)]
        if self.sorted_rows:
            lines.append(f"sorted by time: {self.sorted_rows:,} rows stood after later ones")
        if self.repeated_times:
            lines.append(
                f"left out {self.repeated_times:,} rows with the same time as the row before them"
            )
        return tuple(lines)


Cleaned = tuple[FloatArray, tuple[FloatArray, ...]]


def clean(
    rows: RawRows,
    where: str,
    tally: Tally,
    *,
    repair: bool,
    positions: bool = False,
    select: npt.NDArray[np.intp] | None = None,
) -> Cleaned:
    """Usable rows: times strictly ascending, values finite, positions on Earth.

    With ``positions`` the value columns are a latitude and a longitude. ``select`` takes some rows
    only (those of one trace). The tally is advanced.

    Raises:
        FaultyRowError: a faulty row, unless ``repair``; names its line and fault.
    """
    take = slice(None) if select is None else select
    lines = np.asarray(rows.lines)[take]
    times = np.array(np.asarray(rows.times)[take], dtype=np.float64)
    values = tuple(np.array(np.asarray(column)[take], dtype=np.float64) for column in rows.values)
    faults = _faults(np.array(np.asarray(rows.faults)[take]), times, values, positions=positions)
    usable = faults == NO_FAULT
    if not repair:
        found = np.where(usable & _steps_back(times), BACKWARDS, faults)
        _refuse_first(lines, found, where, values, rows.lacks)
    elif not bool(np.all(usable)):
        codes, counts = np.unique(faults[~usable], return_counts=True)
        tally.dropped.update(dict(zip(codes.tolist(), counts.tolist(), strict=True)))
        times, values = times[usable], tuple(column[usable] for column in values)
    if times.size and bool(np.any(np.diff(times) < 0)):
        tally.sorted_rows += int(np.sum(times < np.maximum.accumulate(times)))
        order = np.argsort(times, kind="stable")
        times, values = times[order], tuple(column[order] for column in values)
    fresh = np.ones(times.size, dtype=bool)
    fresh[1:] = np.diff(times) > 0
    if not bool(np.all(fresh)):
        tally.repeated_times += int(np.sum(~fresh))
        times, values = times[fresh], tuple(column[fresh] for column in values)
    return times, values


def _faults(
    found: npt.NDArray[np.uint8],
    times: FloatArray,
    values: tuple[FloatArray, ...],
    *,
    positions: bool,
) -> npt.NDArray[np.uint8]:
    """The reader's faults, completed by what the numbers themselves show."""
    in_time = (times > EARLIEST_SECONDS) & (times < LATEST_SECONDS)  # False for NaN
    finite = np.all([np.isfinite(column) for column in values], axis=0)
    checks = [(~in_time, NOT_A_TIME)]
    if positions:
        checks += [
            (~finite, NO_POSITION),
            (np.abs(values[0]) > 90, LATITUDE),
            (np.abs(values[1]) > 180, LONGITUDE),
        ]
    else:
        checks.append((~finite, NO_VALUE))
    for wrong, code in checks:
        found[(found == NO_FAULT) & wrong] = code
    return found


def _steps_back(times: FloatArray) -> npt.NDArray[np.bool_]:
    back = np.zeros(times.size, dtype=bool)
    back[1:] = np.diff(times) < 0
    return back


def _refuse_first(
    lines: npt.NDArray[np.int64],
    faults: npt.NDArray[np.uint8],
    where: str,
    values: tuple[FloatArray, ...],
    lacks: tuple[str, ...],
) -> None:
    faulty = np.flatnonzero(faults)
    if not faulty.size:
        return
    first = int(faulty[0])
    what = FAULTS[int(faults[first])]
    if int(faults[first]) == NO_VALUE and lacks:
        what = next(
            lack
            for column, lack in zip(values, lacks, strict=True)
            if not np.isfinite(column[first])
        )
    raise FaultyRowError(f"{where}: line {int(lines[first])}: {what}; correct the file")
