"""The last word on a window's noise: its worst information over axes and all kernels checked.

Besides the information of prior and noise as computed, what holds in exact arithmetic for readings
that carry an independent error of ``error_variance`` (:mod:`precompute.cip.working_precision`).
"""

import math
from collections.abc import Sequence

from agent.formats.designs import FloatArray
from precompute.cip.compound import tight_square
from precompute.cip.loss import information_matrix
from precompute.cip.window_evaluation import worst_ratio
from precompute.cip.window_problem import window_problem
from precompute.cip.window_solution import WindowSolution
from precompute.cip.working_precision import information_upper
from precompute.errors import DesignError

MAX_STRETCHES = 60


def worst_information(  # noqa: PLR0917 - everything that a limit must hold for
    priors: Sequence[FloatArray],
    secrets: tuple[tuple[int, ...], ...] | None,
    noise_cov: FloatArray,
    axes: int,
    error_variance: float,
    weights: tuple[float, ...] = (),
) -> float:
    """Largest ``max d^T K d / weight`` over secrets and priors, moves of at most 1 a reading.

    On several axes a reading moves within a ball. ``K <= diag(d)`` on one axis gives the same for
    independent axes alike, so the sum of d bounds the worst move of a compound secret there.
    """
    if weights:
        assert secrets is not None
        return max(
            worst_information(priors, alike, noise_cov, axes, error_variance) / weight
            for weight in sorted(set(weights))
            if (alike := tuple(s for s, w in zip(secrets, weights, strict=True) if w == weight))
        )
    worst = 0.0
    for prior in priors:
        problem = window_problem(prior, "all" if secrets is None else secrets)
        worst = max(worst, worst_ratio(problem, noise_cov))
        if axes > 1:
            for secret in secrets or ():
                if len(secret) > 1:
                    matrix = information_matrix(prior, secret, noise_cov)
                    worst = max(worst, tight_square(matrix).value)
    return max(worst, exact_information(priors, secrets, noise_cov, error_variance))


def exact_information(
    priors: Sequence[FloatArray],
    secrets: tuple[tuple[int, ...], ...] | None,
    noise_cov: FloatArray,
    error_variance: float,
) -> float:
    """An upper bound over all these priors that rests on no rounding."""
    return max(information_upper(prior, secrets, noise_cov, error_variance) for prior in priors)


def lifted_to(
    limit: float | None,
    priors: Sequence[FloatArray],
    secrets: tuple[tuple[int, ...], ...] | None,
    solution: WindowSolution,
    error_variance: float,
) -> tuple[WindowSolution, float]:
    """The noise, multiplied by the little that the limit may lack in exact arithmetic.

    What the solution says of itself is stated anew, for the noise and the limit that ship.

    Returns:
        The solution and its worst information, the larger of both kinds.

    Raises:
        DesignError: it takes more than a little.
    """
    factor = 1.0
    for _ in range(MAX_STRETCHES):
        half = math.sqrt(factor) * solution.factor
        exact = exact_information(priors, secrets, half @ half.T, error_variance)
        if limit is None or exact <= limit:
            worst = max(exact, solution.worst_information)
            return solution.restated(factor, worst, limit), worst
        if not exact <= 2.0 * limit:
            break
        factor *= exact / limit * (1 + 1e-9)
    raise DesignError(
        "the limit does not hold in exact arithmetic: the grid is too fine, or the prior's "
        "variance too large, for float64; take a coarser grid"
    )


def stretched_to(  # noqa: PLR0917 - everything that the limit must hold for
    limit: float,
    priors: Sequence[FloatArray],
    secrets: tuple[tuple[int, ...], ...] | None,
    solution: WindowSolution,
    axes: int,
    error_variance: float,
    weights: tuple[float, ...] = (),
) -> tuple[WindowSolution, float]:
    """The noise, multiplied until the limit holds for all of this, and the worst information then.

    More noise only ever lowers K, and K falls no faster than in proportion.

    Raises:
        DesignError: it never holds.
    """
    factor = 1.0
    for _ in range(MAX_STRETCHES):
        noise = factor * solution.noise_cov
        worst = worst_information(priors, secrets, noise, axes, error_variance, weights)
        if worst <= limit:
            return solution.restated(factor, worst, limit), worst
        if not math.isfinite(worst):
            break
        factor *= worst / limit * (1 + 1e-12)
    raise DesignError(
        "the noise found does not cover what lies between the kernels it was designed for; "
        "narrow the ranges of the prior, add a floor, or use kind: stream"
    )
