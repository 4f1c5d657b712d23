"""The mappings' benchmark in its short form; the long one is `make bench-iot`."""

import itertools
import math

import numpy as np
import pytest

from benchmarks import iot, iot_search, iot_small
from precompute.mapping.solution import Options


@pytest.fixture(scope="module")
def compared() -> list[iot_small.Compared]:
    """One and two sensors, every kind."""
    return [iot_small.compare(number, starts=2, options=Options(starts=2)) for number in (1, 3, 6)]


def test_designs_are_as_good_as_another_search(compared) -> None:
    for one in compared:
        assert one.errors["direct"] <= 1.02 * one.best, one.number
        assert one.errors["lip"] <= 1.02 * one.best, one.number
        assert one.errors["ill"] <= 1.02 * one.best_ill, one.number
        assert one.errors["direct"] <= one.chance + 1e-9
        if one.local_alone is not None:
            assert one.errors["direct"] <= one.local_alone + 1e-9
        assert one.passed <= 1e-9


def test_a_figure_that_is_missed_says_so(compared) -> None:
    lines = list(iot.compared_lines(compared))
    assert all(line.met for line in lines if line.asked)
    worse = dict(compared[1].errors, direct=compared[1].chance + 0.01)
    broken = [*compared[:1], iot_small.replace(compared[1], errors=worse, passed=1e-3)]
    verdicts = [line.met for line in iot.compared_lines(broken) if line.asked]
    assert verdicts.count(False) == 3  # the gap, the constant, the budgets


def test_the_other_search_finds_what_a_grid_finds() -> None:
    """One sensor of two cells: every map on a grid of 101 by 101, against the linear programs."""
    problem = iot_search.Problem(
        np.array([[[0.30, 0.10], [0.05, 0.05]], [[0.05, 0.15], [0.10, 0.20]]]), 0.2, 1.0
    )
    best = 1.0
    for first, second in itertools.product(np.linspace(0, 1, 101), repeat=2):
        maps = [np.array([[1 - first, first], [1 - second, second]])]
        if iot_search.excess(problem, maps) <= 0:
            best = min(best, 1 - iot_search.success(problem, maps))
    found = iot_search.best_error(problem, 0, 0)
    assert found <= best + 1e-9
    assert best - found < 0.01
    assert found < problem.chance - 0.01


def test_budgets_are_measured_by_every_outcome() -> None:
    problem = iot_search.Problem(np.full((2, 2, 2), 0.125), 0.5, 0.5)
    assert iot_search.excess(problem, [np.eye(2)]) == math.inf
    even = [np.full((2, 2), 0.5)]
    assert iot_search.excess(problem, even) == -0.5
    tilted = [np.array([[0.6, 0.4], [0.4, 0.6]])]
    assert iot_search.excess(problem, tilted) == pytest.approx(max(math.log(1.5) - 0.5, -0.5))
