"""EPIC's quantities by writing out every row, every outcome and every pair of outcomes."""

import itertools
import math

import cvxpy as cp
import numpy as np


def outcomes(sensors: int, symbols: int) -> list[tuple[int, ...]]:
    """All z, the last sensor fastest."""
    return list(itertools.product(range(symbols), repeat=sensors))


def kernel(one: tuple[int, ...], other: tuple[int, ...], bandwidth: float) -> float:
    """exp(-|z - z'|² / (2 σ²)) of unit vectors side by side."""
    distance = 0.0
    for a, b in zip(one, other, strict=True):
        for symbol in range(max(a, b) + 1):
            distance += ((symbol == a) - (symbol == b)) ** 2
    return math.exp(-distance / (2.0 * bandwidth**2))


def gram(sensors: int, symbols: int, bandwidth: float) -> np.ndarray:
    """K(z, z') of all pairs."""
    every = outcomes(sensors, symbols)
    return np.array([[kernel(a, b, bandwidth) for b in every] for a in every])


def chance(maps: list[np.ndarray], cells: tuple[int, ...], z: tuple[int, ...]) -> float:
    """Π_t p_t(z_t|x_t)."""
    found = 1.0
    for one, cell, symbol in zip(maps, cells, z, strict=True):
        found *= one[cell, symbol]
    return found


def risk(
    rows: list[tuple[int, tuple[int, ...]]],
    maps: list[np.ndarray],
    f: dict[tuple[int, ...], float],
    each: bool,
) -> float:
    """Mean squared hinge over rows (sign, cells): of f's mean, or the mean of f's."""
    total = 0.0
    for sign, cells in rows:
        if each:
            for z, value in f.items():
                total += chance(maps, cells, z) * max(0.0, 1.0 - sign * value) ** 2
        else:
            mean = sum(chance(maps, cells, z) * value for z, value in f.items())
            total += max(0.0, 1.0 - sign * mean) ** 2
    return total / len(rows)


def least_risk(
    rows: list[tuple[int, tuple[int, ...]]],
    maps: list[np.ndarray],
    bandwidth: float,
    penalty: float,
    each: bool,
) -> float:
    """The program over β, by clarabel: K as it stands, no factor, no merging."""
    symbols = maps[0].shape[1]
    every = outcomes(len(maps), symbols)
    k = gram(len(maps), symbols, bandwidth)
    beta = cp.Variable(len(every))
    scores = k @ beta
    parts = []
    for sign, cells in rows:
        said = np.array([chance(maps, cells, z) for z in every])
        if each:
            parts.append(said @ cp.square(cp.pos(1 - sign * scores)))
        else:
            parts.append(cp.square(cp.pos(1 - sign * (said @ scores))))
    cost = cp.sum(cp.hstack(parts)) / len(rows) + penalty / 2 * cp.quad_form(beta, cp.psd_wrap(k))
    problem = cp.Problem(cp.Minimize(cost))
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    return float(problem.value)


def worst_ratio(
    rows: list[tuple[int, tuple[int, ...]]], private: list[int], maps: list[np.ndarray]
) -> float:
    """max |log p(g|z)/p(g)| by enumeration."""
    worst = 0.0
    for z in outcomes(len(maps), maps[0].shape[1]):
        said = [chance(maps, cells, z) for _, cells in rows]
        for g in set(private):
            prior = sum(own == g for own in private) / len(rows)
            part = sum(one for one, own in zip(said, private, strict=True) if own == g)
            if sum(said) > 0:
                worst = max(worst, abs(math.log(part / sum(said) / prior)))
    return worst
