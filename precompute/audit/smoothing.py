"""The smoother: what a Gaussian attacker concludes about a trace from its release.

The attacker knows the noise covariance Γ exactly, assumes a kernel Σ for the trace and nothing
at all about its mean (a flat prior: universal kriging). From the release z on one axis, with
``P = M⁻¹ − M⁻¹1(1ᵀM⁻¹1)⁻¹1ᵀM⁻¹`` and ``M = Σ + Γ``:

    mean    m = 1ᵀM⁻¹z / 1ᵀM⁻¹1          (generalised least squares)
    trace   x̂ = m1 + ΣM⁻¹(z − m1) = W z,  W = 11ᵀM⁻¹/(1ᵀM⁻¹1) + ΣP

and the restricted log-likelihood ``−½[zᵀPz + log|M| + log 1ᵀM⁻¹1 + (n−1) log 2π]`` by which an
honest attacker picks Σ (Harville, 1974; the derivation is two lines of Gaussian conditioning).
Σ and Γ enter once; many traces released at the same times share them.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from agent.formats.designs import FloatArray
from precompute.errors import PriorError


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Smoother:
    """A linear attacker for one set of release times.

    Attributes:
        weights: (n, n) W above; rows sum to one.
        projection: (n, n) P above; ``P 1 = 0``.
        log_determinant: log|M| + log(1ᵀM⁻¹1).
        jitter: what had to be added to M's diagonal to factorise it (0 where nothing was).
    """

    weights: FloatArray
    projection: FloatArray
    log_determinant: float
    jitter: float

    def reconstruct(self, released: FloatArray) -> FloatArray:
        """(..., n, axes) release -> (..., n, axes) reconstruction, same unit."""
        return _apply(self.weights, released)

    def log_likelihood(self, released: FloatArray) -> FloatArray:
        """(..., n, axes) release -> (...) restricted log-likelihood, summed over axes."""
        n, axes = released.shape[-2:]
        quadratic = np.sum(released * _apply(self.projection, released), axis=(-2, -1))
        constant = self.log_determinant + (n - 1) * math.log(2.0 * math.pi)
        return np.asarray(-0.5 * (quadratic + axes * constant))


def build_smoother(prior_covariance: FloatArray, noise_covariance: FloatArray) -> Smoother:
    """The smoother for a kernel's (n, n) covariance and the noise's, on one axis.

    Raises:
        PriorError: the shapes differ, or the sum is not a covariance.
    """
    if prior_covariance.shape != noise_covariance.shape or prior_covariance.ndim != 2:
        raise PriorError(
            f"covariances have the shapes {prior_covariance.shape} and {noise_covariance.shape}; "
            "expected two square ones of one size"
        )
    total = prior_covariance + noise_covariance
    inverse, log_determinant, jitter = _invert(total)
    ones = np.ones(total.shape[0])
    column = inverse @ ones
    precision = float(ones @ column)
    projection = inverse - np.outer(column, column) / precision
    weights = np.outer(ones, column / precision) + prior_covariance @ projection
    return Smoother(weights, projection, log_determinant + math.log(precision), jitter)


def _apply(matrix: FloatArray, traces: FloatArray) -> FloatArray:
    """(n, n) on (..., n, axes): one large product instead of many thin ones."""
    stacked = np.moveaxis(traces, -2, 0)
    product = matrix @ stacked.reshape(stacked.shape[0], -1)
    return np.asarray(np.moveaxis(product.reshape(stacked.shape), 0, -2))


def _invert(total: FloatArray) -> tuple[FloatArray, float, float]:
    """Inverse, log-determinant and the jitter used, by Cholesky.

    A smooth kernel with noise of its own shape is singular in floating point; the least power
    of ten that makes it factorise weakens the attacker by less than the release's own grid.
    """
    n = total.shape[0]
    scale = float(np.mean(np.diag(total)))
    if not (math.isfinite(scale) and scale > 0):
        raise PriorError("a covariance with no variance; expected some in the prior or the noise")
    for relative in (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9):
        jitter = relative * scale
        try:
            factor = cho_factor(total + jitter * np.eye(n), lower=True)
        except LinAlgError:
            continue
        log_determinant = 2.0 * float(np.sum(np.log(np.diag(factor[0]))))
        return np.asarray(cho_solve(factor, np.eye(n))), log_determinant, jitter
    raise PriorError(
        "prior plus noise is not positive definite; check the kernel and the noise covariance"
    )
