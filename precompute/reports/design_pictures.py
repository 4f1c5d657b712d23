"""Four pictures of a design: covariance, sample, spectrum, and the loss over the class."""

import math

import numpy as np

from agent.formats.designs import FloatArray, StreamDesign, WindowDesign
from precompute.cip.stream_spectra import noise_spectrum
from precompute.priors.prior_class import KernelRange, PriorClass
from precompute.reports import design_curves as curves
from precompute.reports.charts import MOST_SQUARES, Axis, Curve, draw_chart, draw_matrix
from precompute.reports.page import figure
from precompute.reports.scales import Scale, linear, log_times, logarithmic, times

MOST_ROWS = 400
MOST_SHOWN = 240
SAMPLES = 3
STYLES = ("ours", "ours bold", "ours dashed")
DEFAULT_VARIANCE_RATIO = 100.0


def stream_pictures(design: StreamDesign, prior: PriorClass | None) -> list[str]:
    """Covariance over lag, a sample at two zooms, spectrum, loss."""
    families = curves.stream_class(prior)
    timescales = [component.timescale_seconds for component in design.components]
    fastest, slowest = min(timescales), max(timescales)
    shown = [
        _stream_covariance(design, fastest, slowest),
        _stream_sample(design, slowest),
        _stream_spectrum(design, prior, fastest, slowest),
    ]
    shown += [_loss(curve, design) for curve in curves.stream_loss(design, families)]
    return shown


def window_pictures(
    design: WindowDesign,
    prior: PriorClass | None,
    secrets: tuple[tuple[int, ...], ...] | None,
) -> list[str]:
    """Covariance as a matrix, samples, spectrum; the loss where the prior is known."""
    covariance = np.asarray(design.factor @ design.factor.T)
    rows = len(covariance)
    step = design.step_ms / 1000
    moments = np.arange(rows, dtype=np.float64) * step
    largest = float(np.max(np.abs(covariance)))
    corner = rows if rows <= MOST_SHOWN else MOST_SQUARES
    whose = "" if corner == rows else f" Shown are the first {corner} of {rows}."
    shown = [
        figure(
            draw_matrix(
                covariance[:corner, :corner], "reading", f"Noise covariance of {design.name}"
            ),
            "Which readings share their noise",
            f"The covariance of the noise, reading by reading: blue together, orange opposite. "
            f"Full blue is {largest:.3g}{_squared(design.unit)}. Noise that goes along with what "
            f"the readings themselves do cannot be averaged away.{whose}",
        ),
        _window_sample(design, covariance, moments),
    ]
    if rows > 2:
        shown.append(_window_spectrum(design, covariance, prior, moments))
    if prior is not None and rows <= MOST_ROWS:
        chosen = tuple((i,) for i in range(rows)) if secrets is None else secrets
        variance = DEFAULT_VARIANCE_RATIO * design.noise_variance
        found = curves.window_loss(prior, moments, chosen, covariance, variance)
        shown += [_loss(curve, design) for curve in found]
    return shown


def _stream_covariance(design: StreamDesign, fastest: float, slowest: float) -> str:
    lags = np.geomspace(fastest / 30, slowest * 6, 900)
    values = curves.component_covariance(design.components, lags) / design.noise_variance
    least = min(0.0, float(np.min(values)))
    chart = draw_chart(
        [Curve("", "ours bold", lags, values)],
        Axis("time between two readings", log_times(float(lags[0]), float(lags[-1]))),
        Axis("correlation", linear(math.floor(10 * least) / 10, 1.0)),
        f"Correlation of the noise of {design.name} over time",
    )
    return figure(
        chart,
        "How long the noise remembers",
        f"Correlation between the noise of two readings. At once it is the same draw; after "
        f"{_half_life(lags, values)} half of it is new. Averaging quickly repeated readings "
        "removes nothing, averaging over days only what the slow part leaves.",
    )


def _half_life(lags: FloatArray, values: FloatArray) -> str:
    below = np.flatnonzero(values < 0.5)
    return _about(float(lags[below[0] if below.size else -1]))


def _about(seconds: float) -> str:
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.2g} seconds"


def _stream_sample(design: StreamDesign, slowest: float) -> str:
    span = min(max(4 * slowest, 60.0), 30 * 86400.0)
    moments = np.linspace(0.0, span, curves.SAMPLE_POINTS)
    lags = moments[:, np.newaxis] - moments
    paths = curves.sample_paths(curves.component_covariance(design.components, lags), 1)
    return _sample(
        design.name,
        moments,
        paths,
        design.unit,
        f"One draw over {_about(span)}. It wanders like what it hides, and never repeats.",
    )


def _window_sample(design: WindowDesign, covariance: FloatArray, moments: FloatArray) -> str:
    paths = curves.sample_paths(covariance, SAMPLES)
    return _sample(
        design.name, moments, paths, design.unit, f"{SAMPLES} draws over the whole window."
    )


def _sample(name: str, moments: FloatArray, paths: FloatArray, unit: str, words: str) -> str:
    most = 1.05 * float(np.max(np.abs(paths)))
    chart = draw_chart(
        [Curve("", style, moments, path) for style, path in zip(STYLES, paths.T, strict=False)],
        Axis("time", times(float(moments[0]), float(moments[-1]) or 1.0)),
        Axis("noise" + ("" if unit == "1" else f", {unit}"), linear(-most, most)),
        f"Samples of the noise of {name}",
    )
    return figure(chart, "What the noise looks like", words)


def _stream_spectrum(
    design: StreamDesign, prior: PriorClass | None, fastest: float, slowest: float
) -> str:
    """Power per octave: frequency times spectrum, so that areas in the picture are powers."""
    periods = np.geomspace(fastest / 3, slowest * 30, 1500)
    lines = [
        2 * math.pi / component.period_seconds
        + np.linspace(-4, 4, 41) / component.timescale_seconds
        for component in design.components
        if component.period_seconds is not None
    ]
    fine = np.concatenate(lines) if lines else np.empty(0)
    omega = np.unique(np.concatenate([2 * math.pi / periods, fine[fine > 0]]))
    power = omega * noise_spectrum(design.components, omega) / design.noise_variance
    drawn = [Curve("the noise", "ours bold", 2 * math.pi / omega, power)]
    for words, phi in _class_edges(prior, omega):
        drawn.append(Curve(words, "independent", 2 * math.pi / omega, omega * phi))
    top = max(float(np.max(curve.y)) for curve in drawn) * 1.5
    chart = draw_chart(
        drawn,
        Axis("period of the ups and downs", log_times(float(periods[0]), float(periods[-1]))),
        Axis("share of power", logarithmic(top / 1e5, top)),
        f"Spectrum of the noise of {design.name} against the class",
    )
    words = (
        "Power of the noise by how fast it moves. It must reach wherever a prior of the class has "
        "its own: noise that is missing at some period can be filtered from what moves there."
    )
    if len(drawn) > 1:
        words += " Orange: the shortest, longest and most regular priors of the class."
    return figure(chart, "At which pace it moves", words)


def _class_edges(prior: PriorClass | None, omega: FloatArray) -> list[tuple[str, FloatArray]]:
    found = []
    for number, family in enumerate(curves.stream_class(prior)):
        corners = family.grid(50.0)
        chosen = corners if len(corners) <= 2 else corners[[0, -1]]
        for k, phi in enumerate(family.spectra(chosen, omega)):
            label = "priors at the edges of the class" if number == 0 and k == 0 else ""
            found.append((label, phi))
    return found


def _window_spectrum(
    design: WindowDesign, covariance: FloatArray, prior: PriorClass | None, moments: FloatArray
) -> str:
    step = design.step_ms / 1000
    noise = curves.window_spectrum(covariance)
    frequencies = np.arange(len(noise)) / (len(covariance) * step)
    drawn = [Curve("the noise", "ours bold", frequencies, noise)]
    for number, member in enumerate(() if prior is None else prior.kernels):
        if isinstance(member, KernelRange):
            for k, value in enumerate({member.lengthscale.low, member.lengthscale.high}):
                fades = None if member.damping is None else member.damping.high
                kernel = member.kernel_at(value, fades)
                cov = kernel.covariance(moments, moments)
                scaled = cov * (design.noise_variance / float(np.mean(np.diagonal(cov))))
                label = "the prior, scaled to the same power" if number == 0 and k == 0 else ""
                drawn.append(
                    Curve(label, "independent", frequencies, curves.window_spectrum(scaled))
                )
    top = 2 * max(float(np.max(curve.y)) for curve in drawn)
    chart = draw_chart(
        drawn,
        Axis("cycles a second", linear(0.0, float(frequencies[-1]))),
        Axis("power", logarithmic(top / 1e6, top)),
        f"Spectrum of the noise of {design.name} against the prior",
    )
    return figure(
        chart,
        "At which pace it moves",
        "Power of the noise by frequency, over the window. Where every reading is a secret it "
        "follows the prior exactly; for few secrets it is only what those need.",
    )


def _loss(curve: curves.LossCurve, design: StreamDesign | WindowDesign) -> str:
    limit = design.guarantee.worst_information
    ratio = curve.information / limit
    values = curve.values
    across = (
        logarithmic(float(values[0]), float(values[-1]))
        if curve.parameter == "relative lengthscale"
        else log_times(float(values[0]), float(values[-1]))
    )
    high = float(np.clip(np.max(ratio[np.isfinite(ratio)], initial=2.0) * 1.3, 2.0, 1e4))
    drawn = [
        Curve(f"{curve.kernel}, worst reading", "ours bold", values, ratio),
        Curve("promised at most", "independent dashed", values, np.ones_like(values)),
    ]
    bands = [] if curve.inside is None else [curve.inside]
    chart = draw_chart(
        drawn,
        Axis(curve.parameter, across),
        Axis("loss, of the promise", _loss_scale(ratio, high)),
        f"Loss of {design.name} over the {curve.parameter} of {curve.kernel}",
        bands,
    )
    where = (
        "Shaded: the class. "
        if curve.inside is not None
        else "Where the curve stays below the line the promise holds, whatever the class was. "
    )
    return figure(
        chart,
        f"What is lost against {curve.kernel}, by {curve.parameter}",
        f"{where}1 is the loss that the design promises. Beyond the class nothing is promised: "
        f"at the ends of this picture it is {_times(ratio[0])} and {_times(ratio[-1])} that.",
    )


def _loss_scale(ratio: FloatArray, high: float) -> Scale:
    low = float(np.clip(np.min(ratio) / 1.5, 1e-3, 0.5))
    return logarithmic(low, high)


def _times(value: float) -> str:
    if not math.isfinite(value):
        return "without bound"
    return f"{value:.2g} times" if value < 100 else f"{float(f'{value:.2g}'):,.0f} times"


def _squared(unit: str) -> str:
    return "" if unit == "1" else f" {unit}²"
