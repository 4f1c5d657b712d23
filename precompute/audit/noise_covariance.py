"""The noise's covariance as an attacker knows it: from the published design, in closed form.

Kept apart from the samplers and the designers on purpose: an audit that borrowed their code
would share their mistakes.
"""

from dataclasses import dataclass

import numpy as np

from agent.formats.designs import Component, FloatArray, StreamDesign


def stream_noise_covariance(design: StreamDesign, times_seconds: FloatArray) -> FloatArray:
    """(n, n) covariance on one axis at (n,) times, in the design's unit squared."""
    lags = np.abs(times_seconds[:, None] - times_seconds[None, :])
    total = np.zeros_like(lags)
    for component in design.components:
        total += component.variance * component_correlation(component, lags)
    return total


def component_correlation(component: Component, lags_seconds: FloatArray) -> FloatArray:
    """Correlation at lags >= 0; the formulas stand at :class:`agent.formats.designs.Component`."""
    scaled = lags_seconds / component.timescale_seconds
    if component.family == "matern12":
        return np.asarray(np.exp(-scaled))
    if component.family == "matern32":
        x = np.sqrt(3.0) * scaled
        return np.asarray((1.0 + x) * np.exp(-x))
    if component.family == "matern52":
        x = np.sqrt(5.0) * scaled
        return np.asarray((1.0 + x + x * x / 3.0) * np.exp(-x))
    assert component.period_seconds is not None
    phase = 2.0 * np.pi * lags_seconds / component.period_seconds
    return np.asarray(np.exp(-scaled) * np.cos(phase))


@dataclass(frozen=True, slots=True)
class IndependentNoise:
    """Noise drawn afresh for every reading, of this variance on each axis."""

    variance: float

    def __call__(self, times_seconds: FloatArray) -> FloatArray:
        """(n, n) covariance on one axis."""
        return self.variance * np.eye(times_seconds.size)


@dataclass(frozen=True, slots=True)
class StreamNoise:
    """The noise of a stream design."""

    design: StreamDesign

    def __call__(self, times_seconds: FloatArray) -> FloatArray:
        """(n, n) covariance on one axis."""
        return stream_noise_covariance(self.design, times_seconds)


def draw_noise(
    covariance: FloatArray, axes: int, traces: int, rng: np.random.Generator
) -> FloatArray:
    """(traces, n, axes) samples of N(0, covariance), for audits only, never for a release.

    The generator is a plain seeded one: it is repeatable, which a release must not be.
    """
    factor = np.linalg.cholesky(covariance)
    normals = rng.standard_normal((covariance.shape[0], traces * axes))
    drawn = (factor @ normals).reshape(covariance.shape[0], traces, axes)
    return np.ascontiguousarray(np.moveaxis(drawn, 0, 1))
