"""Component covariances by numerical integration of their spectra, not by their closed forms."""

import numpy as np


def correlation_from_spectrum(family, lag, timescale, period=None):
    """∫ S(ω) cos(ωτ) dω / ∫ S(ω) dω on a fine grid of frequencies.

    matern with ν = p + ½: S ∝ (2ν/T² + ω²)^−(ν+½); the oscillator is the matern12 line moved
    to ± its angular frequency.
    """
    omega = np.linspace(0.0, 4000.0 / timescale, 2_000_001)

    def line(shifted):
        return 1.0 / (1.0 / timescale**2 + shifted**2)

    if family == "oscillator":
        turn = 2 * np.pi / period
        density = line(omega - turn) + line(omega + turn)
    else:
        nu = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}[family]
        density = (2 * nu / timescale**2 + omega**2) ** -(nu + 0.5)
    weights = np.ones_like(omega)
    weights[0] = weights[-1] = 0.5
    return float(np.sum(weights * density * np.cos(omega * lag)) / np.sum(weights * density))
