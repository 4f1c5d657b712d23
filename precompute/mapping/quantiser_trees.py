"""Trees whose cells tell as much of a label as few cells can: greedy, best split first.

A split's gain is the fall of the entropy of the labels (nats), weighed by rows; the leaf whose
best split gains most is split next (best-first growth; Shi, 2007). Greedy growth is not optimal:
where no single question gains anything (an exclusive or), it stops.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from agent.formats.quantisers import Centres, Tree
from precompute.mapping.joint import FloatArray, IntArray

# A gain below this, in nats times rows, is rounding.
NO_GAIN = 1e-9


@dataclass(frozen=True, slots=True)
class Split:
    """The question ``value[column] < cut?`` and what it gains, in nats times rows."""

    gain: float
    column: int
    cut: float


def best_split(values: FloatArray, labels: IntArray, least: int) -> Split | None:
    """The split of (n, columns) values with the most gain; the first column and cut of equals.

    Args:
        values: finite.
        labels: (n,) from 0.
        least: rows that stay on each side.
    """
    rows = labels.size
    if rows < 2 * least:
        return None
    classes = int(labels.max()) + 1
    whole = _entropy(np.bincount(labels, minlength=classes)[None, :].astype(np.float64))[0]
    best: Split | None = None
    for column in range(values.shape[1]):
        order = np.argsort(values[:, column], kind="stable")
        ordered = values[order, column]
        cuts = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1  # rows on the left
        cuts = cuts[(cuts >= least) & (rows - cuts >= least)]
        if not cuts.size:
            continue
        left = np.empty((cuts.size, classes))
        for label in range(classes):
            left[:, label] = np.cumsum(labels[order] == label)[cuts - 1]
        right = np.bincount(labels, minlength=classes) - left
        gains = whole - _entropy(left) - _entropy(right)
        place = int(np.argmax(gains))
        if gains[place] > max(NO_GAIN, NO_GAIN + (best.gain if best else 0.0)):
            cut = half_way(float(ordered[cuts[place] - 1]), float(ordered[cuts[place]]))
            best = Split(float(gains[place]), column, cut)
    return best


def half_way(lower: float, upper: float) -> float:
    """A cut with ``lower < cut <= upper``, half way where float64 can tell."""
    cut = lower + (upper - lower) / 2
    return cut if lower < cut <= upper else upper


def grow_tree(values: FloatArray, labels: IntArray, cells: int, least: int) -> Tree | Centres:
    """A tree of at most ``cells`` cells, each with at least ``least`` of the rows.

    Where no question tells anything there is one cell, the only centre.
    """
    questions: list[Split] = []
    children: list[list[int]] = []
    waiting: list[tuple[float, int, Split, IntArray, tuple[int, int]]] = []
    order = 0

    def offer(rows: IntArray, parent: tuple[int, int]) -> None:
        nonlocal order
        split = best_split(values[rows], labels[rows], least)
        if split is not None:
            heapq.heappush(waiting, (-split.gain, order, split, rows, parent))
            order += 1

    offer(np.arange(labels.size), (-1, 0))
    while waiting and len(questions) < cells - 1:
        _, _, split, rows, (parent, side) = heapq.heappop(waiting)
        place = len(questions)
        questions.append(split)
        children.append([-1, -1])
        if parent >= 0:
            children[parent][side] = place
        left = values[rows, split.column] < split.cut
        offer(rows[left], (place, 0))
        offer(rows[~left], (place, 1))
    if not questions:
        return Centres((tuple(values.mean(axis=0).tolist()),), (1.0,) * values.shape[1])
    return Tree(
        tuple((split.column, split.cut) for split in questions),
        _with_cells(children),
        values.shape[1],
    )


def _with_cells(children: list[list[int]]) -> tuple[tuple[int, int], ...]:
    """Children with leaves numbered -1, -2, … in the order of their parents."""
    numbered = []
    cell = 0
    for pair in children:
        both = []
        for child in pair:
            if child < 0:
                cell += 1
                both.append(-cell)
            else:
                both.append(child)
        numbered.append((both[0], both[1]))
    return tuple(numbered)


def _entropy(counts: FloatArray) -> FloatArray:
    """(m,) nats times rows of (m, classes) counts."""
    total = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(counts > 0, counts * np.log(counts / total[:, None]), 0.0)
    return np.asarray(-parts.sum(axis=1))
