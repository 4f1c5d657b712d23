"""Pictures of traces as SVG text: layers of lines, dots and marks in one frame, a scale bar.

Pure: the same input gives the same text. Colours are classes, so that the page decides them and
can change them in the dark. A picture needs no script and refers to nothing outside itself.
"""

import html
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from agent.formats.designs import FloatArray
from precompute.reports.frames import PIXELS, Frame

LEAST_PIXELS = 0.7
"""Successive points nearer than this in the picture are drawn as one."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Layer:
    """Something drawn: ``style`` is the class of its colour, ``points`` (n, 2) metres.

    A row with NaN breaks a line. ``ring`` and ``cross`` mark the first point only.
    """

    kind: Literal["line", "dots", "ring", "cross"]
    style: str
    points: FloatArray


def draw_picture(layers: tuple[Layer, ...], frame: Frame, description: str) -> str:
    """One ``<svg>`` element; ``description`` is what a screen reader says."""
    body = "".join(_draw(layer, frame) for layer in layers)
    return (
        f'<svg viewBox="0 0 {PIXELS:g} {PIXELS:g}" role="img" xmlns="http://www.w3.org/2000/svg"'
        f' aria-label="{html.escape(description, quote=True)}">'
        f"{body}{_scale_bar(frame)}</svg>"
    )


def _draw(layer: Layer, frame: Frame) -> str:
    pixels = frame.to_pixels(layer.points)
    if layer.kind == "line":
        path = "".join(_path(piece) for piece in _pieces(pixels))
        return f'<path class="line {layer.style}" d="{path}"/>' if path else ""
    if layer.kind == "dots":
        visible = pixels[np.all(np.isfinite(pixels), axis=1) & _inside(pixels)]
        dots = "".join(f"M{x:.4g} {y:.4g}h0" for x, y in _apart(visible))
        return f'<path class="dots {layer.style}" d="{dots}"/>' if dots else ""
    x, y = pixels[0]
    if layer.kind == "ring":
        return f'<circle class="mark {layer.style}" cx="{x:.1f}" cy="{y:.1f}" r="9"/>'
    arms = f"M{x - 9:.1f} {y - 9:.1f}l18 18m0 -18l-18 18"
    return f'<path class="mark {layer.style}" d="{arms}"/>'


def _pieces(pixels: FloatArray) -> list[FloatArray]:
    """The runs between rows with NaN that come near the picture."""
    finite = np.all(np.isfinite(pixels), axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], finite, [False]]).astype(int)))
    runs = [pixels[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return [run for run in runs if bool(np.any(_inside(run)))]


def _inside(pixels: FloatArray) -> npt.NDArray[np.bool_]:
    return np.asarray(np.all((pixels > -PIXELS) & (pixels < 2.0 * PIXELS), axis=1))


def _apart(pixels: FloatArray) -> list[tuple[float, float]]:
    """The points without those that lie on the one kept before."""
    kept: list[tuple[float, float]] = []
    for x, y in pixels.tolist():
        if not kept or abs(x - kept[-1][0]) + abs(y - kept[-1][1]) >= LEAST_PIXELS:
            kept.append((x, y))
    return kept


def _path(piece: FloatArray) -> str:
    """Absolute start, then relative steps: half the length of absolute coordinates.

    Each step is taken from the rounded point before it, so that roundings do not add up.
    """
    points = [(round(x * 10), round(y * 10)) for x, y in _apart(piece)]
    text = [f"M{points[0][0] / 10:g} {points[0][1] / 10:g}l"]
    for (x0, y0), (x1, y1) in pairwise(points):
        text.append(f"{(x1 - x0) / 10:g} {(y1 - y0) / 10:g} ")
    if len(points) == 1:
        text.append("0 0")  # a line of no length with round ends is a dot
    return "".join(text).rstrip()


def _scale_bar(frame: Frame) -> str:
    metres, label = frame.scale_bar
    width = metres * PIXELS / frame.side
    left, top = 18.0, PIXELS - 18.0
    bar = f"M{left:g} {top - 6:g}v6h{width:.1f}v-6"
    return (
        f'<path class="halo" d="{bar}"/><path class="bar" d="{bar}"/>'
        f'<text class="bar-label" x="{left + width / 2:.1f}" y="{top - 10:g}">{label}</text>'
    )
