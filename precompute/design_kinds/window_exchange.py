"""Noise for a range of kernels: designed for a few, checked on many, the worst of which join.

The exchange method of semi-infinite programming (Hettich & Kortanek 1993, section 7). What is
proven for the few holds for the class, of which they are a part; each pass brings the noise nearer
to what the class needs.
"""

import time
from collections.abc import Callable, Sequence

from agent.formats.designs import FloatArray
from precompute.cip.window_solution import WindowSolution
from precompute.errors import DesignError

MAX_PASSES = 8
# No new pass after this; one pass on a large window may itself take as long.
MAX_SECONDS = 120.0
# The worst kernel checked may exceed the designed optimum by this part of it.
TOLERANCE = 1e-3
MOST_JOINING = 3


def exchanged(
    designed: Sequence[FloatArray],
    checked: Sequence[FloatArray],
    design: Callable[[Sequence[FloatArray]], WindowSolution],
    worst: Callable[[FloatArray, FloatArray], float],
) -> tuple[WindowSolution, tuple[FloatArray, ...]]:
    """Design, and design again with what the check found worst.

    Args:
        designed: covariances (n, n) to begin with.
        checked: those to check, neighbours beside each other.
        design: the solution for several covariances.
        worst: the worst information for a prior and a noise, in the measure of the solution.

    Returns:
        The last solution, and the covariances it was designed for.

    Raises:
        DesignError: there is none for those to begin with.
    """
    started = time.perf_counter()
    chosen = tuple(designed)
    taken: set[int] = set()
    for attempt in range(MAX_PASSES):
        try:
            solution, designed = design(chosen), chosen
        except DesignError:
            # More kernels are harder to solve for; the last pass still has its certificate, and
            # the final check covers what it lacks.
            if attempt == 0:
                raise
            break
        late = attempt == MAX_PASSES - 1 or time.perf_counter() - started > MAX_SECONDS
        if late or not checked:
            break
        found = [worst(prior, solution.noise_cov) for prior in checked]
        allowed = solution.worst_information * (1 + TOLERANCE)
        joining = [i for i in _peaks(found) if found[i] > allowed and i not in taken]
        if not joining:
            break
        joining = sorted(joining, key=lambda i: -found[i])[:MOST_JOINING]
        taken.update(joining)
        chosen += tuple(checked[i] for i in joining)
    return solution, tuple(designed)


def _peaks(values: Sequence[float]) -> list[int]:
    """Indices of the values that no neighbour exceeds."""
    last = len(values) - 1
    return [
        i
        for i, value in enumerate(values)
        if value >= values[max(i - 1, 0)] and value >= values[min(i + 1, last)]
    ]
