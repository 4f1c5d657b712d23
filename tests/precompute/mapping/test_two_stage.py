"""Designs from a known joint: budgets kept, optima found, special cases."""

import math

import numpy as np
import pytest
from fakes.random_joints import random_joint
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.mapping_dense_program import best_single_sensor
from oracles.mapping_enumeration import budgets_and_errors, local_budget, outcome_table

from agent.formats.mapping_design import local_epsilon
from precompute.mapping.achieved import achieved
from precompute.mapping.errors import MappingError
from precompute.mapping.integer_weights import from_weights, to_weights
from precompute.mapping.joint import Joint, joint_of_cells, joint_of_independent_sensors
from precompute.mapping.solution import Budgets, Options
from precompute.mapping.two_stage import design_mapping

QUICK = Options(starts=3, sweeps=10)
OVER = 1e-9


def _two_sensors(seed=0, cells=3):
    random = np.random.default_rng(seed)
    prior = np.array([[0.3, 0.2], [0.2, 0.3]])
    return joint_of_independent_sensors(
        prior, [random.dirichlet(np.ones(cells), (2, 2)) for _ in range(2)]
    )


@settings(max_examples=16, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10_000),
    information=st.sampled_from([1e-4, 0.01, 0.2, 2.0, 40.0]),
    local=st.sampled_from([1e-3, 0.07, 1.0, 5.0]),
    architecture=st.sampled_from(["local", "information", "ill", "lip", "direct"]),
    symbols=st.integers(2, 3),
)
def test_budgets_are_kept_by_enumeration_in_fractions(
    seed, information, local, architecture, symbols
):
    joint = random_joint(seed, most_sensors=2)
    options = Options(starts=2, sweeps=5, symbols=symbols)
    solution = design_mapping(joint, Budgets(information, local), architecture, options)
    maps = solution.maps
    table = outcome_table(joint.weights, joint.public, joint.private, joint.tables, maps)
    found, error, _ = budgets_and_errors(table)
    assert solution.achieved.public_error == pytest.approx(error, abs=1e-9)
    if architecture != "local":
        assert found <= information + OVER
    if architecture != "information":
        assert all(local_budget(one) <= local + OVER for one in maps)
        tables = [to_weights(one, local) for one in maps]
        assert all(local_epsilon((one,)) <= local + OVER for one in tables)
        rounded = achieved(joint, [from_weights(one) for one in tables])
        assert rounded.public_error == pytest.approx(error, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_one_sensor_with_two_symbols_reaches_the_optimum_over_all_rules(seed):
    joint = random_joint(seed, most_sensors=1)
    for information, local in ((0.1, math.inf), (0.05, 0.5), (math.inf, 0.5)):
        solution = design_mapping(joint, Budgets(information, local), "direct", QUICK)
        least = best_single_sensor(joint.outcomes(), information, local)
        assert solution.achieved.public_error == pytest.approx(least, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_direct_is_never_worse_than_ill_and_lip(seed):
    joint = random_joint(4 * seed, most_sensors=2)
    budgets = Budgets(0.1, 0.8)
    errors = {
        name: design_mapping(joint, budgets, name, QUICK).achieved.public_error
        for name in ("ill", "lip", "direct")
    }
    assert errors["direct"] <= min(errors["ill"], errors["lip"]) + 1e-12


@pytest.mark.parametrize("architecture", ["ill", "lip"])
def test_refining_is_never_worse_than_stage_by_stage(architecture):
    joint = _two_sensors()
    plain = Options(starts=3, refine=False)
    stage = design_mapping(joint, Budgets(0.05, 0.5), architecture, plain)
    both = design_mapping(joint, Budgets(0.05, 0.5), architecture, QUICK)
    assert both.achieved.public_error <= stage.achieved.public_error + 1e-12


def test_ill_keeps_its_middle_private_and_lip_its_first_stage():
    joint, budgets = _two_sensors(), Budgets(0.05, 0.5)
    ill = design_mapping(joint, budgets, "ill", QUICK)
    assert achieved(joint, ill.first).information <= 0.05
    assert ill.second is not None
    assert all(local_budget(one) <= 0.5 for one in ill.second)
    lip = design_mapping(joint, budgets, "lip", QUICK)
    assert all(local_budget(one) <= 0.5 for one in lip.first)
    assert lip.achieved.information <= 0.05


def test_the_same_seed_gives_the_same_maps():
    joint = _two_sensors(1)
    one, two = (design_mapping(joint, Budgets(0.1, 1.0), "direct", QUICK) for _ in range(2))
    for first, second in zip(one.maps, two.maps, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("budgets", [Budgets(0.0, 1.0), Budgets(1.0, 0.0)])
@pytest.mark.parametrize("architecture", ["ill", "lip", "direct"])
def test_a_budget_of_zero_gives_the_constant_map_and_says_so(budgets, architecture):
    solution = design_mapping(_two_sensors(), budgets, architecture, QUICK)
    assert solution.achieved.information <= 1e-12
    assert max(solution.achieved.local) == 0.0
    assert any("constant map" in one for one in solution.warnings)


def test_a_constant_g_leaves_only_local_privacy_and_says_so():
    joint = joint_of_cells(np.array([[[0.4, 0.1]], [[0.1, 0.4]]]))
    solution = design_mapping(joint, Budgets(0.0, 1.0), "direct", QUICK)
    assert solution.achieved.public_error == pytest.approx(0.2 + 0.6 / (1 + math.e), abs=1e-6)
    assert any("G takes one value" in one for one in solution.warnings)


def test_a_constant_h_gives_the_constant_map_and_says_so():
    joint = joint_of_cells(np.array([[[0.3, 0.2], [0.1, 0.4]], [[0.0, 0.0], [0.0, 0.0]]]))
    solution = design_mapping(joint, Budgets(1.0, 1.0), "direct", QUICK)
    assert solution.achieved.information <= 1e-12
    assert any("H takes one value" in one for one in solution.warnings)


def test_without_budgets_the_error_is_that_of_the_readings():
    joint = _two_sensors(2, cells=2)
    solution = design_mapping(joint, Budgets(), "direct", QUICK)
    least = 1.0 - joint.outcomes().sum(axis=1).max(axis=0).sum()
    assert solution.achieved.public_error == pytest.approx(least, abs=1e-12)


def test_a_flat_start_does_not_hold_the_search():
    joint = _two_sensors(3)
    solution = design_mapping(joint, Budgets(0.2, 1.0), "direct", Options(starts=1))
    assert solution.achieved.public_error < solution.achieved.public_chance - 1e-3


@pytest.mark.parametrize("architecture", ["information", "direct"])
def test_the_stand_in_keeps_the_real_budget(architecture):
    joint = _two_sensors(4)
    options = Options(starts=3, sweeps=5, constraint="surrogate")
    solution = design_mapping(joint, Budgets(0.1, 1.0), architecture, options)
    assert solution.achieved.information <= 0.1
    assert solution.achieved.public_error < solution.achieved.public_chance


def test_cells_that_never_happen_keep_local_privacy():
    cells = np.array([[[0.4, 0.1, 0.0], [0.1, 0.0, 0.0]], [[0.1, 0.1, 0.0], [0.1, 0.1, 0.0]]])
    solution = design_mapping(joint_of_cells(cells), Budgets(0.5, 0.7), "direct", QUICK)
    assert max(solution.achieved.local) <= 0.7


def test_too_many_outcomes_are_refused():
    joint = Joint(
        np.array([0.5, 0.5]),
        np.array([0, 1]),
        np.array([0, 1]),
        tuple(np.full((2, 2), 0.5) for _ in range(21)),
        2,
        2,
    )
    with pytest.raises(MappingError, match="different things together"):
        design_mapping(joint, Budgets(1.0, 1.0), "direct")
    with pytest.raises(MappingError, match="not designed from a joint"):
        design_mapping(joint, Budgets(1.0, 1.0), "epic")
