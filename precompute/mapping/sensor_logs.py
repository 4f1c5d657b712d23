"""Labelled logs: tables with the readings of all nodes and both hypotheses in each row.

A hypothesis is a column of names, or a number with a threshold (``above``; ``median`` is that of
the rows that are used for the design, so that the rows held out do not move it). Rows with a
missing or garbled cell are refused by line, or dropped with ``repair``; what stands in a cell is
never shown. A million rows of ten columns take some 200 MB while they are read.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from agent.formats.clock_text import ClockReader
from agent.formats.columns import Column
from agent.formats.mapping_design import MAX_HYPOTHESES
from agent.formats.raw_rows import UNDER_LOG, naming_way_out
from agent.formats.tables import CellParser
from agent.formats.time_tables import read_time_table
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, IntArray

MAX_LOG_BYTES = 1 << 30
MAX_LABEL = 64
_WORDS = {
    "public": "public hypothesis",
    "private": "private hypothesis",
    "regime": "regimes",
}
Which = Literal["public", "private", "regime"]


@dataclass(frozen=True, slots=True)
class Label:
    """How a hypothesis stands in the table.

    Attributes:
        column: by header name, or number from 1.
        above: the second value is said of numbers above this; None for a column of names.
        names: of the values, in order; empty for those that occur, sorted (or low, high).
    """

    column: Column
    above: float | Literal["median"] | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogFiles:
    """Where a log lies and how its times are written.

    Attributes:
        paths: one or more tables, plain or ``.gz``; they do not overlap in time.
        time: one column, or date and time.
        time_format: a ``strptime`` pattern, where times are neither Unix nor ISO.
        utc_offset_seconds: of local times that are written without an offset.
        repair: drop unusable rows and sort, instead of refusing the file.
    """

    paths: tuple[Path, ...]
    time: tuple[Column, ...]
    time_format: str | None = None
    utc_offset_seconds: float = 0.0
    repair: bool = False


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SensorLog:
    """A log as it was read.

    Attributes:
        times_seconds: (n,) strictly ascending Unix seconds.
        readings: (n, columns) of all nodes, in the order asked for.
        public: (n,) values of H from 0.
        private: (n,) values of G from 0.
        public_names: of H's values.
        private_names: of G's values.
        regime: (n,) numbers of the regimes' names, sorted; empty where no column was asked for.
        design_rows: how many rows come first and are for the design; the rest is held out.
        notes: on the reading.
    """

    times_seconds: FloatArray
    readings: FloatArray
    public: IntArray
    private: IntArray
    public_names: tuple[str, ...]
    private_names: tuple[str, ...]
    regime: IntArray
    design_rows: int
    notes: tuple[str, ...]


def read_sensor_log(
    files: LogFiles,
    columns: Sequence[tuple[str, Column]],
    public: Label,
    private: Label,
    *,
    held_out: float,
    regime: Column | None = None,
) -> SensorLog:
    """The log.

    Args:
        files: see :class:`LogFiles`.
        columns: what each column is for, in words for messages, and where it stands.
        public: H.
        private: G.
        regime: a column of names of regimes, or None.
        held_out: share of the rows, the last ones, that the design does not see; 0 to below 1.

    Raises:
        FormatError: a file cannot be read, or (unless ``repair``) holds a faulty row.
        MappingError: files that overlap, or a hypothesis that does not vary in the rows for the
            design.
    """
    coders = {"public": _Coder("public", public), "private": _Coder("private", private)}
    given = {"time": files.time, **dict(columns), "public": public.column}
    given["private"] = private.column
    if regime is not None:
        coders["regime"] = _Coder("regime", Label(regime))
        given["regime"] = regime
    roles = (*(role for role, _ in columns), *coders)
    parsers = (*(None for _ in columns), *(coder.parser for coder in coders.values()))
    parts = []
    notes: list[str] = []
    for path in files.paths:
        with naming_way_out(UNDER_LOG):
            table = read_time_table(
                path,
                roles,
                columns=given,
                clock=ClockReader(files.time_format, files.utc_offset_seconds),
                repair=files.repair,
                limit_bytes=MAX_LOG_BYTES,
                parse=parsers,
            )
        if not table.times_seconds.size:
            raise MappingError(f"{path}: no usable row is left; expected times and readings")
        parts.append((table.times_seconds, np.column_stack(table.values), path))
        notes += table.notes
    parts.sort(key=lambda part: float(part[0][0]))
    times = np.concatenate([part[0] for part in parts])
    for (earlier, _, one), (later, _, other) in pairwise(parts):
        if later[0] <= earlier[-1]:
            raise MappingError(
                f"log: {one} and {other} overlap in time; expected one place's files after each "
                "other; give other places a design of their own"
            )
    cells = np.vstack([part[1] for part in parts])
    design_rows = times.size - math.floor(held_out * times.size)
    labels = cells[:, len(columns) :].T
    h, h_names = coders["public"].values(labels[0], design_rows)
    g, g_names = coders["private"].values(labels[1], design_rows)
    told = np.zeros(0, dtype=np.intp) if regime is None else coders["regime"].sorted(labels[2])[0]
    rows = f"{times.size:,} rows, the first {design_rows:,} for the design"
    notes = [*dict.fromkeys(notes), rows]
    readings = cells[:, : len(columns)]
    return SensorLog(times, readings, h, g, h_names, g_names, told, design_rows, tuple(notes))


class _Coder:
    """A column of labels: its cells as numbers while reading, its values and names afterwards."""

    def __init__(self, which: Which, label: Label) -> None:
        self._which = which
        self._label = label
        self._codes: dict[str, int] = {name: i for i, name in enumerate(label.names)}
        self._known = len(label.names)
        self.parser: CellParser | None = self._numbers if label.above is None else None

    def _numbers(self, cells: list[str]) -> list[float]:
        found = []
        for cell in cells:
            name = cell.strip()
            fits = name and name.isprintable() and "\ufffd" not in name and len(name) <= MAX_LABEL
            found.append(
                float(self._codes.setdefault(name, len(self._codes))) if fits else math.nan
            )
        if len(self._codes) > MAX_HYPOTHESES:
            raise MappingError(
                f"log: the column of the {_WORDS[self._which]} holds over {MAX_HYPOTHESES} "
                "different values; expected a few names"
                + ("" if self._which == "regime" else ", or write above: with a threshold")
            )
        return found

    def values(self, numbers: FloatArray, design_rows: int) -> tuple[IntArray, tuple[str, ...]]:
        """(n,) values from 0, and their names."""
        above = self._label.above
        if above is None:
            codes, names = self._named(numbers)
        else:
            threshold = float(np.median(numbers[:design_rows])) if above == "median" else above
            codes = (numbers > threshold).astype(np.intp)
            names = self._label.names or ("low", "high")
        found = np.unique(codes[:design_rows])
        if found.size < 2:
            why = (
                "nothing is to be decided"
                if self._which == "public"
                else "a log in which it never varies cannot teach what gives it away; use a "
                "longer log, or state the joint"
            )
            raise MappingError(
                f"log: the {self._which} hypothesis has one value in all of the {design_rows:,} "
                f"rows for the design; expected two or more: {why}"
            )
        return codes, names

    def _named(self, numbers: FloatArray) -> tuple[IntArray, tuple[str, ...]]:
        names = tuple(self._codes)
        codes = numbers.astype(np.intp)
        if self._known:
            unknown = int(np.sum(codes >= self._known))
            if unknown:
                raise MappingError(
                    f"log: {unknown:,} rows have a value of the {self._which} hypothesis that is "
                    f"not among its {self._known} names; complete names, or leave it out"
                )
            return codes, names
        return self.sorted(numbers)

    def sorted(self, numbers: FloatArray) -> tuple[IntArray, tuple[str, ...]]:
        """(n,) values from 0 in the order of the names that occur, and these."""
        names, codes = tuple(self._codes), numbers.astype(np.intp)
        kept = sorted({names[code] for code in np.unique(codes)})
        place = np.array([kept.index(name) if name in kept else -1 for name in names])
        return np.asarray(place[codes]), tuple(kept)
