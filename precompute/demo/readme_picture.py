"""The picture in the README: one made-up day, and what attackers make of it.

    python -m precompute.demo.readme_picture docs/demo.svg

The noise is drawn from a plain seeded generator, so that the picture comes out the same every
time; a real release is never drawn so.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.formats.designs import FloatArray
from precompute.audit.grids import onto_grid
from precompute.audit.noise_covariance import IndependentNoise, component_correlation, draw_noise
from precompute.audit.published_trace import Errors, examine, plan_windows
from precompute.audit.stays import CovarianceAt
from precompute.cip.stream_design import design_stream
from precompute.demo.made_up_week import DAY_SECONDS, ORIGIN, made_up_week
from precompute.priors.prior_class import KernelRange, PriorClass, Range
from precompute.reports.frames import frame_around
from precompute.reports.pictures import Layer, draw_picture

STEP_SECONDS = 60.0
DEVIATION = 200.0
SEED = 7
DAY = 1  # Tuesday: office by tram, canteen, gym
CLASS = Range(120.0, 14.0 * DAY_SECONDS)
PANEL, GAP, TITLE = 300, 16, 64

STYLE = """
.line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}
.raw{stroke:#1d2430}.ours{stroke:#0067a5}.independent{stroke:#cf4a00}
.behind{stroke:#b9bfc8;stroke-width:4}
.bar{fill:none;stroke:#5c6675;stroke-width:3}.halo{fill:none;stroke:#fff;stroke-width:9}
.bar-label{fill:#5c6675;font:600 26px sans-serif;text-anchor:middle}
.title{fill:#1d2430;font:600 16px sans-serif}.small{fill:#5c6675;font:14px sans-serif}
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Attack:
    """A reconstruction of the day, (n, 2) metres, and its errors."""

    points: FloatArray
    errors: Errors


def draw_readme_picture() -> str:
    """The SVG text."""
    times, truth = _day()
    independent = _attacked(times, truth, IndependentNoise(DEVIATION**2))
    ours = _attacked(times, truth, _stream_noise())
    frame = frame_around(truth, margin=1.5 * DEVIATION)
    raw, behind = Layer("line", "raw", truth), Layer("line", "behind", truth)
    panels = (
        ("One made-up day", "the truth, which stays private", (raw,)),
        (
            "Independent noise, 200 m",
            f"an attacker is off by {independent.errors.best:.0f} m",
            (behind, Layer("line", "independent", independent.points)),
        ),
        (
            "sfumato, 200 m",
            f"the same attacker is off by {ours.errors.best:.0f} m",
            (behind, Layer("line", "ours", ours.points)),
        ),
    )
    width = 3 * PANEL + 4 * GAP
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {PANEL + TITLE + GAP}">',
        f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>',
    ]
    for k, (title, small, layers) in enumerate(panels):
        left = GAP + k * (PANEL + GAP)
        picture = draw_picture(layers, frame, title)
        place = f'<svg x="{left}" y="{TITLE}" width="{PANEL}" height="{PANEL}" '
        text += [
            f'<text class="title" x="{left}" y="26">{title}</text>',
            f'<text class="small" x="{left}" y="48">{small}</text>',
            picture.replace("<svg ", place, 1),
        ]
    return "\n".join([*text, "</svg>", ""])


def _day() -> tuple[FloatArray, FloatArray]:
    week = made_up_week()
    first = week.times_seconds[0] + DAY * DAY_SECONDS
    part = (week.times_seconds >= first) & (week.times_seconds < first + DAY_SECONDS)
    points = np.column_stack(ORIGIN.forward(week.latitude[part], week.longitude[part]))
    (day,) = onto_grid(week.times_seconds[part], points, STEP_SECONDS, STEP_SECONDS)
    return day.times_seconds, day.points


def _stream_noise() -> CovarianceAt:
    prior = PriorClass((KernelRange("rbf", CLASS),))
    components = design_stream(prior, 1.0).for_power(DEVIATION**2).components

    def covariance(times: FloatArray) -> FloatArray:
        lags = np.abs(times[:, None] - times)
        return sum(
            (c.variance * component_correlation(c, lags) for c in components),
            np.zeros_like(lags),
        )

    return covariance


def _attacked(times: FloatArray, truth: FloatArray, noise: CovarianceAt) -> Attack:
    rng = np.random.default_rng(SEED)
    released = truth + draw_noise(noise(times), 2, 1, rng)[0]
    plan = plan_windows(times, STEP_SECONDS)
    assert plan is not None
    found = examine(times, truth, released, noise, plan=plan, stays=(), rng=rng)
    return Attack(found.reconstruction, found.expected)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw_readme_picture(), encoding="utf-8")
