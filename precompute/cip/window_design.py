"""Which noise to add to a window: the one entry point.

Two questions, one answer each: least worst information for a given power, or least power for given
limits. Closed forms are used where they are exact; everything else goes to the iterative solver.
Either way the answer is judged afresh (`window_evaluation`, `certificates`).
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from agent.formats.designs import FloatArray
from precompute.cip import window_closed_form as closed
from precompute.cip.certificates import Proof, prove
from precompute.cip.factors import causal_factor, lower_factor, shortest_factor
from precompute.cip.robustness import (
    fragility_clause,
    fragility_warning,
    lengthscale_sensitivity,
)
from precompute.cip.window_evaluation import worst_ratio
from precompute.cip.window_path import Progress
from precompute.cip.window_problem import Structure, WindowProblem, window_problem
from precompute.cip.window_solution import WindowSolution
from precompute.cip.window_solver import solve
from precompute.errors import DesignError

DEFAULT_TOLERANCE = 1e-3
# Beyond this ratio of variances nothing of the prior is left within float64 of the noise.
MOST_NOISE = 1e10
# With every reading a secret: how many times the loss may grow before there is a warning.
MOST_GROWTH = 2.0


@dataclass(frozen=True, slots=True)
class _Judged:
    """Noise with what was measured and proven about it."""

    noise: FloatArray
    half: FloatArray
    worst: float
    proof: Proof


def design_window(
    priors: npt.ArrayLike | Sequence[npt.ArrayLike],
    secrets: Literal["all"] | Sequence[int | Sequence[int]],
    *,
    mse: float | None = None,
    information_limit: npt.ArrayLike | None = None,
    floor: float = 0.0,
    structure: Structure = "free",
    white: float = 0.0,
    tolerance: float = DEFAULT_TOLERANCE,
    covariance_at: Callable[[float], npt.ArrayLike] | None = None,
    progress: Progress | None = None,
) -> WindowSolution:
    """Design the noise for a window on one axis.

    Args:
        priors: covariance (n, n) of the readings, or several that the guarantee must all cover.
        secrets: ``"all"``: every reading by itself; or lists of indices, each one secret.
        mse: noise power, average variance a reading (unit^2); the worst information is minimised.
        information_limit: K allowed (1/unit^2), one number or one a secret; power is minimised.
            For a compound secret it limits ``max d^T K d`` over moves of at most 1 a time.
        floor: least noise under everything, as a multiple of the (average) prior covariance.
        structure: ``free``, or ``block``: noise on the secrets' readings independent of the rest.
        white: variance of independent noise added on top of the design, beyond the budget; the
            squared grid of the release is a good choice (docs/theory.md, "Working precision").
        tolerance: relative gap at which the iterative solver stops.
        covariance_at: the prior covariances, (n, n) or (priors, n, n), for a multiple of the
            assumed lengthscales; with it, noise of low rank is tried at 0.5 and 1.5 of them and
            the warning has numbers.
        progress: called with a stage and the relative gap so far.

    Returns:
        The solution; its certificates do not depend on how it was found.

    Raises:
        DesignError: neither or both of mse and information_limit, not positive, below the floor.
        PriorError: not covariances.
    """
    started = time.perf_counter()
    if (mse is None) == (information_limit is None):
        raise DesignError("refused the design: expected exactly one of a budget and a limit")
    limits = None if information_limit is None else _limits(information_limit)
    problem = window_problem(priors, secrets, weights=limits, floor=floor, structure=structure)
    total_power = None if mse is None else _total_power(mse, problem)
    limit = None if limits is None else float(np.min(limits))
    if not (math.isfinite(white) and white >= 0):
        raise DesignError(f"refused white: found {white:g}, expected a variance of 0 or more")
    if closed.shaped_like_the_prior_is_optimal(problem):
        judged = _all_secrets(problem, total_power, limit)
    else:
        _require_attainable(problem, total_power, limit)
        candidate = _one_secret(problem, total_power, limit)
        if candidate is None:
            candidate = solve(problem, total_power, limit, tolerance, progress)
        judged = _judged(problem, candidate, limit)
    if white > 0:
        judged = _with_white(judged, white)
    return _solution(problem, judged, limit, started, _fragility(problem, judged, covariance_at))


def _require_attainable(
    problem: WindowProblem, total_power: float | None, limit: float | None
) -> None:
    """A limit on K needs at least the noise 1/K on the secret; a budget is checked alike."""
    variance = max(float(np.max(np.diagonal(prior))) for prior in problem.priors)
    needed = 1.0 / limit if limit is not None else (total_power or 0.0) / problem.count
    if needed > MOST_NOISE * variance:
        raise DesignError(
            f"refused the design: found noise of at least {needed / variance:.2g} times the "
            f"prior's variance, expected at most {MOST_NOISE:g} times: no noise in float64 does "
            "it; raise the limit, or check the units of radius and variance"
        )


def _with_white(judged: _Judged, white: float) -> _Judged:
    """More noise never reveals more, so what was measured without it remains an upper bound."""
    noise = judged.noise + white * np.eye(len(judged.noise))
    return _Judged(noise, lower_factor(noise), judged.worst, judged.proof)


def _fragility(
    problem: WindowProblem,
    judged: _Judged,
    covariance_at: Callable[[float], npt.ArrayLike] | None,
) -> tuple[str, str] | None:
    """The warning, and its clause for a guarantee, where noise of low rank leaves ways around it.

    Noise without a component in some direction hides nothing of a prior that has one there; the
    number of priors it was designed for does not matter. With every reading a secret the noise is
    spread as the prior is, and low rank need not cost much: there the figures decide.
    """
    if problem.floor is not None or judged.half.shape[1] == problem.count:
        return None
    growth = None
    if covariance_at is not None:
        growth = lengthscale_sensitivity(covariance_at, problem.secrets, judged.noise)
    if problem.every_reading_equally and (growth is None or max(growth.values()) <= MOST_GROWTH):
        return None
    several = len(problem.priors) > 1
    return fragility_warning(growth, several=several), fragility_clause(growth)


def _limits(information_limit: npt.ArrayLike) -> FloatArray:
    given = np.asarray(information_limit, dtype=np.float64)
    if given.size == 0 or not bool(np.all(np.isfinite(given) & (given > 0))):
        raise DesignError(
            "refused the limit on information: found one that is not above 0, which no noise "
            "meets; expected a finite number above 0"
        )
    return given


def _total_power(mse: float, problem: WindowProblem) -> float:
    if not (math.isfinite(mse) and mse > 0):
        raise DesignError(f"refused the budget: found {mse:g}, expected a finite number above 0")
    total = mse * problem.count
    if total <= problem.floor_power:
        raise DesignError(
            f"refused the budget: found {mse:g} a reading, expected above the floor's "
            f"{problem.floor_power / problem.count:.6g}; lower the floor or raise the budget"
        )
    return total


def _all_secrets(problem: WindowProblem, total_power: float | None, limit: float | None) -> _Judged:
    prior = problem.priors[0]
    trace = float(np.trace(prior))
    lowest = float(np.min(np.diagonal(prior)))
    if total_power is None:
        assert limit is not None
        # Rounded up, so that 1 / (scale variance) is at most the limit.
        scale = max((1.0 + 1e-12) / (limit * lowest), problem.floor_power / trace)
        total_power = scale * trace
    scale = total_power / trace
    candidate = closed.all_secrets(problem, total_power)
    worst = 1.0 / (scale * lowest)
    proof = prove(candidate.witnesses)
    # The factor is taken of the prior, so that it does not depend on the scale's rounding.
    half = shortest_factor(prior) * math.sqrt(scale)
    return _Judged(candidate.noise_cov, half, worst, proof)


def _one_secret(
    problem: WindowProblem, total_power: float | None, limit: float | None
) -> closed.Candidate | None:
    if len(problem.priors) > 1 or len(problem.secrets) > 1 or len(problem.secrets[0]) > 1:
        return None
    one = closed.OneSecret(problem) if problem.blocks is None else closed.OneSecretInBlocks(problem)
    if total_power is None:
        assert limit is not None
        total_power = closed.power_for(limit * (1 - 1e-12), one, problem.floor_power)
    return one.design(total_power)


def _judged(problem: WindowProblem, candidate: closed.Candidate, limit: float | None) -> _Judged:
    noise = candidate.noise_cov
    half = shortest_factor(noise) if candidate.half is None else causal_factor(candidate.half)
    worst = worst_ratio(problem, noise)
    for _ in range(20):
        if limit is None or worst <= limit:
            break
        # The last digits of a limit: more noise only ever lowers K.
        stretch = (worst / limit) * (1 + 1e-13)
        noise, half = noise * stretch, half * math.sqrt(stretch)
        worst = worst_ratio(problem, noise)
    proof = prove(candidate.witnesses, problem.floor, problem.blocks)
    return _Judged(noise, half, worst, proof)


def _solution(
    problem: WindowProblem,
    judged: _Judged,
    limit: float | None,
    started: float,
    fragility: tuple[str, str] | None,
) -> WindowSolution:
    warnings, clause = ((), "") if fragility is None else ((fragility[0],), fragility[1])
    noise, worst = judged.noise, judged.worst
    power = float(np.trace(noise))
    information_lower = judged.proof.ratio_lower(power)
    power_lower = judged.proof.power_lower(worst)
    gap = 1.0 - information_lower / worst if limit is None else 1.0 - power_lower / power
    return WindowSolution(
        noise_cov=noise,
        factor=judged.half,
        worst_information=worst,
        information_lower_bound=information_lower,
        noise_power=power / problem.count,
        power_lower_bound=power_lower / problem.count,
        gap=max(gap, 0.0),
        seconds=time.perf_counter() - started,
        proof=judged.proof,
        notes=warnings + problem.notes,
        fragile=clause,
    )
