"""Square roots of covariances that may be singular, without jitter.

The covariances met here are smooth kernels, whose small eigenvalues lie below rounding. A plain
Cholesky factorisation breaks down on them, and adding a multiple of the identity would change the
noise that was designed. A Cholesky factorisation with pivoting does neither: it stops when what is
left of the diagonal is below rounding, with (n, m) columns, and the QR factorisation of their
transpose, ``H^T = Q R``, turns them into ``C = R^T R`` with ``R^T`` lower trapezoidal in the
original order of rows.
"""

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from agent.formats.designs import FloatArray
from precompute.cip.rounding import ROUNDING
from precompute.errors import PriorError

FACTOR_TOLERANCE = 1e-10


def lower_factor(covariance: FloatArray) -> FloatArray:
    """Lower triangular L, (n, n), with ``L L^T = covariance``; zero columns where it is singular.

    The residual ``max |L L^T - C| / max |C|`` is checked to be at most ``FACTOR_TOLERANCE``; for
    symmetric positive semidefinite input it is a small multiple of rounding.

    Raises:
        PriorError: the matrix is not positive semidefinite within rounding.
    """
    try:
        factor: FloatArray = np.linalg.cholesky(covariance).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        factor = _triangular(pivoted_factor(covariance), len(covariance))
    _require_small(factor_residual(factor, covariance))
    return np.ascontiguousarray(factor)


def pivoted_factor(covariance: FloatArray) -> FloatArray:
    """(n, m) factor by pivoted Cholesky; ``covariance - F F^T`` has a diagonal below rounding.

    m is the rank to working precision. Meaningful for positive semidefinite input only, which the
    residual tells.
    """
    diagonal = np.diagonal(covariance)
    cut = ROUNDING * len(covariance) * max(float(np.max(diagonal)), 0.0)
    packed, pivots, rank, _ = lapack.dpstrf(covariance, lower=1, tol=cut)
    factor = np.zeros((len(covariance), max(rank, 1)))
    factor[pivots - 1] = np.tril(packed)[:, : max(rank, 1)]
    if rank == 0:
        factor[:] = 0.0
    return factor


def shortest_factor(covariance: FloatArray) -> FloatArray:
    """Causal factor of as many columns as the rank to working precision; checked as above."""
    half = pivoted_factor(covariance)
    if half.shape[1] == len(half):
        return lower_factor(covariance)
    factor = causal_factor(half)
    _require_small(factor_residual(factor, covariance))
    return factor


def causal_factor(factor: FloatArray) -> FloatArray:
    """Lower trapezoidal (n, min(n, m)) factor with the same product as ``factor`` (n, m).

    Row i uses columns 0 to i only, so noise can be drawn row by row.
    """
    return _triangular(factor, min(factor.shape))


def eigen_factor(covariance: FloatArray, relative_cut: float | None = None) -> FloatArray:
    """(n, m) factor ``U sqrt(w)`` from the eigenvalues above ``relative_cut`` times the largest.

    The default cut is rounding for n rows. Columns come with the largest eigenvalue first.
    """
    values, vectors = np.linalg.eigh(covariance)
    cut = ROUNDING * len(covariance) if relative_cut is None else relative_cut
    kept = values > cut * max(float(values[-1]), 0.0)
    return np.ascontiguousarray((vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1])


def factor_residual(factor: FloatArray, covariance: FloatArray) -> float:
    """``max |F F^T - C| / max |C|``; 0 for a zero covariance met exactly."""
    scale = float(np.max(np.abs(covariance)))
    error = float(np.max(np.abs(factor @ factor.T - covariance)))
    return error / scale if scale > 0 else error


def _triangular(factor: FloatArray, columns: int) -> FloatArray:
    rows = len(factor)
    upper = scipy.linalg.qr(factor.T, mode="r", overwrite_a=False, check_finite=False)[0]
    lower = np.zeros((rows, columns))
    kept = min(columns, upper.shape[0])
    signs = np.where(np.diagonal(upper)[:kept] < 0, -1.0, 1.0)
    lower[:, :kept] = (upper[:kept] * signs[:, None]).T
    return lower


def _require_small(residual: float) -> None:
    if not residual <= FACTOR_TOLERANCE:
        raise PriorError(
            f"refused a covariance to factor: found the residual {residual:.3g}, expected at most "
            f"{FACTOR_TOLERANCE:g}; it is not positive semidefinite"
        )
