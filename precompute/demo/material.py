"""What the demonstration works on: a recording, how much of it, and how often to release.

The work is bounded: at most :data:`MOST_RELEASES` releases. A longer recording is first released
less often, then cut, and the report says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.formats.designs import FloatArray
from agent.formats.projection import (
    LEAST_METRES_PER_DEGREE,
    MAX_ORIGIN_LATITUDE,
    LocalProjection,
)
from agent.formats.quantities import format_duration
from agent.formats.raw_rows import BY_OPTION, naming_way_out
from agent.formats.trace_files import read_traces
from agent.formats.traces import Trace
from precompute.demo.made_up_week import made_up_week
from precompute.demo.slots import count_steady_slots, steady_slots
from precompute.demo.trace_csv import write_csv
from precompute.errors import PrecomputeError

MOST_RELEASES = 10_500
SHORT_SECONDS = 3 * 3600.0
RANGE_STEP_METRES = 50_000.0
MOST_RANGE_STEPS = 20
EVERY_SECONDS = (10, 30, 60)
LEAST_RELEASES = 3
MADE_UP_NAME = "made-up-week.csv"
EXTRACT_NAME = "extract.csv"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Material:
    """A recording ready to be replayed; raw positions, in memory only.

    Attributes:
        title: what the report calls it.
        made_up: whether nobody lived it.
        traces: what was taken, for the fit.
        replay_path: the file that the agent reads.
        extract_path: a cut copy written for the agent, to be deleted at the end; None if none.
        repair: whether unusable rows are dropped from the file.
        origin: the public origin of the projection.
        every_seconds: cadence of the releases.
        times_seconds: (n,) of the releases to be expected.
        points: (n, 2) metres east and north of the origin: the fix that each release stands for.
        notes: what was taken and how it was read.
    """

    title: str
    made_up: bool
    traces: tuple[Trace, ...]
    replay_path: Path
    extract_path: Path | None
    repair: bool
    origin: LocalProjection
    every_seconds: int
    times_seconds: FloatArray
    points: FloatArray
    notes: tuple[str, ...]


def made_up_material(folder: Path) -> Material:
    """The made-up week, written to ``folder`` as a table."""
    trace = made_up_week()
    path = folder / MADE_UP_NAME
    _write(path, trace)
    note = f"{MADE_UP_NAME}: a made-up week, nobody lived it; 5 s fixes with a receiver's error"
    return _material((trace,), path, None, "a made-up week", (note,), repair=False, made_up=True)


def own_material(path: Path, folder: Path, *, repair: bool) -> Material:
    """The user's own file, cut down where it is longer than the demonstration can show.

    Raises:
        FormatError: the file cannot be used; the message names the line and the fault.
        PrecomputeError: it holds too little for even a few releases.
    """
    with naming_way_out(BY_OPTION):
        file = read_traces(path, repair=repair)
    kept, note = _cut(file.traces)
    extract = None
    if note:
        extract = folder / EXTRACT_NAME
        _write(extract, kept[0])
    notes = (*file.notes, *((note,) if note else ()))
    return _material(kept, extract or path, extract, path.name, notes, repair=repair, made_up=False)


def _write(path: Path, trace: Trace) -> None:
    """As a table that only its owner can read."""
    path.touch(mode=0o600)
    write_csv(trace, path)


def _material(
    traces: tuple[Trace, ...],
    replay_path: Path,
    extract_path: Path | None,
    title: str,
    notes: tuple[str, ...],
    *,
    repair: bool,
    made_up: bool,
) -> Material:
    times, latitude, longitude = _merged(traces)
    origin = _within_reach(_public_origin(latitude, longitude), latitude, longitude)
    near = np.hypot(*origin.forward(latitude, longitude)) <= origin.reach_metres
    if not bool(np.all(near)):
        notes = (
            *notes,
            f"left out: {int(np.sum(~near))} fixes over {origin.reach_metres / 1000:g} km from the "
            "middle of the recording, which the agent refuses there",
        )
        times, latitude, longitude = times[near], latitude[near], longitude[near]
    every = _cadence(times)
    slots = steady_slots(times, every * 1000)
    if slots.times_ms.size < LEAST_RELEASES:
        raise PrecomputeError(
            f"{title}: {times.size} fixes give {slots.times_ms.size} releases, one every "
            f"{format_duration(every)}; expected at least {LEAST_RELEASES}; take a longer trace"
        )
    east, north = origin.forward(latitude[slots.fixes], longitude[slots.fixes])
    return Material(
        title=title,
        made_up=made_up,
        traces=traces,
        replay_path=replay_path,
        extract_path=extract_path,
        repair=repair,
        origin=origin,
        every_seconds=every,
        times_seconds=slots.times_ms / 1000.0,
        points=np.column_stack([east, north]),
        notes=notes,
    )


def _merged(traces: Sequence[Trace]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """All fixes in the order of their times, as the agent replays them."""
    times = np.concatenate([trace.times_seconds for trace in traces])
    order = np.argsort(times, kind="stable")
    latitude = np.concatenate([trace.latitude for trace in traces])[order]
    longitude = np.concatenate([trace.longitude for trace in traces])[order]
    times = times[order]
    # Where two traces have a fix at one time, the agent keeps the first.
    fresh = np.concatenate([[True], np.diff(np.round(times * 1000.0)) > 0])
    return times[fresh], latitude[fresh], longitude[fresh]


def _cadence(times: FloatArray) -> int:
    """Short recordings are released every 10 s, longer ones every 30 or 60 s."""
    choices = EVERY_SECONDS if times[-1] - times[0] <= SHORT_SECONDS else EVERY_SECONDS[1:]
    for every in choices:
        if count_steady_slots(times, every * 1000) <= MOST_RELEASES:
            return every
    return EVERY_SECONDS[-1]


def _cut(traces: tuple[Trace, ...]) -> tuple[tuple[Trace, ...], str]:
    """The traces, or as much of their beginning as the demonstration can show, and a note."""
    times, latitude, longitude = _merged(traces)
    every = EVERY_SECONDS[-1]
    slots = steady_slots(times, every * 1000)
    if slots.times_ms.size <= MOST_RELEASES:
        return traces, ""
    end = max(2, int(slots.fixes[MOST_RELEASES]))
    days = (times[end - 1] - times[0]) / 86400.0
    note = (
        f"taken: the first {end} of {times.size} fixes ({days:.1f} days), for at most "
        f"{MOST_RELEASES} releases, one every {format_duration(every)}"
    )
    kept = Trace("beginning", times[:end].copy(), latitude[:end].copy(), longitude[:end].copy())
    return (kept,), note


def _public_origin(latitude: FloatArray, longitude: FloatArray) -> LocalProjection:
    """Rounded to half a degree, about 50 km: it is published and must not show where home is."""
    turns = np.radians(longitude)
    middle = math.degrees(math.atan2(np.mean(np.sin(turns)), np.mean(np.cos(turns))))
    return LocalProjection(_half(float(np.median(latitude))), _half(middle))


def _within_reach(
    origin: LocalProjection, latitude: FloatArray, longitude: FloatArray
) -> LocalProjection:
    """The origin with a range that holds the recording, in whole steps of 50 km up to 1,000."""
    farthest = float(np.max(np.hypot(*origin.forward(latitude, longitude))))
    to_the_last = (MAX_ORIGIN_LATITUDE - abs(origin.latitude)) * LEAST_METRES_PER_DEGREE
    steps = min(
        math.ceil(1.05 * farthest / RANGE_STEP_METRES),
        MOST_RANGE_STEPS,
        math.floor(to_the_last / RANGE_STEP_METRES),
    )
    reach = RANGE_STEP_METRES * max(steps, 1)
    return LocalProjection(origin.latitude, origin.longitude, reach)


def _half(degrees: float) -> float:
    return round(2.0 * degrees) / 2.0 + 0.0  # adding 0 turns -0.0 into 0.0
