"""Sequences of states from text tables: one state a row, or intervals with a start and an end.

A log of intervals (:mod:`agent.formats.state_intervals`) is sampled every step, and between
intervals the state is ``none``. In any other table the last column is the state and each row is
the next step. Messages give line numbers, never what stands there.
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from agent.formats.documents import read_limited
from agent.formats.raw_rows import BY_OPTION, naming_way_out
from agent.formats.state_files import MAX_STATE_FILE_BYTES, NOTHING
from agent.formats.state_intervals import (
    Interval,
    parse_interval,
    read_intervals,
    split_rows,
    without_titles,
)
from precompute.leakage.errors import LeakageError

MAX_STEPS = 5_000_000


@dataclass(frozen=True, slots=True)
class StateLog:
    """Uninterrupted runs of states, and what the user should know about how they were read."""

    runs: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def read_states(path: Path, *, step_seconds: float, repair: bool = False) -> StateLog:
    """The states of a file.

    Args:
        path: the table.
        step_seconds: how often a log of intervals is sampled.
        repair: drop intervals that end before they start or overlap an earlier one.

    Raises:
        FormatError: the file cannot be read, or holds intervals that need ``repair``.
        LeakageError: it holds no states, or too many steps.
    """
    try:
        text = read_limited(path, MAX_STATE_FILE_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LeakageError(f"{path}: not UTF-8 text; expected a table of states") from None
    rows = without_titles(split_rows(enumerate(text.splitlines(), start=1)))
    if not rows:
        raise LeakageError(f"{path}: no states; expected one state a row, or start, end, state")
    if parse_interval(rows[0][1]) is None:
        return StateLog((tuple(cells[-1] for _, cells in rows),), ())
    with naming_way_out(BY_OPTION):
        intervals, dropped = read_intervals(rows, str(path), repair=repair)
    notes = (f"{path.name}: {dropped} intervals dropped",) if dropped else ()
    return StateLog((_sampled(path, intervals, step_seconds),), notes)


def _sampled(path: Path, kept: tuple[Interval, ...], step_seconds: float) -> tuple[str, ...]:
    step = timedelta(seconds=step_seconds)
    total = int((kept[-1].end - kept[0].start) / step) + 1
    if total > MAX_STEPS:
        raise LeakageError(f"{path}: {total} steps; at most {MAX_STEPS}: use a longer --step")
    states: list[str] = []
    place = 0
    for number in range(total):
        now = kept[0].start + number * step
        while place + 1 < len(kept) and kept[place + 1].start <= now:
            place += 1
        states.append(kept[place].state if now < kept[place].end else NOTHING)
    return tuple(states)
