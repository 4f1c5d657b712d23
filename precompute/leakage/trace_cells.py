"""From trace files to the cells that a person was in, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.formats.projection import LocalProjection
from agent.formats.raw_rows import BY_OPTION, naming_way_out
from agent.formats.trace_files import read_traces
from agent.formats.traces import Trace
from precompute.leakage.errors import LeakageError
from precompute.leakage.learning import runs_on_grid
from precompute.leakage.matrix_heads import Grid


@dataclass(frozen=True, slots=True, repr=False)
class TraceCells:
    """Runs of cell names, the grid in words, and notes on the reading of the files."""

    runs: tuple[tuple[str, ...], ...]
    grid: str
    notes: tuple[str, ...]


def cells_of_traces(
    paths: Sequence[Path],
    *,
    cell_metres: float,
    step_seconds: float,
    hold_seconds: float = 0.0,
    repair: bool = False,
) -> TraceCells:
    """The cells of all traces of the files, on one grid.

    The grid's origin is the median position rounded to half a degree, so that it says no more than
    which region it is. Traces that touch or overlap in time are joined first.

    Raises:
        FormatError: a file cannot be read as traces.
        LeakageError: no trace in any of them.
    """
    with naming_way_out(BY_OPTION):
        files = [read_traces(path, repair=repair) for path in paths]
    traces = sorted(
        (trace for file in files for trace in file.traces if len(trace)),
        key=lambda trace: float(trace.times_seconds[0]),
    )
    if not traces:
        raise LeakageError("learning: no trace in the files; expected at least one")
    latitude = _half_degree(np.concatenate([trace.latitude for trace in traces]))
    longitude = _half_degree(np.concatenate([trace.longitude for trace in traces]))
    projection = LocalProjection(latitude, longitude)
    times, east, north = _joined(traces, projection)
    runs = runs_on_grid(
        times,
        east,
        north,
        cell_metres=cell_metres,
        step_seconds=step_seconds,
        hold_seconds=hold_seconds,
    )
    grid = Grid(latitude, longitude, cell_metres).comment()
    notes = tuple(note for file in files for note in file.notes)
    return TraceCells(tuple(tuple(run) for run in runs), grid, notes)


def _half_degree(degrees: "np.typing.NDArray[np.float64]") -> float:
    return round(2 * float(np.median(degrees))) / 2


def _joined(
    traces: Sequence[Trace], projection: LocalProjection
) -> "tuple[np.typing.NDArray[np.float64], ...]":
    """Times, east and north of all fixes, in order of time."""
    places = [projection.forward(trace.latitude, trace.longitude) for trace in traces]
    times = np.concatenate([trace.times_seconds for trace in traces])
    order = np.argsort(times, kind="stable")
    east = np.concatenate([east for east, _ in places])[order]
    north = np.concatenate([north for _, north in places])[order]
    return times[order], east, north
