"""Information of stream noise by adaptive quadrature; shares no code with the design.

Spectra are written as Laplace transforms of the covariances at ``i w``, and integrals are done by
``scipy.integrate.quad_vec`` in log frequency, so that neither formulas nor grids are the design's.
"""

import math
from collections.abc import Callable, Iterable

import numpy as np
from scipy.integrate import quad_vec
from scipy.special import iv


def noise_density(components: Iterable, w: float) -> float:
    """Two-sided spectrum of a sum of components at one angular frequency."""
    total = 0.0
    for c in components:
        T = c.timescale_seconds
        if c.family == "matern12":
            value = 2 * (1 / (1 / T + 1j * w)).real
        elif c.family == "matern32":
            r = math.sqrt(3) / T
            value = 4 * r**3 / (r * r + w * w) ** 2
        elif c.family == "matern52":
            r = math.sqrt(5) / T
            value = 16 / 3 * r**5 / (r * r + w * w) ** 3
        else:
            w0 = 2 * math.pi / c.period_seconds
            value = (1 / (1 / T + 1j * (w - w0)) + 1 / (1 / T + 1j * (w + w0))).real
        total += c.variance * value
    return total


def rbf_density(lengthscales: np.ndarray) -> Callable[[float], np.ndarray]:
    """Spectra of unit RBF priors, one for each lengthscale."""
    return lambda w: np.sqrt(2 * np.pi) * lengthscales * np.exp(-0.5 * (w * lengthscales) ** 2)


def matern_density(nu: float, lengthscales: np.ndarray) -> Callable[[float], np.ndarray]:
    """Rasmussen & Williams (2006), eq. 4.15 with w = 2 pi s and D = 1."""
    front = 2 * math.sqrt(math.pi) * math.gamma(nu + 0.5) * (2 * nu) ** nu / math.gamma(nu)
    return lambda w: (
        front * lengthscales ** (-2 * nu) * (2 * nu / lengthscales**2 + w * w) ** -(nu + 0.5)
    )


def routine_density(
    shapes: np.ndarray, period: float, dampings: np.ndarray
) -> Callable[[float], np.ndarray]:
    """exp(-2 sin^2(pi t/period)/l^2) exp(-t^2/(2 d^2)): harmonics, each a normal density."""
    k = np.arange(-60, 61)[:, np.newaxis]
    a = 1 / np.asarray(shapes) ** 2
    share = np.exp(-a) * iv(np.abs(k), a)

    def density(w: float) -> np.ndarray:
        x = dampings * (w - 2 * np.pi * k / period)
        return np.sum(share * np.sqrt(2 * np.pi) * dampings * np.exp(-0.5 * x * x), axis=0)

    return density


def information(
    density: Callable[[float], np.ndarray],
    components: Iterable,
    slowest: float,
    fastest: float,
    *,
    peaks: Iterable[float] = (),
    tolerance: float = 1e-8,
) -> np.ndarray:
    """K for each prior: times beyond ``slowest`` and ``fastest`` (s) do not matter."""
    noise = tuple(components)

    def integrand(u: float) -> np.ndarray:
        w = math.exp(u)
        return density(w) ** 2 / noise_density(noise, w) * w / math.pi

    low, high = math.log(1e-9 / slowest), math.log(1e9 / fastest)
    values, _ = quad_vec(
        integrand,
        low,
        high,
        epsrel=tolerance,
        epsabs=0.0,
        norm="max",
        limit=20_000,
        points=sorted({math.log(1 / slowest), math.log(1 / fastest), *map(math.log, peaks)}),
    )
    return values
