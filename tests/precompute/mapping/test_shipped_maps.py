"""Maps as they ship: rounded to 2^-32, checked, and pulled back where rounding broke a budget."""

import math
from dataclasses import replace

import numpy as np
import pytest

from agent.formats.mapping_node import local_epsilon
from precompute.mapping.achieved import achieved
from precompute.mapping.errors import MappingError
from precompute.mapping.integer_weights import from_weights
from precompute.mapping.joint import joint_of_cells
from precompute.mapping.shipped_maps import TOLERANCE, ship
from precompute.mapping.solution import Budgets, Options
from precompute.mapping.two_stage import design_mapping


def made_up(seed=0):
    cells = np.random.default_rng(seed).random((2, 2, 3, 3)) ** 3 + 0.01
    return joint_of_cells(cells / cells.sum())


@pytest.mark.parametrize("architecture", ["direct", "ill", "lip", "local", "information"])
@pytest.mark.parametrize("seed", range(4))
def test_rounded_maps_keep_the_budgets_and_say_what_they_do(architecture, seed):
    joint, asked = made_up(seed), Budgets(0.15, 0.8)
    binding = Budgets(
        math.inf if architecture == "local" else asked.information,
        math.inf if architecture == "information" else asked.local,
    )
    solution = design_mapping(joint, asked, architecture, Options(starts=2))
    shipped = ship(joint, solution, binding)
    assert shipped.achieved == achieved(joint, shipped.maps)
    assert shipped.achieved.information <= binding.information + TOLERANCE
    assert max(shipped.achieved.local) <= binding.local + TOLERANCE
    for node in shipped.tables:
        assert all(sum(row) == 1 << 32 for table in node for row in table)
    for ours, theirs in zip(shipped.maps, solution.maps, strict=True):
        assert np.allclose(ours, theirs, atol=1e-6)
    said = joint.after(shipped.maps).outcomes()
    assert np.allclose(shipped.outcomes, said.sum(axis=1), atol=1e-15)
    assert np.allclose(shipped.of_private, said.sum(axis=0), atol=1e-15)


def test_maps_a_little_over_the_budget_are_pulled_back_and_those_far_over_refused():
    joint = made_up()
    solution = design_mapping(joint, Budgets(0.15), "information", Options(starts=2))
    reached = achieved(joint, solution.maps).information
    little = Budgets(reached - 1e-6)
    shipped = ship(joint, solution, little)
    assert shipped.achieved.information <= little.information + TOLERANCE
    assert shipped.achieved.public_error < shipped.achieved.public_chance
    with pytest.raises(MappingError, match=r"asked for were 0\.01"):
        ship(joint, solution, Budgets(0.01))


def test_a_solver_that_lies_about_what_it_reached_is_not_believed():
    joint = made_up()
    solution = design_mapping(joint, Budgets(0.15), "information", Options(starts=2))
    lying = replace(solution, achieved=replace(solution.achieved, information=0.0))
    assert ship(joint, lying, Budgets(0.2)).achieved.information > 0.1


@pytest.mark.parametrize("seed", range(2))
def test_what_stands_between_ills_stages_is_private_by_itself_as_it_ships(seed):
    joint = made_up(seed)
    solution = design_mapping(joint, Budgets(0.15, 0.8), "ill", Options(starts=2))
    between = achieved(joint, solution.first).information
    asked = Budgets(between - 1e-7, 0.8)  # as if the search had gone a little too far
    assert solution.achieved.information < asked.information
    shipped = ship(joint, solution, asked)
    first = tuple(from_weights(node[0]) for node in shipped.tables)
    assert achieved(joint, first).information <= asked.information + TOLERANCE
    assert shipped.achieved.public_error < shipped.achieved.public_chance
    with pytest.raises(MappingError, match="of G and"):
        ship(joint, solution, Budgets(0.5 * between, 0.8))


@pytest.mark.parametrize(("architecture", "stage"), [("ill", 1), ("lip", 0)])
def test_the_stage_that_guards_readings_keeps_their_budget_by_itself(architecture, stage):
    joint = made_up(0)
    solution = design_mapping(joint, Budgets(0.15, 0.8), architecture, Options(starts=2))
    asked = 0.8 - 1e-6  # as if the search had gone a little too far
    shipped = ship(joint, solution, Budgets(0.15, asked))
    reached = [local_epsilon((node[stage],)) for node in shipped.tables]
    assert asked - 1e-5 < max(reached) <= asked
