"""Where EPIC's search begins: partitions of each sensor's cells, softened until the budgets hold.

Mixing all maps with the constant map by one share lowers every ratio continuously to 1 (at share
zero nothing is told), so that bisection finds a share that keeps the budgets.
"""

import numpy as np

from precompute.mapping.achieved import achieved
from precompute.mapping.joint import FloatArray, IntArray, Joint, Maps
from precompute.mapping.solution import Budgets

BISECTIONS = 40
# The share of its map that a faint sensor keeps, and of cells that later starts change.
FAINT = 0.1
CHANGED = 0.25


def constant_maps(joint: Joint, symbols: int) -> Maps:
    """Every symbol as likely, whatever the reading."""
    return tuple(np.full((size, symbols), 1.0 / symbols) for size in joint.sizes)


def start_maps(
    joint: Joint, budgets: Budgets, symbols: int, number: int, random: np.random.Generator
) -> Maps:
    """Maps of start ``number`` that keep both budgets.

    Every sensor's cells are parted: ordered by p(h=0|x) and cut into ``symbols`` parts of like mass
    (start 1), or where p(h=0|x) passes the prior; from start 3 on some cells change to a part at
    random. In starts 1, 2 and every even one all sensors speak; in start 0 and the other odd ones
    one does, taken in order of what they tell of H alone, because a tight budget is often best
    spent by one. The others are faint rather than silent: of a sensor that says nothing no
    classifier learns a slope, so that it would stay silent.
    """
    maps = []
    alone = number == 0 or (number >= 3 and number % 2 == 1)
    leader = int(_order(joint)[(number // 2) % len(joint.tables)])
    for sensor, table in enumerate(joint.tables):
        mass = joint.weights @ table
        one = (joint.weights * (joint.public == 0)) @ table
        likely = np.divide(one, mass, out=np.zeros_like(one), where=mass > 0)
        if number == 1:
            order = np.argsort(likely, kind="stable")
            middle = np.cumsum(mass[order]) - 0.5 * mass[order]
            part = np.empty(mass.size, dtype=np.intp)
            part[order] = np.minimum((middle * symbols).astype(np.intp), symbols - 1)
        else:
            part = (likely > one.sum()).astype(np.intp)
        if number >= 3:
            changed = random.random(part.size) < CHANGED
            part = np.where(changed, random.integers(symbols, size=part.size), part)
        said = _softened(np.eye(symbols)[part], budgets.local)
        maps.append(mixed((said,), FAINT)[0] if alone and sensor != leader else said)
    return mixed(tuple(maps), kept_share(joint, budgets, tuple(maps)))


def _order(joint: Joint) -> IntArray:
    """Sensors by the Bayes error of H from their cell alone, the least first."""
    right = [
        np.stack([(joint.weights * (joint.public == h)) @ table for h in range(joint.publics)])
        .max(axis=0)
        .sum()
        for table in joint.tables
    ]
    return np.argsort(-np.array(right), kind="stable")


def mixed(maps: Maps, share: float) -> Maps:
    """This share of the maps, the rest uniform."""
    return tuple(share * one + (1.0 - share) / one.shape[1] for one in maps)


def kept_share(joint: Joint, budgets: Budgets, maps: Maps) -> float:
    """A share of the maps, nearly the largest, at which both budgets hold."""

    def holds(share: float) -> bool:
        reached = achieved(joint, mixed(maps, share))
        return reached.guarded <= budgets.information and max(reached.local) <= budgets.local

    if holds(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
        if high - low <= 1e-3 * high:
            break
    return low


def _softened(one: FloatArray, local: float) -> FloatArray:
    """Randomised response on a partition: the right symbol e^ε times as likely as each other."""
    if np.isinf(local):
        return one
    symbols = one.shape[1]
    other = 1.0 / (np.exp(min(local, 500.0)) + symbols - 1)
    return np.asarray(other + (1.0 - symbols * other) * one)
