"""A recorded trace or series, played again: at its own pace, N times as fast, or at once."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.formats.column_files import read_column_file
from agent.formats.columns import ColumnNames
from agent.formats.errors import FormatError, shown
from agent.formats.quantities import parse_duration
from agent.formats.raw_rows import UNDER_SOURCE, naming_way_out
from agent.formats.state_files import read_state_file
from agent.formats.trace_files import read_series, read_traces
from agent.formats.traces import FloatArray
from agent.readings import Reading


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """How to read the file and how fast to play it.

    Attributes:
        path: the recording.
        speed: seconds of recording for each second of playing; infinity for no waiting at all.
        repair: drop unusable rows instead of refusing the file.
        columns: which columns hold what, for tables.
        time_format: how a table's times are written, where that cannot be guessed.
        utc_offset_seconds: of a table's local times that are written without an offset.
    """

    path: Path
    speed: float = 1.0
    repair: bool = False
    columns: ColumnNames | None = None
    time_format: str | None = None
    utc_offset_seconds: float = 0.0


def parse_speed(value: object) -> float:
    """``max``, or a number above zero.

    Raises:
        FormatError: anything else.
    """
    if value == "max":
        return math.inf
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf:
        return float(value)
    raise FormatError(f"found {shown(value)}; expected a number above zero (1 is real pace) or max")


def parse_columns(value: object) -> ColumnNames:
    """Column names, numbers from 1, or for ``time`` and ``values`` a list of them.

    Raises:
        FormatError: anything else.
    """
    if not isinstance(value, dict) or not value:
        raise FormatError("expected keys with columns, for example {time: Date, value: Temp}")
    for names in value.values():
        for name in names if isinstance(names, list) else [names]:
            if isinstance(name, bool) or not isinstance(name, (str, int)):
                raise FormatError(
                    f"found {shown(name)}; expected a column's name, or number from 1"
                )
    return {str(key): names for key, names in value.items()}


def parse_utc_offset(value: object) -> float:
    """Seconds from ``8 h`` or ``-3.5 h``; ``0 h`` too.

    Raises:
        FormatError: not a time with its unit, or beyond a day.
    """
    words = value.strip() if isinstance(value, str) else value
    if words == "0 h":
        return 0.0
    negative = isinstance(words, str) and words.startswith("-")
    seconds = parse_duration(words[1:] if isinstance(words, str) and negative else words)
    if seconds > 86400:
        raise FormatError(f"found {shown(value)}; expected at most a day, for example '-5 h'")
    return -seconds if negative else seconds


def open_replay(settings: ReplaySettings, *, positions: bool) -> tuple["ReplaySource", list[str]]:
    """Reads the whole recording; also what the user should know of its reading.

    Raises:
        FormatError: the file cannot be used.
    """
    if positions:
        with naming_way_out(UNDER_SOURCE):
            file = read_traces(
                settings.path,
                repair=settings.repair,
                columns=settings.columns,
                time_format=settings.time_format,
                utc_offset_seconds=settings.utc_offset_seconds,
            )
        times = np.concatenate([trace.times_seconds for trace in file.traces])
        latitude = np.concatenate([trace.latitude for trace in file.traces])
        longitude = np.concatenate([trace.longitude for trace in file.traces])
        return ReplaySource(times, (latitude, longitude), settings.speed), list(file.notes)
    if settings.columns is None:
        raise FormatError(
            f"{settings.path}: a series needs 'columns', for example "
            "{time: time, value: temperature}"
        )
    with naming_way_out(UNDER_SOURCE):
        table = read_series(
            settings.path,
            columns=settings.columns,
            time_format=settings.time_format,
            utc_offset_seconds=settings.utc_offset_seconds,
            repair=settings.repair,
        )
    series = table.series
    return ReplaySource(series.times_seconds, (series.values,), settings.speed), list(table.notes)


def open_state_replay(settings: ReplaySettings) -> tuple["ReplaySource", list[str]]:
    """As :func:`open_replay`, for a table of times and states or a log of intervals.

    Raises:
        FormatError: the file cannot be used.
    """
    with naming_way_out(UNDER_SOURCE):
        file = read_state_file(
            settings.path,
            columns=settings.columns,
            time_format=settings.time_format,
            utc_offset_seconds=settings.utc_offset_seconds,
            repair=settings.repair,
        )
    source = ReplaySource(file.times_seconds, (), settings.speed, labels=file.states)
    return source, list(file.notes)


def open_columns_replay(settings: ReplaySettings) -> tuple["ReplaySource", list[str]]:
    """As :func:`open_replay`, for a table whose readings have several numbers each.

    Raises:
        FormatError: the file cannot be used.
    """
    assert settings.columns is not None
    with naming_way_out(UNDER_SOURCE):
        file = read_column_file(
            settings.path,
            columns=settings.columns,
            time_format=settings.time_format,
            utc_offset_seconds=settings.utc_offset_seconds,
            repair=settings.repair,
        )
    return ReplaySource(file.times_seconds, file.values, settings.speed), list(file.notes)


class ReplaySource:
    """Plays rows in the order of their times.

    Args:
        times_seconds: (n,) Unix time, any order.
        columns: arrays of shape (n,), one for each of a reading's values.
        speed: see ReplaySettings.
        labels: n state names, where the recording says states in words.
        clock: monotonic seconds.
        wait: sleeps for some seconds, or less once the source is closed; by default it does so.
    """

    def __init__(
        self,
        times_seconds: FloatArray,
        columns: Sequence[FloatArray],
        speed: float,
        *,
        labels: Sequence[str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        # Several traces of one file are merged here; stable, so that equal times keep their order.
        order = np.argsort(times_seconds, kind="stable")
        self._times = times_seconds[order]
        self._columns = [column[order] for column in columns]
        self._labels = None if labels is None else [labels[row] for row in order]
        self._speed = speed
        self._clock = clock
        self._closed = threading.Event()
        self._wait = self._closed.wait if wait is None else wait

    def readings(self) -> Iterator[Reading]:
        """Every row at its moment."""
        if self._times.size == 0:
            return
        begun = self._clock()
        first = float(self._times[0])
        for row, time_seconds in enumerate(self._times):
            due = begun + (float(time_seconds) - first) / self._speed
            while not self._closed.is_set() and (left := due - self._clock()) > 0:
                self._wait(left)
            if self._closed.is_set():
                return
            values = tuple(float(column[row]) for column in self._columns)
            label = None if self._labels is None else self._labels[row]
            yield Reading(round(float(time_seconds) * 1000), values, label=label)

    @property
    def can_wait(self) -> bool:
        """Played without pauses, a recording may be held up; at a pace it stands for life."""
        return math.isinf(self._speed)

    def close(self) -> None:
        """Ends the waiting."""
        self._closed.set()
