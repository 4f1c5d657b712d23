"""Maps as they ship: integer weights, and a check of these, not of what a solver said.

Rounding to 2^-32 may raise epsilon_I by some 1e-9. Where the rounded maps pass what was asked for,
the stage that guards G is mixed with its mean row by 2^-30, 2^-29, … until they do not. Mixing
makes every p(g|z)/p(g) a mean of what it and those of fewer sensors were, and these are means of
the former ratios: the largest never rises, the least never falls, and both end at 1. The same is
true of the ratios p(z|r)/p(z|r') of regimes.

ILL promises more than its end: what stands between its stages must be private by itself. So its
first stage is looked at, too, as it ships.
"""

import math
from dataclasses import dataclass

import numpy as np

from agent.formats.mapping_design import WeightTable
from precompute.mapping.achieved import achieved
from precompute.mapping.errors import MappingError
from precompute.mapping.integer_weights import from_weights, to_weights
from precompute.mapping.joint import FloatArray, Joint, Maps
from precompute.mapping.solution import Achieved, Architecture, Budgets, Solution

# By how much an achieved budget may pass the one asked for, nats.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ShippedMaps:
    """What goes into the bundle.

    Attributes:
        tables: one or two of each node.
        maps: p(z|x) of each node, of these tables.
        achieved: by these maps, in the joint they were designed for.
        outcomes: (|H|, |Z_1|, …) p(h, z), read-only.
        of_private: (|G|, |Z_1|, …) p(g, z).
        solution: that was rounded.
    """

    tables: tuple[tuple[WeightTable, ...], ...]
    maps: Maps
    achieved: Achieved
    outcomes: FloatArray
    of_private: FloatArray
    solution: Solution


def ship(joint: Joint, solution: Solution, budgets: Budgets) -> ShippedMaps:
    """The maps of a solution, rounded and checked.

    Args:
        joint: they were designed for.
        solution: found for it.
        budgets: asked for; those that the architecture does not guard are infinite.

    Raises:
        MappingError: no rounding keeps the budgets.
    """
    stages = [solution.first] if solution.second is None else [solution.first, solution.second]
    limits = _stage_limits(solution.architecture, budgets, len(stages))
    guard = 0 if solution.architecture == "ill" else len(stages) - 1
    share = 0.0
    while share < 1e-3:
        mixed = list(stages)
        mixed[guard] = tuple(_towards_mean(one, share) for one in stages[guard])
        tables = tuple(
            tuple(to_weights(one, limit) for one, limit in zip(node, limits, strict=True))
            for node in zip(*mixed, strict=True)
        )
        maps = tuple(_product([from_weights(table) for table in node]) for node in tables)
        found = achieved(joint, maps)
        told = found.guarded
        if solution.architecture == "ill":
            between = tuple(from_weights(node[0]) for node in tables)
            told = max(told, achieved(joint, between).guarded)
        if (
            told <= budgets.information + TOLERANCE
            and max(found.local) <= budgets.local + TOLERANCE
        ):
            said = joint.without_regimes().after(maps).outcomes()
            outcomes = said.sum(axis=1)
            outcomes /= outcomes.sum()
            outcomes.setflags(write=False)
            return ShippedMaps(tables, maps, found, outcomes, said.sum(axis=0), solution)
        share = max(2.0**-30, 2 * share)
    raise MappingError(
        f"mapping: what was found tells epsilon_I {told:.9g} of G and epsilon_LD "
        f"{max(found.local):.9g} of a reading; asked for were {budgets.information:g} and "
        f"{budgets.local:g}; please report this design file"
    )


def _stage_limits(architecture: Architecture, budgets: Budgets, stages: int) -> tuple[float, ...]:
    """The local budget that each stage's table has to keep by itself."""
    if stages == 1:
        return (budgets.local,)
    return (budgets.local, math.inf) if architecture == "lip" else (math.inf, budgets.local)


def _towards_mean(one: FloatArray, share: float) -> FloatArray:
    return one if share == 0 else np.asarray((1 - share) * one + share * one.mean(axis=0))


def _product(maps: list[FloatArray]) -> FloatArray:
    whole = maps[0]
    for one in maps[1:]:
        whole = whole @ one
    return whole
