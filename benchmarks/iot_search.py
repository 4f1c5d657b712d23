"""The best mappings of small problems by means that share no code with ``precompute``.

|Z| = 2. A map is the vector p(1|x) of each sensor. With the decision rule fixed the success is a
multilinear function of all maps at once, and so is each information-privacy constraint.

* One sensor: every decision rule, each a linear program (HiGHS): exact.
* More: sequential quadratic programming over all sensors at once (SciPy's SLSQP), from many seeded
  starts, the rule made anew until nothing is gained. Not a proof, but another kind of search than
  one sensor after the other, and it stops at other places.
* Where an interpreter with pyscipopt is named in SCIP_PYTHON: spatial branch and bound
  (iot_scip.py), with a proof.

ILL with |Y| = 2 is the same problem behind a fixed second stage: the success is convex in p(z|y),
so that a best one is a vertex of its polytope, which is randomised response or a constant; and a
constant can as well be said by the first stage.
"""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linprog, minimize

ROUNDS = 4


@dataclass(frozen=True)
class Problem:
    """cells (|H|, |G|, |X_1|, …) p(h, g, x); ``response`` > 0: ILL's second stage keeps it."""

    cells: np.ndarray
    information: float
    local: float
    response: float | None = None

    @property
    def sensors(self) -> int:
        return self.cells.ndim - 2

    @property
    def chance(self) -> float:
        return 1 - float(self.cells.sum(axis=tuple(range(1, self.cells.ndim))).max())


def spread(problem: Problem, maps: list[np.ndarray], skip: int | None = None) -> np.ndarray:
    """p(h, g, z_1…z_s) of maps (|X_t|, 2); the axis of ``skip`` stays x."""
    found = problem.cells
    for number, one in enumerate(maps):
        if number != skip:
            found = np.moveaxis(np.tensordot(found, one, axes=(2 + number, 0)), -1, 2 + number)
    return found


def said(problem: Problem, maps: list[np.ndarray]) -> list[np.ndarray]:
    """What the first stage's maps become behind the fixed second stage."""
    if problem.response is None:
        return maps
    keep = 1 / (1 + math.exp(-problem.response))
    return [one @ np.array([[keep, 1 - keep], [1 - keep, keep]]) for one in maps]


def success(problem: Problem, maps: list[np.ndarray]) -> float:
    return float(spread(problem, said(problem, maps)).sum(axis=1).max(axis=0).sum())


def excess(problem: Problem, maps: list[np.ndarray]) -> float:
    """By how much the worst budget is passed, nats; by looking at every outcome."""
    cells = spread(problem, maps).sum(axis=0)
    cells = cells.reshape(cells.shape[0], -1)
    of_g, of_z = cells.sum(axis=1), cells.sum(axis=0)
    worst = -problem.information
    for g, z in product(range(of_g.size), range(of_z.size)):
        if of_g[g] > 0 and of_z[z] > 1e-300:
            ratio = cells[g, z] / (of_g[g] * of_z[z])
            told = abs(math.log(ratio)) if ratio > 0 else math.inf
            worst = max(worst, told - problem.information)
    if problem.response is None:
        for one in maps:
            for column in one.T:
                if column.max() > 0:
                    told = math.log(column.max() / column.min()) if column.min() > 0 else math.inf
                    worst = max(worst, told - problem.local)
    return worst


def best_error(problem: Problem, starts: int, seed: int) -> float:
    """The least error of H found."""
    if problem.sensors == 1:
        return 1 - max(
            _program(problem, rule) for rule in product(*[range(len(problem.cells))] * 2)
        )
    rng = np.random.default_rng(seed)
    best = 1 - problem.chance
    for number in range(starts):
        best = max(best, _follow(problem, _start(problem, rng, number)))
    return 1 - best


def _start(problem: Problem, rng: np.random.Generator, number: int) -> np.ndarray:
    sizes = problem.cells.shape[2:]
    if number % 2:
        return rng.random(sum(sizes))
    return 0.5 + 0.45 * rng.choice([-1.0, 1.0], sum(sizes))


def _maps(problem: Problem, point: np.ndarray) -> list[np.ndarray]:
    cuts = np.cumsum(problem.cells.shape[2:])[:-1]
    return [np.column_stack([1 - p, p]) for p in np.split(np.clip(point, 0, 1), cuts)]


def _gradients(problem: Problem, maps: list[np.ndarray]) -> list[np.ndarray]:
    """d p(h, g, z)/d p_t(1|x), each (|X_t|, |H|, |G|, 2, …, 2)."""
    found = []
    for number in range(problem.sensors):
        left = np.moveaxis(spread(problem, maps, skip=number), 2 + number, 0)
        found.append(np.stack([-left, left], axis=3 + number))
    return found


def _follow(problem: Problem, point: np.ndarray) -> float:
    best = 0.0
    for _ in range(ROUNDS):
        point = _mixed(problem, _solve(problem, point))
        found = success(problem, _maps(problem, point))
        if found <= best + 1e-10:
            break
        best = found
    return best


def _solve(problem: Problem, point: np.ndarray) -> np.ndarray:
    """SLSQP with the rule that is best at the start."""
    table = spread(problem, said(problem, _maps(problem, point))).sum(axis=1)
    rule = (table == table.max(axis=0)).astype(float)
    rule /= rule.sum(axis=0)
    wide, flat = problem.information, problem.cells.shape[1]
    of_g = problem.cells.sum(axis=0).reshape(flat, -1).sum(axis=1)
    shrink = 1.0 if problem.response is None else math.tanh(problem.response / 2)

    def goal(p: np.ndarray) -> tuple[float, np.ndarray]:
        outer = said(problem, _maps(problem, p))
        value = float((spread(problem, outer).sum(axis=1) * rule).sum())
        slopes = [
            (one.sum(axis=2) * rule[None]).reshape(one.shape[0], -1).sum(axis=1) * shrink
            for one in _gradients(problem, outer)
        ]
        return -value, -np.concatenate(slopes)

    def private(cells: np.ndarray) -> np.ndarray:
        """(…, |H|, |G|, z) to the constraints' left sides, >= 0 when kept."""
        cells = cells.sum(axis=-problem.sensors - 2)
        cells = cells.reshape(*cells.shape[: -problem.sensors - 1], flat, -1)
        of_z = cells.sum(axis=-2, keepdims=True) * of_g[:, None]
        both = np.stack([math.exp(wide) * of_z - cells, cells - math.exp(-wide) * of_z], axis=-3)
        return both.reshape(*cells.shape[:-2], -1)

    bounds = [(0.0, 1.0)] * point.size
    constraints = [
        {
            "type": "ineq",
            "fun": lambda p: private(spread(problem, _maps(problem, p))),
            "jac": lambda p: (
                np.vstack([private(one) for one in _gradients(problem, _maps(problem, p))]).T
            ),
        }
    ]
    if problem.response is None:
        rows, sides = local_rows(problem)
        constraints.append(
            {"type": "ineq", "fun": lambda p: sides - rows @ p, "jac": lambda p: -rows}
        )
    found = minimize(
        goal, point, jac=True, bounds=bounds, constraints=constraints, method="SLSQP",
        options={"maxiter": 100, "ftol": 1e-9},
    )  # fmt: skip
    return found.x if np.all(np.isfinite(found.x)) else point


def local_rows(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """LDP of both symbols as rows @ p <= sides, p of all sensors one after the other."""
    sizes = problem.cells.shape[2:]
    rows, sides, start = [], [], 0
    much = math.exp(problem.local)
    for size in sizes:
        for x, other in product(range(size), range(size)):
            if x != other:
                row = np.zeros(sum(sizes))
                row[start + x], row[start + other] = 1, -much
                rows += [row, -row[:]]
                sides += [0.0, 0.0]
                # The symbol 0: (1 - p_x) <= much (1 - p_other).
                rows[-1] = np.zeros(sum(sizes))
                rows[-1][start + x], rows[-1][start + other] = -1, much
                sides[-1] = much - 1
        start += size
    return np.array(rows).reshape(-1, sum(sizes)), np.array(sides)


def _mixed(problem: Problem, point: np.ndarray) -> np.ndarray:
    """The largest share of the point, the rest a constant map, that keeps every budget."""
    point = np.clip(point, 0, 1)
    if excess(problem, _maps(problem, point)) <= 0:
        return point
    centre, low, high = np.full_like(point, 0.5), 0.0, 1.0
    for _ in range(45):
        middle = (low + high) / 2
        kept = excess(problem, _maps(problem, centre + middle * (point - centre))) <= 0
        low, high = (middle, high) if kept else (low, middle)
    return centre + low * (point - centre)


def _program(problem: Problem, rule: tuple[int, ...]) -> float:
    """One sensor: the best success of a decision rule, a linear program."""
    cells = problem.cells
    size = cells.shape[2]
    keep = 1.0 if problem.response is None else 1 / (1 + math.exp(-problem.response))
    outer = np.array([[keep, 1 - keep], [1 - keep, keep]])
    # success = sum over z of p(rule(z), z); z = 1 by p, 0 by 1 - p.
    value = [sum(outer[y, z] * cells[rule[z]].sum(axis=0) for z in (0, 1)) for y in (0, 1)]
    of_gx = cells.sum(axis=0)
    of_g, of_x = of_gx.sum(axis=1), of_gx.sum(axis=0)
    rows, sides = [], []
    for g in range(of_g.size):
        up = of_gx[g] - math.exp(problem.information) * of_g[g] * of_x
        down = math.exp(-problem.information) * of_g[g] * of_x - of_gx[g]
        for row in (up, down):
            rows += [row, -row]
            sides += [0.0, -row.sum()]
    if problem.response is None:
        more, bound = local_rows(problem)
        rows += list(more)
        sides += list(bound)
    found = linprog(
        -(value[1] - value[0]), A_ub=np.array(rows), b_ub=sides, bounds=[(0, 1)] * size,
        method="highs",
    )  # fmt: skip
    return float(value[0].sum() - found.fun) if found.status == 0 else 1 - problem.chance
