"""What maps do, by loops over every class and every outcome, in exact fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np


def outcome_table(weights, public, private, tables, maps):
    """{(h, g, z): probability} as fractions."""
    found = {}
    exact_maps = [[[Fraction(float(p)) for p in row] for row in one] for one in maps]
    for k, weight in enumerate(weights):
        for z in itertools.product(*(range(one.shape[1]) for one in maps)):
            chance = Fraction(float(weight))
            for t, symbol in enumerate(z):
                chance *= sum(
                    Fraction(float(p)) * exact_maps[t][x][symbol]
                    for x, p in enumerate(tables[t][k])
                )
            key = (int(public[k]), int(private[k]), z)
            found[key] = found.get(key, Fraction(0)) + chance
    return found


def budgets_and_errors(table):
    """(epsilon_I, error of H, error of G) of a table of outcomes."""
    outcomes = sorted({z for _, _, z in table})
    publics, privates = sorted({h for h, _, _ in table}), sorted({g for _, g, _ in table})
    total = sum(table.values())
    prior = {g: sum(p for (_, b, _), p in table.items() if b == g) for g in privates}
    worst, right_h, right_g = 0.0, Fraction(0), Fraction(0)
    for z in outcomes:
        of_h = [sum(table.get((h, g, z), Fraction(0)) for g in privates) for h in publics]
        of_g = [sum(table.get((h, g, z), Fraction(0)) for h in publics) for g in privates]
        right_h, right_g = right_h + max(of_h), right_g + max(of_g)
        for g, joint in zip(privates, of_g, strict=True):
            if prior[g] == 0 or sum(of_g) == 0:
                continue
            if joint == 0:
                worst = math.inf
                continue
            worst = max(worst, abs(math.log(joint * total / (prior[g] * sum(of_g)))))
    return worst, float(1 - right_h / total), float(1 - right_g / total)


def local_budget(one):
    """epsilon_LD of one map."""
    worst = 0.0
    for x, other in itertools.permutations(range(one.shape[0]), 2):
        for z in range(one.shape[1]):
            if one[x, z] > 0:
                if one[other, z] == 0:
                    return math.inf
                worst = max(worst, math.log(one[x, z] / one[other, z]))
    return worst


def mutual_information(joint):
    """I of a two-dimensional array."""
    joint = np.asarray(joint)
    total = 0.0
    for i, j in itertools.product(*map(range, joint.shape)):
        if joint[i, j] > 0:
            total += joint[i, j] * math.log(joint[i, j] / joint[i].sum() / joint[:, j].sum())
    return total
