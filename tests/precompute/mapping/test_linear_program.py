"""Programs whose rows grow, both ways, against every vertex; and designs without SciPy's HiGHS."""

import numpy as np
import pytest
from oracles.linear_vertices import least

from precompute.mapping import linear_program as module
from precompute.mapping.joint import joint_of_independent_sensors
from precompute.mapping.linear_program import ByHighs, ByLinprog, bundled_highs, linear_program
from precompute.mapping.solution import Budgets, Options
from precompute.mapping.two_stage import design_mapping

WAYS = ("highs", "linprog")


def _program(way, *given):
    if way == "linprog":
        return ByLinprog(*given)
    core = bundled_highs()
    assert core is not None, "this SciPy brings no HiGHS that is spoken to here"
    return ByHighs(core, *given)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(12))
def test_the_best_is_that_of_all_vertices_after_each_addition_of_rows(way, seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 4))
    cost, below, above = random.normal(size=size), np.zeros(size), np.ones(size)
    program = _program(way, cost, below, above)
    rows, low, high = np.zeros((0, size)), np.zeros(0), np.zeros(0)
    for kind in ("above", "below", "equal"):
        new = random.normal(size=(1 if kind == "equal" else 2, size))
        middle = new @ np.full(size, 0.5)
        spread = random.random(len(new)) * 0.3
        new_low = {"above": np.full(len(new), -np.inf), "below": middle - spread, "equal": middle}
        new_high = {"above": middle + spread, "below": np.full(len(new), np.inf), "equal": middle}
        program.add(new, new_low[kind], new_high[kind])
        rows = np.vstack([rows, new])
        low, high = np.append(low, new_low[kind]), np.append(high, new_high[kind])
        found = program.solve()
        assert found is not None
        assert cost @ found == pytest.approx(
            least(cost, rows, (low, high), (below, above)), abs=1e-7
        )
        assert np.all(rows @ found <= high + 1e-7)
        assert np.all(rows @ found >= low - 1e-7)


@pytest.mark.parametrize("way", WAYS)
def test_what_cannot_be_is_none(way):
    program = _program(way, np.ones(2), np.zeros(2), np.ones(2))
    program.add(np.array([[1.0, 1.0]]), np.array([3.0]), np.array([np.inf]))
    assert program.solve() is None


def test_a_scipy_without_it_designs_as_well(monkeypatch):
    random = np.random.default_rng(0)
    joint = joint_of_independent_sensors(
        np.array([[0.3, 0.2], [0.2, 0.3]]), [random.dirichlet(np.ones(3), (2, 2)) for _ in "ab"]
    )
    asked = joint, Budgets(0.1), "information", Options(starts=1, sweeps=4)
    fast = design_mapping(*asked)
    monkeypatch.setattr(module, "bundled_highs", lambda: None)
    assert isinstance(linear_program(np.ones(1), np.zeros(1), np.ones(1)), ByLinprog)
    slow = design_mapping(*asked)
    assert slow.achieved.public_error == pytest.approx(fast.achieved.public_error, abs=1e-6)
