"""Fourier transforms of even functions by adaptive quadrature; knows nothing of kernels."""

import math
import warnings
from collections.abc import Callable

from scipy.integrate import IntegrationWarning, quad


def forward(function: Callable[[float], float], omega: float, reach: float) -> float:
    """``2 x integral from 0 to reach of f(t) cos(omega t) dt``."""
    return _cosine_integral(function, omega, reach) * 2


def inverse(density: Callable[[float], float], lag: float, reach: float) -> float:
    """``(1/pi) x integral from 0 to reach of S(w) cos(w lag) dw``."""
    return _cosine_integral(density, lag, reach) / math.pi


def _cosine_integral(function: Callable[[float], float], rate: float, reach: float) -> float:
    # Pieces, because one adaptive run over a long range can step over narrow peaks.
    pieces = 64
    total = []
    for k in range(pieces):
        low, high = reach * (k / pieces) ** 2, reach * ((k + 1) / pieces) ** 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IntegrationWarning)
            value, _ = quad(function, low, high, weight="cos", wvar=rate, limit=200)
        total.append(value)
    return math.fsum(total)
