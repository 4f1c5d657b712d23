"""What a fit found, as values: the distribution of lengthscales and the class made of it."""

import math
from dataclasses import dataclass

import numpy as np

from agent.formats.errors import shown
from agent.formats.quantities import SECONDS
from precompute.errors import PriorError
from precompute.priors.fitting import FIT_FAMILIES, Fit, FitFamily
from precompute.priors.prior_class import KernelRange, PriorClass, Range

DAY = SECONDS["d"]


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How traces are cut, what is fitted, and how the class is made of the fits.

    Attributes:
        families: the kernel families to fit.
        gap_seconds: a step longer than this ends a segment; None: the larger of 10 median steps
            and 5 minutes.
        every_seconds: keep one point of every slot of this length; None: every point.
        window_points: most points of one fit; its cost grows with the cube.
        max_windows: most windows, evenly spread over everything.
        low_quantile: of the fitted lengthscales; the class starts there and ends at the opposite
            quantile or at ``longest_seconds``, whichever is longer.
        longest_seconds: the class reaches at least to here: a log that is on while its owner
            moves does not show how long they stay at home.
        every_family: make the class of every fitted family but the periodic one, instead of
            the family that wins most often: dearer, and safe against each.
        period_seconds: where the periodic family starts to look.
        damping_seconds: range over which a routine is assumed to fade; one record cannot show it.
    """

    families: tuple[FitFamily, ...] = FIT_FAMILIES
    gap_seconds: float | None = None
    every_seconds: float | None = None
    window_points: int = 120
    max_windows: int = 40
    low_quantile: float = 0.05
    longest_seconds: float = 14 * DAY
    every_family: bool = False
    period_seconds: float = DAY
    damping_seconds: tuple[float, float] = (3 * DAY, 30 * DAY)

    def __post_init__(self) -> None:
        if not self.families or not set(self.families) <= set(FIT_FAMILIES):
            raise PriorError(
                f"families: found {shown(', '.join(self.families))}; expected one or more of "
                f"{', '.join(FIT_FAMILIES)}"
            )
        if self.window_points < 20 or self.max_windows < 1:
            raise PriorError(
                f"found windows of {self.window_points} points, at most {self.max_windows}; "
                "expected 20 points or more and at least one window"
            )
        if not 0 < self.low_quantile < 0.5:
            raise PriorError(f"low quantile {self.low_quantile}: expected between 0 and 0.5")


@dataclass(frozen=True, slots=True)
class WindowFit:
    """The fits of every family to one axis of one window."""

    trace: str
    axis: str
    points: int
    step_seconds: float
    fits: tuple[Fit, ...]

    @property
    def winner(self) -> Fit:
        """The family with the best score."""
        return max(self.fits, key=lambda fit: fit.score)


@dataclass(frozen=True, slots=True)
class FamilySummary:
    """The distribution over windows of one family's fits, on one axis or on all.

    Attributes:
        lengthscale: lower quartile, median, upper quartile (seconds; periodic: relative).
        effective: the same of lengthscale / step, as in Meehan & Chaudhuri (2021), section 7.4;
            for the periodic family the lengthscale itself, which has no unit.
        period: median, seconds; None for other families.
        likelihood_per_point: mean log-likelihood per point.
        wins: windows in which no other family has a better score.
        at_bound: windows whose lengthscale ended at an end of the range tried.
    """

    family: FitFamily
    axis: str
    windows: int
    lengthscale: tuple[float, float, float]
    effective: tuple[float, float, float]
    period: float | None
    likelihood_per_point: float
    wins: int
    at_bound: int


@dataclass(frozen=True, slots=True)
class FitReport:
    """Everything a fit found; holds no position but the rounded origin.

    Attributes:
        sources: names of what was read.
        step_seconds: median over windows of the median step.
        windows: all fits, one for each axis of each window.
        segments: continuous pieces between gaps.
        still: windows left out because an axis of them never changes.
        winner: the family that wins most often.
        prior: the class that ``prior.yaml`` states.
        fitted_low, fitted_high: quantiles of the winner's lengthscales, before rounding and
            before the class was made longer.
        origin: latitude and longitude rounded to half a degree; None for a series.
        settings: as given, with what was chosen automatically filled in.
    """

    sources: tuple[str, ...]
    axes: tuple[str, ...]
    step_seconds: float
    windows: tuple[WindowFit, ...]
    segments: int
    still: int
    summaries: tuple[FamilySummary, ...]
    winner: FitFamily
    prior: PriorClass
    fitted_low: float
    fitted_high: float
    origin: tuple[float, float] | None
    settings: FitSettings

    def summary(self, family: FitFamily, axis: str = "all") -> FamilySummary:
        """One row of the report."""
        return next(s for s in self.summaries if (s.family, s.axis) == (family, axis))


def summarise(
    windows: tuple[WindowFit, ...], axes: tuple[str, ...], families: tuple[FitFamily, ...]
) -> tuple[FamilySummary, ...]:
    """For every family over all axes and, when there are several, over each."""
    groups = ("all", *axes) if len(axes) > 1 else ("all",)
    return tuple(_summary(windows, family, axis) for family in families for axis in groups)


def _summary(windows: tuple[WindowFit, ...], family: FitFamily, axis: str) -> FamilySummary:
    chosen = [window for window in windows if axis in ("all", window.axis)]
    pairs = [(w, next(fit for fit in w.fits if fit.family == family)) for w in chosen]
    lengths = [fit.lengthscale for _, fit in pairs]
    scale = [1.0 if family == "periodic" else window.step_seconds for window, _ in pairs]
    periods = [fit.period for _, fit in pairs if fit.period is not None]
    return FamilySummary(
        family=family,
        axis=axis,
        windows=len(pairs),
        lengthscale=_quartiles(np.array(lengths)),
        effective=_quartiles(np.array(lengths) / np.array(scale)),
        period=float(np.median(periods)) if periods else None,
        likelihood_per_point=float(np.mean([f.log_likelihood / w.points for w, f in pairs])),
        wins=sum(window.winner.family == family for window, _ in pairs),
        at_bound=sum(fit.at_bound for _, fit in pairs),
    )


def make_class(
    windows: tuple[WindowFit, ...], winner: FitFamily, step_seconds: float, settings: FitSettings
) -> PriorClass:
    """The class: the winning family, the others where asked for, and a routine where one shows.

    A smooth family ranges from the low quantile (never below one step, where a kernel cannot be
    told from white noise) to the high quantile or ``longest_seconds``. A routine becomes the
    damped periodic family, because nobody's routine repeats exactly for ever. It joins even
    where another family explains more, because averaging over days is an attack of its own.
    """
    members = [winner]
    if settings.every_family:
        members += [f for f in settings.families if f not in (winner, "periodic")]
    if winner != "periodic" and _routine_shows(windows, settings):
        members.append("periodic")
    return PriorClass(tuple(_member(windows, f, step_seconds, settings) for f in members))


def fitted_quantiles(
    windows: tuple[WindowFit, ...], family: FitFamily, low_quantile: float
) -> tuple[float, float]:
    """The low quantile of a family's lengthscales and the opposite one."""
    lengths = [fit.lengthscale for w in windows for fit in w.fits if fit.family == family]
    low, high = np.quantile(lengths, (low_quantile, 1 - low_quantile))
    return float(low), float(high)


def _member(
    windows: tuple[WindowFit, ...], family: FitFamily, step_seconds: float, settings: FitSettings
) -> KernelRange:
    low, high = fitted_quantiles(windows, family, settings.low_quantile)
    if family == "periodic":
        if _routine_shows(windows, settings):
            period = settings.period_seconds
        else:
            period = round_up(_median_period(windows))
        return KernelRange(
            "damped_periodic",
            Range(round_down(low), round_up(high)),
            period=period,
            damping=Range(*settings.damping_seconds),
        )
    shortest = round_down(max(low, step_seconds))
    return KernelRange(
        family, Range(shortest, max(round_up(high), settings.longest_seconds, shortest))
    )


def _median_period(windows: tuple[WindowFit, ...]) -> float:
    return float(np.median([f.period for w in windows for f in w.fits if f.period is not None]))


def _routine_shows(windows: tuple[WindowFit, ...], settings: FitSettings) -> bool:
    if "periodic" not in settings.families:
        return False
    # A few days of data fix a period to some per cent; a day is then meant as a day.
    return abs(_median_period(windows) / settings.period_seconds - 1) < 0.1


def round_down(value: float) -> float:
    """To two significant digits, towards zero."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.floor(value / unit + 1e-9) * unit:.2g}")


def round_up(value: float) -> float:
    """To two significant digits, away from zero."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.2g}")


def _quartiles(values: np.ndarray) -> tuple[float, float, float]:
    low, middle, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    return low, middle, high
