"""Traces on a grid of times, and windows of them, as attackers want them."""

import itertools
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GridTrace:
    """Positions at times of a regular grid: (n,) seconds and (n, 2) metres, no large gap."""

    times_seconds: FloatArray
    points: FloatArray


def continuous_pieces(times_seconds: FloatArray, longest_gap_seconds: float) -> list[slice]:
    """The stretches of ascending times in which no two neighbours are further apart."""
    breaks = np.flatnonzero(np.diff(times_seconds) > longest_gap_seconds) + 1
    edges = [0, *breaks.tolist(), int(times_seconds.size)]
    return [slice(a, b) for a, b in itertools.pairwise(edges) if b > a]


def onto_grid(
    times_seconds: FloatArray, points: FloatArray, step_seconds: float, longest_gap_seconds: float
) -> list[GridTrace]:
    """One trace for each continuous piece, linear between fixes, at multiples of the step.

    Args:
        times_seconds: (m,) ascending.
        points: (m, 2) metres.
        step_seconds: of the grid, which starts at time 0, so that pieces share it.
        longest_gap_seconds: a longer silence ends a piece.
    """
    found = []
    for piece in continuous_pieces(times_seconds, longest_gap_seconds):
        t = times_seconds[piece]
        first, last = np.ceil(t[0] / step_seconds), np.floor(t[-1] / step_seconds)
        grid = np.arange(first, last + 1.0) * step_seconds
        if grid.size < 2:
            continue
        east = np.interp(grid, t, points[piece, 0])
        north = np.interp(grid, t, points[piece, 1])
        found.append(GridTrace(grid, np.column_stack([east, north])))
    return found


def cut_windows(trace: GridTrace, count: int) -> list[GridTrace]:
    """Windows of ``count`` successive points, side by side; a shorter rest is dropped."""
    starts = range(0, trace.times_seconds.size - count + 1, count)
    return [
        GridTrace(trace.times_seconds[s : s + count], trace.points[s : s + count]) for s in starts
    ]


def coverage(times_seconds: FloatArray, grid: FloatArray, near_seconds: float) -> float:
    """The share of grid times with a real fix within ``near_seconds``."""
    after = np.clip(np.searchsorted(times_seconds, grid), 0, times_seconds.size - 1)
    before = np.clip(after - 1, 0, times_seconds.size - 1)
    nearest = np.minimum(np.abs(times_seconds[after] - grid), np.abs(times_seconds[before] - grid))
    return float(np.mean(nearest <= near_seconds))
