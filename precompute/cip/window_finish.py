"""The last step of a window design: scale exactly to what was asked, and drop idle directions."""

import numpy as np
import scipy.optimize

from agent.formats.designs import FloatArray
from precompute.cip.window_evaluation import worst_ratio
from precompute.cip.window_problem import WindowProblem


def scaled_to_power(problem: WindowProblem, noise: FloatArray, total_power: float) -> FloatArray:
    """The part above the floor stretched so that the trace is ``total_power``."""
    floor = np.zeros_like(noise) if problem.floor is None else problem.floor
    above = noise - floor
    scale = (total_power - problem.floor_power) / float(np.trace(above))
    scaled: FloatArray = floor + scale * above
    return scaled


def scaled_to_limit(problem: WindowProblem, noise: FloatArray, limit: float) -> FloatArray:
    """The part above the floor shrunk or stretched until the worst ratio is the limit."""
    power = float(np.trace(noise)) - problem.floor_power

    def excess(log_scale: float) -> float:
        scaled = scaled_to_power(problem, noise, problem.floor_power + power * np.exp(log_scale))
        return float(np.log(worst_ratio(problem, scaled) / limit))

    low, high = -0.01, 0.01
    while excess(high) > 0:
        high *= 2.0
    while excess(low) < 0:
        low *= 2.0
        if low < -40.0:
            # The floor alone is enough.
            return scaled_to_power(problem, noise, problem.floor_power * (1 + 1e-12))
    root = scipy.optimize.brentq(excess, low, high, xtol=1e-9)
    return scaled_to_power(problem, noise, problem.floor_power + power * np.exp(root + 1e-9))


def can_shorten(problem: WindowProblem) -> bool:
    """Whether a shorter factor is worth looking for.

    The rank is at most the number of probes; designs with as many probes as readings need most
    of it, and a floor has its own rank.
    """
    probes = len(problem.secrets) * len(problem.priors)
    return problem.floor is None and not (problem.all_basic and probes >= problem.count)


def shortened(
    problem: WindowProblem, noise: FloatArray, limit: float | None, tolerance: float
) -> tuple[FloatArray, FloatArray | None]:
    """A noise of lower rank that is as good within a part of the tolerance, and its factor.

    The path ends with a full-rank noise whose small eigenvalues are only the barrier's trace.
    """
    if not can_shorten(problem):
        return noise, None
    power = float(np.trace(noise))
    values, vectors = np.linalg.eigh(noise)
    worst = worst_ratio(problem, noise)

    def of_rank(rank: int) -> FloatArray:
        half = vectors[:, -rank:] * np.sqrt(values[-rank:])
        scaled: FloatArray = half * np.sqrt(power / float(np.sum(half * half)))
        return scaled

    def good(rank: int) -> bool:
        half = of_rank(rank)
        return worst_ratio(problem, half @ half.T) <= worst * (1.0 + 0.2 * tolerance)

    low, high = 0, problem.count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    if high == problem.count:
        return noise, None
    half = of_rank(high)
    short = half @ half.T
    if limit is not None:
        short = scaled_to_limit(problem, short, limit)
        half *= np.sqrt(float(np.trace(short)) / power)
    return short, half
