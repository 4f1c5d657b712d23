"""Kernels made of others: constants, white noise, sums, products and several axes."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from precompute.errors import PriorError
from precompute.priors.kernel_base import (
    FloatArray,
    Kernel,
    SpectralKernel,
    Stationary,
    require_positive,
)
from precompute.priors.periodic_kernels import Periodic, modulated_spectrum


@dataclass(frozen=True, slots=True)
class Constant(Stationary):
    """``v`` at every lag: an unknown level. Its spectrum is a line at 0."""

    variance: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, variance=self.variance)

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        return np.full(np.shape(lags), float(self.variance))


@dataclass(frozen=True, slots=True)
class White(Stationary):
    """``v`` where two times are equal, else 0. In continuous time it has no density."""

    variance: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, variance=self.variance)

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        # Two floats differ by exactly zero if and only if they are equal (gradual underflow).
        same = np.asarray(lags, dtype=np.float64) == 0
        return np.asarray(self.variance * same, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Sum(Stationary):
    """Independent processes added up."""

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        _require_parts("Sum", self.parts)

    @property
    def variance(self) -> float:
        """k(0)."""
        return math.fsum(part.variance for part in self.parts)

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        return np.asarray(sum(part.at_lags(lags) for part in self.parts))

    def spectrum(self, omega: npt.ArrayLike) -> FloatArray:
        """The parts' spectra added up.

        Raises:
            PriorError: a part has no density.
        """
        return np.asarray(sum(_density(part).spectrum(omega) for part in self.parts))


@dataclass(frozen=True, slots=True)
class Product(Stationary):
    """The product of kernels, again a kernel (Schur)."""

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        _require_parts("Product", self.parts)

    @property
    def variance(self) -> float:
        """k(0)."""
        return math.prod(part.variance for part in self.parts)

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        return np.asarray(math.prod(part.at_lags(lags) for part in self.parts))

    def spectrum(self, omega: npt.ArrayLike) -> FloatArray:
        """Known for one kernel with a density times constants times at most one Periodic.

        Raises:
            PriorError: another product.
        """
        scale = math.prod(part.variance for part in self.parts if isinstance(part, Constant))
        periodic = [part for part in self.parts if isinstance(part, Periodic)]
        rest = [part for part in self.parts if not isinstance(part, (Constant, Periodic))]
        if len(rest) != 1 or len(periodic) > 1:
            raise PriorError(
                "Product: its spectrum is known for one kernel that has a density, times "
                "constants, times at most one Periodic; write another product as a window design"
            )
        envelope = _density(rest[0])
        if not periodic:
            return np.asarray(scale * envelope.spectrum(omega))
        (line,) = periodic
        return modulated_spectrum(
            envelope, line.lengthscale, line.period, scale * line.variance, omega
        )


@dataclass(frozen=True, slots=True, eq=False)
class Coregionalised:
    """Several correlated axes: covariance ``k(t_i - t_j) B[a, b]`` between axis a and axis b.

    The unrolled order is time first: entry ``i * d + a`` is axis a at time i, so the readings
    of one time (a basic secret) stand together. In matrices: ``kron(k(times), B)``.

    Attributes:
        kernel: k, of one axis.
        between_axes: B, (d, d), symmetric positive semidefinite, dimensionless; read-only.
    """

    kernel: Kernel
    between_axes: FloatArray

    def __post_init__(self) -> None:
        matrix = np.array(self.between_axes, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 1:
            raise PriorError(
                f"coregionalisation: found the shape {matrix.shape}; expected a square matrix, "
                "one row for each axis"
            )
        if not bool(np.all(np.isfinite(matrix))):
            raise PriorError("coregionalisation: an entry is not finite; expected numbers")
        if not np.array_equal(matrix, matrix.T):
            raise PriorError(
                "coregionalisation: not symmetric; write the same number on both sides"
            )
        lowest = float(np.linalg.eigvalsh(matrix)[0])
        # Rounding of a singular matrix may show as a tiny negative eigenvalue.
        if lowest < -1e-12 * float(np.trace(matrix)) or not bool(np.all(np.diag(matrix) > 0)):
            raise PriorError(
                f"coregionalisation: the smallest eigenvalue is {lowest:.3g}; expected a "
                "covariance matrix (positive semidefinite, positive diagonal)"
            )
        matrix.setflags(write=False)
        object.__setattr__(self, "between_axes", matrix)

    @property
    def axes(self) -> int:
        """Number of axes d."""
        return int(self.between_axes.shape[0])

    @property
    def axis_variances(self) -> FloatArray:
        """(d,) variance of each axis."""
        return np.asarray(self.kernel.variance * np.diag(self.between_axes))

    def covariance(self, times_a: npt.ArrayLike, times_b: npt.ArrayLike) -> FloatArray:
        """(n d, m d), in the unrolled order."""
        return np.asarray(np.kron(self.kernel.covariance(times_a, times_b), self.between_axes))


def _require_parts(name: str, parts: tuple[Kernel, ...]) -> None:
    if not isinstance(parts, tuple) or not parts:
        raise PriorError(f"{name}: no parts; expected a tuple of one or more kernels")


def _density(kernel: Kernel) -> SpectralKernel:
    if not isinstance(kernel, SpectralKernel):
        raise PriorError(
            f"{type(kernel).__name__} has no spectral density: its power sits on lines or is "
            "spread without end; use DampedPeriodic, or a window design"
        )
    return kernel
