"""Times written as text become Unix seconds.

Read without help: Unix seconds (or milliseconds, told by their size), and ISO 8601 dates with
times (``2026-03-02T07:05:09.5+01:00``; a blank for the T, ``/`` for ``-``, seconds and offset
optional). Any other writing needs a ``strptime`` pattern. A time without an offset is taken as
UTC, or as the stated offset, and that it was is remembered for the notes.
"""

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache

from agent.formats.errors import FormatError, shown

# What a time may be: later than 1970 and before 2100, in seconds. Outside it, nothing is a time.
EARLIEST_SECONDS = 0.0
LATEST_SECONDS = 4_102_444_800.0
# Unix seconds stay below this for 3,000 years; milliseconds have been above it since 1973.
MILLISECONDS_ABOVE = 1e11

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_ISO = re.compile(
    r"(\d{4}[-/]\d{1,2}[-/]\d{1,2})[T ] *(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?"
    r" ?(Z|z|UTC|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)


class ClockReader:
    """Reads the time cells of one file; ``saw_local`` tells whether any lacked an offset."""

    def __init__(self, pattern: str | None = None, utc_offset_seconds: float = 0.0) -> None:
        """Args:
            pattern: a ``strptime`` pattern, or None for numbers and ISO 8601.
            utc_offset_seconds: of the local time that cells without an offset are written in.

        Raises:
            FormatError: the pattern is not one, or names no year; the offset is over a day.
        """
        if not abs(utc_offset_seconds) <= 86400:
            raise FormatError("the UTC offset is over a day; expected for example 3600 seconds")
        if pattern is not None:
            _require_pattern(pattern)
        self._pattern = pattern
        self._offset = utc_offset_seconds
        self.saw_local = False

    def seconds(self, cells: Sequence[str]) -> list[float]:
        """Unix seconds (milliseconds where so written); NaN for what cannot be read."""
        if self._pattern is None:
            try:
                return list(map(float, cells))
            except ValueError:
                pass
        return [self._one(cell.strip()) for cell in cells]

    def _one(self, cell: str) -> float:
        if self._pattern is not None:
            return self._by_pattern(cell, self._pattern)
        match = _ISO.fullmatch(cell)
        if match is None:
            try:
                return float(cell)
            except ValueError:
                return math.nan
        day, hour, minute, second, fraction, offset = match.groups()
        days = _days(day)
        # 60 is allowed for leap seconds, which Unix time counts as the next second.
        if days is None or int(hour) > 23 or int(minute) > 59 or int(second or 0) > 60:
            return math.nan
        seconds = days * 86400 + int(hour) * 3600 + int(minute) * 60 + int(second or 0)
        if offset is None:
            self.saw_local = True
            shift = self._offset
        else:
            shift = _offset_seconds(offset)
        return seconds - shift + (float("0." + fraction) if fraction else 0.0)

    def _by_pattern(self, cell: str, pattern: str) -> float:
        try:
            moment = datetime.strptime(cell, pattern)
            if moment.tzinfo is None:
                self.saw_local = True
                moment = moment.replace(tzinfo=timezone.utc) - timedelta(seconds=self._offset)
            return (moment - _EPOCH).total_seconds()
        except (ValueError, OverflowError):
            return math.nan


def iso_seconds(cell: str) -> float:
    """Unix seconds of one ISO 8601 time, UTC unless it says otherwise; NaN if it is not one."""
    return ClockReader().seconds([cell])[0] if _ISO.fullmatch(cell.strip()) else math.nan


@lru_cache(maxsize=1024)
def _days(day: str) -> int | None:
    year, month, of_month = (int(part) for part in re.split("[-/]", day))
    try:
        return date(year, month, of_month).toordinal() - _EPOCH_ORDINAL
    except ValueError:
        return None


def _offset_seconds(offset: str) -> int:
    if offset[0] not in "+-":
        return 0
    digits = offset[1:].replace(":", "").ljust(4, "0")
    size = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -size if offset[0] == "-" else size


def _require_pattern(pattern: str) -> None:
    example = datetime(2001, 2, 3, 4, 5, 6, tzinfo=timezone.utc)
    year = any(sign in pattern for sign in ("%Y", "%y", "%c", "%x"))
    try:
        usable = year and bool(datetime.strptime(example.strftime(pattern), pattern))
    except (ValueError, re.error):
        usable = False
    if not usable:
        raise FormatError(
            f"time_format {shown(pattern)} does not read a date; "
            "expected a pattern such as '%d/%m/%Y %H:%M'"
        )
