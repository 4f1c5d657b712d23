"""Maximum-likelihood fit of one kernel family to one short, noisy, irregular record.

The search is over the kernel's shape only (lengthscale, and period for the periodic family); the
mean, the signal variance and the noise are maximised out (see :mod:`precompute.priors.likelihood`).
A coarse logarithmic grid finds the right hill and a bounded search climbs it, so the result does
not depend on a starting point and is the same on every run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from precompute.errors import PriorError
from precompute.priors.kernels import FloatArray, Kernel, Periodic, smooth_kernel
from precompute.priors.likelihood import Profile, decompose, profile

FitFamily: TypeAlias = Literal["rbf", "matern32", "matern52", "periodic"]
FIT_FAMILIES: tuple[FitFamily, ...] = get_args(FitFamily)

LEAST_POINTS = 10
LEAST_STEPS = 0.3
"""Shortest lengthscale tried, in median steps: below it a kernel is white noise at these times."""
MOST_DURATIONS = 3.0
"""Longest lengthscale tried, in durations of the record: beyond it a kernel is a trend."""
PERIODIC_LENGTHSCALES = (0.1, 10.0)
"""Range tried for the periodic family, relative: 30 harmonics ... almost a pure sine."""

_GRID_POINTS = 9
_PERIODS = 20
_LOG_TOLERANCE = 0.01  # on the logarithm of a lengthscale: one per cent


@dataclass(frozen=True, slots=True)
class Fit:
    """One fitted kernel.

    Attributes:
        kernel: with its signal variance (unit^2).
        noise_variance: of independent measurement noise (unit^2).
        mean: the fitted constant mean (a raw quantity: never printed).
        log_likelihood: natural logarithm of the density of the record.
        parameters: number of fitted parameters, for comparing families.
        at_bound: whether the lengthscale ended at an end of the range tried, so that the record
            says only "at most" or "at least" that much.
    """

    family: FitFamily
    kernel: Kernel
    lengthscale: float
    period: float | None
    noise_variance: float
    mean: float
    log_likelihood: float
    parameters: int
    at_bound: bool

    @property
    def score(self) -> float:
        """Log-likelihood less the number of parameters (minus half of Akaike's criterion)."""
        return self.log_likelihood - self.parameters

    def __repr__(self) -> str:
        return f"Fit({self.family}, lengthscale {self.lengthscale:.4g})"


def fit_kernel(
    times: npt.ArrayLike,
    values: npt.ArrayLike,
    family: FitFamily,
    *,
    period: float | None = None,
) -> Fit:
    """Fit one family to one record on one axis.

    Args:
        times: (n,) seconds, ascending, n >= 10.
        values: (n,) in the channel's unit, not all equal.
        family: which kernel.
        period: for the periodic family, a period (seconds) to try beside fractions of the
            record's duration.

    Raises:
        PriorError: too few points, times not ascending, values that are not finite or all equal.
    """
    return fit_axes(times, [np.asarray(values, dtype=np.float64)], family, period=period)[0]


def fit_axes(
    times: npt.ArrayLike,
    axes: Sequence[FloatArray],
    family: FitFamily,
    *,
    period: float | None = None,
) -> tuple[Fit, ...]:
    """As :func:`fit_kernel` for several axes with the same times, each on its own.

    The axes share the costly part of the grid: a kernel's matrix depends on the times only.
    """
    seconds = np.asarray(times, dtype=np.float64)
    _require_record(seconds, axes)
    if family not in FIT_FAMILIES:
        raise PriorError(f"family {family!r}: expected one of {', '.join(FIT_FAMILIES)}")
    lags = seconds[:, np.newaxis] - seconds[np.newaxis, :]
    if family == "periodic":
        return tuple(_fit_periodic(seconds, lags, axes, period))
    return tuple(_fit_smooth(family, seconds, lags, axes))


def _fit_smooth(
    family: FitFamily, seconds: FloatArray, lags: FloatArray, axes: Sequence[FloatArray]
) -> list[Fit]:
    from scipy.optimize import minimize_scalar

    step, duration = _scales(seconds)
    grid = np.linspace(np.log(LEAST_STEPS * step), np.log(MOST_DURATIONS * duration), _GRID_POINTS)

    def profiles(log_lengthscale: float, records: Sequence[FloatArray]) -> list[Profile]:
        spectrum = decompose(smooth_kernel(family, float(np.exp(log_lengthscale))).at_lags(lags))
        return [profile(spectrum, record) for record in records]

    coarse = [profiles(point, axes) for point in grid]
    fits = []
    for axis, record in enumerate(axes):
        best = int(np.argmax([row[axis].log_likelihood for row in coarse]))
        bounds = (grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)])
        found = minimize_scalar(
            lambda point, record=record: -profiles(point, [record])[0].log_likelihood,
            bounds=bounds,
            method="bounded",
            options={"xatol": _LOG_TOLERANCE},
        )
        point, top = float(found.x), profiles(float(found.x), [record])[0]
        if coarse[best][axis].log_likelihood > top.log_likelihood:
            point, top = float(grid[best]), coarse[best][axis]
        at_bound = bool(min(point - grid[0], grid[-1] - point) < 2 * _LOG_TOLERANCE)
        lengthscale = float(np.exp(point))
        fits.append(
            Fit(
                family=family,
                kernel=smooth_kernel(family, lengthscale, top.signal_variance),
                lengthscale=lengthscale,
                period=None,
                noise_variance=top.noise_ratio * top.signal_variance,
                mean=top.mean,
                log_likelihood=top.log_likelihood,
                parameters=4,
                at_bound=at_bound,
            )
        )
    return fits


def _fit_periodic(
    seconds: FloatArray, lags: FloatArray, axes: Sequence[FloatArray], period: float | None
) -> list[Fit]:
    step, duration = _scales(seconds)
    shortest, longest = 2 * step, max(2 * duration, 4 * step)
    # The hill around a true period is about as wide as the period over its number of repeats.
    starts = np.geomspace(4 * step, duration, _PERIODS) if duration > 4 * step else [4 * step]
    if period is not None and 4 * step <= period <= duration:
        starts = period * np.array([0.8, 0.9, 1.0, 1.1, 1.25])
    bounds = [
        (float(np.log(low)), float(np.log(high)))
        for low, high in (PERIODIC_LENGTHSCALES, (shortest, longest))
    ]

    def profiles(point: npt.ArrayLike, records: Sequence[FloatArray]) -> list[Profile]:
        lengthscale, cycle = np.exp(np.asarray(point, dtype=np.float64))
        spectrum = decompose(Periodic(float(lengthscale), float(cycle)).at_lags(lags))
        return [profile(spectrum, record) for record in records]

    grid = [(np.log(length), np.log(cycle)) for cycle in starts for length in (0.5, 1.5)]
    coarse = [profiles(point, axes) for point in grid]
    fits = []
    for axis, record in enumerate(axes):
        best = int(np.argmax([row[axis].log_likelihood for row in coarse]))

        def loss(point: npt.ArrayLike, record: FloatArray = record) -> float:
            return -profiles(point, [record])[0].log_likelihood

        found = _climb(loss, np.array(grid[best]), bounds)
        # A multiple of the true period explains much of a routine too; try its parts.
        for parts in (2, 3):
            part = found.x + np.log([parts, 1 / parts])
            if part[1] > bounds[1][0] and loss(part) < found.fun:
                found = _climb(loss, part, bounds)
        top = profiles(found.x, [record])[0]
        lengthscale, cycle = (float(x) for x in np.exp(found.x))
        at_bound = bool(min(found.x[0] - bounds[0][0], bounds[0][1] - found.x[0]) < 0.02)
        fits.append(
            Fit(
                family="periodic",
                kernel=Periodic(lengthscale, cycle, top.signal_variance),
                lengthscale=lengthscale,
                period=cycle,
                noise_variance=top.noise_ratio * top.signal_variance,
                mean=top.mean,
                log_likelihood=top.log_likelihood,
                parameters=5,
                at_bound=at_bound,
            )
        )
    return fits


def _climb(
    loss: Callable[[npt.ArrayLike], float], start: FloatArray, bounds: list[tuple[float, float]]
) -> Any:
    from scipy.optimize import minimize

    return minimize(
        loss,
        start,
        method="Nelder-Mead",
        bounds=bounds,
        options={
            "xatol": _LOG_TOLERANCE,
            "fatol": 1e-2,
            "maxfev": 70,
            "initial_simplex": start + np.array([[0, 0], [0.3, 0], [0, 0.05]]),
        },
    )


def _scales(seconds: FloatArray) -> tuple[float, float]:
    return float(np.median(np.diff(seconds))), float(seconds[-1] - seconds[0])


def _require_record(seconds: FloatArray, axes: Sequence[FloatArray]) -> None:
    if seconds.ndim != 1 or seconds.size < LEAST_POINTS:
        raise PriorError(
            f"a record of {seconds.size} points is too short to fit; "
            f"expected {LEAST_POINTS} or more"
        )
    if not (bool(np.all(np.isfinite(seconds))) and bool(np.all(np.diff(seconds) > 0))):
        raise PriorError("the times of a record are not finite and ascending; sort them first")
    for values in axes:
        if values.shape != seconds.shape or not bool(np.all(np.isfinite(values))):
            raise PriorError("the values of a record are not finite, one for each time")
        if float(np.ptp(values)) == 0.0:
            raise PriorError("the values of a record are all equal: they carry no lengthscale")
