"""One small problem by SCIP's spatial branch and bound, run by an interpreter with pyscipopt.

Reads [cells, epsilon_I, epsilon_LD, response or null, seconds] as JSON, prints [least error of H
found, proved lower bound]. Variables are p_t(1|x) and their products over sets of sensors; the
decision rule is a binary variable for each outcome.
"""

import json
import math
import sys
from itertools import combinations, product

import numpy as np
from pyscipopt import Model, quicksum


def main() -> None:
    """See the module's words."""
    cells, information, local, response, seconds = json.load(sys.stdin)
    cells = np.array(cells)
    sizes = cells.shape[2:]
    sensors = range(len(sizes))
    model = Model()
    model.hideOutput()
    model.setParam("limits/time", seconds)
    model.setParam("limits/gap", 1e-4)
    model.setParam("numerics/feastol", 1e-9)
    first = [[model.addVar(lb=0, ub=1) for _ in range(size)] for size in sizes]
    products = [_products(model, first, sizes)]
    keep = 1.0 if response is None else 1 / (1 + math.exp(-response))
    said = {}
    for z in product((0, 1), repeat=len(sizes)):
        said[z] = [
            [_chance(cells[h, g], products[0], z, sensors) for g in range(cells.shape[1])]
            for h in range(cells.shape[0])
        ]
    of_g = cells.sum(axis=0).reshape(cells.shape[1], -1).sum(axis=1)
    for by_h in said.values():
        column = [quicksum(row[g] for row in by_h) for g in range(len(of_g))]
        total = quicksum(column)
        for g, one in enumerate(column):
            model.addCons(one <= math.exp(information) * of_g[g] * total)
            model.addCons(one >= math.exp(-information) * of_g[g] * total)
    if response is None:
        much = math.exp(local)
        for row in first:
            for one, other in product(row, row):
                if one is not other:
                    model.addCons(one <= much * other)
                    model.addCons(1 - one <= much * (1 - other))
    goal = []
    for z in said:
        value = [
            quicksum(
                math.prod(keep if a == b else 1 - keep for a, b in zip(y, z, strict=True)) * one
                for y, by_h in said.items()
                for one in by_h[h]
            )
            for h in range(cells.shape[0])
        ]
        best = model.addVar(lb=0, ub=1)
        chosen = [model.addVar(vtype="B") for _ in value]
        model.addCons(quicksum(chosen) == 1)
        for one, pick in zip(value, chosen, strict=True):
            model.addCons(best <= one + 1 - pick)
        goal.append(best)
    model.setObjective(quicksum(goal), "maximize")
    model.optimize()
    print(json.dumps([1 - model.getObjVal(), 1 - model.getDualbound()]))


def _products(model, first, sizes):
    """(sensors, cells) -> the product of p_t(1|x_t) over them."""
    found = {((), ()): 1.0}
    for count in range(1, len(sizes) + 1):
        for chosen in combinations(range(len(sizes)), count):
            for places in product(*[range(sizes[t]) for t in chosen]):
                last = first[chosen[-1]][places[-1]]
                if count == 1:
                    found[chosen, places] = last
                    continue
                whole = model.addVar(lb=0, ub=1)
                model.addCons(whole == found[chosen[:-1], places[:-1]] * last)
                found[chosen, places] = whole
    return found


def _chance(cells, products, z, sensors):
    """p(h, g, z): a sensor that says 0 does so with 1 - p."""
    terms = []
    ones = [t for t in sensors if z[t] == 1]
    zeros = [t for t in sensors if z[t] == 0]
    for count in range(len(zeros) + 1):
        for more in combinations(zeros, count):
            chosen = tuple(sorted([*ones, *more]))
            rest = tuple(t for t in sensors if t not in chosen)
            weights = cells.sum(axis=rest) if rest else cells
            for places, weight in np.ndenumerate(weights):
                if weight:
                    terms.append((-1) ** count * float(weight) * products[chosen, places])
    return quicksum(terms)


if __name__ == "__main__":
    main()
