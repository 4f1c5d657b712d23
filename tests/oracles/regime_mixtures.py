"""Information privacy over a class of mixtures of regimes, by trying members of the class.

Nothing here knows that ratios of single regimes suffice: mixtures and priors are drawn, p(g|z) is
formed by Bayes' rule in plain Python, and the largest |log p(g|z)/p(g)| is kept. What comes back is
a lower bound of the class's epsilon; with priors near 0 and 1 and single regimes among the draws
it comes near it.
"""

import itertools
import math
import random
from collections.abc import Sequence


def worst_of_mixtures(
    given: Sequence[Sequence[float]], value_of: Sequence[int], draws: int, seed: int
) -> float:
    """The largest |log p(g|z)/p(g)| found.

    Args:
        given: for each regime of a value of G, p(z | g, r) for all z.
        value_of: the value of G of each.
        draws: members of the class to try, beside the corners.
        seed: of the draws.
    """
    chance = random.Random(seed)
    values = sorted(set(value_of))
    of = {g: [i for i, value in enumerate(value_of) if value == g] for g in values}
    worst = 0.0
    corners = itertools.product(*(of[g] for g in values))
    members = [
        {g: {place: 1.0} for g, place in zip(values, corner, strict=True)} for corner in corners
    ]
    for _ in range(draws):
        member = {}
        for g in values:
            shares = [chance.expovariate(1.0) ** 3 for _ in of[g]]
            member[g] = {i: share / sum(shares) for i, share in zip(of[g], shares, strict=True)}
        members.append(member)
    for member in members:
        for rare in (None, *values):
            if rare is None:
                prior = {g: chance.expovariate(1.0) for g in values}
            else:
                prior = {g: 1e-9 * chance.expovariate(1.0) for g in values}
                prior[rare] = 1.0
            total = sum(prior.values())
            for z in range(len(given[0])):
                likely = {
                    g: sum(share * given[i][z] for i, share in member[g].items()) for g in values
                }
                whole = sum(prior[g] / total * likely[g] for g in values)
                for g in values:
                    if whole > 0:
                        ratio = likely[g] / whole
                        worst = max(worst, abs(math.log(ratio)) if ratio > 0 else math.inf)
    return worst
