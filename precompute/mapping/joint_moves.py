"""Moves of all sensors' maps at once: what one sensor gives up of the budget another can use.

Block by block no sensor can spend more once the common information budget is spent, wherever it
was spent first. Here error and constraints are linearised in all maps together (both are
multilinear), a linear program moves within a small box, and what the linearisation overlooked is
made good by mixing with constants. A move is taken only where the real error falls; otherwise the
box shrinks.
"""

import math

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from precompute.mapping.block_program import local_rows
from precompute.mapping.blocks import Block, solving_limit
from precompute.mapping.chains import Chain, Flow, block, shrunk, success
from precompute.mapping.joint import FloatArray
from precompute.mapping.outcome_tensors import Grouped
from precompute.mapping.repair import cleaned

FIRST_BOX = 0.2
LEAST_BOX = 5e-3
# Rows of information privacy, the nearest to their limit, that a move looks at.
MOST_ROWS = 400
GAIN = 1e-9


def move_jointly(grouped: Grouped, flow: Flow, chain: Chain, moves: int) -> Chain:
    """The chain after at most so many moves of its first stage; never worse, always feasible.

    The stage that is moved must be the one that information privacy is asked of: the only one, or
    that of a flow guarded in the middle.
    """
    box = FIRST_BOX
    reached = success(grouped, chain)
    for _ in range(moves):
        moved = _moved(grouped, flow, chain, box)
        if moved is None:
            return chain
        new = success(grouped, moved)
        if new > reached + GAIN:
            chain, reached = moved, new
            box = min(1.0, 1.5 * box)
        else:
            box /= 4.0
            if box < LEAST_BOX:
                return chain
    return chain


def _moved(grouped: Grouped, flow: Flow, chain: Chain, box: float) -> Chain | None:
    """The best move within the box, made feasible."""
    maps = chain.stages[0]
    blocks = [block(grouped, chain, flow, sensor, 0) for sensor in range(len(maps))]
    limit = solving_limit(flow.local[0])
    privates, sums, objective, low, high = [], [], [], [], []
    for here, one in zip(blocks, maps, strict=True):
        private, total = local_rows(*one.shape, limit)
        gain = here.gain(here.rule(one))
        extra = private.shape[1] - one.size
        privates.append(sparse.csr_array(private))
        sums.append(sparse.csr_array(total))
        objective.append(np.concatenate([-gain.ravel(), np.zeros(extra)]))
        low.append(np.concatenate([np.maximum(0.0, one.ravel() - box), np.zeros(extra)]))
        high.append(np.concatenate([np.minimum(1.0, one.ravel() + box), np.ones(extra)]))
    left = sparse.block_diag(privates, format="csr")
    right = np.full(left.shape[0], 1e-9)
    if not math.isinf(flow.information):
        rows, sides = _linearised(blocks, maps, flow.information, left.shape[1])
        left = sparse.vstack([left, rows], format="csr")
        right = np.concatenate([right, sides])
    together = sparse.block_diag(sums, format="csr")
    result = linprog(
        np.concatenate(objective),
        A_ub=left,
        b_ub=right,
        A_eq=together,
        b_eq=np.ones(together.shape[0]),
        bounds=np.column_stack([np.concatenate(low), np.concatenate(high)]),
        method="highs-ds",
    )
    if result.status != 0:
        return None
    found, place = [], 0
    for one, total in zip(maps, sums, strict=True):
        found.append(cleaned(result.x[place : place + one.size].reshape(one.shape)))
        place += total.shape[1]
    return shrunk(grouped, Chain((tuple(found), *chain.stages[1:])), flow)


def _linearised(
    blocks: list[Block], maps: tuple[FloatArray, ...], information: float, columns: int
) -> tuple[sparse.csr_array, FloatArray]:
    """Rows over all maps, and their right-hand sides, for the outcomes nearest to their limit."""
    limit = solving_limit(information)
    shape = tuple(one.shape[1] for one in maps)
    first = blocks[0].guard
    assert first is not None
    prior = first.sum(axis=(1, 2))
    held = prior > 0
    # (|G|, z) from the first sensor's block: its symbol is the first axis.
    cells = np.moveaxis(first @ maps[0], 2, 1).reshape(prior.size, -1)
    total = cells.sum(axis=0)
    given = cells[held] / prior[held, None] / np.where(total > 0, total, 1.0)
    excess = np.concatenate([given * math.exp(-limit) - 1.0, math.exp(-limit) - given])
    excess[:, total <= 0] = -np.inf
    excess = excess.ravel()
    number = min(MOST_ROWS, excess.size)
    chosen = np.argpartition(-excess, number - 1)[:number]
    chosen = np.sort(chosen[np.isfinite(excess[chosen])])
    side, outcome = np.divmod(chosen, total.size)
    lower, value = np.divmod(side, int(held.sum()))
    symbols = np.unravel_index(outcome, shape)
    rows = np.zeros((chosen.size, columns))
    place = 0
    extra = columns - sum(one.size for one in maps)
    for sensor, (here, one) in enumerate(zip(blocks, maps, strict=True)):
        assert here.guard is not None
        rest = [axis for axis in range(len(maps)) if axis != sensor]
        others = (
            np.ravel_multi_index(
                tuple(symbols[axis] for axis in rest), tuple(shape[axis] for axis in rest)
            )
            if rest
            else np.zeros(chosen.size, dtype=np.intp)
        )
        part = here.guard[held][:, others] / total[outcome][None, :, None]
        whole = here.guard.sum(axis=0)[others] / total[outcome][:, None]
        own = part[value, np.arange(chosen.size)] / prior[held][value][:, None]
        upper = math.exp(-limit) * own - whole
        under = math.exp(-limit) * whole - own
        slope = np.where(lower[:, None] > 0, under, upper)
        columns_of = place + np.arange(one.shape[0]) * one.shape[1]
        rows[np.arange(chosen.size)[:, None], columns_of[None, :] + symbols[sensor][:, None]] = (
            slope
        )
        place += one.size + (one.shape[1] if extra else 0)
    # f(P + D) is about the sum of the slopes at P + D, less (s - 1) f(P): f has degree s.
    return sparse.csr_array(rows), (len(maps) - 1) * excess[chosen]
