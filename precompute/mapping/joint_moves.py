"""Moves of all sensors' maps at once: what one sensor gives up of the budget another can use.

Block by block no sensor can spend more once the common information budget is spent, wherever it
was spent first. Here error and constraints are linearised in all maps together (both are
multilinear), a linear program moves within a small box, and what the linearisation overlooked is
made good by mixing with constants. A move is taken only where the success (or its stand-in,
where a power is given) really rises; otherwise the box shrinks. The box is about the variables
of :mod:`precompute.mapping.map_variables`.
"""

import math

import numpy as np

from precompute.mapping.blocks import Block, solving_limit
from precompute.mapping.chains import Chain, Flow, block, shrunk, worth
from precompute.mapping.joint import FloatArray
from precompute.mapping.linear_program import linear_program
from precompute.mapping.map_variables import MapVariables, map_variables
from precompute.mapping.outcome_tensors import Grouped
from precompute.mapping.repair import cleaned
from precompute.mapping.row_generation import sides

FIRST_BOX = 0.2
LEAST_BOX = 5e-3
# Rows of information privacy, the nearest to their limit, that a move looks at.
MOST_ROWS = 400
# Of these, so many are there from the start; others come in where a move breaks them.
FIRST_ROWS = 120
BROKEN = 1e-9
# Moves that gain less are not taken; with a stand-in, moves end after one that gains less.
GAIN = 1e-9
SMOOTH_GAIN = 1e-5


def move_jointly(
    grouped: Grouped, flow: Flow, chain: Chain, moves: int, power: float = math.inf
) -> Chain:
    """The chain after at most so many moves of its first stage; never worse, always feasible.

    The stage that is moved must be the one that information privacy is asked of: the only one, or
    that of a flow guarded in the middle. With a finite ``power`` the smooth stand-in of the success
    is raised (:func:`blocks.total_norm`), until a move gains little.
    """
    box = FIRST_BOX
    reached = worth(grouped, chain, power)
    for _ in range(moves):
        moved = _moved(grouped, flow, chain, box, power)
        if moved is None:
            return chain
        new = worth(grouped, moved, power)
        if new > reached + GAIN:
            slow = not math.isinf(power) and new < reached + SMOOTH_GAIN
            chain, reached = moved, new
            if slow:
                return chain
            box = min(1.0, 1.5 * box)
        else:
            box /= 4.0
            if box < LEAST_BOX:
                return chain
    return chain


def _moved(grouped: Grouped, flow: Flow, chain: Chain, box: float, power: float) -> Chain | None:
    """The best move within the box, made feasible."""
    maps = chain.stages[0]
    blocks = [block(grouped, chain, flow, sensor, 0) for sensor in range(len(maps))]
    limit = solving_limit(flow.local[0])
    parts = [map_variables(*one.shape, limit) for one in maps]
    ends = np.cumsum([0, *(part.spread.shape[1] for part in parts)])
    costs, centre = [], []
    for here, one, part in zip(blocks, maps, parts, strict=True):
        cost, _ = part.written(-here.slope(one, power).reshape(1, -1))
        costs.append(cost.ravel())
        centre.append(part.of(one))
    middle = np.concatenate(centre)
    program = linear_program(
        np.concatenate(costs), np.maximum(0.0, middle - box), np.minimum(1.0, middle + box)
    )
    for part, one, begin, end in zip(parts, maps, ends, ends[1:], strict=False):
        wide = np.zeros((part.rows.shape[0], ends[-1]))
        wide[:, begin:end] = part.rows
        program.add(wide, part.low, part.held(one))
    rows, sides = np.zeros((0, middle.size)), np.zeros(0)
    if not math.isinf(flow.information):
        rows, sides = _linearised(blocks, maps, parts, flow.information)
    waiting = np.full(sides.size, True)
    new = np.argsort(rows @ middle - sides, kind="stable")[-FIRST_ROWS:]
    found: FloatArray | None = None
    while new.size:
        waiting[new] = False
        program.add(rows[new], np.full(new.size, -np.inf), sides[new])
        found = program.solve()
        if found is None:
            return None
        new = np.flatnonzero(waiting & (rows @ found - sides > BROKEN))
    if found is None:
        found = program.solve()
        if found is None:
            return None
    after = tuple(
        cleaned(part.map(found[begin:end]))
        for part, begin, end in zip(parts, ends, ends[1:], strict=False)
    )
    return shrunk(grouped, Chain((after, *chain.stages[1:])), flow)


def _linearised(
    blocks: list[Block],
    maps: tuple[FloatArray, ...],
    parts: list[MapVariables],
    information: float,
) -> tuple[FloatArray, FloatArray]:
    """Rows over all variables and their right sides, for the outcomes nearest to their limit."""
    limit = solving_limit(information)
    shape = tuple(one.shape[1] for one in maps)
    first = blocks[0].guard
    assert first is not None
    prior = first.sum(axis=(1, 2))
    compared = sides(prior, limit, blocks[0].value_of)
    # (|G|, z) from the first sensor's block: its symbol is the first axis.
    cells = np.moveaxis(first @ maps[0], 2, 1).reshape(prior.size, -1)
    total = cells.sum(axis=0)
    weights = np.where(prior > 0, prior, 1.0)
    excess = compared @ (cells / weights[:, None] / np.where(total > 0, total, 1.0))
    excess[:, total <= 0] = -np.inf
    excess = excess.ravel()
    number = min(MOST_ROWS, excess.size)
    chosen = np.argpartition(-excess, number - 1)[:number]
    chosen = np.sort(chosen[np.isfinite(excess[chosen])])
    side, outcome = np.divmod(chosen, total.size)
    symbols = np.unravel_index(outcome, shape)
    every = np.arange(chosen.size)
    written, right = [], (len(maps) - 1) * excess[chosen]
    for sensor, (here, one, part) in enumerate(zip(blocks, maps, parts, strict=True)):
        assert here.guard is not None
        rest = [axis for axis in range(len(maps)) if axis != sensor]
        others = (
            np.ravel_multi_index(
                tuple(symbols[axis] for axis in rest), tuple(shape[axis] for axis in rest)
            )
            if rest
            else np.zeros(chosen.size, dtype=np.intp)
        )
        given = here.guard[:, others] / total[outcome][None, :, None] / weights[:, None, None]
        slope = np.zeros((chosen.size, *one.shape))
        slope[every, :, symbols[sensor]] = np.einsum("kg,gkx->kx", compared[side], given)
        rows, constant = part.written(slope.reshape(chosen.size, -1))
        written.append(rows)
        right = right - constant
    # f(P + D) is about the sum of the slopes at P + D, less (s - 1) f(P): f has degree s.
    return np.hstack(written), right
