"""Moves of all maps together, the smooth stand-ins that they raise, and mixing with constants."""

import math

import numpy as np
import pytest
from fakes.random_joints import random_joint
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mapping_enumeration import budgets_and_errors, local_budget, outcome_table

from precompute.mapping.blocks import Block, total_norm
from precompute.mapping.chains import Chain, Flow, feasible, shrunk, success, worth
from precompute.mapping.descent import descend
from precompute.mapping.joint import joint_of_independent_sensors
from precompute.mapping.joint_moves import move_jointly
from precompute.mapping.outcome_tensors import group

POWERS = st.sampled_from([1.5, 2.0, 6.0])


def _random_maps(random, joint, symbols):
    return tuple(random.dirichlet(np.ones(symbols), size) for size in joint.sizes)


def _reached(joint, maps):
    """(epsilon_I, the largest epsilon_LD), by enumeration."""
    table = outcome_table(joint.weights, joint.public, joint.private, joint.tables, maps)
    return budgets_and_errors(table)[0], max(local_budget(one) for one in maps)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 5000),
    information=st.sampled_from([1e-3, 0.1, 1.0]),
    local=st.sampled_from([0.05, 1.0, math.inf]),
    symbols=st.integers(2, 3),
)
def test_no_more_of_the_constants_is_mixed_in_than_the_budgets_ask(
    seed, information, local, symbols
):
    joint = random_joint(seed, most_sensors=2)
    maps = _random_maps(np.random.default_rng(seed), joint, symbols)
    flow = Flow(information, "end", (local,))
    found = shrunk(group(joint), Chain((maps,)), flow).stages[0]
    told, nearby = _reached(joint, found)
    assert told <= information
    assert nearby <= local
    before = _reached(joint, maps)
    if before[0] > information or before[1] > local:
        # A thousandth less of the constants, and one of the budgets is passed.
        less = tuple(one + 1e-3 * (one - 1.0 / symbols) for one in found)
        told, nearby = _reached(joint, less)
        assert told > information or nearby > local


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 5000), power=POWERS)
def test_the_slope_of_the_stand_in_is_that_of_differences_and_lies_below(seed, power):
    random = np.random.default_rng(seed)
    reward = random.dirichlet(np.ones(24)).reshape(2, 4, 3)
    block = Block(reward, None, None, None, math.inf, math.inf, 2)
    one, other = random.dirichlet(np.ones(2) * 3, 3), random.dirichlet(np.ones(2) * 3, 3)
    slope = block.slope(one, power)
    step = 1e-6 * (other - one)
    numeric = (block.worth(one + step, power) - block.worth(one - step, power)) / 2.0
    assert np.sum(slope * step) == pytest.approx(numeric, rel=1e-5, abs=1e-13)
    rise = block.worth(other, power) - block.worth(one, power)
    assert rise >= np.sum(slope * (other - one)) - 1e-12


def test_the_stand_in_ends_at_the_success_and_sees_what_changes_no_decision():
    cells = np.array([[0.3, 0.25], [0.2, 0.25]])
    assert total_norm(cells, math.inf) == pytest.approx(0.55)
    assert total_norm(cells, 400.0) == pytest.approx(0.55, abs=1e-3)
    # p(h|z) moves, the decision does not.
    faint, flat = np.array([[0.35, 0.25], [0.2, 0.2]]), np.array([[0.3, 0.3], [0.2, 0.2]])
    assert total_norm(faint, math.inf) == pytest.approx(total_norm(flat, math.inf))
    assert total_norm(faint, 2.0) > total_norm(flat, 2.0) + 1e-4


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 5000),
    power=st.sampled_from([2.0, 6.0, math.inf]),
    local=st.sampled_from([0.5, math.inf]),
    symbols=st.integers(2, 3),
)
def test_a_move_never_lowers_what_it_raises_and_keeps_the_budgets(seed, power, local, symbols):
    joint = random_joint(seed, most_sensors=2)
    grouped, flow = group(joint), Flow(0.1, "end", (local,))
    maps = _random_maps(np.random.default_rng(seed), joint, symbols)
    chain = shrunk(grouped, Chain((maps,)), flow)
    moved = move_jointly(grouped, flow, chain, 6, power)
    assert worth(grouped, moved, power) >= worth(grouped, chain, power)
    told, nearby = _reached(joint, moved.stages[0])
    assert told <= 0.1
    assert nearby <= local


def _two_of_unlike_worth():
    """Sensor 1 tells G and a little of H; sensor 2 tells H well, and a little of G."""
    tables = []
    for of_h, of_g in ((0.05, 0.3), (0.3, 0.1)):
        h, g = np.meshgrid([-1.0, 1.0], [-1.0, 1.0], indexing="ij")
        chance = 0.5 + of_h * h + of_g * g
        tables.append(np.stack([1.0 - chance, chance], axis=-1))
    return joint_of_independent_sensors(np.full((2, 2), 0.25), tables)


def test_a_budget_spent_by_the_wrong_sensor_is_moved_to_the_right_one():
    grouped, flow = group(_two_of_unlike_worth()), Flow(0.05, "end", (math.inf,))
    whisper = np.array([[0.51, 0.49], [0.49, 0.51]])
    start = shrunk(grouped, Chain(((np.eye(2), whisper),)), flow)
    stuck = descend(grouped, flow, start, sweeps=20, tolerance=1e-9)
    moved = move_jointly(grouped, flow, move_jointly(grouped, flow, start, 20, 2.0), 20)
    assert feasible(grouped, moved, flow)
    assert success(grouped, moved) > stuck.success + 0.02
