"""Fifty small problems of several kinds, each against the best found by other means."""

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.iot_search import Problem, best_error, excess, said, spread
from precompute.mapping.joint import joint_of_cells
from precompute.mapping.solution import Budgets, Options, Solution
from precompute.mapping.two_stage import design_mapping

KINDS = ("any", "sparse", "independent", "skewed", "many_private")
CLOSE = 0.02


@dataclass(frozen=True)
class Compared:
    """One problem; errors of H. ``best`` and ``best_ill`` are the others' own or ours if lower."""

    number: int
    kind: str
    problem: Problem
    chance: float
    other: float
    other_ill: float
    errors: dict[str, float]
    local_alone: float | None
    passed: float

    @property
    def best(self) -> float:
        return min(self.other, self.errors["direct"], self.errors["lip"])

    @property
    def best_ill(self) -> float:
        return min(self.other_ill, self.errors["ill"])


def problem(number: int) -> tuple[str, Problem]:
    """Problem ``number``: always the same."""
    rng = np.random.default_rng([20, number])
    kind = KINDS[number % len(KINDS)]
    sensors = 1 + number // len(KINDS) % 3
    sizes = tuple(int(size) for size in rng.integers(2, 5, sensors))
    privates = 3 if kind == "many_private" else 2
    shape = (2, privates, *sizes)
    count = int(np.prod(shape))
    if kind == "any":
        cells = rng.dirichlet(np.ones(count)).reshape(shape)
    elif kind == "sparse":
        cells = rng.dirichlet(np.full(count, 0.3)).reshape(shape)
    else:
        prior = rng.dirichlet(np.full(2 * privates, 0.5 if kind == "skewed" else 3.0))
        cells = prior.reshape(2, privates, *[1] * sensors)
        for axis, size in enumerate(sizes):
            table = rng.dirichlet(np.full(size, 0.7), (2, privates))
            cells = cells * table.reshape(
                2, privates, *[size if axis == other else 1 for other in range(sensors)]
            )
    information, local = np.exp(rng.uniform(np.log([0.01, 0.1]), np.log([1.0, 3.0])))
    return kind, Problem(cells / cells.sum(), float(information), float(local))


def compare(number: int, *, starts: int, options: Options | None = None) -> Compared:
    """Our designs and the other's best of one problem."""
    kind, asked = problem(number)
    ill = replace(asked, response=asked.local)
    joint = joint_of_cells(asked.cells)
    budgets = Budgets(asked.information, asked.local)
    found = {
        name: design_mapping(joint, budgets, name, options or Options())
        for name in ("local", "ill", "lip", "direct")
    }
    errors = {name: error(asked, one) for name, one in found.items()}
    alone = errors["local"] if excess(asked, list(found["local"].maps)) <= 1e-9 else None
    return Compared(
        number,
        kind,
        asked,
        asked.chance,
        best_error(asked, starts, number),
        best_error(ill, starts, number),
        errors,
        alone,
        max(excess(asked, list(found[name].maps)) for name in ("ill", "lip", "direct")),
    )


def error(asked: Problem, solution: Solution) -> float:
    """Of H, by this folder's own enumeration."""
    cells = spread(asked, said(asked, list(solution.maps)))
    return 1 - float(cells.sum(axis=1).max(axis=0).sum())


def proved(asked: Problem, seconds: float) -> tuple[float, float] | None:
    """(error found, lower bound) by SCIP, or None where SCIP_PYTHON names no interpreter."""
    python = os.environ.get("SCIP_PYTHON")
    if python is None:
        return None
    import json

    question = json.dumps(
        [asked.cells.tolist(), asked.information, asked.local, asked.response, seconds]
    )
    done = subprocess.run(
        [python, str(Path(__file__).with_name("iot_scip.py"))],
        input=question,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return None
    found, bound = json.loads(done.stdout.splitlines()[-1])
    return found, bound
