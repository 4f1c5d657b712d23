"""Long logs cut into short records that can be fitted: at gaps, then into windows.

Everything is deterministic: when there are more windows than wanted, an even spread is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from precompute.priors.kernel_base import FloatArray

GAP_STEPS = 10.0
GAP_SECONDS = 300.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Record:
    """One log on one or more axes, in memory only.

    Attributes:
        name: of the trace or series it comes from.
        times_seconds: (n,) ascending.
        axes: for each axis (n,) values, in metres or the channel's own unit.
    """

    name: str
    times_seconds: FloatArray
    axes: tuple[FloatArray, ...]

    def __len__(self) -> int:
        return int(self.times_seconds.size)

    def __repr__(self) -> str:
        return f"Record({self.name!r}, {len(self)} points)"

    @property
    def step_seconds(self) -> float:
        """Median step; 0 for a single point."""
        return float(np.median(np.diff(self.times_seconds))) if len(self) > 1 else 0.0

    def part(self, chosen: slice | npt.NDArray[np.intp]) -> "Record":
        """The record at some of its points."""
        axes = tuple(axis[chosen] for axis in self.axes)
        return Record(self.name, self.times_seconds[chosen], axes)


def thin(record: Record, every_seconds: float) -> Record:
    """The first point of every slot of this length that has one (slots count from the start)."""
    slots = np.floor((record.times_seconds - record.times_seconds[0]) / every_seconds)
    first = np.flatnonzero(np.diff(slots, prepend=-1.0) > 0)
    return record.part(first)


def split_at_gaps(record: Record, gap_seconds: float | None) -> list[Record]:
    """Pieces without a step longer than the gap.

    Args:
        record: any.
        gap_seconds: None takes the larger of 10 median steps and 5 minutes.
    """
    if gap_seconds is None:
        gap_seconds = max(GAP_STEPS * record.step_seconds, GAP_SECONDS)
    cuts = np.flatnonzero(np.diff(record.times_seconds) > gap_seconds) + 1
    ends = [0, *(int(cut) for cut in cuts), len(record)]
    return [record.part(slice(a, b)) for a, b in pairwise(ends)]


def cut_windows(pieces: Sequence[Record], points: int, least: int) -> list[Record]:
    """Consecutive windows of ``points`` points; a rest of at least ``least`` is one more."""
    windows = []
    for piece in pieces:
        for start in range(0, len(piece), points):
            window = piece.part(slice(start, start + points))
            if len(window) >= least:
                windows.append(window)
    return windows


def spread(windows: Sequence[Record], most: int) -> list[Record]:
    """At most ``most`` windows, evenly spread over all of them, in order."""
    if len(windows) <= most:
        return list(windows)
    # Middles of equal shares, so that neither the first nor the last window is always taken.
    return [windows[int((k + 0.5) * len(windows) / most)] for k in range(most)]
