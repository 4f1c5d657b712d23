"""The numbers behind the pictures of a design: covariance, samples, spectra, loss over the class.

Streams: the spectrum is two-sided in rad/s, and K is that of a prior of any variance with the whole
path observed. Windows: the spectrum is ``f^* G f`` with f the unit-length sinusoids over the
window, and K is that of the window's own prior with its variance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agent.formats.designs import Component, FloatArray, StreamDesign
from precompute.cip.compound import tight_square
from precompute.cip.factors import eigen_factor
from precompute.cip.loss import basic_informations, information_matrix
from precompute.cip.stream_classes import shape_families
from precompute.cip.stream_dictionary import scene_for
from precompute.cip.stream_information import information_over
from precompute.cip.stream_shapes import RoutineShapes, ScaleShapes, ShapeFamily
from precompute.cip.stream_spectra import noise_spectrum
from precompute.priors.prior_class import KernelRange, PriorClass, Range

OUTSIDE = 10.0
"""How far beyond the class the loss is shown, as a factor."""
SPACING = 0.12
WINDOW_POINTS = 25
SAMPLE_POINTS = 700
SEED = 7


@dataclass(frozen=True, slots=True, eq=False)
class LossCurve:
    """K over one parameter of one kernel of the class, and which stretch the class holds.

    ``parameter`` is ``lengthscale`` (seconds), ``relative lengthscale`` or ``damping`` (seconds).
    """

    kernel: str
    parameter: str
    values: FloatArray
    information: FloatArray
    inside: tuple[float, float] | None


def component_covariance(components: Sequence[Component], lags: FloatArray) -> FloatArray:
    """Of the whole noise on one axis, at these lags (s), by the formulas of ``Component``."""
    total = np.zeros_like(lags)
    for c in components:
        x = np.abs(lags) / c.timescale_seconds
        if c.family == "matern12":
            shape = np.exp(-x)
        elif c.family == "matern32":
            shape = (1 + math.sqrt(3) * x) * np.exp(-math.sqrt(3) * x)
        elif c.family == "matern52":
            shape = (1 + math.sqrt(5) * x + 5 * x * x / 3) * np.exp(-math.sqrt(5) * x)
        else:
            assert c.period_seconds is not None
            shape = np.exp(-x) * np.cos(2 * math.pi * lags / c.period_seconds)
        total += c.variance * shape
    return total


def sample_paths(covariance: FloatArray, count: int) -> FloatArray:
    """(n, count) draws with a fixed seed."""
    half = eigen_factor(covariance)
    return np.asarray(half @ np.random.default_rng(SEED).standard_normal((half.shape[1], count)))


def stream_class(prior: PriorClass | None) -> tuple[ShapeFamily, ...]:
    """The families that the class is made of; none when the class is not known."""
    return () if prior is None else shape_families(prior)


def stream_loss(design: StreamDesign, families: Sequence[ShapeFamily]) -> list[LossCurve]:
    """For every family over its first parameter, for routines over the damping too.

    Without families: RBF priors of lengthscales around the components' timescales.
    """
    if not families:
        times = [component.timescale_seconds for component in design.components]
        wide = ScaleShapes("rbf", min(times) / OUTSIDE, max(times) * OUTSIDE)
        return [_over(design, wide, "lengthscale", None)]
    curves = []
    for family in families:
        if isinstance(family, ScaleShapes):
            inside = (family.shortest, family.longest)
            wide = replace(family, shortest=inside[0] / OUTSIDE, longest=inside[1] * OUTSIDE)
            curves.append(_over(design, wide, "lengthscale", inside))
        elif isinstance(family, RoutineShapes):
            fading = (family.fastest, family.slowest)
            longer = replace(
                family,
                smoothest=family.sharpest,
                fastest=max(fading[0] / OUTSIDE, family.period / 4),
                slowest=fading[1] * OUTSIDE,
            )
            curves.append(_over(design, longer, "damping", fading, 1))
            shapes = (family.sharpest, family.smoothest)
            other = replace(
                family,
                sharpest=max(0.25, shapes[0] / 3),
                smoothest=shapes[1] * 3,
                fastest=family.slowest,
            )
            curves.append(_over(design, other, "relative lengthscale", shapes))
    return curves


def _over(
    design: StreamDesign,
    family: ShapeFamily,
    parameter: str,
    inside: tuple[float, float] | None,
    column: int = 0,
) -> LossCurve:
    quadrature = scene_for([family]).quadrature
    grid = family.grid(SPACING)
    K = information_over(
        family, grid, quadrature, noise_spectrum(design.components, quadrature.omega)
    )
    kernel = family.name if isinstance(family, ScaleShapes) else "a routine"
    return LossCurve(kernel, parameter, grid[:, column], K, inside)


def window_loss(
    prior: PriorClass,
    times: FloatArray,
    secrets: Sequence[tuple[int, ...]],
    noise_cov: FloatArray,
    default_variance: float,
) -> list[LossCurve]:
    """For every kernel with a lengthscale: the worst secret's K, three times beyond the class.

    Args:
        default_variance: of a kernel that states none.
    """
    curves = []
    for member in prior.kernels:
        if not isinstance(member, KernelRange):
            continue
        span = member.lengthscale
        values = np.unique(
            np.concatenate(
                [
                    np.geomspace(span.low / 3, span.high * 3, WINDOW_POINTS),
                    [span.low, span.high],
                ]
            )
        )
        stated = (
            member if member.variance is not None else replace(member, variance=default_variance)
        )
        fades = None if member.damping is None else member.damping.high
        periodic = member.period is not None
        K = []
        for value in values:
            asked = replace(stated, lengthscale=Range.point(float(value)))
            cov = asked.kernel_at(float(value), fades).covariance(times, times)
            K.append(_worst(cov, secrets, noise_cov))
        curves.append(
            LossCurve(
                member.family,
                "relative lengthscale" if periodic else "lengthscale",
                values,
                np.array(K),
                (span.low, span.high),
            )
        )
    return curves


def _worst(prior_cov: FloatArray, secrets: Sequence[tuple[int, ...]], noise: FloatArray) -> float:
    singles = [secret[0] for secret in secrets if len(secret) == 1]
    several = [secret for secret in secrets if len(secret) > 1]
    found = [tight_square(information_matrix(prior_cov, s, noise)).value for s in several]
    if singles:
        found.append(float(np.max(basic_informations(prior_cov, noise)[singles])))
    return max(found)


def window_spectrum(covariance: FloatArray) -> FloatArray:
    """``f^* G f`` for frequencies 0 to half a cycle a step, (n // 2 + 1,)."""
    count = len(covariance)
    transformed = np.fft.fft(np.fft.ifft(covariance, axis=1), axis=0)
    return np.asarray(np.real(np.diagonal(transformed))[: count // 2 + 1])
