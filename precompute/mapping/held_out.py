"""How often the rules that ship are wrong on rows that the design has not seen.

The errors are expectations over what the nodes draw, exact while the outcomes are few; beyond that
one outcome is drawn for each row, with a fixed seed.
"""

import math
from dataclasses import dataclass

import numpy as np

from precompute.mapping.joint import FloatArray, IntArray, Maps
from precompute.mapping.learning import Rows

MOST_OUTCOMES = 1 << 12
CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Shares of held-out rows.

    Attributes:
        rows: their number.
        public_error: decided wrongly by the rule that ships.
        public_guess: wrong when always guessing what is most frequent in the design's rows.
        private_error: G, by whoever knows the model and all symbols of a step.
        private_guess: G, guessed without any.
    """

    rows: int
    public_error: float
    public_guess: float
    private_error: float
    private_guess: float


def held_out_errors(
    maps: Maps, of_public: FloatArray, of_private: FloatArray, rows: Rows
) -> HeldOut | None:
    """The errors; None without rows.

    Args:
        maps: (|X_t|, |Z_t|) of each node.
        of_public: (|H|, |Z_1|, …) p(h, z) that the rule decides by.
        of_private: (|G|, |Z_1|, …).
        rows: held out.
    """
    if not len(rows):
        return None
    found = []
    for cells, truth in ((of_public, rows.public), (of_private, rows.private)):
        flat = cells.reshape(cells.shape[0], -1)
        error = _error(maps, np.argmax(flat, axis=0), rows, truth)
        found += [error, float(np.mean(truth != np.argmax(flat.sum(axis=1))))]
    return HeldOut(len(rows), *found)


def _error(maps: Maps, rule: IntArray, rows: Rows, truth: IntArray) -> float:
    outcomes = math.prod(one.shape[1] for one in maps)
    if outcomes > MOST_OUTCOMES:
        return _drawn_error(maps, rule, rows, truth)
    wrong = 0.0
    step = max(1, CHUNK // outcomes)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        said = np.ones((truth[part].size, 1))
        for one, cells in zip(maps, rows.cells, strict=True):
            said = (said[:, :, None] * one[cells[part]][:, None, :]).reshape(said.shape[0], -1)
        wrong += float(said[rule[None, :] != truth[part, None]].sum())
    return wrong / len(rows)


def _drawn_error(maps: Maps, rule: IntArray, rows: Rows, truth: IntArray) -> float:
    chance = np.random.default_rng(0)
    place = np.zeros(len(rows), dtype=np.intp)
    for one, cells in zip(maps, rows.cells, strict=True):
        edges = np.cumsum(one, axis=1)[cells]
        drawn = (chance.random(len(rows))[:, None] >= edges[:, :-1]).sum(axis=1)
        place = place * one.shape[1] + drawn
    return float(np.mean(rule[place] != truth))
