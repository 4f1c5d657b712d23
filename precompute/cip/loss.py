"""The exact loss of any secret under any Gaussian noise.

For two hypotheses about the readings of a secret that differ by ``d`` the Rényi divergence of
order ``a`` between the two releases is ``(a/2) d^T K d`` with::

    K = Var[x_s | z]^-1 - Var[x_s]^-1 = A^T (C + G)^-1 A

where A says how the whole trace follows the secret, C is what the secret leaves open, and G is the
noise covariance (docs/theory.md, "The exact loss"; it generalises Theorem 3.4 of Meehan &
Chaudhuri 2021 to every G). K does not depend on the prior's mean, so the adversary may have any.
"""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias, overload

import numpy.typing as npt

from agent.formats.designs import FloatArray
from precompute.cip import posterior
from precompute.cip.accounting import require_order
from precompute.cip.compound import Bound, worst_square
from precompute.cip.covariance import checked_covariance, checked_secret
from precompute.errors import DesignError

Secret: TypeAlias = int | Sequence[int]
LossBound = Literal["exact", "tight", "paper"]


@overload
def information(prior_cov: npt.ArrayLike, secret: int, noise_cov: npt.ArrayLike) -> float: ...
@overload
def information(
    prior_cov: npt.ArrayLike, secret: Sequence[int], noise_cov: npt.ArrayLike
) -> float | FloatArray: ...
def information(
    prior_cov: npt.ArrayLike, secret: Secret, noise_cov: npt.ArrayLike
) -> float | FloatArray:
    """K of a secret, in 1/unit^2.

    Args:
        prior_cov: (n, n), may be singular to working precision.
        secret: one index, or the indices of a compound secret.
        noise_cov: (n, n), may be singular too; K is infinite where it hides nothing.

    Returns:
        A number for one index, else (S, S) in the order of ``secret``.

    Raises:
        PriorError: not covariances. DesignError: not a secret of this trace.
    """
    matrix = information_matrix(prior_cov, secret, noise_cov)
    return float(matrix[0, 0]) if matrix.size == 1 else matrix


def information_matrix(
    prior_cov: npt.ArrayLike, secret: Secret, noise_cov: npt.ArrayLike
) -> FloatArray:
    """As `information`, (S, S) for any number of indices."""
    prior, noise = _checked_pair(prior_cov, noise_cov)
    directions, conditional = posterior.regression(prior, checked_secret(secret, len(prior)))
    return posterior.least_norm_squares(directions, conditional, noise)


def basic_informations(prior_cov: npt.ArrayLike, noise_cov: npt.ArrayLike) -> FloatArray:
    """K of every reading by itself, (n,), from one factorisation of prior plus noise."""
    prior, noise = _checked_pair(prior_cov, noise_cov)
    return posterior.posterior_variances(prior, noise).information


@overload
def posterior_variance(
    prior_cov: npt.ArrayLike, secret: int, noise_cov: npt.ArrayLike
) -> float: ...
@overload
def posterior_variance(
    prior_cov: npt.ArrayLike, secret: Sequence[int], noise_cov: npt.ArrayLike
) -> float | FloatArray: ...
def posterior_variance(
    prior_cov: npt.ArrayLike, secret: Secret, noise_cov: npt.ArrayLike
) -> float | FloatArray:
    """Var[x_s | z], what an observer who knows prior and noise is left with; shapes as above."""
    prior, noise = _checked_pair(prior_cov, noise_cov)
    index = list(checked_secret(secret, len(prior)))
    block = posterior.posterior_covariance(prior, noise)[index][:, index]
    return float(block[0, 0]) if block.size == 1 else block


def loss(  # noqa: PLR0917 - a stable public signature, in the order the theory names things
    prior_cov: npt.ArrayLike,
    secret: Secret,
    noise_cov: npt.ArrayLike,
    radius: float,
    order: float,
    bound: LossBound = "exact",
) -> float:
    """Rényi loss epsilon of a secret on one axis.

    Args:
        prior_cov, secret, noise_cov: as for `information`.
        radius: hypotheses differ by at most this at each time of the secret (unit).
        order: Rényi order, above 1; the loss is linear in it.
        bound: for a compound secret ``exact`` (up to 16 times), ``tight`` (certified upper bound
            from a dual) or ``paper`` (S r^2 times the largest eigenvalue of K). exact <= tight <=
            paper. For one time the three agree.

    Raises:
        DesignError: radius not positive, order not in (1, infinity), too many times for ``exact``.
        PriorError: not covariances.
    """
    require_order(order)
    if not (math.isfinite(radius) and radius > 0):
        raise DesignError(f"refused radius: found {radius:g}, expected a finite number above 0")
    matrix = information_matrix(prior_cov, secret, noise_cov)
    chosen: Bound = worst_square(matrix, bound)
    return 0.5 * order * radius * radius * chosen.value


def _checked_pair(
    prior_cov: npt.ArrayLike, noise_cov: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    prior = checked_covariance(prior_cov).matrix
    noise = checked_covariance(noise_cov, "noise covariance").matrix
    if prior.shape != noise.shape:
        raise DesignError(
            f"refused the noise covariance: found the shape {noise.shape}, "
            f"expected {prior.shape} as for the prior"
        )
    return prior, noise
