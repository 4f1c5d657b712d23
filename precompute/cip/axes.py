"""Secrets on several axes: which pairs of hypotheses the promise is about.

*Circle*: the true and any other position are at most the radius apart. *Square*: each coordinate
differs by at most the radius, which is what Meehan & Chaudhuri 2021, Corollary 7.2.1, protects by
adding the axes' losses; it is larger, and so is its loss. Axes that are correlated (a
coregionalised prior) are one trace of ``axes * times`` readings, axis by axis: reading ``axis *
times + time``, as in ``np.kron(between_axes, over_time)``.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agent.formats.designs import FloatArray
from precompute.cip.compound import Bound, tight_square
from precompute.cip.covariance import checked_secret
from precompute.cip.loss import information_matrix
from precompute.errors import DesignError


def circle_information(axis_informations: Sequence[float]) -> float:
    """One time, independent axes: ``rho = K radius^2 / 2`` with the largest of the axes' K.

    ``sum K_a d_a^2`` over ``|d| <= radius`` is greatest along the worst axis.
    """
    return float(np.max(_informations(axis_informations)))


def square_information(axis_informations: Sequence[float]) -> float:
    """As `circle_information` for the square around the circle: the sum of the axes' K."""
    return float(np.sum(_informations(axis_informations)))


def unrolled_secret(times: int | Sequence[int], count: int, axes: int) -> tuple[int, ...]:
    """Where the readings of a secret lie in an unrolled trace, all axes of a time side by side.

    Args:
        times: indices of the secret's times, 0 to ``count - 1``.
        count: times in the trace.
        axes: number of axes.
    """
    if axes < 1:
        raise DesignError(f"refused axes: found {axes}, expected 1 or more")
    chosen = checked_secret(times, count)
    return tuple(axis * count + time for time in chosen for axis in range(axes))


def joint_circle(
    prior_cov: npt.ArrayLike, times: int | Sequence[int], noise_cov: npt.ArrayLike, axes: int
) -> Bound:
    """Worst ``d^T K d`` when every time of the secret moves within a ball of radius 1.

    Exact (the largest eigenvalue of K) for one time; a certified upper bound for several.

    Args:
        prior_cov, noise_cov: (axes n, axes n), unrolled.
        times: indices of the secret's times.
        axes: number of axes.
    """
    rows = len(np.asarray(prior_cov))
    if rows % axes:
        raise DesignError(
            f"refused the prior covariance: found {rows} rows, expected a multiple of {axes} axes"
        )
    secret = unrolled_secret(times, rows // axes, axes)
    matrix = information_matrix(prior_cov, secret, noise_cov)
    if not bool(np.all(np.isfinite(matrix))):
        return Bound(np.inf, np.inf, "exact")
    if len(secret) == axes:
        top = float(np.linalg.eigvalsh(matrix)[-1])
        return Bound(top, top, "exact")
    return tight_square(matrix, axes)


def _informations(axis_informations: Sequence[float]) -> FloatArray:
    given = np.asarray(axis_informations, dtype=np.float64)
    if given.size == 0 or bool(np.any(~(given >= 0))):
        raise DesignError("refused axis informations: expected one number of 0 or more an axis")
    return given
