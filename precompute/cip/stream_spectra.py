"""Spectra of the noise components that a device can sample, at unit variance.

Convention: the spectrum is two-sided in rad/s, ``s(w) = integral of k(t) exp(-iwt) dt``, so that
``(1/2pi) integral of s(w) dw = k(0) = 1``. Covariances are those of
:class:`agent.formats.designs.Component`.
"""

import math
from collections.abc import Sequence

import numpy as np

from agent.formats.designs import Component, ComponentFamily, FloatArray

# Length of the device's state vector for one axis.
STATE_VARIABLES: dict[ComponentFamily, int] = {
    "matern12": 1,
    "matern32": 2,
    "matern52": 3,
    "oscillator": 2,
}


def unit_spectrum(component: Component, omega: FloatArray) -> FloatArray:
    """``s(omega)`` of the component scaled to unit variance; same shape as ``omega``."""
    T = component.timescale_seconds
    if component.family == "oscillator":
        right, left = _line_distances(component, omega)
        return T / (1 + right * right) + T / (1 + left * left)
    rate, power, peak = _matern(component)
    return np.asarray(peak / rate * (1 + (omega / rate) ** 2) ** -power)


def timescale_slope(component: Component, omega: FloatArray) -> FloatArray:
    """``d s(omega) / d log T`` of the unit-variance spectrum."""
    T = component.timescale_seconds
    if component.family == "oscillator":
        # d/dlogT of T/(1+x^2), x proportional to T, is T (1-x^2)/(1+x^2)^2.
        squares = [x * x for x in _line_distances(component, omega)]
        return np.asarray(sum(T * (1 - y) / (1 + y) ** 2 for y in squares))
    rate, power, peak = _matern(component)
    y = (omega / rate) ** 2
    return np.asarray(peak / rate * (1 + y) ** -(power + 1) * (1 + y - 2 * power * y))


def unit_spectra(components: Sequence[Component], omega: FloatArray) -> FloatArray:
    """Columns ``s_j(omega)``: shape (len(omega), len(components))."""
    return np.stack([unit_spectrum(component, omega) for component in components], axis=1)


def noise_spectrum(components: Sequence[Component], omega: FloatArray) -> FloatArray:
    """``S(omega) = sum_j c_j s_j(omega)``, the spectrum of the whole noise on one axis."""
    total = np.zeros_like(omega)
    for component in components:
        total += component.variance * unit_spectrum(component, omega)
    return total


def state_variables(components: Sequence[Component]) -> int:
    """State variables for one axis."""
    return sum(STATE_VARIABLES[component.family] for component in components)


def _matern(component: Component) -> tuple[float, int, float]:
    """Rate r, power N and peak a of ``a/r (1 + (w/r)^2)^-N``; T is the lengthscale."""
    T = component.timescale_seconds
    if component.family == "matern12":
        return 1 / T, 1, 2.0
    if component.family == "matern32":
        return math.sqrt(3) / T, 2, 4.0
    return math.sqrt(5) / T, 3, 16 / 3


def _line_distances(component: Component, omega: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``T (w - w0)`` and ``T (w + w0)``, w0 the oscillator's angular frequency."""
    assert component.period_seconds is not None
    w0 = 2 * math.pi / component.period_seconds
    T = component.timescale_seconds
    return T * (omega - w0), T * (omega + w0)
