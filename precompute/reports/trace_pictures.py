"""The pictures of a trace report, in two or three frames that are shared where compared."""

import numpy as np

from agent.formats.designs import FloatArray
from agent.formats.quantities import format_duration
from precompute.audit.grids import continuous_pieces
from precompute.reports.frames import Frame, frame_around
from precompute.reports.page import figure, pictures
from precompute.reports.pictures import Layer, draw_picture
from precompute.reports.trace_findings import Side, TraceReport

LARGEST_METRES = 60_000.0
RARE = 0.04
WORTH_A_CUT = 1.6
MEAN = "The cross is where the attacker's best average puts it; the ring is the place."


def whole_trace(report: TraceReport) -> str:
    """Raw, published, and what attackers make of either noise."""
    margin = 3.0 * report.deviation
    frame = main_frame(report.truth, margin=margin)
    raw = _line(report, report.truth, "raw")
    behind = _line(report, report.truth, "behind")
    shown = np.mean(np.max(np.abs(report.truth - frame.centre), axis=1) <= frame.side / 2)
    cut = "" if shown == 1 else f" Shown: the part of the map that holds {shown:.0%} of it."
    figures = [
        figure(
            draw_picture((raw,), frame, "The true path"),
            "The truth",
            f"Private: never leaves the device.{cut}",
        ),
        figure(
            draw_picture((_line(report, report.shaped.released, "ours"),), frame, "The release"),
            "What sfumato published",
            f"One position every {format_duration(report.step_seconds)}, "
            f"{report.deviation:.0f} m of noise on each axis.",
        ),
    ]
    for side, style, heading in _sides(report):
        if side.findings is None:
            continue
        found = Layer("line", style, side.findings.reconstruction)
        figures.append(
            figure(
                draw_picture((behind, found), frame, f"Reconstruction from {heading}"),
                f"What an attacker makes of {heading}",
                f"Off by {side.findings.errors.best:.0f} m in this release. The truth is grey.",
            )
        )
    return pictures(figures)


def main_frame(truth: FloatArray, *, margin: float) -> Frame:
    """All of it, unless a rare excursion would make everything else too small to see."""
    whole = frame_around(truth, margin=margin, largest=LARGEST_METRES)
    low, high = np.quantile(truth, [RARE, 1.0 - RARE], axis=0)
    usual = frame_around(np.stack([low, high]), margin=margin)
    return usual if usual.side * WORTH_A_CUT < whole.side else whole


def one_journey(report: TraceReport) -> str:
    """A stretch under way: dots as published, the attacker's line, the truth behind."""
    if report.journey is None or report.independent.findings is None:
        return ""
    part = report.journey
    frame = _common_frame(report, part)
    figures = []
    for side, style, heading in _sides(report):
        assert side.findings is not None
        layers = (
            Layer("line", "raw bold", report.truth[part]),
            Layer("dots", style, side.released[part]),
            Layer("line", f"{style} bold", side.findings.reconstruction[part]),
        )
        figures.append(
            figure(
                draw_picture(layers, frame, f"One journey: {heading}"),
                f"One journey, {heading}",
                "Dots: published. Coloured line: what the attacker makes of them. The other line: "
                "the truth.",
            )
        )
    return pictures(figures)


def one_stay(report: TraceReport) -> str:
    """The longest stay: the cloud, and where its weighted mean falls."""
    if not report.stays:
        return ""
    part = report.stays[0][0]
    frame = _common_frame(report, part)
    place = np.mean(report.truth[part], axis=0)[None, :]
    figures = []
    for side, style, heading in _sides(report):
        assert side.findings is not None
        stay = side.findings.stays[0]
        layers = (
            Layer("dots", style, side.released[part]),
            Layer("ring", "raw", place),
            Layer("cross", style, stay.weighted_place[None, :]),
        )
        figures.append(
            figure(
                draw_picture(layers, frame, f"The longest stay: {heading}"),
                f"{stay.hours:.1f} hours in one place, {heading}",
                f"Off by {stay.weighted_mean:.0f} m. {MEAN}",
            )
        )
    return pictures(figures)


def _sides(report: TraceReport) -> tuple[tuple[Side, str, str], ...]:
    return (
        (report.independent, "independent", "independent noise"),
        (report.shaped, "ours", "sfumato"),
    )


def _line(report: TraceReport, points: FloatArray, style: str) -> Layer:
    return Layer("line", style, broken_at_gaps(report.times_seconds, points, report.step_seconds))


def broken_at_gaps(times_seconds: FloatArray, points: FloatArray, step: float) -> FloatArray:
    """(n, 2) -> (m, 2) with a row of NaN wherever nothing was published for a while."""
    parts: list[FloatArray] = []
    for piece in continuous_pieces(times_seconds, 1.5 * step):
        parts += [points[piece], np.full((1, 2), np.nan)]
    return np.concatenate(parts)


def _common_frame(report: TraceReport, part: slice) -> Frame:
    """Holds the truth, and nearly all of both releases."""
    spread = np.concatenate([report.independent.released[part], report.shaped.released[part]])
    low, high = np.quantile(spread, [0.01, 0.99], axis=0)
    points = np.concatenate([report.truth[part], low[None], high[None]])
    return frame_around(points, margin=0.35 * report.deviation)
