"""The maps of all sensors as the search changes them, and the block that each change solves.

A chain has one stage, p(z|x), or two, p(y|x) and p(z|y). A :class:`Flow` says which budget each
stage keeps: local differential privacy is a matter of a stage's own map; information privacy is
about what all sensors say together, after the first stage (``middle``) or at the end.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from precompute.mapping.blocks import Block, accepting_limit
from precompute.mapping.joint import FloatArray, Maps
from precompute.mapping.outcome_tensors import Grouped, outcomes, tensor
from precompute.mapping.row_generation import information_rows

# Halvings of the share that is mixed in: it is found to 2^-22 of the whole.
BISECTIONS = 22

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
        surrogate=flow.surrogate,
    )


def success(grouped: Grouped, chain: Chain) -> float:
    """The chance of deciding H rightly from what is said."""
    said = [table @ one for table, one in zip(grouped.tables, chain.maps(), strict=True)]
    return float(outcomes(grouped, said).sum(axis=1).max(axis=0).sum())


def feasible(grouped: Grouped, chain: Chain, flow: Flow) -> bool:
    """Whether every budget holds, by looking at every outcome."""
    for limit, maps in zip(flow.local, chain.stages, strict=True):
        if not math.isinf(limit) and not all(_private(one, limit) for one in maps):
            return False
    if math.isinf(flow.information):
        return True
    maps = chain.maps() if flow.guarded == "end" else chain.stages[0]
    said = [table @ one for table, one in zip(grouped.tables, maps, strict=True)]
    cells = outcomes(grouped, said).sum(axis=0)
    rows = information_rows(cells[:, :, None], accepting_limit(flow.information))
    return bool(np.all(rows <= 0))


def shrunk(grouped: Grouped, chain: Chain, flow: Flow) -> Chain:
    """The first stage (or the only one) mixed with constants until every budget holds.

    The share is found by bisection; it is the same for all sensors. The chain comes back as it is
    where it is feasible.
    """
    if feasible(grouped, chain, flow):
        return chain

    def mixed(share: float) -> Chain:
        stages = []
        for limit, maps in zip(flow.local, chain.stages, strict=True):
            if maps is chain.stages[0] or not math.isinf(limit):
                stages.append(tuple((1.0 - share) * one + share * _flat(one) for one in maps))
            else:
                stages.append(maps)
        return Chain(tuple(stages))

    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if feasible(grouped, mixed(middle), flow):
            high = middle
        else:
            low = middle
    return mixed(high)


def _flat(one: FloatArray) -> FloatArray:
    """The constant map, uniform over the symbols that the map uses."""
    used = np.where(one.max(axis=0) > 0, 1.0, 0.0)
    return np.tile(used / used.sum(), (one.shape[0], 1))


def _private(one: FloatArray, limit: float) -> bool:
    return bool(np.all(math.exp(-accepting_limit(limit)) * one.max(axis=0) <= one.min(axis=0)))
