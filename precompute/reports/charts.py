"""Charts as SVG text: curves over two axes, and matrices as coloured squares.

Pure, like :mod:`precompute.reports.pictures`; colours are classes of the page.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray
from precompute.reports.scales import Scale

WIDTH, HEIGHT = 600.0, 430.0
LEFT, RIGHT, TOP, BOTTOM = 100.0, 24.0, 16.0, 62.0
KEY_LINE = 25.0
SHADES = 12
MOST_SQUARES = 60


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A line with its words for the key (none if empty); ``style`` are classes of the page."""

    label: str
    style: str
    x: FloatArray
    y: FloatArray


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale and what it measures."""

    name: str
    scale: Scale


def draw_chart(
    curves: Sequence[Curve],
    across: Axis,
    up: Axis,
    description: str,
    bands: Sequence[tuple[float, float]] = (),
    *,
    between: Sequence[tuple[Curve, Curve]] = (),
) -> str:
    """One ``<svg>`` element.

    Args:
        bands: stretches of the horizontal axis to shade.
        between: pairs of curves, finite everywhere, to shade what lies between.
        description: what a screen reader says.
    """
    keys = [curve for curve in curves if curve.label]
    top = TOP + KEY_LINE * len(keys)
    bottom = HEIGHT - BOTTOM
    parts = [_band(across.scale, low, high, top, bottom) for low, high in bands]
    for low, high in between:
        back = Curve("", "", high.x[::-1], high.y[::-1])
        outline = _path(low, across, up, top) + "L" + _path(back, across, up, top)[1:] + "Z"
        parts.append(f'<path class="band" d="{outline}"/>')
    parts += [_grid(across, up, top, bottom)]
    for curve in curves:
        parts.append(f'<path class="line {curve.style}" d="{_path(curve, across, up, top)}"/>')
    for number, curve in enumerate(keys):
        y = TOP + KEY_LINE * number + 8
        parts.append(
            f'<path class="line {curve.style}" d="M{LEFT:g} {y:g}h44"/>'
            f'<text class="key" x="{LEFT + 54:g}" y="{y + 6:g}">{html.escape(curve.label)}</text>'
        )
    return svg("".join(parts), description, HEIGHT)


def draw_matrix(matrix: FloatArray, name: str, description: str) -> str:
    """A square matrix, rows downwards; large ones are averaged down to ``MOST_SQUARES``.

    Blue is positive, orange negative, faint is near zero.
    """
    count = len(matrix)
    edges = np.unique(np.linspace(0, count, min(count, MOST_SQUARES) + 1).astype(int))
    sums = np.add.reduceat(np.add.reduceat(matrix, edges[:-1], axis=0), edges[:-1], axis=1)
    sizes = np.diff(edges)
    means = sums / np.outer(sizes, sizes)
    most = float(np.max(np.abs(means)))
    shades = np.round(SHADES * means / most).astype(int) if most > 0 else np.zeros_like(sums, int)
    side = HEIGHT - TOP - BOTTOM
    left = (WIDTH - side) / 2
    places = edges * (side / count)
    parts = []
    for row, (y, size) in enumerate(zip(places, np.diff(places), strict=False)):
        start = 0
        while start < len(sizes):
            stop = start + 1
            while stop < len(sizes) and shades[row, stop] == shades[row, start]:
                stop += 1
            shade = int(shades[row, start])
            if shade:
                parts.append(
                    f'<rect class="{"plus" if shade > 0 else "minus"}" '
                    f'fill-opacity="{abs(shade) / SHADES:.2g}" x="{left + places[start]:.1f}" '
                    f'y="{TOP + y:.1f}" width="{places[stop] - places[start]:.1f}" '
                    f'height="{size:.1f}"/>'
                )
            start = stop
    parts.append(f'<path class="rule" d="M{left:g} {TOP:g}h{side:g}v{side:g}h{-side:g}z"/>')
    words = ((left, "0"), (WIDTH / 2, name), (left + side, str(count - 1)))
    parts += [
        f'<text class="tick middle" x="{x:g}" y="{HEIGHT - 34:g}">{html.escape(text)}</text>'
        for x, text in words
    ]
    return svg("".join(parts), description, HEIGHT)


def svg(body: str, description: str, height: float) -> str:
    """One ``<svg>`` element, ``WIDTH`` wide; ``body`` is SVG whose text is escaped already."""
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {height:g}" role="img" xmlns="http://www.w3.org/2000/svg"'
        f' aria-label="{html.escape(description, quote=True)}">{body}</svg>'
    )


def _across(scale: Scale, values: FloatArray) -> FloatArray:
    return np.asarray(LEFT + scale.share(values) * (WIDTH - LEFT - RIGHT))


def _up(scale: Scale, values: FloatArray, top: float) -> FloatArray:
    bottom = HEIGHT - BOTTOM
    return np.asarray(bottom - scale.share(values) * (bottom - top))


def _band(scale: Scale, low: float, high: float, top: float, bottom: float) -> str:
    left, right = np.clip(_across(scale, np.array([low, high])), LEFT, WIDTH - RIGHT)
    width = max(float(right - left), 6.0)
    return (
        f'<rect class="band" x="{left:.1f}" y="{top:g}" width="{width:.1f}" '
        f'height="{bottom - top:g}"/>'
    )


def _grid(across: Axis, up: Axis, top: float, bottom: float) -> str:
    parts = []
    for value, text in up.scale.ticks:
        y = float(_up(up.scale, np.array([value]), top)[0])
        parts.append(
            f'<path class="rule" d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}"/>'
            f'<text class="tick end" x="{LEFT - 8:g}" y="{y + 6:.1f}">{html.escape(text)}</text>'
        )
    for value, text in across.scale.ticks:
        x = float(_across(across.scale, np.array([value]))[0])
        parts.append(
            f'<path class="rule" d="M{x:.1f} {bottom:g}v6"/>'
            f'<text class="tick middle" x="{x:.1f}" y="{bottom + 25:g}">{html.escape(text)}</text>'
        )
    middle = (top + bottom) / 2
    parts.append(
        f'<text class="tick middle" x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{bottom + 51:g}">'
        f"{html.escape(across.name)}</text>"
        f'<text class="tick middle" transform="translate(22 {middle:g}) rotate(-90)">'
        f"{html.escape(up.name)}</text>"
    )
    return "".join(parts)


def _path(curve: Curve, across: Axis, up: Axis, top: float) -> str:
    """Points beyond the vertical ends are held there, points that are no numbers break the line."""
    x = _across(across.scale, curve.x)
    y = np.clip(_up(up.scale, curve.y, top), top, HEIGHT - BOTTOM)
    text, pen = [], "M"
    for right, down in zip(x.tolist(), y.tolist(), strict=True):
        if not np.isfinite(right) or not np.isfinite(down):
            pen = "M"
            continue
        text.append(f"{pen}{right:.1f} {down:.1f}")
        pen = "L"
    return "".join(text)
