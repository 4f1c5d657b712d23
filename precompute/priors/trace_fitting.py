"""Fits of every family to traces or a scalar series: the work behind ``sfumato fit``."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from agent.formats.projection import LocalProjection, wrap_degrees
from agent.formats.traces import Series, Trace
from precompute.errors import PriorError
from precompute.priors.algebra_threads import one_algebra_thread
from precompute.priors.fit_report import (
    DAY,
    FitReport,
    FitSettings,
    WindowFit,
    fitted_quantiles,
    make_class,
    summarise,
)
from precompute.priors.fitting import LEAST_POINTS, fit_axes
from precompute.priors.windows import Record, cut_windows, split_at_gaps, spread, thin

TRACE_AXES = ("east", "north")
SERIES_AXES = ("value",)
SERIES_WINDOW_SECONDS = 4 * DAY
"""What a window of a series should span at least, so that a daily routine can show."""

Progress = Callable[[int, int], None]
"""Called with (windows done, windows in all), first with (0, all)."""


def fit_traces(
    traces: Sequence[Trace],
    settings: FitSettings | None = None,
    *,
    progress: Progress | None = None,
) -> FitReport:
    """Fit every family to every window of the traces, east and north each on its own.

    Args:
        traces: of one or more people; each is projected about a place of its own.
        settings: None for the defaults.
        progress: called as windows are done.

    Raises:
        PriorError: no window has enough points, or none ever moves.
    """
    settings = settings or FitSettings()
    records = [_project(trace) for trace in traces if len(trace)]
    return _fit_records(records, TRACE_AXES, settings, _public_origin(traces), progress)


def fit_series(
    series: Series, settings: FitSettings | None = None, *, progress: Progress | None = None
) -> FitReport:
    """As :func:`fit_traces` for one scalar.

    Without ``every_seconds`` the series is thinned so that a window spans at least four days.
    """
    settings = settings or FitSettings()
    record = Record(series.name, series.times_seconds, (series.values,))
    if settings.every_seconds is None and len(series) > 1:
        every = SERIES_WINDOW_SECONDS / settings.window_points
        # Whole steps, so that thinning keeps an even rhythm even.
        steps = math.ceil(every / record.step_seconds - 1e-9)
        if steps > 1:
            settings = replace(settings, every_seconds=steps * record.step_seconds)
    return _fit_records([record], SERIES_AXES, settings, None, progress)


def _fit_records(
    records: Sequence[Record],
    axes: tuple[str, ...],
    settings: FitSettings,
    origin: tuple[float, float] | None,
    progress: Progress | None,
) -> FitReport:
    pieces = [piece for record in records for piece in split_at_gaps(record, settings.gap_seconds)]
    if settings.every_seconds is not None:
        pieces = [thin(piece, settings.every_seconds) for piece in pieces]
    longest = max((len(piece) for piece in pieces), default=0)
    usable = cut_windows(pieces, settings.window_points, LEAST_POINTS)
    if not usable:
        raise PriorError(
            f"too short to fit: segments between gaps: {len(pieces)}, the longest of {longest} "
            f"points; expected a segment of at least {LEAST_POINTS} points: give a longer trace, "
            "or a longer --gap"
        )
    moving = [w for w in usable if all(float(np.ptp(axis)) > 0 for axis in w.axes)]
    if not moving:
        raise PriorError(
            f"nothing moves in any of {len(usable)} windows: they carry no lengthscale; "
            "give a trace of someone under way"
        )
    chosen = spread(moving, settings.max_windows)
    windows: list[WindowFit] = []
    with one_algebra_thread():
        for done, window in enumerate(chosen):
            if progress is not None:
                progress(done, len(chosen))
            windows.extend(_fit_window(window, axes, settings))
    if progress is not None:
        progress(len(chosen), len(chosen))
    return _report(
        tuple(windows),
        records=records,
        axes=axes,
        settings=settings,
        origin=origin,
        segments=len(pieces),
        still=len(usable) - len(moving),
    )


def _fit_window(window: Record, axes: tuple[str, ...], settings: FitSettings) -> list[WindowFit]:
    by_family = [
        fit_axes(window.times_seconds, window.axes, family, period=settings.period_seconds)
        for family in settings.families
    ]
    return [
        WindowFit(window.name, axis, len(window), window.step_seconds, fits)
        for axis, fits in zip(axes, zip(*by_family, strict=True), strict=True)
    ]


def _report(
    windows: tuple[WindowFit, ...],
    *,
    records: Sequence[Record],
    axes: tuple[str, ...],
    settings: FitSettings,
    origin: tuple[float, float] | None,
    segments: int,
    still: int,
) -> FitReport:
    wins = Counter(window.winner.family for window in windows)
    winner = max(settings.families, key=lambda family: wins[family])
    step = float(np.median([window.step_seconds for window in windows]))
    low, high = fitted_quantiles(windows, winner, settings.low_quantile)
    return FitReport(
        sources=tuple(dict.fromkeys(record.name for record in records)),
        axes=axes,
        step_seconds=step,
        windows=windows,
        segments=segments,
        still=still,
        summaries=summarise(windows, axes, settings.families),
        winner=winner,
        prior=make_class(windows, winner, step, settings),
        fitted_low=low,
        fitted_high=high,
        origin=origin,
        settings=settings,
    )


def _project(trace: Trace) -> Record:
    # About the trace's own middle, which never leaves this function: no far-away distortion.
    middle = LocalProjection(float(np.median(trace.latitude)), float(trace.longitude[0]))
    return Record(trace.name, trace.times_seconds, middle.forward(trace.latitude, trace.longitude))


def _public_origin(traces: Sequence[Trace]) -> tuple[float, float] | None:
    """A place in the region, coarse enough to be public: rounded to half a degree (55 km)."""
    if not any(len(trace) for trace in traces):
        return None
    latitude = float(np.median(np.concatenate([trace.latitude for trace in traces])))
    longitudes = np.concatenate([trace.longitude for trace in traces])
    # The median of differences from one fix, because 179 and -179 degrees are neighbours.
    from_first = wrap_degrees(longitudes - longitudes[0])
    longitude = float(wrap_degrees(longitudes[0] + np.median(from_first)))
    return _half_degree(latitude), _half_degree(longitude)


def _half_degree(degrees: float) -> float:
    return round(2 * degrees) / 2 + 0.0  # adding 0 turns -0.0 into 0.0
