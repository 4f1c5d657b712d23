"""Transition matrices from data: counted, smoothed, and turned backward by Bayes.

What is learnt is an estimate of what an observer may know, not a bound on it: an observer with
other data may know the chain better. Laplace smoothing says how sure one may be of transitions
never seen; with none, a move that always happened counts as certain and the leakage may have no
bound.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from precompute.leakage.errors import LeakageError
from precompute.leakage.transition_matrices import (
    MAX_STATES,
    FloatArray,
    TransitionMatrix,
    backward_by_bayes,
)

ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What was learnt from sequences.

    Attributes:
        forward: Pr(next | now).
        backward: Pr(before | now), by Bayes with ``distribution``.
        distribution: (n,) share of each state among those that were left.
        transitions: how many pairs of successive steps were counted.
    """

    forward: TransitionMatrix
    backward: TransitionMatrix
    distribution: FloatArray
    transitions: int


def learn(runs: Sequence[Sequence[str]], smoothing: float, states: Sequence[str] = ()) -> Learned:
    """Count the transitions of uninterrupted runs of states.

    Args:
        runs: state names, one for each step; no step is missing within a run.
        smoothing: added to every count (Laplace), >= 0.
        states: the states and their order; those that occur, sorted, when not given.

    Raises:
        LeakageError: no transition, fewer than two or too many states, a negative smoothing, an
            unknown state, or without smoothing a state that is never left or never entered.
    """
    if not (np.isfinite(smoothing) and smoothing >= 0):
        raise LeakageError(f"smoothing: found {smoothing:g}; expected a number >= 0")
    names = tuple(states) or tuple(sorted({state for run in runs for state in run}))
    if not 2 <= len(names) <= MAX_STATES:
        raise LeakageError(
            f"learning: found {len(names)} different states; expected 2 to {MAX_STATES}"
        )
    index = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)))
    for run in runs:
        unknown = sum(state not in index for state in run)
        if unknown:
            raise LeakageError(
                f"learning: {unknown} steps are in a state that is not among the {len(names)} given"
            )
        rows = np.fromiter((index[state] for state in run), dtype=np.intp, count=len(run))
        np.add.at(counts, (rows[:-1], rows[1:]), 1.0)
    transitions = int(counts.sum())
    if transitions == 0:
        raise LeakageError("learning: no two successive steps; use a longer trace or longer steps")
    joint = counts + smoothing
    left = joint.sum(axis=1)
    if bool(np.any(left == 0)):
        raise LeakageError(
            f"learning: {int(np.sum(left == 0))} states are never left, so their row is unknown; "
            "use a smoothing above 0"
        )
    distribution = left / left.sum()
    forward = TransitionMatrix(joint / left[:, None], names)
    return Learned(forward, backward_by_bayes(forward, distribution), distribution, transitions)


def runs_on_grid(
    times_seconds: FloatArray,
    east_metres: FloatArray,
    north_metres: FloatArray,
    *,
    cell_metres: float,
    step_seconds: float,
    hold_seconds: float = 0.0,
) -> list[list[str]]:
    """Names of the cells of a trace, one for each step, broken where the trace is silent.

    The first fix in a step's time counts. A gap of at most ``hold_seconds`` is filled with the
    last cell. A cell is named by its south-west corner, in cells: ``e3n-2``.
    """
    if not (cell_metres > 0 and step_seconds > 0 and hold_seconds >= 0):
        raise LeakageError("learning: the cell and the step must be above zero, the hold not below")
    slots = np.floor(times_seconds / step_seconds).astype(np.int64)
    firsts = np.concatenate([[True], np.diff(slots) > 0])[: slots.size]
    slots = slots[firsts]
    east = np.floor(east_metres[firsts] / cell_metres).astype(np.int64).tolist()
    north = np.floor(north_metres[firsts] / cell_metres).astype(np.int64).tolist()
    names = [f"e{x}n{y}" for x, y in zip(east, north, strict=True)]
    return join_steps(slots, names, int(hold_seconds // step_seconds))


def join_steps(
    steps: npt.NDArray[np.int64], names: Sequence[str], hold_steps: int
) -> list[list[str]]:
    """Runs of states from numbered steps; up to ``hold_steps`` missing ones repeat the last."""
    runs: list[list[str]] = []
    last = None
    for step, name in zip(steps.tolist(), names, strict=True):
        if last is not None and step - last - 1 <= hold_steps:
            runs[-1].extend([runs[-1][-1]] * (step - last - 1))
            runs[-1].append(name)
        else:
            runs.append([name])
        last = step
    return runs


def keep_most_visited(
    runs: Sequence[Sequence[str]], most: int
) -> tuple[list[list[str]], tuple[str, ...]]:
    """Runs over the ``most - 1`` states seen longest and ``elsewhere``, and their names.

    ``elsewhere`` is always a state, so that a place never seen before has one at run time.
    """
    if not 2 <= most <= MAX_STATES:
        raise LeakageError(f"learning: found at most {most} states; expected 2 to {MAX_STATES}")
    seen = Counter(state for run in runs for state in run)
    ranked = sorted(seen, key=lambda state: (-seen[state], state))
    kept = set(ranked[: most - 1])
    merged = [[state if state in kept else ELSEWHERE for state in run] for run in runs]
    return merged, (*sorted(kept), ELSEWHERE)
