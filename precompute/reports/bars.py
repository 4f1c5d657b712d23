"""Bars as SVG text: a table of probabilities, and amounts beside each other.

Pure, like :mod:`precompute.reports.charts`. What is to be told apart differs in length or is
hollow, so that nothing is lost in black and white.
"""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray
from precompute.reports.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, svg

NUMBER_LINE = 24.0
LEAST_ROW = 80.0
ROW_TOPS = (1.0, 0.25, 0.1, 0.05, 0.02)
MOST_NUMBERS = 8
LETTER = 9.5
"""About the width of a letter of a tick, so that ticks can be thinned before they touch."""
NAMES = 190.0
NUMBER = 80.0
BAR, BAR_GAP, GROUP_GAP = 54.0, 12.0, 26.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A length with its name; ``first`` begins a group."""

    name: str
    value: float
    number: str
    hollow: bool = False
    first: bool = False


def draw_table(
    table: FloatArray, across: str, ticks: Sequence[tuple[float, str]], description: str
) -> str:
    """A row of bars for each column of a table of probabilities, all rows of one scale.

    Args:
        table: (cells, symbols) p(z | cell), cells in the order of the picture.
        across: what the cells are.
        ticks: (place, text); place k is the left border of the k-th cell, k + 1/2 its middle.
        description: what a screen reader says.
    """
    cells, symbols = table.shape
    height = max(HEIGHT, TOP + BOTTOM + symbols * LEAST_ROW)
    bottom = height - BOTTOM
    step = (bottom - TOP) / symbols
    width = (WIDTH - LEFT - RIGHT) / cells
    full = min(top for top in ROW_TOPS if top >= min(1.0, float(np.max(table))))
    parts = []
    for symbol, column in enumerate(table.T):
        floor = TOP + step * (symbol + 1)
        room = step - NUMBER_LINE
        for y, text in ((floor, "0"), (floor - room, f"{full:g}")):
            parts.append(
                f'<path class="rule" d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}"/>'
                f'<text class="tick end" x="{LEFT - 8:g}" y="{y + 5:.1f}">{text}</text>'
            )
        parts.append(
            f'<text class="key end" x="{LEFT - 36:g}" y="{floor - room / 2 + 6:.1f}">'
            f"z={symbol}</text>"
        )
        for place, chance in enumerate(column.tolist()):
            left, tall = LEFT + width * (place + 0.12), room * chance / full
            parts.append(
                f'<rect class="full" x="{left:.1f}" y="{floor - tall:.2f}" '
                f'width="{0.76 * width:.2f}" height="{tall:.2f}"/>'
            )
            if cells <= MOST_NUMBERS:
                parts.append(
                    f'<text class="key middle" x="{left + 0.38 * width:.1f}" '
                    f'y="{floor - tall - 5:.1f}">{html.escape(chance_in_digits(chance))}</text>'
                )
    parts += [_tick(LEFT + width * place, bottom, text) for place, text in _thinned(ticks, width)]
    parts.append(_axis_name(LEFT, WIDTH - RIGHT, bottom, across))
    parts.append(
        f'<text class="tick middle" transform="translate(14 {(TOP + bottom) / 2:g}) rotate(-90)">'
        "probability of symbol z</text>"
    )
    return svg("".join(parts), description, height)


def draw_bars(bars: Sequence[Bar], axis: Axis, description: str) -> str:
    """Bars from left to right, one below another, names before and numbers behind them."""
    right = WIDTH - NUMBER
    span = right - NAMES
    y = TOP
    parts = []
    for bar in bars:
        y += GROUP_GAP if bar.first else 0.0
        length = span * float(axis.scale.share(np.array([bar.value]))[0])
        middle = y + BAR / 2 + 6
        parts.append(
            f'<text class="key end" x="{NAMES - 10:g}" y="{middle:g}">{html.escape(bar.name)}'
            f'</text><rect class="{"hollow" if bar.hollow else "full"}" x="{NAMES:g}" y="{y:g}" '
            f'width="{length:.2f}" height="{BAR:g}"/>'
            f'<text class="key" x="{NAMES + length + 8:.1f}" y="{middle:g}">'
            f"{html.escape(bar.number)}</text>"
        )
        y += BAR + BAR_GAP
    rules = []
    for value, text in axis.scale.ticks:
        x = NAMES + span * float(axis.scale.share(np.array([value]))[0])
        rules.append(f'<path class="rule" d="M{x:.1f} {TOP:g}V{y:g}"/>' + _tick(x, y, text))
    parts.append(_axis_name(NAMES, right, y, axis.name))
    return svg("".join(rules + parts), description, y + BOTTOM)


def chance_in_digits(chance: float) -> str:
    """Three decimals; what is not 0 or 1 does not look as if it were."""
    if 0 < chance < 0.001:
        return "<.001"
    return ">.999" if 0.999 < chance < 1 else f"{chance:.3f}"


def _tick(x: float, bottom: float, text: str) -> str:
    return (
        f'<path class="rule" d="M{x:.1f} {bottom:g}v6"/>'
        f'<text class="tick middle" x="{x:.1f}" y="{bottom + 25:g}">{html.escape(text)}</text>'
    )


def _axis_name(left: float, right: float, bottom: float, name: str) -> str:
    return (
        f'<text class="tick middle" x="{(left + right) / 2:g}" y="{bottom + 51:g}">'
        f"{html.escape(name)}</text>"
    )


def _thinned(ticks: Sequence[tuple[float, str]], width: float) -> Sequence[tuple[float, str]]:
    longest = max((len(text) for _, text in ticks), default=0)
    return ticks[:: max(1, math.ceil(LETTER * (longest + 1) / width))]
