"""Where a search begins: seeded places of several kinds, all feasible, some with a rule to follow.

Local optima are the danger (the error is convex in a map before the decision is fixed), so the
places differ in kind: thresholds of the likelihood ratio of H, randomised response on random
partitions, random stochastic maps, one sensor that speaks while the others whisper (who has nearly
the whole budget to itself; of a silent sensor no search learns a slope), and maps that tell much of
H while a single sensor's symbols tell little or nothing of G.
"""

import math
from dataclasses import dataclass

import numpy as np

from precompute.mapping.blocks import LARGEST
from precompute.mapping.chains import Chain, Flow, shrunk
from precompute.mapping.joint import FloatArray, IntArray
from precompute.mapping.linear_program import linear_program
from precompute.mapping.outcome_tensors import Grouped, of_public

START_KINDS = 6
# The share of its map that a whispering sensor keeps.
FAINT = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where to begin.

    Attributes:
        chain: feasible.
        rule: (|Z_1|, …, |Z_s|) decisions for the first sweep to follow, or None.
        finished: the chain is a result already, to be improved only.
    """

    chain: Chain
    rule: IntArray | None
    finished: bool = False


def make_starts(
    grouped: Grouped, flow: Flow, symbols: int, *, number: int, seed: int
) -> list[Start]:
    """Starts of one stage, in a fixed order; the same seed gives the same starts.

    Args:
        grouped: the joint.
        flow: of one stage.
        symbols: |Z|.
        number: how many.
        seed: of all that is random.
    """
    random = np.random.default_rng(seed)
    sizes = [table.shape[1] for table in grouped.tables]
    shape = tuple(symbols for _ in sizes)
    starts = []
    for place in range(number):
        rule: IntArray | None = None
        kind = place % START_KINDS
        if kind == 0:
            maps = [
                _thresholds(_separation(grouped, t, random, place), symbols, random, place)
                for t in range(len(sizes))
            ]
        elif kind == 1:
            maps = [_orthogonal(grouped, t, symbols, flow, random) for t in range(len(sizes))]
        elif kind == 2:
            maps = [np.eye(symbols)[random.integers(symbols, size=size)] for size in sizes]
        elif kind == 3:
            maps = [np.full((size, symbols), 1.0 / symbols) for size in sizes]
            rule = random.integers(grouped.publics, size=shape)
        elif kind == 4:
            speaker = place // START_KINDS % len(sizes)
            maps = [
                _thresholds(_separation(grouped, t, random, 0), symbols, random, place)
                for t in range(len(sizes))
            ]
            maps = [
                one if t == speaker else FAINT * one + (1.0 - FAINT) / symbols
                for t, one in enumerate(maps)
            ]
        else:
            maps = [random.dirichlet(np.ones(symbols), size=size) for size in sizes]
            if random.random() < 0.5:
                rule = random.integers(grouped.publics, size=shape)
        noisy = tuple(_noisy(one, flow.local[0]) for one in maps)
        starts.append(Start(shrunk(grouped, Chain((noisy,)), flow), rule))
    return starts


def _separation(
    grouped: Grouped, sensor: int, random: np.random.Generator, place: int
) -> FloatArray:
    """(|X|,) the posterior of one value of H: of 1 the first time, then of a random one."""
    given = of_public(grouped, grouped.tables[sensor])
    total = given.sum(axis=0)
    h = 1 if place == 0 else int(random.integers(grouped.publics))
    return np.asarray(given[h] / np.where(total > 0, total, 1.0))


def _thresholds(
    score: FloatArray, symbols: int, random: np.random.Generator, place: int
) -> FloatArray:
    """A partition by the score into |Z| runs; the first time into even ones."""
    rank = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    if place == 0:
        cuts = np.arange(1, symbols) * score.size / symbols
    else:
        cuts = np.sort(random.uniform(0, score.size, size=symbols - 1))
    return np.asarray(np.eye(symbols)[np.searchsorted(cuts, rank, side="right")])


def _orthogonal(
    grouped: Grouped, sensor: int, symbols: int, flow: Flow, random: np.random.Generator
) -> FloatArray:
    """A binary map (more symbols stay unused) that tells H most while the sensor alone tells G
    at most a random small share."""
    table = grouped.tables[sensor]
    cells = np.array(
        [
            grouped.weights[begin:end] @ table[begin:end]
            for begin, end in zip(grouped.bounds, grouped.bounds[1:], strict=False)
        ]
    ).reshape(grouped.publics, grouped.privates, -1)
    of_private = cells.sum(axis=0)
    of_private = of_private[of_private.sum(axis=1) > 0]
    of_private /= of_private.sum(axis=1, keepdims=True)
    signs = random.normal(size=grouped.publics)
    direction = np.einsum("h,hx->x", signs - signs.mean(), cells.sum(axis=1))
    share = float(random.choice([0.0, 0.1, 0.5])) * min(1.0, flow.information)
    difference = of_private[1:] - of_private[:1]
    high = 1.0 / (1.0 + math.exp(-min(flow.local[0], LARGEST)))
    size = direction.size
    program = linear_program(-direction, np.full(size, 1.0 - high), np.full(size, high))
    wide = np.full(len(difference), share)
    program.add(difference, -wide, wide)
    found = program.solve()
    chance = np.full(size, 0.5) if found is None else found
    one = np.zeros((direction.size, symbols))
    one[:, 1] = np.clip(chance, 0.0, 1.0)
    one[:, 0] = 1.0 - one[:, 1]
    return one


def _noisy(one: FloatArray, local: float) -> FloatArray:
    """The map mixed with the uniform one as far as local differential privacy asks."""
    if math.isinf(local):
        return one
    symbols = one.shape[1]
    factor = math.exp(min(local, LARGEST) * (1.0 - 1e-6))
    high, low = one.max(axis=0), one.min(axis=0)
    # (1-s) high + s/|Z| <= factor ((1-s) low + s/|Z|)
    above = np.maximum(0.0, high - factor * low)
    share = float(np.max(above / (above + (factor - 1.0) / symbols)))
    return np.asarray((1.0 - share) * one + share / symbols)
