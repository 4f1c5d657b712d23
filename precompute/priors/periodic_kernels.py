"""Kernels that return: a routine that repeats for ever, and one that fades over days.

The periodic kernel is a Fourier series. With ``a = 1/l^2`` and I_k the modified Bessel function,
``exp(-2 sin^2(pi t/p) / l^2) = exp(-a) exp(a cos(2 pi t/p)) = sum over k of c_k cos(2 pi k t/p)``,
``c_0 = exp(-a) I_0(a)``, ``c_k = 2 exp(-a) I_k(a)`` (Abramowitz & Stegun 9.6.34). All c_k are
positive and they sum to 1: c_k is the share of the variance in harmonic k.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from precompute.errors import PriorError
from precompute.priors.kernel_base import (
    FloatArray,
    SpectralKernel,
    Stationary,
    require_positive,
)
from precompute.priors.smooth_kernels import RBF, Matern12, Matern32, Matern52

Envelope: TypeAlias = Literal["rbf", "matern12", "matern32", "matern52"]
ENVELOPES: tuple[Envelope, ...] = get_args(Envelope)

HARMONIC_TAIL = 1e-10
"""Share of the variance left out where a sum over harmonics is cut."""
MAX_HARMONICS = 5_000


def harmonic_weights(lengthscale: float, tail: float = HARMONIC_TAIL) -> FloatArray:
    """Shares c_0, c_1, ... c_n of the variance in each harmonic of the periodic kernel.

    Args:
        lengthscale: dimensionless, as in :class:`Periodic`.
        tail: n is the first with ``1 - sum c_k <= tail``.

    Raises:
        PriorError: more than MAX_HARMONICS would be needed (lengthscale below about 0.002).
    """
    from scipy.special import ive

    # exp(-a) I_k(a) falls like a normal density with deviation 1/l, so 8/l + 20 is ample.
    count = math.ceil(8 / lengthscale) + 20
    if count > MAX_HARMONICS:
        raise PriorError(
            f"a periodic lengthscale of {lengthscale:g} needs over {MAX_HARMONICS} harmonics; "
            "expected 0.002 or more (it is relative to the period, without unit)"
        )
    weights = np.asarray(ive(np.arange(count), lengthscale**-2), dtype=np.float64)
    weights[1:] *= 2
    left_out = 1 - np.cumsum(weights)
    enough = np.flatnonzero(left_out <= tail)
    return weights[: int(enough[0]) + 1 if enough.size else count]


@dataclass(frozen=True, slots=True)
class Periodic(Stationary):
    """``v exp(-2 sin^2(pi t/p) / l^2)``: repeats exactly, for ever.

    Its spectrum is lines at multiples of 1/p, so it has no density; see
    :func:`harmonic_weights`. The lengthscale is dimensionless; the period is in seconds.
    """

    lengthscale: float
    period: float
    variance: float = 1.0

    def __post_init__(self) -> None:
        require_positive(
            self, lengthscale=self.lengthscale, period=self.period, variance=self.variance
        )

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        # The remainder is exact in floating point; the sine of a large multiple of pi is not.
        phase = np.fmod(np.asarray(lags, dtype=np.float64), self.period) / self.period
        x = np.sin(np.pi * phase) / self.lengthscale
        return np.asarray(self.variance * np.exp(-2 * x * x))


@dataclass(frozen=True, slots=True)
class DampedPeriodic(Stationary):
    """``v exp(-2 sin^2(pi t/p) / l^2) e(t)``: a routine that drifts away over the damping time.

    ``e`` is a kernel of the envelope's family with variance 1 and lengthscale ``damping``
    (seconds): "rbf" is what the literature calls locally periodic; "matern12", exp(-|t|/T), is
    the rougher one, a sum of damped oscillators. The lengthscale is dimensionless.
    """

    lengthscale: float
    period: float
    damping: float
    variance: float = 1.0
    envelope: Envelope = "rbf"

    def __post_init__(self) -> None:
        require_positive(
            self,
            lengthscale=self.lengthscale,
            period=self.period,
            damping=self.damping,
            variance=self.variance,
        )
        if self.envelope not in ENVELOPES:
            raise PriorError(
                f"DampedPeriodic: envelope is {self.envelope!r}; "
                f"expected one of {', '.join(ENVELOPES)}"
            )

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        repeating = Periodic(self.lengthscale, self.period, self.variance)
        return np.asarray(repeating.at_lags(lags) * self.envelope_kernel().at_lags(lags))

    def envelope_kernel(self) -> SpectralKernel:
        """The damping as a kernel of variance 1."""
        return smooth_kernel(self.envelope, self.damping)

    def spectrum(self, omega: npt.ArrayLike) -> FloatArray:
        """The envelope's spectrum, moved to every harmonic and weighted with its share.

        Harmonics that together hold ``HARMONIC_TAIL`` of the variance are left out, so the
        density is low by terms that integrate to at most ``2 pi HARMONIC_TAIL v``.
        """
        return modulated_spectrum(
            self.envelope_kernel(), self.lengthscale, self.period, self.variance, omega
        )


def smooth_kernel(family: str, lengthscale: float, variance: float = 1.0) -> SpectralKernel:
    """The kernel of a family that has a lengthscale in seconds and nothing else.

    Raises:
        PriorError: another family.
    """
    match family:
        case "rbf":
            return RBF(lengthscale, variance)
        case "matern12":
            return Matern12(lengthscale, variance)
        case "matern32":
            return Matern32(lengthscale, variance)
        case "matern52":
            return Matern52(lengthscale, variance)
    raise PriorError(f"kernel family {family!r}: expected one of {', '.join(ENVELOPES)}")


def modulated_spectrum(
    envelope: SpectralKernel,
    lengthscale: float,
    period: float,
    scale: float,
    omega: npt.ArrayLike,
) -> FloatArray:
    """Spectrum of ``scale`` x periodic kernel (variance 1) x envelope; see DampedPeriodic."""
    frequencies = np.asarray(omega, dtype=np.float64)
    weights = harmonic_weights(lengthscale)
    density = weights[0] * envelope.spectrum(frequencies)
    for k, weight in enumerate(weights[1:], start=1):
        shift = 2 * np.pi * k / period
        density = density + 0.5 * weight * (
            envelope.spectrum(frequencies - shift) + envelope.spectrum(frequencies + shift)
        )
    return np.asarray(scale * density)
