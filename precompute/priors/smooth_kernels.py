"""Kernels that forget: RBF and Matern. Each has a spectral density.

Source: Rasmussen & Williams, Gaussian Processes for Machine Learning (2006), section 4.2; the
spectra follow from their eq. 4.15 with angular frequency in one dimension.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from precompute.priors.kernel_base import FloatArray, Stationary, require_positive


@dataclass(frozen=True, slots=True)
class RBF(Stationary):
    """``v exp(-t^2 / (2 l^2))``; lengthscale l in seconds, variance v in unit^2."""

    lengthscale: float
    variance: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, lengthscale=self.lengthscale, variance=self.variance)

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        x = np.asarray(lags, dtype=np.float64) / self.lengthscale
        return np.asarray(self.variance * np.exp(-0.5 * x * x))

    def spectrum(self, omega: npt.ArrayLike) -> FloatArray:
        """``v l sqrt(2 pi) exp(-w^2 l^2 / 2)``."""
        x = np.asarray(omega, dtype=np.float64) * self.lengthscale
        height = self.variance * self.lengthscale * math.sqrt(2 * math.pi)
        return np.asarray(height * np.exp(-0.5 * x * x))


@dataclass(frozen=True, slots=True)
class Matern12(Stationary):
    """``v exp(-|t| / l)``, the Ornstein-Uhlenbeck process: continuous, nowhere smooth."""

    lengthscale: float
    variance: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, lengthscale=self.lengthscale, variance=self.variance)

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        x = np.abs(np.asarray(lags, dtype=np.float64)) / self.lengthscale
        return np.asarray(self.variance * np.exp(-x))

    def spectrum(self, omega: npt.ArrayLike) -> FloatArray:
        """``2 v l / (1 + w^2 l^2)``."""
        x = np.asarray(omega, dtype=np.float64) * self.lengthscale
        return np.asarray(2 * self.variance * self.lengthscale / (1 + x * x))


@dataclass(frozen=True, slots=True)
class Matern32(Stationary):
    """``v (1 + x) exp(-x)`` with ``x = sqrt(3) |t| / l``: once differentiable."""

    lengthscale: float
    variance: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, lengthscale=self.lengthscale, variance=self.variance)

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        x = math.sqrt(3) / self.lengthscale * np.abs(np.asarray(lags, dtype=np.float64))
        return np.asarray(self.variance * (1 + x) * np.exp(-x))

    def spectrum(self, omega: npt.ArrayLike) -> FloatArray:
        """``(4 v / r) / (1 + (w/r)^2)^2`` with ``r = sqrt(3) / l``."""
        rate = math.sqrt(3) / self.lengthscale
        x = np.asarray(omega, dtype=np.float64) / rate
        return np.asarray(4 * self.variance / rate / (1 + x * x) ** 2)


@dataclass(frozen=True, slots=True)
class Matern52(Stationary):
    """``v (1 + x + x^2/3) exp(-x)`` with ``x = sqrt(5) |t| / l``: twice differentiable."""

    lengthscale: float
    variance: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, lengthscale=self.lengthscale, variance=self.variance)

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        x = math.sqrt(5) / self.lengthscale * np.abs(np.asarray(lags, dtype=np.float64))
        return np.asarray(self.variance * (1 + x + x * x / 3) * np.exp(-x))

    def spectrum(self, omega: npt.ArrayLike) -> FloatArray:
        """``(16 v / 3 r) / (1 + (w/r)^2)^3`` with ``r = sqrt(5) / l``."""
        rate = math.sqrt(5) / self.lengthscale
        x = np.asarray(omega, dtype=np.float64) / rate
        return np.asarray(16 * self.variance / (3 * rate) / (1 + x * x) ** 3)
