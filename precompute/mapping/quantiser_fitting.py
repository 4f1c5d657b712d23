"""Quantisers from readings: equal frequency, k-means, and trees grown for the public hypothesis.

All three are deterministic given the seed. Where the readings have fewer different values than
cells were asked for, there are fewer cells, and a note says so. Cuts lie half way between two
values that occur.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from agent.formats.quantisers import MAX_CELLS, Centres, Cuts, Quantiser
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, IntArray
from precompute.mapping.outward_ranges import outward_range
from precompute.mapping.quantiser_trees import grow_tree, half_way

Method = Literal["quantile", "kmeans", "tree"]
METHODS: tuple[Method, ...] = ("quantile", "kmeans", "tree")

# k-means looks at this many rows at most: centres move less than a reading's noise with more.
MAX_KMEANS_ROWS = 20_000
KMEANS_STARTS = 4
KMEANS_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class FittedQuantiser:
    """A quantiser and what the user should know about it; each column's range, rounded outward."""

    quantiser: Quantiser
    low: tuple[float, ...]
    high: tuple[float, ...]
    notes: tuple[str, ...]


def fit_quantiser(
    method: Method,
    values: FloatArray,
    labels: IntArray,
    cells: int,
    *,
    seed: int = 0,
    least_rows: int | None = None,
) -> FittedQuantiser:
    """A quantiser of at most ``cells`` cells.

    Args:
        method: ``quantile`` takes one column; ``tree`` looks at the labels, the others do not.
        values: (n, columns), finite.
        labels: (n,) the public hypothesis, for ``tree``.
        cells: 2 to 256.
        seed: of the starts of ``kmeans``.
        least_rows: ``tree``: rows that each cell keeps at least; default n / (20 cells), at
            least 5.

    Raises:
        MappingError: no rows, or a number of cells or columns that the method cannot have.
    """
    if values.ndim != 2 or not values.size:
        raise MappingError("quantiser: found no readings; expected at least one row")
    if not 2 <= cells <= MAX_CELLS:
        raise MappingError(f"quantiser: found {cells} cells; expected 2 to {MAX_CELLS}")
    quantiser: Quantiser
    if method == "quantile":
        if values.shape[1] != 1:
            raise MappingError(
                f"quantiser: quantile takes one column; found {values.shape[1]}; use tree or kmeans"
            )
        quantiser = Cuts(equal_frequency_cuts(values[:, 0], cells))
    elif method == "kmeans":
        quantiser = kmeans_centres(values, cells, seed)
    else:
        least = max(5, values.shape[0] // (20 * cells)) if least_rows is None else least_rows
        quantiser = grow_tree(values, labels, cells, least)
    notes: tuple[str, ...] = ()
    if quantiser.cells < cells:
        why = (
            "no further question tells more of the public hypothesis"
            if method == "tree"
            else "the readings have no more different values"
        )
        notes = (f"{quantiser.cells} cells instead of {cells}: {why}",)
    ranges = [outward_range(column) for column in values.T]
    low, high = zip(*ranges, strict=True)
    return FittedQuantiser(quantiser, low, high, notes)


def equal_frequency_cuts(values: FloatArray, cells: int) -> tuple[float, ...]:
    """Cuts between which about equally many rows lie; no value is split from its equals.

    Each cut goes to the boundary between different values that is nearest to its quantile; while
    ties leave fewer cells than asked for, the fullest cell that can be cut is cut most evenly.
    """
    different, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts)[:-1].astype(np.float64)  # rows below each boundary
    if different.size <= cells:
        chosen = list(range(below.size))
    else:
        wanted = values.size * np.arange(1, cells) / cells
        chosen = sorted({int(np.argmin(np.abs(below - target))) for target in wanted})
    while len(chosen) < min(cells, different.size) - 1:
        chosen = _cut_the_fullest(below, values.size, chosen)
    return tuple(half_way(float(different[i]), float(different[i + 1])) for i in chosen)


def _cut_the_fullest(below: FloatArray, rows: int, chosen: list[int]) -> list[int]:
    edges = [-1, *chosen, below.size]
    sizes = [0.0, *(float(below[i]) for i in chosen), float(rows)]
    fullest = max(
        (i for i in range(len(edges) - 1) if edges[i + 1] - edges[i] > 1),
        key=lambda i: (sizes[i + 1] - sizes[i], -i),
    )
    inside = below[edges[fullest] + 1 : edges[fullest + 1]]
    middle = (sizes[fullest] + sizes[fullest + 1]) / 2
    return sorted([*chosen, edges[fullest] + 1 + int(np.argmin(np.abs(inside - middle)))])


def kmeans_centres(values: FloatArray, cells: int, seed: int) -> Centres:
    """Lloyd's algorithm from k-means++ starts, columns weighed by their standard deviation.

    Of ``KMEANS_STARTS`` starts the least squared distance is kept; centres are in ascending order.
    """
    chance = np.random.default_rng(seed)
    scales = values.std(axis=0)
    scales[~(scales > 0)] = 1.0
    if values.shape[0] > MAX_KMEANS_ROWS:
        values = values[chance.choice(values.shape[0], MAX_KMEANS_ROWS, replace=False)]
    points, counts = np.unique(values / scales, axis=0, return_counts=True)
    weights = counts.astype(np.float64)
    if points.shape[0] <= cells:
        best = points
    else:
        found = [_lloyd(points, weights, cells, chance) for _ in range(KMEANS_STARTS)]
        best = min(found, key=lambda pair: pair[0])[1]
    centres = np.unique(best * scales, axis=0)
    return Centres(tuple(map(tuple, centres.tolist())), tuple(scales.tolist()))


def _lloyd(
    points: FloatArray, weights: FloatArray, cells: int, chance: np.random.Generator
) -> tuple[float, FloatArray]:
    """(weighted squared distance, centres) that one start ends with."""
    centres = _spread(points, weights, cells, chance)
    for _ in range(KMEANS_ROUNDS):
        nearest = np.argmin(_squares(points, centres), axis=1)
        total = np.bincount(nearest, weights, centres.shape[0])
        moved = np.column_stack(
            [
                np.bincount(nearest, weights * column, centres.shape[0]) / np.maximum(total, 1e-300)
                for column in points.T
            ]
        )
        moved = np.where(total[:, None] > 0, moved, centres)
        if bool(np.all(moved == centres)):
            break
        centres = moved
    return float(weights @ _squares(points, centres).min(axis=1)), centres


def _spread(
    points: FloatArray, weights: FloatArray, cells: int, chance: np.random.Generator
) -> FloatArray:
    """Starts far from each other (Arthur and Vassilvitskii, k-means++, 2007)."""
    chosen = [int(chance.choice(points.shape[0], p=weights / weights.sum()))]
    nearest = _squares(points, points[chosen])[:, 0]
    while len(chosen) < cells:
        share = weights * nearest
        chosen.append(int(chance.choice(points.shape[0], p=share / share.sum())))
        nearest = np.minimum(nearest, _squares(points, points[chosen[-1:]])[:, 0])
    return points[chosen]


def _squares(points: FloatArray, centres: FloatArray) -> FloatArray:
    """(n, cells) squared distances."""
    squares = np.zeros((points.shape[0], centres.shape[0]))
    for column, middle in zip(points.T, centres.T, strict=True):
        squares += (column[:, None] - middle[None, :]) ** 2
    return squares
