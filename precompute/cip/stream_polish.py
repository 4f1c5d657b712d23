"""Timescales and variances of a few components moved together to the nearest optimum.

The problem is no longer convex: ``min log sum c`` subject to ``log K_i <= 0`` over log c and log T,
by sequential least-squares programming (Kraft 1988) with exact gradients. Periods stay.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agent.formats.designs import Component, FloatArray
from precompute.cip.stream_spectra import timescale_slope, unit_spectra

MAX_ITERATIONS = 150
ACCURACY = 1e-6
# A timescale may move this far (in its logarithm) in one polish.
REACH = 1.5


def polish(
    rows: FloatArray,
    components: Sequence[Component],
    omega: FloatArray,
    timescales: tuple[float, float],
) -> tuple[Component, ...]:
    """Components with locally least power; the worst K over ``rows`` is 1 exactly.

    Args:
        rows: (m, N) ``weights * phi_i^2``.
        components: where to start, any scale.
        omega: (N,) rad/s.
        timescales: allowed range, seconds.
    """
    from scipy.optimize import minimize

    start = rescale(rows, components, omega)
    n = len(start)
    x0 = np.log([c.variance for c in start] + [c.timescale_seconds for c in start])
    bounds = [(x - 12.0, x + 4.0) for x in x0[:n]]
    for component, x in zip(start, x0[n:], strict=True):
        # An oscillator damped within its own period is a rough path, not a routine.
        shortest, longest = math.log(component.period_seconds or timescales[0]), timescales[1]
        low, high = max(shortest, x - REACH), min(math.log(longest), x + REACH)
        bounds.append((min(x, low), max(x, high)))

    def power(x: FloatArray) -> tuple[float, FloatArray]:
        c = np.exp(x[:n])
        return math.log(c.sum()), np.concatenate([c / c.sum(), np.zeros(n)])

    def limits(x: FloatArray) -> FloatArray:
        moved = _moved(start, x)
        c = np.exp(x[:n])
        return -np.log(rows @ (1 / (unit_spectra(moved, omega) @ c)))

    def limit_slopes(x: FloatArray) -> FloatArray:
        moved = _moved(start, x)
        c = np.exp(x[:n])
        spectra = unit_spectra(moved, omega)
        slopes = np.stack([timescale_slope(component, omega) for component in moved], axis=1)
        inverse = 1 / (spectra @ c)
        both = np.concatenate([spectra * c, slopes * c], axis=1)
        return np.asarray((rows * inverse**2) @ both / (rows @ inverse)[:, np.newaxis])

    result = minimize(
        power,
        x0,
        jac=True,
        bounds=bounds,
        constraints={"type": "ineq", "fun": limits, "jac": limit_slopes},
        method="SLSQP",
        options={"maxiter": MAX_ITERATIONS, "ftol": ACCURACY},
    )
    found = start
    if np.all(np.isfinite(result.x)):
        found = rescale(rows, _moved(start, result.x), omega)
    # SLSQP may end anywhere when it fails; never return worse than what came in.
    return min(found, start, key=total_power)


def rescale(
    rows: FloatArray, components: Sequence[Component], omega: FloatArray
) -> tuple[Component, ...]:
    """The same noise at the size at which the worst K over the rows is 1."""
    c = np.array([component.variance for component in components])
    worst = float(np.max(rows @ (1 / (unit_spectra(components, omega) @ c))))
    return scaled(components, worst)


def scaled(components: Sequence[Component], factor: float) -> tuple[Component, ...]:
    """Every variance times the factor."""
    return tuple(
        replace(component, variance=component.variance * factor) for component in components
    )


def total_power(components: Sequence[Component]) -> float:
    """Sum of the variances."""
    return math.fsum(component.variance for component in components)


def _moved(components: Sequence[Component], x: FloatArray) -> tuple[Component, ...]:
    values = np.exp(x)
    n = len(components)
    return tuple(
        replace(
            component,
            variance=float(values[j]),
            timescale_seconds=float(values[n + j]),
        )
        for j, component in enumerate(components)
    )
