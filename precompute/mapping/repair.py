"""From what a solver returns to a map whose budgets hold: clean, then mix with a feasible one.

All constraints of a block are linear and homogeneous in its map, so that on the way from any map
to a feasible one each is met from some point on; the least share is found in closed form.
"""

import math

import numpy as np

from precompute.mapping.blocks import Block, checking_limit
from precompute.mapping.joint import FloatArray

# Smaller probabilities are what a solver leaves behind.
DUST = 1e-9


def cleaned(one: FloatArray) -> FloatArray:
    """A stochastic matrix: no negative numbers, no symbols that are dust only, rows sum to 1."""
    one = np.where(one > DUST, one, 0.0)
    return np.asarray(one / one.sum(axis=1, keepdims=True))


def constant_map(one: FloatArray) -> FloatArray:
    """The same for all cells: uniform over the symbols that the map uses."""
    used = np.where(one.max(axis=0) > 0, 1.0, 0.0)
    return np.tile(used / used.sum(), (one.shape[0], 1))


def repaired(block: Block, one: FloatArray, present: FloatArray | None = None) -> FloatArray:
    """The map, mixed with as little of a constant (or of the present, feasible) map as needed.

    The constant map is feasible when what the other sensors say together is.
    """
    one = cleaned(one)
    rows = block.rows(checking_limit(block.information))
    local = 0.0 if math.isinf(block.local) else math.exp(-checking_limit(block.local))
    if _kept(rows, block.guarded(one)) and bool(np.all(local * one.max(axis=0) <= one.min(axis=0))):
        return one
    anchors = [constant_map(one)]
    if present is not None:
        anchors.append(present)
    shares = [_needed_share(block, rows, local, one, anchor) for anchor in anchors]
    best = int(np.argmin(shares))
    share = shares[best]
    return np.asarray((1.0 - share) * one + share * anchors[best])


def _kept(rows: FloatArray, guarded: FloatArray) -> bool:
    return bool(np.all(rows @ guarded <= 0))


def _needed_share(
    block: Block, rows: FloatArray, local: float, one: FloatArray, anchor: FloatArray
) -> float:
    """The least share of the anchor at which every constraint holds; 1 if there is none less."""
    share = _share(rows @ block.guarded(one), rows @ block.guarded(anchor))
    if local > 0:
        share = max(share, _share(_spread(one, local), _spread(anchor, local)))
    # Rounding: a hair more than needed, which the checking limit leaves room for anyhow.
    return min(1.0, share * (1.0 + 1e-12))


def _spread(one: FloatArray, factor: float) -> FloatArray:
    """(|X|, |X|, |Y|) exp(-limit) p(y|x) - p(y|x')."""
    return np.asarray(factor * one[:, None, :] - one[None, :, :])


def _share(here: FloatArray, there: FloatArray) -> float:
    """The least share s with (1 - s) here + s there <= 0 everywhere."""
    above = here > 0
    if not bool(np.any(above)):
        return 0.0
    here, there = here[above], np.minimum(there[above], 0.0)
    return float(np.max(here / (here - there)))
