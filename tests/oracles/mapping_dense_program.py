"""The best map of a single sensor by one dense linear program for each decision rule.

Every constraint is written out: for local privacy all pairs of cells, for information privacy all
values and symbols, both sides. Cells are p(h, g, x).
"""

import itertools
import math

import numpy as np
from scipy.optimize import linprog


def best_single_sensor(cells, information, local, symbols=2):
    """The least error of H, over all rules."""
    publics = cells.shape[0]
    return min(
        1.0 - best_for_rule(cells, rule, information, local)
        for rule in itertools.product(range(publics), repeat=symbols)
    )


def best_for_rule(cells, rule, information, local):
    """The largest chance of deciding rightly under one rule."""
    _, privates, size = cells.shape
    symbols = len(rule)

    def place(x, z):
        return x * symbols + z

    objective = np.zeros(size * symbols)
    for z, h in enumerate(rule):
        for x in range(size):
            objective[place(x, z)] = -cells[h, :, x].sum()
    rows = []
    if not math.isinf(local):
        for z in range(symbols):
            for x, other in itertools.permutations(range(size), 2):
                row = np.zeros(size * symbols)
                row[place(x, z)], row[place(other, z)] = 1.0, -math.exp(local)
                rows.append(row)
    if not math.isinf(information):
        for g, z in itertools.product(range(privates), range(symbols)):
            chance = cells[:, g].sum()
            up, down = np.zeros(size * symbols), np.zeros(size * symbols)
            for x in range(size):
                joint, whole = cells[:, g, x].sum(), cells[:, :, x].sum()
                up[place(x, z)] = joint - math.exp(information) * chance * whole
                down[place(x, z)] = math.exp(-information) * chance * whole - joint
            rows += [up, down]
    sums = np.zeros((size, size * symbols))
    for x in range(size):
        sums[x, x * symbols : (x + 1) * symbols] = 1.0
    result = linprog(
        objective,
        A_ub=np.array(rows) if rows else None,
        b_ub=np.zeros(len(rows)) if rows else None,
        A_eq=sums,
        b_eq=np.ones(size),
        bounds=(0, 1),
        method="highs",
    )
    assert result.status == 0, result.message
    return -result.fun
