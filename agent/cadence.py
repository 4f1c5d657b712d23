"""When a channel releases: at fixed times, or with every reading.

Steady slots lie at whole multiples of ``every`` since 1970, whatever the person does: a slot's
release carries the slot's own time and the last reading at or before it. Nobody who sees the
times learns anything but that the device was on.

A reading is *fresh* for one slot only. While no other comes, later slots up to ``hold`` after it
are *held*: what they release for it must not be a second noise for the same reading, because a
position that stands still in steps is not what the noise was designed for, and its average would
find it. The channel says what it does instead.

Event cadence releases every reading at its own time. It leaks when and how often the person or
the sensor changes, and is for those who accept that.

Nothing here looks at a clock: readings' own times drive a replay, and :func:`pass_time` lets a
wall clock drive a live source later.
"""

from dataclasses import dataclass, replace

from agent.formats.errors import FormatError
from agent.readings import Reading

LATE = "out of order"
COVERED = "at or before the last release"
STALE = "slots without a recent reading"
MAX_HELD_SLOTS = 100_000
# How many slots late a reading that was never used may be: a live source's fix arrives after the
# slot it was meant for, and serves the next. Older ones are history, not where somebody is.
LATENESS = 2


@dataclass(frozen=True, slots=True)
class CadenceSettings:
    """``every_ms`` is None for event cadence, and ``hold_ms`` then plays no part.

    ``hold_ms`` 0: a slot without a fresh reading releases nothing.
    """

    every_ms: int | None
    hold_ms: int = 0

    def __post_init__(self) -> None:
        if self.every_ms is None:
            return
        if self.every_ms < 1:
            raise FormatError("every is below one millisecond; give a longer time")
        if self.hold_ms and not self.every_ms <= self.hold_ms <= MAX_HELD_SLOTS * self.every_ms:
            raise FormatError(
                f"hold is {self.hold_ms / 1000:g} s; expected one to {MAX_HELD_SLOTS} times "
                f"'every', which is {self.every_ms / 1000:g} s, or leave it out"
            )


@dataclass(frozen=True, slots=True)
class Due:
    """One release to make: its public time, and the reading that stands for that time.

    ``fresh``: no earlier slot had this reading.
    """

    time_ms: int
    reading: Reading
    fresh: bool


@dataclass(frozen=True, slots=True)
class CadenceState:
    """What has been seen and decided; times up to ``decided_ms`` never come due again.

    ``resumed_ms`` is the last release of an earlier run: readings up to it had their turn then.
    ``used``: a slot has had the last reading.
    """

    last: Reading | None = None
    used: bool = False
    decided_ms: int | None = None
    resumed_ms: int | None = None


def resume(last_release_ms: int | None) -> CadenceState:
    """The state to begin with, after an earlier run or none."""
    return CadenceState(decided_ms=last_release_ms, resumed_ms=last_release_ms)


@dataclass(frozen=True, slots=True)
class Decision:
    """What became due, how many slots or readings were passed over and why, and what follows."""

    due: tuple[Due, ...]
    passed_over: tuple[tuple[str, int], ...]
    state: CadenceState


def take_reading(settings: CadenceSettings, state: CadenceState, reading: Reading) -> Decision:
    """A reading arrives: everything before its time is decided, then its own time."""
    if state.last is not None and reading.time_ms <= state.last.time_ms:
        return Decision((), ((LATE, 1),), state)
    seen = replace(state, last=reading)
    covered = state.resumed_ms is not None and reading.time_ms <= state.resumed_ms
    if settings.every_ms is None:
        if covered:
            return Decision((), ((COVERED, 1),), seen)
        due = Due(reading.time_ms, reading, fresh=True)
        return Decision((due,), (), replace(seen, decided_ms=reading.time_ms))
    before = pass_time(settings, state, reading.time_ms - 1)
    at = pass_time(settings, replace(before.state, last=reading, used=covered), reading.time_ms)
    passed_over = before.passed_over + at.passed_over + (((COVERED, 1),) if covered else ())
    return Decision(before.due + at.due, passed_over, at.state)


def pass_time(settings: CadenceSettings, state: CadenceState, now_ms: int) -> Decision:
    """Decides every steady slot up to and including ``now_ms`` that is still open."""
    every = settings.every_ms
    if every is None or (state.decided_ms is not None and now_ms <= state.decided_ms):
        return Decision((), (), state)
    if state.last is None:
        # Slots before the first reading of a run are not stale: the device was not measuring.
        return Decision((), (), replace(state, decided_ms=now_ms))
    decided = state.last.time_ms - 1 if state.decided_ms is None else state.decided_ms
    first = (decided // every + 1) * every
    final = now_ms // every * every
    if first > final:
        return Decision((), (), replace(state, decided_ms=max(decided, now_ms)))
    usable = min(final, (state.last.time_ms + settings.hold_ms) // every * every)
    if not state.used and first - state.last.time_ms <= max(settings.hold_ms, LATENESS * every):
        usable = max(usable, first)
    due = tuple(
        Due(slot, state.last, fresh=not state.used and slot == first)
        for slot in range(first, usable + 1, every)
    )
    stale = (final - max(usable, first - every)) // every
    after = replace(state, decided_ms=max(decided, now_ms), used=state.used or bool(due))
    return Decision(due, ((STALE, stale),) if stale else (), after)
