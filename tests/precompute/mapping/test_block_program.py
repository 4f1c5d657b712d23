"""One block: row generation against dense programs, the closed form, rule and map together."""

import math

import numpy as np
import pytest
from fakes.random_joints import random_joint
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mapping_dense_program import best_for_rule, best_single_sensor

from precompute.mapping.binary_closed_form import best_binary_map
from precompute.mapping.block_program import solve_block
from precompute.mapping.blocks import Block
from precompute.mapping.row_generation import information_rows, violated
from precompute.mapping.rule_program import solve_with_rule

BUDGETS = st.sampled_from([0.02, 0.3, 1.5, math.inf])
# What the hair's breadth that solving leaves to the budgets can cost.
NEAR = 1e-5


def _single(seed, information, local, symbols):
    joint = random_joint(seed, most_sensors=1)
    cells = joint.outcomes()
    guard = None if math.isinf(information) else cells.sum(axis=0)[:, None, :]
    reward = cells.sum(axis=1)[:, None, :]
    return cells, Block(reward, None, guard, None, information, local, symbols)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 5000), information=BUDGETS, local=BUDGETS, symbols=st.integers(2, 3))
def test_rows_on_demand_find_what_all_rows_find(seed, information, local, symbols):
    cells, block = _single(seed, information, local, symbols)
    flat = np.full((cells.shape[2], symbols), 1.0 / symbols)
    rule = np.random.default_rng(seed).integers(cells.shape[0], size=(1, symbols))
    gain = block.gain(rule)
    one, _ = solve_block(block, gain, flat, np.zeros(0, dtype=np.intp))
    found = float(np.sum(gain * one))
    assert found == pytest.approx(
        best_for_rule(cells, tuple(rule[0]), information, local), abs=NEAR
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 5000), information=BUDGETS, local=BUDGETS)
def test_rule_and_map_together_are_the_best_over_all_rules(seed, information, local):
    cells, block = _single(seed, information, local, 2)
    flat = np.full((cells.shape[2], 2), 0.5)
    one = solve_with_rule(block, flat)
    least = best_single_sensor(cells, information, local)
    assert 1.0 - block.success(one) == pytest.approx(least, abs=NEAR)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 5000), local=st.floats(0.01, 4.0), cells=st.integers(1, 8))
def test_the_closed_form_is_as_good_as_the_linear_program(seed, local, cells):
    gain = np.random.default_rng(seed).normal(size=(cells, 2))
    block = Block(np.zeros((2, 1, cells)), None, None, None, math.inf, local, 2)
    one, _ = solve_block(block, gain, np.full((cells, 2), 0.5), np.zeros(0, dtype=np.intp))
    closed = best_binary_map(gain, local)
    assert np.sum(gain * closed) >= np.sum(gain * one) - 1e-8
    assert np.sum(gain * closed) == pytest.approx(np.sum(gain * one), abs=1e-4)


def test_rows_hold_exactly_where_every_ratio_does():
    random = np.random.default_rng(0)
    for _ in range(200):
        tensor = random.dirichlet(np.ones(24)).reshape(2, 4, 3)
        one = random.dirichlet(np.ones(2) * 20, 3)
        cells = (tensor @ one).reshape(2, -1)
        ratio = cells / cells.sum(axis=0) / cells.sum(axis=1, keepdims=True)
        budget = float(np.abs(np.log(ratio)).max())
        for limit, holds in ((budget * 1.001, True), (budget * 0.999, False)):
            rows = information_rows(tensor, limit)
            assert (violated(rows, one, 0.0).size == 0) == holds


def test_outcomes_and_values_that_never_happen_have_no_rows():
    tensor = np.zeros((3, 2, 2))
    tensor[0, 0], tensor[1, 0] = 0.25, 0.25
    assert information_rows(tensor, 0.1).shape == (4, 2)
