"""The shapes of prior that a stream is designed against, and a proof for those between grid points.

A shape is a correlation function r(t), r(0) = 1, with spectrum ``phi``; a family is a set of
shapes over one or two parameters, searched on a grid that is even in their logarithms.

**Between grid points.** The information of noise with spectrum S about a reading is
``K = (1/2pi) integral phi^2 / S``. If along a coordinate s every product of two terms of phi
satisfies ``G'' >= -m G``, so does K, whatever S. Let v solve ``v'' = -m v`` with v = K at both ends
of an interval of length h < pi/sqrt(m). Then K - v vanishes at the ends and
``(K-v)'' + m (K-v) >= 0``, so K <= v inside (Sturm), and v is at most the larger end value times
``sec(sqrt(m) h / 2)``. The constants:

- scale families ``phi_l(w) = l phi(l w)``, s = log l, ``q = log(l^2 phi(l w)^2)``,
  ``m = -min(q'^2 + q'')``. RBF, with x = (l w)^2: 4 (1 - 3x + x^2), so m = 5. Matern-nu, with
  N = 2 nu + 1 and u = y/(1+y), y = (l w)^2/(2 nu): 4 (1 - 3 N u + (N^2 + N) u^2), so
  m = 9 N/(N+1) - 4: 2, 3.2, 26/7.
- the damping of a routine, s = log D: phi is a sum of such envelopes moved to harmonics. The
  product of two at different distances has, for Matern, ``(q' = 2 - N (u1 + u2))``, a convex
  symmetric expression, least at u1 = u2; for RBF it depends on the mean of both squares only.
  The same m.
- the lengthscale l of a routine, s = log l: harmonic k weighs exp(-a) I_k(a), a = 1/l^2. With
  p = d log weight/d log a = a I_k'/I_k - a, Bessel's equation gives p' = a^2 + k^2 - a -
  (a I_k'/I_k)^2 >= -a, because a I_k'/I_k <= sqrt(a^2 + k^2) (Amos 1974, eq. 15). So G'' >= -2a G
  in log a, and m = 8 a = 8/l^2 in log l.
"""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from agent.formats.designs import FloatArray

ShapeName = Literal["rbf", "matern12", "matern32", "matern52"]
CURVATURE: dict[ShapeName, float] = {
    "rbf": 5.0,
    "matern12": 2.0,
    "matern32": 3.2,
    "matern52": 26 / 7,
}
# Harmonics that hold less than this share of a routine's variance are left out.
HARMONIC_TAIL = 1e-13
# K is quadratic in a harmonic's share, so below this share a line needs no panels of its own.
RESOLVED_SHARE = 1e-6
MAX_LINES = 200


@dataclass(frozen=True, slots=True)
class Line:
    """Where a spectrum has a narrow peak: centre, half-width, distance to the next; rad/s."""

    centre: float
    width: float
    spacing: float


class ShapeFamily(Protocol):
    """A set of prior shapes over one or two parameters."""

    @property
    def timescales(self) -> tuple[float, float]:
        """Shortest and longest time (s) over which a shape of the family decays."""
        ...

    @property
    def lines(self) -> tuple[Line, ...]:
        """Narrow peaks away from zero, at their narrowest."""
        ...

    def grid(self, spacing: float) -> FloatArray:
        """Parameters (m, d), at most ``spacing`` apart in the logarithm of each; ends included."""
        ...

    def spectra(self, parameters: FloatArray, omega: FloatArray) -> FloatArray:
        """(m, len(omega)) values of phi."""
        ...

    def excess(self, spacing: float) -> float:
        """A factor: sup of K over the family <= factor * max of K over ``grid(spacing)``."""
        ...


def envelope_spectrum(name: ShapeName, scale: FloatArray, omega: FloatArray) -> FloatArray:
    """phi of a kernel with this lengthscale (s) and unit variance; arguments broadcast."""
    x = scale * omega
    if name == "rbf":
        return np.asarray(math.sqrt(2 * math.pi) * scale * np.exp(-0.5 * x * x))
    if name == "matern12":
        return np.asarray(2 * scale / (1 + x * x))
    if name == "matern32":
        return np.asarray(4 / math.sqrt(3) * scale / (1 + x * x / 3) ** 2)
    return np.asarray(16 / (3 * math.sqrt(5)) * scale / (1 + x * x / 5) ** 3)


@dataclass(frozen=True, slots=True)
class ScaleShapes:
    """One kernel at every lengthscale from ``shortest`` to ``longest`` seconds."""

    name: ShapeName
    shortest: float
    longest: float

    @property
    def timescales(self) -> tuple[float, float]:
        """Of its lengthscales."""
        return self.shortest, self.longest

    @property
    def lines(self) -> tuple[Line, ...]:
        """None."""
        return ()

    def grid(self, spacing: float) -> FloatArray:
        """(m, 1) lengthscales."""
        return _log_grid(self.shortest, self.longest, spacing)[:, np.newaxis]

    def spectra(self, parameters: FloatArray, omega: FloatArray) -> FloatArray:
        """See :class:`ShapeFamily`."""
        return envelope_spectrum(self.name, parameters, omega[np.newaxis, :])

    def excess(self, spacing: float) -> float:
        """By Sturm's comparison; see the module's text."""
        return _excess(CURVATURE[self.name], self.shortest, self.longest, spacing)


@dataclass(frozen=True, slots=True)
class RoutineShapes:
    """A routine ``exp(-2 sin^2(pi t/period)/l^2) e(t/damping)`` over ranges of l and damping.

    Attributes:
        name: the envelope e.
        period: seconds.
        smoothest: largest l; ``sharpest`` the smallest (dimensionless).
        fastest: shortest damping; ``slowest`` the longest (seconds).
    """

    name: ShapeName
    period: float
    sharpest: float
    smoothest: float
    fastest: float
    slowest: float

    @property
    def timescales(self) -> tuple[float, float]:
        """The damping, and the time in which a sharp routine changes within a period."""
        within = self.period * min(self.sharpest, 1.0) / (2 * math.pi)
        return min(self.fastest, within), self.slowest

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every harmonic, as wide as the longest damping makes it."""
        base = 2 * math.pi / self.period
        count = self.harmonics_above(RESOLVED_SHARE, MAX_LINES)
        return tuple(Line(k * base, 1 / self.slowest, base) for k in range(1, count + 1))

    def grid(self, spacing: float) -> FloatArray:
        """(m, 2) pairs of l, even in 1/l, and damping, even in its logarithm."""
        shape = self._shape_grid(spacing)
        damping = _log_grid(self.fastest, self.slowest, spacing)
        return np.stack(np.meshgrid(shape, damping, indexing="ij"), axis=-1).reshape(-1, 2)

    def spectra(self, parameters: FloatArray, omega: FloatArray) -> FloatArray:
        """See :class:`ShapeFamily`."""
        base = 2 * math.pi / self.period
        rows = np.empty((len(parameters), omega.size))
        weights = {value: harmonic_weights(value) for value in set(parameters[:, 0].tolist())}
        for damping in set(parameters[:, 1].tolist()):
            chosen = np.flatnonzero(parameters[:, 1] == damping)
            count = max(weights[value].size for value in parameters[chosen, 0].tolist())
            shifts = base * np.arange(-count + 1, count)
            peaks = envelope_spectrum(
                self.name, np.float64(damping), omega[np.newaxis, :] - shifts[:, np.newaxis]
            )
            folded = peaks[count - 1 :] + peaks[count - 1 :: -1]
            folded[0] *= 0.5
            for row in chosen:
                share = weights[float(parameters[row, 0])]
                rows[row] = share @ folded[: share.size]
        return rows

    def excess(self, spacing: float) -> float:
        """The two coordinates' factors, one after the other."""
        shape = self._shape_grid(spacing)
        # On each interval of l the curvature 8/l^2 is largest at its lower end.
        half_angles = math.sqrt(8) / shape[:-1] * np.diff(np.log(shape)) / 2
        return _secant(float(np.max(half_angles, initial=0.0))) * _excess(
            CURVATURE[self.name], self.fastest, self.slowest, spacing
        )

    def harmonics_above(self, share: float, limit: int) -> int:
        """The highest harmonic, up to ``limit``, that holds this share of the variance."""
        above = np.flatnonzero(2 * harmonic_weights(self.sharpest) > share)
        return int(min(limit, max(1, above[-1])))

    def _shape_grid(self, spacing: float) -> FloatArray:
        """Ascending l, even in 1/l: then sqrt(m) h is the same everywhere, as for the damping."""
        low, high = 1 / self.smoothest, 1 / self.sharpest
        step = spacing * math.sqrt(CURVATURE[self.name] / 8)
        count = math.ceil((high - low) / step - 1e-9) + 1
        return np.asarray(1 / np.linspace(high, low, count) if count > 1 else [self.sharpest])


def harmonic_weights(lengthscale: float) -> FloatArray:
    """exp(-a) I_k(a), a = 1/l^2, for k = 0, 1, ... (each k > 0 stands for both +k and -k)."""
    from scipy.special import ive

    weights = np.asarray(ive(np.arange(math.ceil(9 / lengthscale) + 20), lengthscale**-2))
    both_signs = np.concatenate([weights[:1], 2 * weights[1:]])
    left_out = np.cumsum(both_signs[::-1])[::-1]
    return weights[: max(1, int(np.count_nonzero(left_out > HARMONIC_TAIL)))]


def _log_grid(low: float, high: float, spacing: float) -> FloatArray:
    steps = _intervals(low, high, spacing)
    return np.geomspace(low, high, steps + 1) if steps else np.array([low])


def _intervals(low: float, high: float, spacing: float) -> int:
    return math.ceil(math.log(high / low) / spacing - 1e-9)


def _excess(curvature: float, low: float, high: float, spacing: float) -> float:
    steps = _intervals(low, high, spacing)
    return _secant(math.sqrt(curvature) * math.log(high / low) / max(steps, 1) / 2)


def _secant(half_angle: float) -> float:
    return 1 / math.cos(half_angle) if half_angle < math.pi / 2 else math.inf
