"""What maps achieve, worked out from the joint and the maps alone; no solver is believed.

While the outcomes z number at most ``MOST_OUTCOMES`` every one is looked at. Beyond:

* ``information`` is a proved upper bound. With R[g, g'] >= p(z|g)/p(z|g') for all z,

      1 / (p(g) + sum_g' p(g') R[g', g])  <=  p(g|z)/p(g)  <=  1 / (p(g) + sum_g' p(g') / R[g, g'])

  and R is the smaller of two bounds: exp of the sum of the sensors' local budgets, and the largest,
  over classes k of g and k' of g', of prod_t max_z p_t(z|k)/p_t(z|k') (sensors are independent
  given the class, and a ratio of mixtures lies between the ratios of their parts).
* errors and informations of H and G are estimates from ``DRAWS`` outcomes drawn with a fixed seed;
  each term is the exact posterior of the drawn outcome, so that they are unbiased.

What is said of single sensors is exact always.
"""

import math
from collections.abc import Sequence

import numpy as np

from precompute.mapping.joint import FloatArray, Joint
from precompute.mapping.metrics import (
    information_privacy,
    local_privacy,
    mutual_information,
    reading_outcomes,
    regime_privacy,
)
from precompute.mapping.outcome_tensors import Grouped, group, outcomes
from precompute.mapping.regimes import comparisons
from precompute.mapping.solution import Achieved

MOST_OUTCOMES = 1 << 20
# Cells p(h, g, z) held at a time: 64 MB.
MOST_CELLS = 1 << 23
DRAWS = 1 << 15
# Pairs of classes that the product bound looks at; beyond, the local budgets' sum bounds alone.
MOST_PAIRS = 1 << 26


def achieved(joint: Joint, maps: Sequence[FloatArray]) -> Achieved:
    """What these maps, p(z|x) of each sensor, do to H, G and the readings.

    Raises:
        MappingError: maps that do not fit the joint.
    """
    across = None if joint.value_of is None else information_across(joint, maps)
    joint = joint.without_regimes()
    said = group(joint.after(maps))
    local = tuple(local_privacy(one) for one in maps)
    readings = tuple(
        mutual_information(reading_outcomes(joint, sensor, one)) for sensor, one in enumerate(maps)
    )
    prior = joint.prior
    exact = _all_outcomes(maps, prior.size)
    if exact:
        cells = outcomes(said, said.tables)
        of_public, of_private = cells.sum(axis=1), cells.sum(axis=0)
        information = information_privacy(of_private)
        public_error = 1.0 - float(of_public.max(axis=0).sum())
        private_error = 1.0 - float(of_private.max(axis=0).sum())
        public_information = mutual_information(of_public)
        private_leakage = mutual_information(of_private)
    else:
        information = _bounded(said, prior.sum(axis=0), sum(local))
        public_error, private_error, public_information, private_leakage = _estimated(said, prior)
    public_chance = 1.0 - float(prior.sum(axis=1).max())
    private_chance = 1.0 - float(prior.sum(axis=0).max())
    return Achieved(
        information=information,
        information_exact=exact,
        local=local,
        public_error=min(max(0.0, public_error), public_chance),
        public_chance=public_chance,
        private_error=min(max(0.0, private_error), private_chance),
        private_chance=private_chance,
        private_leakage=private_leakage,
        public_information=public_information,
        reading_information=readings,
        across=across,
    )


def information_across(joint: Joint, maps: Sequence[FloatArray]) -> float:
    """epsilon_I for all mixtures of a joint's regimes: exact, or the module's bound on pairs."""
    assert joint.value_of is not None
    said = group(joint.after(maps))
    if _all_outcomes(maps, joint.prior.size):
        return regime_privacy(outcomes(said, said.tables).sum(axis=0), joint.value_of)
    bound = sum(local_privacy(one) for one in maps)
    if said.weights.size**2 > MOST_PAIRS:
        return bound
    prior = joint.prior.sum(axis=0)
    pairs = [(r, other) for r, other in comparisons(joint.value_of) if prior[r] * prior[other] > 0]
    return min(bound, max((_worst_pair(said, *pair) for pair in pairs), default=0.0))


def _all_outcomes(maps: Sequence[FloatArray], values: int) -> bool:
    """Whether every outcome is looked at."""
    number = math.prod(one.shape[1] for one in maps)
    return bool(number <= MOST_OUTCOMES and number * values <= MOST_CELLS)


def _bounded(said: Grouped, prior: FloatArray, local: float) -> float:
    """The proved bound of the module's words."""
    values = [g for g in range(said.privates) if prior[g] > 0]
    ratios = {(g, other): local for g in values for other in values if g != other}
    if said.weights.size**2 <= MOST_PAIRS:
        for pair in ratios:
            ratios[pair] = min(local, _worst_pair(said, *pair))
    worst = 0.0
    for g in values:
        up = down = float(prior[g])
        for other in values:
            if other != g:
                up += float(prior[other]) * math.exp(-ratios[g, other])
                down += float(prior[other]) * math.exp(min(700.0, ratios[other, g]))
                if math.isinf(ratios[other, g]):
                    return math.inf
        worst = max(worst, -math.log(up), math.log(down))
    return worst


def _worst_pair(said: Grouped, g: int, other: int) -> float:
    """The largest sum_t max_z log p_t(z|k)/p_t(z|k') over classes k of g and k' of the other."""
    ours, theirs = _classes(said, g), _classes(said, other)
    worst = -math.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in ours:
            total = np.zeros(theirs.size)
            for table in said.tables:
                difference = np.log(table[k])[None, :] - np.log(table[theirs])
                # A symbol that k never says (-inf, or nan against another -inf) does not count.
                total += np.max(np.where(table[k][None, :] > 0, difference, -np.inf), axis=1)
            worst = max(worst, float(total.max()))
    return worst


def _classes(said: Grouped, g: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The numbers of the classes whose G is g."""
    parts = [
        np.arange(said.bounds[cell], said.bounds[cell + 1])
        for cell in range(g, said.publics * said.privates, said.privates)
    ]
    return np.concatenate(parts)


def _estimated(said: Grouped, prior: FloatArray) -> tuple[float, float, float, float]:
    """(error of H, error of G, I(H; Z), I(G; Z)) from outcomes drawn with seed 0."""
    random = np.random.default_rng(0)
    classes = random.choice(said.weights.size, size=DRAWS, p=said.weights / said.weights.sum())
    drawn = []
    for table in said.tables:
        sums = np.cumsum(table, axis=1)
        wanted = random.random(DRAWS) * sums[classes, -1]
        drawn.append(np.minimum((wanted[:, None] >= sums[classes]).sum(axis=1), table.shape[1] - 1))
    totals = np.zeros(4)
    step = max(1, (1 << 22) // said.weights.size)
    for start in range(0, DRAWS, step):
        part = slice(start, start + step)
        likely = np.repeat(said.weights[:, None], drawn[0][part].size, axis=1)
        for table, symbols in zip(said.tables, drawn, strict=True):
            likely *= table[:, symbols[part]]
        likely /= likely.sum(axis=0)
        cells = np.array(
            [
                likely[begin:end].sum(axis=0)
                for begin, end in zip(said.bounds, said.bounds[1:], strict=False)
            ]
        ).reshape(said.publics, said.privates, -1)
        for place, posterior in enumerate((cells.sum(axis=1), cells.sum(axis=0))):
            chances = prior.sum(axis=1 - place)[:, None]
            totals[place] += np.sum(1.0 - posterior.max(axis=0))
            held = posterior > 0
            ratio = np.log(np.where(held, posterior, 1.0) / np.where(chances > 0, chances, 1.0))
            totals[2 + place] += np.sum(np.where(held, posterior * ratio, 0.0))
    means = totals / DRAWS
    return float(means[0]), float(means[1]), max(0.0, float(means[2])), max(0.0, float(means[3]))
