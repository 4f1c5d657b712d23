"""Whole logs through a quantiser at once, with the very cells that the device finds one by one."""

import numpy as np

from agent.formats.quantisers import Centres, Cuts, Quantiser
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, IntArray

# As agent.formats.quantisers bounds a value: in scales from the first centre.
FAR = 1e100


def cells_of(quantiser: Quantiser, values: FloatArray) -> IntArray:
    """(n,) cells of (n, columns) readings; equal to ``quantiser.cell`` of each.

    The arithmetic is that of the device, operation by operation, so that no reading on an edge
    falls on the other side here.

    Raises:
        MappingError: another number of columns.
    """
    if values.ndim != 2 or values.shape[1] != quantiser.columns:
        raise MappingError(
            f"quantiser: found readings of the shape {values.shape}; expected (n, "
            f"{quantiser.columns})"
        )
    if isinstance(quantiser, Cuts):
        return np.searchsorted(np.array(quantiser.cuts), values[:, 0], side="right")
    if isinstance(quantiser, Centres):
        return _nearest(quantiser, values)
    cells = np.zeros(values.shape[0], dtype=np.intp)
    rows = [np.arange(values.shape[0]), *(np.empty(0, np.intp) for _ in quantiser.questions)]
    for place, (column, cut) in enumerate(quantiser.questions):
        left = values[rows[place], column] < cut
        for child, side in zip(quantiser.children[place], (left, ~left), strict=True):
            if child >= 0:
                rows[child] = rows[place][side]
            else:
                cells[rows[place][side]] = -1 - child
    return cells


def _nearest(quantiser: Centres, values: FloatArray) -> IntArray:
    first = quantiser.centres[0]
    scaled = [
        tuple((c - f) / s for c, f, s in zip(centre, first, quantiser.scales, strict=True))
        for centre in quantiser.centres
    ]
    halves = [-sum(c * c for c in centre) / 2 for centre in scaled]
    scores = np.tile(np.array(halves), (values.shape[0], 1))
    for column, weights in enumerate(zip(*scaled, strict=True)):
        step = (values[:, column] - first[column]) / quantiser.scales[column]
        scores += np.clip(step, -FAR, FAR)[:, None] * np.array(weights)
    return np.asarray(np.argmax(scores, axis=1))
