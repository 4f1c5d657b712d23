"""The convex part of a stream design: least power in a fixed set of components.

Minimise ``sum c_j`` subject to ``K_i(c) <= 1`` for finitely many shapes i, and ``c >= 0``. As
``h_i(c) = 1/K_i(c) >= 1`` the limits are concave and homogeneous of degree 1 (K is convex and
homogeneous of degree -1), so they are nearly linear and Newton's method takes long steps. The
method is primal-dual interior-point (Boyd & Vandenberghe 2004, section 11.7), with
``dK_i/dc_j = -integral phi_i^2 s_j / S^2`` and the Hessian ``2 integral phi_i^2 s_j s_k / S^3``.

Shapes between those at hand enter by exchange (:mod:`precompute.cip.stream_exchange`). What comes
out is judged by :mod:`precompute.cip.stream_certificate`, so nothing here need be believed.
"""

from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray
from precompute.errors import DesignError

MAX_STEPS = 120
# Stop when the surrogate duality gap is this small a share of the power.
GAP = 1e-7
# The gap is cut by the first when the last step was long, by the second to centre after a short.
SHRINK, CENTRE = 15.0, 1.5
LONG_STEP = 0.4
BACKTRACK = 0.6
TO_THE_WALL = 0.99


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Variances c (J,) and multipliers (m,) of the limits; the power is ``c.sum()``."""

    variances: FloatArray
    multipliers: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """An interior point, with what was computed there."""

    c: FloatArray
    multipliers: FloatArray
    bounds: FloatArray
    inverse: FloatArray  # 1/S
    K: FloatArray
    slope: FloatArray  # dK_i/dc_j

    @property
    def slack(self) -> FloatArray:
        return 1 / self.K - 1

    @property
    def rise(self) -> FloatArray:
        """dh_i/dc_j."""
        return np.asarray(-self.slope / self.K[:, np.newaxis] ** 2)

    @property
    def dual(self) -> FloatArray:
        return np.asarray(1 - self.multipliers @ self.rise - self.bounds)

    @property
    def gap(self) -> float:
        return float(self.multipliers @ self.slack + self.bounds @ self.c)


def least_power(rows: FloatArray, spectra: FloatArray) -> Solution:
    """Solve for limits of 1.

    Args:
        rows: (m, N) ``weights * phi_i^2``.
        spectra: (N, J) ``s_j``.

    Raises:
        DesignError: no convergence in MAX_STEPS.
    """
    c = np.ones(spectra.shape[1])
    c *= 2 * float(np.max(rows @ (1 / (spectra @ c))))
    power = float(c.sum())
    first = _evaluate(rows, spectra, c, np.ones(len(rows)), power / len(c) / c)
    assert first is not None
    point, step = first, 1.0
    for _ in range(MAX_STEPS):
        power = float(point.c.sum())
        # Scaled by c, every dual residual is a share of the power.
        if point.gap < GAP * power and np.max(np.abs(point.dual * point.c)) < GAP * power:
            return Solution(point.c, point.multipliers / point.K**2)
        cut = SHRINK if step > LONG_STEP else CENTRE
        t = cut * (len(rows) + len(point.c)) / point.gap
        point, step = _advance(rows, spectra, point, _newton(rows, spectra, point, t), t)
    raise DesignError(
        f"the stream design did not converge in {MAX_STEPS} steps; "
        "narrow the class of priors, or report this design file"
    )


def _evaluate(
    rows: FloatArray,
    spectra: FloatArray,
    c: FloatArray,
    multipliers: FloatArray,
    bounds: FloatArray,
) -> _Point | None:
    """The point with its K and slopes; None when a limit is not met."""
    inverse = 1 / (spectra @ c)
    K = rows @ inverse
    if not np.all(K < 1):
        return None
    return _Point(c, multipliers, bounds, inverse, K, -(rows * inverse**2) @ spectra)


def _newton(
    rows: FloatArray, spectra: FloatArray, point: _Point, t: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Steps of (c, multipliers, bounds), from the system reduced to c and scaled by c."""
    from scipy.linalg import cho_factor, cho_solve

    c, slack, K = point.c, point.slack, point.K
    scaled = spectra * c
    rise = point.rise * c
    # -h'' = K''/K^2 - 2 K' K'^T / K^3 and K' = -K^2 h'.
    weights = point.multipliers / K**2
    curvature = 2 * (weights @ rows) * point.inverse**3
    outer = point.multipliers / slack - 2 * point.multipliers * K
    matrix = (scaled.T * curvature) @ scaled + (rise.T * outer) @ rise
    matrix[np.diag_indices_from(matrix)] += point.bounds * c
    right = -(c - (1 / t / slack) @ rise - 1 / t)
    d = cho_solve(cho_factor(matrix), right)
    # multipliers * slack = 1/t and bounds * c = 1/t, linearised.
    multiplier_step = 1 / t / slack - point.multipliers - point.multipliers / slack * (rise @ d)
    return c * d, multiplier_step, 1 / t / c - point.bounds - point.bounds * d


def _advance(
    rows: FloatArray,
    spectra: FloatArray,
    point: _Point,
    direction: tuple[FloatArray, FloatArray, FloatArray],
    t: float,
) -> tuple[_Point, float]:
    """The longest step that stays inside and lessens the residual, and its length."""
    start = (point.c, point.multipliers, point.bounds)
    reach = [_reach(x, d) for x, d in zip(start, direction, strict=True)]
    step = min(1.0, *(TO_THE_WALL * length for length in reach))
    before = _residual(point, t)
    while step > 1e-12:
        c, multipliers, bounds = (x + step * d for x, d in zip(start, direction, strict=True))
        found = _evaluate(rows, spectra, c, multipliers, bounds)
        if found is not None and (_residual(found, t) <= (1 - 0.01 * step) * before or step < 1e-6):
            return found, step
        step *= BACKTRACK
    raise DesignError("the stream design stalled; report this design file")


def _reach(x: FloatArray, d: FloatArray) -> float:
    falling = d < 0
    return float(np.min(-x[falling] / d[falling])) if np.any(falling) else np.inf


def _residual(point: _Point, t: float) -> float:
    parts = [
        point.dual * point.c,
        point.multipliers * point.slack - 1 / t,
        point.bounds * point.c - 1 / t,
    ]
    return float(np.sqrt(sum(part @ part for part in parts)))
