"""The maps of all sensors as the search changes them, and the block that each change solves.

A chain has one stage, p(z|x), or two, p(y|x) and p(z|y). A :class:`Flow` says which budget each
stage keeps: local differential privacy is a matter of a stage's own map; information privacy is
about what all sensors say together, after the first stage (``middle``) or at the end.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from precompute.mapping.blocks import Block, accepting_limit, total_norm
from precompute.mapping.joint import FloatArray, Maps
from precompute.mapping.outcome_tensors import Grouped, outcomes, tensor
from precompute.mapping.repair import constant_map
from precompute.mapping.row_generation import information_rows

# The share that is mixed in is found to so much, or until the worst constraint has at most this
# share of what the constant maps leave of it. STEPS are never needed.
LEAST_SHARE = 2.0**-24
SPARED = 1e-6
STEPS = 60

Guarded = Literal["middle", "end"]


@dataclass(frozen=True, slots=True)
class Flow:
    """Which stage keeps what.

    Attributes:
        information: epsilon_I of G; inf for none.
        guarded: where all sensors together must be private.
        local: epsilon_LD of each stage's map, inf for none; as many as there are stages.
        surrogate: whether blocks are solved with the published stand-in for information privacy;
            what comes out is held to the real one all the same.
        tilt: weights of H's values in the success that is raised; None for the real one.
    """

    information: float
    guarded: Guarded
    local: tuple[float, ...]
    surrogate: bool = False
    tilt: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """The maps of all sensors: ``stages[stage][sensor]``."""

    stages: tuple[Maps, ...]

    def maps(self) -> Maps:
        """p(z|x) of each sensor, end to end."""
        if len(self.stages) == 1:
            return self.stages[0]
        first, second = self.stages
        return tuple(np.asarray(one @ two) for one, two in zip(first, second, strict=True))

    def with_map(self, sensor: int, stage: int, one: FloatArray) -> "Chain":
        """The same but for one map."""
        maps = list(self.stages[stage])
        maps[sensor] = one
        stages = list(self.stages)
        stages[stage] = tuple(maps)
        return Chain(tuple(stages))


def block(grouped: Grouped, chain: Chain, flow: Flow, sensor: int, stage: int) -> Block:
    """The block of one sensor's one stage."""
    said = [table @ one for table, one in zip(grouped.tables, chain.maps(), strict=True)]
    own = grouped.tables[sensor]
    if stage == 1:
        own = own @ chain.stages[0][sensor]
    whole = tensor(grouped, said, sensor, own)
    reward = whole.sum(axis=1)
    if flow.tilt is not None:
        reward *= np.array(flow.tilt)[:, None, None]
    last = len(chain.stages) - 1
    post = None if stage == last else chain.stages[last][sensor]
    guard, guard_post = None, None
    if not math.isinf(flow.information):
        if flow.guarded == "end":
            guard, guard_post = whole.sum(axis=0), post
        elif stage == 0:
            middle = [
                table @ one for table, one in zip(grouped.tables, chain.stages[0], strict=True)
            ]
            guard = tensor(grouped, middle, sensor, own).sum(axis=0)
    return Block(
        reward=reward,
        post=post,
        guard=guard,
        guard_post=guard_post,
        information=flow.information,
        local=flow.local[stage],
        symbols=chain.stages[stage][sensor].shape[1],
        value_of=grouped.value_of,
        surrogate=flow.surrogate,
    )


def success(grouped: Grouped, chain: Chain) -> float:
    """The chance of deciding H rightly from what is said."""
    return worth(grouped, chain, math.inf)


def worth(grouped: Grouped, chain: Chain, power: float) -> float:
    """The success, or its smooth stand-in (:meth:`Block.worth`)."""
    said = [table @ one for table, one in zip(grouped.tables, chain.maps(), strict=True)]
    cells = outcomes(grouped, said).sum(axis=1)
    return total_norm(cells, power)


def feasible(grouped: Grouped, chain: Chain, flow: Flow) -> bool:
    """Whether every budget holds, by looking at every outcome."""
    return excess(grouped, chain, flow) <= 0.0


def excess(grouped: Grouped, chain: Chain, flow: Flow) -> float:
    """By how much the worst constraint is broken, as a share of what it is about; <= 0 for none."""
    worst = -1.0
    for limit, maps in zip(flow.local, chain.stages, strict=True):
        if not math.isinf(limit):
            worst = max(worst, *(_local_excess(one, limit) for one in maps))
    if math.isinf(flow.information):
        return worst
    maps = chain.maps() if flow.guarded == "end" else chain.stages[0]
    said = [table @ one for table, one in zip(grouped.tables, maps, strict=True)]
    cells = outcomes(grouped, said).sum(axis=0)
    rows = information_rows(cells[:, :, None], accepting_limit(flow.information), grouped.value_of)
    return max(worst, float(rows.max(initial=-1.0)))


def shrunk(grouped: Grouped, chain: Chain, flow: Flow) -> Chain:
    """The first stage (or the only one) mixed with constants until every budget holds.

    The share is the same for all sensors, and the least, or a hair more. The chain comes back as
    it is where it is feasible.
    """
    flat = tuple(tuple(constant_map(one) for one in maps) for maps in chain.stages)

    def mixed(share: float) -> Chain:
        stages = []
        for limit, maps, constants in zip(flow.local, chain.stages, flat, strict=True):
            if maps is chain.stages[0] or not math.isinf(limit):
                stages.append(
                    tuple(
                        (1.0 - share) * one + share * constant
                        for one, constant in zip(maps, constants, strict=True)
                    )
                )
            else:
                stages.append(maps)
        return Chain(tuple(stages))

    above = excess(grouped, chain, flow)
    if above <= 0.0:
        return chain
    # Regula falsi after Illinois, which aims at the middle of what may be spared.
    low, high, kept = 0.0, 1.0, mixed(1.0)
    below = excess(grouped, kept, flow)
    spared = SPARED * max(0.0, -below)
    side = 0
    for _ in range(STEPS):
        if high - low <= LEAST_SHARE:
            break
        aimed = below + 0.5 * spared
        share = high - (high - low) * aimed / (aimed - above)
        if not low < share < high:
            share = 0.5 * (low + high)
        here = mixed(share)
        now = excess(grouped, here, flow)
        if now <= 0.0:
            high, below, kept = share, now, here
            if now >= -spared:
                break
            above = 0.5 * above if side < 0 else above
            side = -1
        else:
            low, above = share, now
            below = 0.5 * below if side > 0 else below
            side = 1
    return kept


def _local_excess(one: FloatArray, limit: float) -> float:
    top = one.max(axis=0)
    beyond = math.exp(-accepting_limit(limit)) * top - one.min(axis=0)
    return float((beyond / np.where(top > 0, top, 1.0)).max())
