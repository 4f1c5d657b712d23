"""The general window design: any secrets with their limits, any number of priors, floor, blocks.

Least power for given limits is one central path (`window_path`). Least worst information for a
given power is the same path at the limit that needs that power: the limit is moved while the path
is far from its end, and what is left is closed by restarting at what the certificate proves.
"""

import numpy as np

from precompute.cip.window_closed_form import Candidate
from precompute.cip.window_evaluation import worst_ratio
from precompute.cip.window_finish import can_shorten, scaled_to_limit, scaled_to_power, shortened
from precompute.cip.window_path import CentralPath, PathPoint, Progress
from precompute.cip.window_problem import WindowProblem
from precompute.errors import DesignError

_MAX_LIMITS = 12


def solve(
    problem: WindowProblem,
    total_power: float | None,
    limit: float | None,
    tolerance: float,
    progress: Progress | None = None,
) -> Candidate:
    """Least power for ``limit`` (relative to the problem's weights), or least ratio for a power.

    Raises:
        DesignError: the gap did not come down to the tolerance; says how far it came.
    """
    path = CentralPath(problem, progress)
    # The rest of the tolerance is left for the rescaling and the shorter factor at the end.
    inner = (0.5 if can_shorten(problem) else 0.8) * tolerance
    if limit is not None:
        point = path.follow(limit, inner)
        noise = scaled_to_limit(problem, point.noise, limit)
    else:
        assert total_power is not None
        try:
            point = _for_power(path, problem, total_power, inner)
        except DesignError:
            # A limit that moves under the path can lead it into a corner of the cone; a new path
            # for each of a few fixed limits takes longer and gets there.
            point = _by_fixed_limits(problem, total_power, inner, progress)
        noise = scaled_to_power(problem, point.noise, total_power)
    noise, half = shortened(problem, noise, limit, tolerance)
    return Candidate(noise, point.witnesses, half)


def _for_power(
    path: CentralPath, problem: WindowProblem, total_power: float, tolerance: float
) -> PathPoint:
    limit = path.ratio_at(total_power)
    gap, wanted = np.inf, 0.8 * tolerance
    for attempt in range(_MAX_LIMITS):
        point = path.follow(limit, wanted, total_power if attempt == 0 else None)
        lower = point.proof.ratio_lower(total_power)
        worst = worst_ratio(problem, scaled_to_power(problem, point.noise, total_power))
        gap = 1.0 - lower / worst
        if gap <= 1.2 * tolerance:
            return point
        wanted = 0.5 * tolerance
        limit = float(np.clip(lower, 0.2 * limit, 5.0 * limit)) * (1.0 + 0.25 * wanted)
    raise DesignError(
        f"refused the design: the proven gap is {gap:.2g} after {_MAX_LIMITS} rounds, expected "
        f"{tolerance:.2g}; raise the tolerance, or add a floor"
    )


def _by_fixed_limits(
    problem: WindowProblem, total_power: float, tolerance: float, progress: Progress | None
) -> PathPoint:
    """As `_for_power`, from the middle of the cone for every limit."""
    limit = CentralPath(problem, None).ratio_at(total_power)
    for _ in range(_MAX_LIMITS):
        point = CentralPath(problem, progress).follow(limit, 0.5 * tolerance)
        lower = point.proof.ratio_lower(total_power)
        worst = worst_ratio(problem, scaled_to_power(problem, point.noise, total_power))
        gap = 1.0 - lower / worst
        if gap <= 1.2 * tolerance:
            return point
        limit = float(np.clip(lower, 0.2 * limit, 5.0 * limit)) * (1.0 + 0.1 * tolerance)
    raise DesignError(
        f"refused the design: the proven gap is {gap:.2g} after {_MAX_LIMITS} limits, expected "
        f"{tolerance:.2g}; raise the tolerance, or add a floor"
    )
