"""The published stand-in for information privacy: total variation instead of every ratio.

Sun and Tay (IEEE TIFS 2020, (9), as reconstructed in THEORY 4): with 0 the first value of G,

    TV(p(z|g), p(z|0)) <= c (1 - exp(-epsilon/2)),
    c = min_g min{ P(Z in argmax l_g | g), P(Z in argmin l_g | 0) },  l_g(z) = p(z|g) / p(z|0),

with c from the present map. TV is the largest sum of p(z|g) - p(z|0) over a set of outcomes, so
that one row for the worst set cuts off what is too far apart; a few rows are enough however many
outcomes there are. The stand-in is cautious where outcomes are many (c is the chance of the most
telling ones) and moves with the map: the result is therefore checked against the real constraint,
mixed with a constant until that holds, and wider limits are tried as long as they help.
"""

import math

import numpy as np

from precompute.mapping.blocks import Block, solving_limit
from precompute.mapping.joint import FloatArray
from precompute.mapping.linear_program import linear_program
from precompute.mapping.map_variables import map_variables
from precompute.mapping.repair import repaired

MOST_CUTS = 30
# Factors on the published limit.
WIDER = (1.0, 4.0, 16.0, 64.0, 256.0)
# Ratios nearer than this to the extreme one are taken for it.
TIES = 1e-9
ENOUGH = 1e-9


def published_limit(given: FloatArray, information: float) -> float:
    """c (1 - exp(-epsilon/2)) of (|G|, N) p(z|g)."""
    first = given[0]
    least = 1.0
    for row in given[1:]:
        held = (row > 0) | (first > 0)
        with np.errstate(divide="ignore"):
            ratio = row[held] / first[held]
        top = ratio >= ratio.max() * (1.0 - TIES)
        bottom = ratio <= ratio.min() * (1.0 + TIES)
        least = min(least, float(row[held][top].sum()), float(first[held][bottom].sum()))
    return least * (1.0 - math.exp(-information / 2.0))


def solve_surrogate(block: Block, gain: FloatArray, present: FloatArray) -> FloatArray:
    """The best map found under the stand-in that keeps the real constraint; feasible."""
    assert block.guard is not None
    prior = block.guard.sum(axis=(1, 2))
    given = block.guard[prior > 0] / prior[prior > 0, None, None]
    now = (given @ block.guarded(present)).reshape(given.shape[0], -1)
    limit = published_limit(now, block.information)
    best, most = present, float(np.sum(gain * present))
    for factor in WIDER:
        found = _within(block, gain, given, min(1.0, factor * limit))
        if found is None:
            break
        one = repaired(block, found, present)
        new = float(np.sum(gain * one))
        if new > most:
            best, most = one, new
        elif factor > 1.0:
            break
    return best


def _within(block: Block, gain: FloatArray, given: FloatArray, limit: float) -> FloatArray | None:
    """The best map whose total variations are at most a limit, by cuts."""
    shape = gain.shape
    variables = map_variables(*shape, solving_limit(block.local))
    scale = float(np.abs(gain).max())
    cost, _ = variables.written(-gain.reshape(1, -1) / (scale if scale > 0 else 1.0))
    program = linear_program(cost.ravel(), np.zeros(cost.size), np.ones(cost.size))
    program.add(variables.rows, variables.low, variables.high)
    one: FloatArray | None = None
    for _ in range(MOST_CUTS):
        found = program.solve()
        if found is None:
            break
        one = variables.map(found)
        apart = (given[1:] - given[:1]) @ block.guarded(one)
        cuts = []
        for difference, change in zip(given[1:] - given[:1], apart, strict=True):
            if float(change[change > 0].sum()) > limit + ENOUGH:
                slope = difference.T @ (change > 0)
                if block.guard_post is not None:
                    slope = slope @ block.guard_post.T
                cuts.append(slope.ravel())
        if not cuts:
            break
        rows, constant = variables.written(np.stack(cuts))
        program.add(rows, np.full(len(cuts), -np.inf), limit - constant)
    return one
