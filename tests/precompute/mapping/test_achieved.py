"""What maps achieve, against fractions and loops; and the bound beyond enumeration."""

import math

import numpy as np
import pytest
from fakes.random_joints import random_joint
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mapping_enumeration import (
    budgets_and_errors,
    local_budget,
    mutual_information,
    outcome_table,
)

from precompute.mapping import achieved as module
from precompute.mapping.achieved import achieved
from precompute.mapping.joint import joint_of_independent_sensors


def _random_maps(joint, seed, symbols=2):
    random = np.random.default_rng(seed + 1000)
    return tuple(random.dirichlet(np.ones(symbols), size) for size in joint.sizes)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), symbols=st.integers(1, 3))
def test_budgets_and_errors_are_those_of_enumeration_in_fractions(seed, symbols):
    joint = random_joint(seed)
    maps = _random_maps(joint, seed, symbols)
    found = achieved(joint, maps)
    table = outcome_table(joint.weights, joint.public, joint.private, joint.tables, maps)
    information, public_error, private_error = budgets_and_errors(table)
    assert found.information_exact
    assert found.information == pytest.approx(information, abs=1e-12)
    assert found.public_error == pytest.approx(public_error, abs=1e-12)
    assert found.private_error == pytest.approx(private_error, abs=1e-12)
    for budget, one in zip(found.local, maps, strict=True):
        assert budget == pytest.approx(local_budget(one), abs=1e-12)
    cells = joint.after(maps).outcomes().reshape(joint.publics, joint.privates, -1)
    assert found.public_information == pytest.approx(mutual_information(cells.sum(1)), abs=1e-12)
    assert found.private_leakage == pytest.approx(mutual_information(cells.sum(0)), abs=1e-12)


def test_a_symbol_that_only_one_value_of_g_causes_has_no_finite_budget():
    joint = joint_of_independent_sensors(
        np.full((2, 2), 0.25), [np.array([[[1.0, 0.0], [0.5, 0.5]]] * 2)]
    )
    found = achieved(joint, (np.eye(2),))
    assert math.isinf(found.information)
    assert math.isinf(found.local[0])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_bound_beyond_enumeration_is_one_and_estimates_are_near(seed):
    joint = random_joint(seed)
    maps = _random_maps(joint, seed)
    exact = achieved(joint, maps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_OUTCOMES", 1)
        bounded = achieved(joint, maps)
    assert not bounded.information_exact
    assert bounded.information >= exact.information - 1e-12
    # 32768 draws of numbers in [0, 1]: a standard error of at most 0.003.
    assert bounded.public_error == pytest.approx(exact.public_error, abs=0.02)
    assert bounded.private_error == pytest.approx(exact.private_error, abs=0.02)
    assert bounded.private_leakage == pytest.approx(exact.private_leakage, abs=0.03)


def test_the_bound_is_exact_for_one_sensor_and_a_class_for_each_private_value():
    random = np.random.default_rng(3)
    table = np.tile(random.dirichlet(np.ones(3), (1, 2)), (2, 1, 1))
    joint = joint_of_independent_sensors(np.full((2, 2), 0.25), [table])
    maps = _random_maps(joint, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_OUTCOMES", 1)
        bounded = achieved(joint, maps)
    assert bounded.information == pytest.approx(achieved(joint, maps).information, abs=1e-12)


@pytest.mark.parametrize("side", ["up", "down"])
def test_both_sides_of_the_bound_are_reached_by_a_symbol_that_one_value_seldom_says(side):
    # The rare value says symbol 0 fifty times as often as the other, or fifty times as seldom.
    often = {"up": ([0.5, 0.5], [0.01, 0.99]), "down": ([0.01, 0.99], [0.5, 0.5])}[side]
    prior = np.array([[0.05, 0.45], [0.05, 0.45]])
    joint = joint_of_independent_sensors(prior, [np.tile(np.array(often), (2, 1, 1))])
    mixed = {"up": 0.1 * 0.5 + 0.9 * 0.01, "down": 0.1 * 0.01 + 0.9 * 0.5}[side]
    by_hand = abs(math.log(often[0][0] / mixed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_OUTCOMES", 1)
        bounded = achieved(joint, (np.eye(2),))
    assert bounded.information == pytest.approx(by_hand, abs=1e-12)


def test_thirty_sensors_are_bounded_without_listing_their_outcomes():
    random = np.random.default_rng(5)
    joint = joint_of_independent_sensors(
        np.full((2, 2), 0.25), [random.dirichlet(np.ones(4), (2, 2)) for _ in range(30)]
    )
    found = achieved(joint, tuple(np.full((4, 2), 0.5) for _ in range(30)))
    assert not found.information_exact
    assert found.information == pytest.approx(0.0, abs=1e-12)
