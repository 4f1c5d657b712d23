"""What a node's cells are, in the order in which a picture shows them, and in words.

A bundle holds cuts, a tree or centres; units are known to whoever named the columns, and to nobody
else.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.formats.mapping_node import Node
from agent.formats.quantisers import Centres, Cuts, Tree

MOST_IN_WORDS = 12
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class CellAxis:
    """Cells from left to right, each equally wide.

    Attributes:
        name: of the axis.
        order: the cell shown at each place.
        ticks: (place, text); place k is the left border of the k-th cell, k + 1/2 its middle.
        words: what each cell is, in the order of ``order``; empty where the ticks say it.
    """

    name: str
    order: tuple[int, ...]
    ticks: tuple[tuple[float, str], ...]
    words: tuple[str, ...] = ()


def cell_axis(node: Node) -> CellAxis:
    """The axis of a node: by the reading where it is one number, else by the cells' numbers."""
    quantiser = node.quantiser
    if node.cells == 1:
        return CellAxis(f"{_columns(node)}: one cell, any reading", (0,), ())
    if quantiser.columns == 1:
        name = f"{_columns(node)}, in its own unit"
        if isinstance(quantiser, Centres):
            centres = [centre[0] for centre in quantiser.centres]
            order = sorted(range(len(centres)), key=centres.__getitem__)
            texts = _apart([centres[cell] for cell in order])
            ticks = tuple((k + 0.5, text) for k, text in enumerate(texts))
            return CellAxis(f"{name}: nearest to", tuple(order), ticks)
        found = _intervals(quantiser)
        order = sorted(range(len(found)), key=found.__getitem__)
        if all(found[a][1] == found[b][0] for a, b in pairwise(order)):
            texts = _apart([found[cell][0] for cell in order[1:]])
            ticks = tuple((k + 1.0, text) for k, text in enumerate(texts))
            return CellAxis(f"{name}: cut at", tuple(order), ticks)
    cells = tuple(range(node.cells))
    ticks = tuple((k + 0.5, str(k)) for k in cells)
    return CellAxis("cell, by number", cells, ticks, tuple(_words(node, cell) for cell in cells))


def cells_in_words(node: Node, axis: CellAxis) -> str:
    """A sentence for the cells that the axis only numbers."""
    shown = [f"cell {k}: {words}" for k, words in enumerate(axis.words[:MOST_IN_WORDS])]
    if len(axis.words) > MOST_IN_WORDS:
        shown.append(f"and {len(axis.words) - MOST_IN_WORDS} more, not told here")
    scales = ""
    if isinstance(node.quantiser, Centres):
        measures = zip(node.columns, node.quantiser.scales, strict=True)
        scales = " (distances in units of " + ", ".join(f"{c} {s:g}" for c, s in measures) + ")"
    return f"{node.name}{scales}: " + "; ".join(shown)


def _columns(node: Node) -> str:
    name = ", ".join(node.columns)
    return name if len(name) <= 32 else name[:31] + "…"


def _intervals(quantiser: Cuts | Tree) -> list[Interval]:
    """Of one column: from where to below where each cell goes."""
    if isinstance(quantiser, Cuts):
        edges = (-math.inf, *quantiser.cuts, math.inf)
        return list(pairwise(edges))
    return [box[0] for box in _boxes(quantiser)]


def _boxes(tree: Tree) -> list[list[Interval]]:
    """For each cell its interval in every column, from the questions on the way to it."""
    whole: list[Interval] = [(-math.inf, math.inf)] * tree.columns
    boxes = [whole] * tree.cells
    waiting = [(0, whole)] if tree.questions else []
    while waiting:
        place, box = waiting.pop()
        column, cut = tree.questions[place]
        low, high = box[column]
        sides = ((low, min(high, cut)), (max(low, cut), high))
        for child, side in zip(tree.children[place], sides, strict=True):
            inside = [*box[:column], side, *box[column + 1 :]]
            if child < 0:
                boxes[-1 - child] = inside
            else:
                waiting.append((child, inside))
    return boxes


def _words(node: Node, cell: int) -> str:
    quantiser = node.quantiser
    if isinstance(quantiser, Centres):
        centre = zip(node.columns, quantiser.centres[cell], strict=True)
        return "nearest to " + ", ".join(f"{column} {value:g}" for column, value in centre)
    assert isinstance(quantiser, Tree)
    said = []
    for column, (low, high) in zip(node.columns, _boxes(quantiser)[cell], strict=True):
        if low >= high:
            return "no reading"
        from_low = f" from {low:g}" if math.isfinite(low) else ""
        below = f" below {high:g}" if math.isfinite(high) else ""
        if from_low or below:
            said.append(f"{column}{from_low}{below}")
    return " and ".join(said)


def _apart(values: Sequence[float]) -> list[str]:
    """Four digits, or as many as tell different values apart."""
    for digits in range(4, 18):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts
