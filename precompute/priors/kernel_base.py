"""What every kernel is: a variance and a covariance function of the lag between two times.

Conventions: times and lags are in seconds; a covariance is in the channel's unit squared. Times
may be as large as Unix time: they are subtracted before anything else is done to them. A
spectrum is two-sided, over angular frequency in rad/s: ``S(w) = integral k(t) exp(-i w t) dt``,
so that ``k(0) = (1/2 pi) integral S(w) dw``.
"""

import math
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from precompute.errors import PriorError

FloatArray: TypeAlias = npt.NDArray[np.float64]


@runtime_checkable
class Kernel(Protocol):
    """A stationary covariance function k on one axis."""

    @property
    def variance(self) -> float:
        """k(0)."""
        ...

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        """k at these lags (seconds, either sign, any shape); the same shape."""
        ...

    def covariance(self, times_a: npt.ArrayLike, times_b: npt.ArrayLike) -> FloatArray:
        """(n, m) matrix of k(a_i - b_j) for times of shape (n,) and (m,)."""
        ...


@runtime_checkable
class SpectralKernel(Kernel, Protocol):
    """A kernel whose power is spread over frequencies, not concentrated on lines."""

    def spectrum(self, omega: npt.ArrayLike) -> FloatArray:
        """Two-sided spectral density at angular frequencies (rad/s); the same shape."""
        ...


class Stationary:
    """The part that all kernels share: a covariance matrix is k at the differences of times."""

    __slots__ = ()

    def at_lags(self, lags: npt.ArrayLike) -> FloatArray:
        """k at these lags (seconds, either sign, any shape); the same shape."""
        raise NotImplementedError

    def covariance(self, times_a: npt.ArrayLike, times_b: npt.ArrayLike) -> FloatArray:
        """(n, m) matrix of k(a_i - b_j) for times of shape (n,) and (m,).

        Raises:
            PriorError: the times are not finite vectors.
        """
        return self.at_lags(_times(times_a)[:, np.newaxis] - _times(times_b)[np.newaxis, :])


def require_positive(owner: object, **values: float) -> None:
    """Refuse parameters that are not finite and above zero.

    Raises:
        PriorError: names the kernel, the parameter and the value.
    """
    for name, value in values.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (number and math.isfinite(value) and value > 0):
            raise PriorError(
                f"{type(owner).__name__}: {name} is {value!r}; expected a finite number above zero"
            )


def _times(times: npt.ArrayLike) -> FloatArray:
    vector = np.asarray(times, dtype=np.float64)
    if vector.ndim != 1 or not bool(np.all(np.isfinite(vector))):
        raise PriorError(
            f"times of shape {vector.shape} are not a vector of finite numbers; "
            "give seconds as one array"
        )
    return vector
