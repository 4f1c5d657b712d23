"""Block Gauss-Seidel from one place: each block's program in turn, the rule recomputed after each.

A map is taken where the chance of deciding rightly does not fall, so that the error never rises
from visit to visit. A place whose rule says the same whatever is heard (the constant map, for
one) would hold the search: the first sweep can follow a given rule instead.
"""

import math
from dataclasses import dataclass

import numpy as np

from precompute.mapping.binary_closed_form import best_binary_map
from precompute.mapping.block_program import solve_block
from precompute.mapping.blocks import Block, checking_limit
from precompute.mapping.chains import Chain, Flow, block
from precompute.mapping.joint import FloatArray, IntArray
from precompute.mapping.outcome_tensors import Grouped
from precompute.mapping.surrogate import solve_surrogate

# A block is left alone where its program cannot gain more than rounding.
NO_GAIN = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Where a descent ended: the maps, the chance of deciding rightly, and whether it settled."""

    chain: Chain
    success: float
    settled: bool


def descend(
    grouped: Grouped,
    flow: Flow,
    chain: Chain,
    *,
    sweeps: int,
    tolerance: float,
    rule: IntArray | None = None,
    stages: tuple[int, ...] | None = None,
    power: float = math.inf,
) -> Descent:
    """Sweeps over all blocks until a sweep gains less than ``tolerance``.

    Args:
        grouped: the joint.
        flow: the budgets.
        chain: where to begin; feasible.
        sweeps: at most so many.
        tolerance: see above.
        rule: (|Z_1|, …, |Z_s|) decisions that the first sweep follows, taking what it gives.
        stages: which stages may change; all of them unless told.
        power: below inf, of the smooth stand-in that is raised (:func:`blocks.total_norm`); the
            success that comes back is then its value.
    """
    visits = [
        (sensor, stage)
        for sensor in range(len(grouped.tables))
        for stage in (stages if stages is not None else range(len(chain.stages)))
    ]
    active: dict[tuple[int, int], IntArray] = {}
    reached, before = 0.0, 0.0
    for sweep in range(sweeps):
        for visit in visits:
            sensor, stage = visit
            here = block(grouped, chain, flow, sensor, stage)
            present = chain.stages[stage][sensor]
            reached = here.worth(present, power)
            forced = rule is not None and sweep == 0
            if forced and rule is not None:
                gain = here.gain(_seen(rule, sensor))
            else:
                gain = here.slope(present, power)
            one, held = best_map(here, gain, present, active.get(visit))
            active[visit] = held
            new = here.worth(one, power)
            if forced or new > reached + NO_GAIN:
                chain, reached = chain.with_map(sensor, stage, one), new
        if sweep > 0 and reached - before < tolerance:
            return Descent(chain, reached, True)
        before = reached
    return Descent(chain, reached, False)


def best_map(
    here: Block, gain: FloatArray, present: FloatArray, active: IntArray | None
) -> tuple[FloatArray, IntArray]:
    """The block's best map for these gains, by closed form where there is one."""
    nothing = np.zeros(0, dtype=np.intp)
    if here.guard is None:
        if math.isinf(here.local):
            return np.eye(here.symbols)[gain.argmax(axis=1)], nothing
        if here.symbols == 2:
            return best_binary_map(gain, checking_limit(here.local)), nothing
    if here.guard is not None and here.surrogate:
        return solve_surrogate(here, gain, present), nothing
    return solve_block(here, gain, present, nothing if active is None else active)


def _seen(rule: IntArray, sensor: int) -> IntArray:
    """(o, |Z_t|) the rule as the block of one sensor sees it."""
    moved = np.moveaxis(rule, sensor, -1)
    return np.asarray(moved.reshape(-1, moved.shape[-1]))
