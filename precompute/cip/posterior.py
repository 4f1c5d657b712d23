"""What the release leaves unknown: the numerics under every loss.

Prior ``x ~ N(any mean, S)``, release ``z = x + g``, noise ``g ~ N(0, G)``. Two facts shape this
module. Smooth priors are singular to working precision, so S is never inverted. And good noise for
few secrets has low rank, so S + G may be singular as well. Nothing is regularised silently: where
a singular prior has to be divided by, its eigenvalues below ``rows * ROUNDING`` of the largest are
taken to *be* that value, i.e. the answer is exact for a prior that differs from the given one by
less than its own rounding.

Two routes, chosen by the condition of S + G with unit diagonal:

* well conditioned: ``V = S - S (S+G)^-1 S = G - G (S+G)^-1 G``, whichever cancels less;
* otherwise, with ``G = F F^T``, ``S = L L^T``, ``T = L^-1 F``: ``V = F (I + T^T T)^-1 F^T``, a sum
  of squares, which cannot cancel.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from agent.formats.designs import FloatArray
from precompute.cip.factors import eigen_factor
from precompute.cip.rounding import ROUNDING
from precompute.errors import PriorError

WELL_CONDITIONED = 1e-11
SECRET_CONDITION_LIMIT = 1e11
# Posterior variances this far below both prior and noise have lost their digits to cancellation.
CANCELLED = 1e-6
# A share of a direction that is more than what rounding can have put there.
OUTSIDE_THE_RANGE = 1e-7


@dataclass(frozen=True, slots=True)
class PosteriorVariances:
    """For every reading by itself: prior variance, posterior variance, information K, each (n,)."""

    prior: FloatArray
    posterior: FloatArray
    information: FloatArray


def posterior_variances(prior_cov: FloatArray, noise_cov: FloatArray) -> PosteriorVariances:
    """All readings at once from one factorisation. K is infinite where nothing is left unknown."""
    variance = np.diagonal(prior_cov).copy()
    require_uncertain(variance)
    triangle = _well_conditioned_cholesky(prior_cov + noise_cov)
    if triangle is not None:
        explained = _column_squares(triangle, prior_cov)
        noise = np.diagonal(noise_cov)
        posterior = np.where(
            noise < variance, noise - _column_squares(triangle, noise_cov), variance - explained
        )
        if bool(np.all(posterior > CANCELLED * np.minimum(noise, variance))):
            # 1/V - 1/S = (S - V)/(S V), where S - V is itself a square.
            return PosteriorVariances(variance, posterior, explained / (variance * posterior))
    half = _posterior_half(prior_cov, noise_cov)
    posterior = np.einsum("ij,ij->i", half, half)
    unknown = posterior > ROUNDING * len(variance) * float(np.max(variance))
    information = np.full_like(variance, np.inf)
    information[unknown] = 1.0 / posterior[unknown] - 1.0 / variance[unknown]
    return PosteriorVariances(variance, posterior, np.maximum(information, 0.0))


def posterior_covariance(prior_cov: FloatArray, noise_cov: FloatArray) -> FloatArray:
    """Var[x | z], (n, n)."""
    triangle = _well_conditioned_cholesky(prior_cov + noise_cov)
    if triangle is None:
        half = _posterior_half(prior_cov, noise_cov)
        whole: FloatArray = half @ half.T
        return whole
    less_prior = float(np.trace(prior_cov)) <= float(np.trace(noise_cov))
    outer = prior_cov if less_prior else noise_cov
    solved = scipy.linalg.solve_triangular(triangle, outer, lower=True, check_finite=False)
    left: FloatArray = outer - solved.T @ solved
    return left


def regression(prior_cov: FloatArray, secret: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """How the whole trace follows a secret, and what the secret does not determine.

    Returns:
        directions: (n, S), ``S_:s S_ss^-1``; the identity on the secret's own rows.
        conditional: (n, n), Var[x | x_s]; zero on the secret's rows and columns.

    Raises:
        PriorError: a reading of the secret is certain, or its readings determine each other to
            working precision.
    """
    index = np.array(secret)
    block = prior_cov[np.ix_(index, index)]
    require_uncertain(np.diagonal(block))
    condition = float(np.linalg.cond(block))
    if not condition <= SECRET_CONDITION_LIMIT:
        raise PriorError(
            f"refused the secret {list(secret)}: its readings determine each other to working "
            f"precision (condition {condition:.2g}, expected at most {SECRET_CONDITION_LIMIT:g}); "
            "take fewer or more distant times"
        )
    triangle = np.linalg.cholesky(block)
    half = scipy.linalg.solve_triangular(triangle, prior_cov[index], lower=True)
    directions = scipy.linalg.solve_triangular(triangle, half, lower=True, trans="T").T
    directions[index] = np.eye(len(index))
    conditional = prior_cov - half.T @ half
    conditional[index] = 0.0
    conditional[:, index] = 0.0
    return np.ascontiguousarray(directions), conditional


def least_norm_squares(
    directions: FloatArray, conditional: FloatArray, noise_cov: FloatArray
) -> FloatArray:
    """``A^T (C + G)^-1 A``, (S, S); infinite where A leaves the range of C + G.

    When C + G is well conditioned a Cholesky solve does it. Otherwise, with ``C + G = [L F]
    [L F]^T``, it is the squared length of the least-norm y that solves ``[L F] y = A``: one QR
    factorisation, no cancellation, and half the digits lost of a solve with C + G itself.
    """
    triangle = _well_conditioned_cholesky(conditional + noise_cov)
    if triangle is not None:
        return _gram(scipy.linalg.solve_triangular(triangle, directions, lower=True))
    halves = np.hstack([_floored_factor(conditional), eigen_factor(noise_cov)])
    lengths = np.sqrt(np.einsum("ij,ij->i", halves, halves))
    size = directions.shape[1]
    if bool(np.any(lengths == 0)):
        return np.full((size, size), np.inf)
    halves /= lengths[:, None]
    wanted = directions / lengths[:, None]
    upper = scipy.linalg.qr(halves.T, mode="r", check_finite=False)[0]
    upper = upper[: len(lengths)]
    diagonal = np.abs(np.diagonal(upper))
    if len(upper) < len(lengths) or np.min(diagonal) <= ROUNDING * len(lengths):
        return _least_norm_in_range(halves, wanted)
    return _gram(scipy.linalg.solve_triangular(upper, wanted, trans="T"))


def _least_norm_in_range(halves: FloatArray, wanted: FloatArray) -> FloatArray:
    """The same when some readings determine others, as under a periodic prior over two periods.

    What of ``wanted`` lies outside the range is either rounding, and then counts as a singular
    value of rounding would make it count, or shows the secret without any noise.
    """
    left, lengths, _ = np.linalg.svd(halves, full_matrices=True)
    smallest = np.sqrt(ROUNDING * len(halves)) * lengths[0]
    padded = np.zeros(len(halves))
    padded[: len(lengths)] = lengths[: len(halves)]
    beyond = padded <= ROUNDING * len(halves) * lengths[0]
    seen = left.T @ wanted
    outside = np.linalg.norm(seen[beyond], axis=0)
    if bool(np.any(outside > OUTSIDE_THE_RANGE * np.linalg.norm(wanted, axis=0))):
        return np.full((wanted.shape[1], wanted.shape[1]), np.inf)
    return _gram(seen / np.where(beyond, smallest, padded)[:, None])


def _gram(columns: FloatArray) -> FloatArray:
    product: FloatArray = columns.T @ columns
    return product


def require_uncertain(variance: FloatArray) -> None:
    """A reading without prior variance is no secret."""
    if bool(np.any(variance <= 0)):
        first = int(np.argmax(variance <= 0))
        raise PriorError(
            f"refused the prior: reading {first} has the variance {variance[first]:g}, "
            "expected above 0; what is certain beforehand cannot be protected"
        )


def _well_conditioned_cholesky(total: FloatArray) -> FloatArray | None:
    diagonal = np.diagonal(total)
    if bool(np.any(diagonal <= 0)):
        return None
    scale = np.sqrt(diagonal)
    triangle, failed = lapack.dpotrf(total / np.outer(scale, scale), lower=1, clean=1)
    if failed:
        return None
    norm = float(np.max(np.sum(np.abs(total / np.outer(scale, scale)), axis=0)))
    reciprocal, _ = lapack.dpocon(triangle, norm, uplo="L")
    if reciprocal < WELL_CONDITIONED:
        return None
    scaled: FloatArray = triangle * scale[:, None]
    return scaled


def _column_squares(triangle: FloatArray, columns: FloatArray) -> FloatArray:
    solved = scipy.linalg.solve_triangular(triangle, columns, lower=True, check_finite=False)
    squares: FloatArray = np.einsum("ij,ij->j", solved, solved)
    return squares


def _posterior_half(prior_cov: FloatArray, noise_cov: FloatArray) -> FloatArray:
    """(n, m) H with ``H H^T = Var[x | z]`` by the second route."""
    values, vectors = np.linalg.eigh(prior_cov)
    floored = np.maximum(values, ROUNDING * len(values) * float(values[-1]))
    noise_half = eigen_factor(noise_cov)
    ratio = (vectors.T @ noise_half) / np.sqrt(floored)[:, None]
    stacked = np.vstack([np.eye(noise_half.shape[1]), ratio])
    upper = scipy.linalg.qr(stacked, mode="economic", check_finite=False)[1]
    half: FloatArray = scipy.linalg.solve_triangular(upper, noise_half.T, trans="T").T
    return half


def _floored_factor(conditional: FloatArray) -> FloatArray:
    """Square root of Var[x | x_s] with its eigenvalues off the secret floored at rounding."""
    free = np.flatnonzero(np.diagonal(conditional) != 0.0)
    half = np.zeros((len(conditional), len(free)))
    if len(free) == 0:
        return half
    values, vectors = np.linalg.eigh(conditional[np.ix_(free, free)])
    floor = ROUNDING * len(conditional) * max(float(values[-1]), 0.0)
    half[free] = vectors * np.sqrt(np.maximum(values, floor))
    return half
