"""The likelihood of a noisy, centred Gaussian process, maximised over all but its shape.

Model at n times: ``y ~ N(m 1, s (R + h I))`` with R the kernel's matrix at variance 1, mean m,
signal variance s and noise ratio h = noise variance / s. For one R everything else is cheap: with
``R = Q diag(e) Q'`` the best m and s are closed forms in h, and h is one number.

Derivation: for fixed (R, h) with ``V = R + h I``, setting the derivatives of the log density to 0
gives ``m = 1'V^-1 y / 1'V^-1 1`` (generalised least squares) and ``s = r'V^-1 r / n`` with
``r = y - m``; there the log-likelihood is ``-(n (log(2 pi s) + 1) + log det V) / 2``.
"""

import math
from dataclasses import dataclass

import numpy as np

from precompute.errors import PriorError
from precompute.priors.kernel_base import FloatArray

LEAST_NOISE_RATIO = 1e-8
"""Below it the matrix of a smooth kernel cannot be told from a singular one in float64."""
MOST_NOISE_RATIO = 1e4
"""Beyond it a record is noise; 1e2 would cost such records up to 0.1 nats."""
_RATIOS = np.geomspace(LEAST_NOISE_RATIO, MOST_NOISE_RATIO, 37)
_REFINEMENTS = 4


@dataclass(frozen=True, slots=True)
class Profile:
    """The best of all models that share one R; see the module."""

    mean: float
    signal_variance: float
    noise_ratio: float
    log_likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Eigenvalues (n,) and eigenvectors (n, n; columns) of one R, shared by all axes."""

    values: FloatArray
    vectors: FloatArray


def decompose(correlation: FloatArray) -> Spectrum:
    """Of a symmetric positive semidefinite matrix (n, n).

    Raises:
        PriorError: an eigenvalue is further below zero than rounding explains.
    """
    from scipy.linalg import eigh

    values, vectors = eigh(correlation, check_finite=False)
    if values[0] < -1e-9 * correlation.shape[0]:
        raise PriorError(
            f"a kernel's matrix has the eigenvalue {values[0]:.3g}; expected none below zero"
        )
    return Spectrum(np.maximum(values, 0.0), vectors)


def profile(spectrum: Spectrum, values: FloatArray) -> Profile:
    """Maximise over mean, signal variance and noise ratio.

    Args:
        spectrum: of R.
        values: (n,) observations, not all equal.

    Returns:
        The best ratio to about 2 % in h on a grid refined around its maximum; the error in the
        log-likelihood is second order in that.
    """
    centre = float(np.mean(values))
    data = spectrum.vectors.T @ (values - centre)
    ones = spectrum.vectors.sum(axis=0)
    ratios = _RATIOS
    for _ in range(_REFINEMENTS):
        best = int(np.argmax(_log_likelihoods(spectrum.values, data, ones, ratios)[0]))
        low, high = ratios[max(best - 1, 0)], ratios[min(best + 1, ratios.size - 1)]
        ratios = np.geomspace(low, high, 9)
    found, means, variances = _log_likelihoods(spectrum.values, data, ones, ratios)
    best = int(np.argmax(found))
    return Profile(
        mean=centre + float(means[best]),
        signal_variance=float(variances[best]),
        noise_ratio=float(ratios[best]),
        log_likelihood=float(found[best]),
    )


def _log_likelihoods(
    eigenvalues: FloatArray, data: FloatArray, ones: FloatArray, ratios: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-likelihoods, means and signal variances, (m,) each, for m noise ratios."""
    n = data.size
    total = eigenvalues + ratios[:, np.newaxis]
    weighted = ones / total
    means = weighted @ data / (weighted @ ones)
    residual = data - means[:, np.newaxis] * ones
    variances = np.sum(residual * residual / total, axis=1) / n
    log_determinants = np.sum(np.log(total), axis=1)
    found = -0.5 * (n * (np.log(2 * math.pi * variances) + 1) + log_determinants)
    return found, means, variances
