"""Of designs that decide equally well, the one that says less."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precompute.mapping.achieved import achieved
from precompute.mapping.epic import design_epic
from precompute.mapping.joint import joint_of_cells, joint_of_independent_sensors
from precompute.mapping.least_said import least_said
from precompute.mapping.solution import Budgets, Options
from precompute.mapping.two_stage import design_mapping


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from([1, 2]))
def test_nothing_is_lost_and_nothing_more_is_told(seed: int, stages: int) -> None:
    random = np.random.default_rng(seed)
    joint = joint_of_cells(random.dirichlet(np.ones(2 * 2 * 4 * 3) * 0.4).reshape(2, 2, 4, 3))
    sizes = joint.sizes if stages == 1 else (2, 2)
    given_stages = tuple(
        tuple(random.dirichlet(np.ones(2), size) for size in wide)
        for wide in ([joint.sizes] if stages == 1 else [joint.sizes, sizes])
    )
    found = least_said(joint, given_stages)

    def maps(chain):
        return chain[0] if len(chain) == 1 else tuple(a @ b for a, b in zip(*chain, strict=True))

    before, after = achieved(joint, maps(given_stages)), achieved(joint, maps(found))
    assert after.public_error <= before.public_error + 1e-11
    assert after.information <= before.information + 1e-12
    for ours, theirs in zip(after.local, before.local, strict=True):
        assert ours <= theirs + 1e-12
    assert len(found) == stages
    if stages == 2:
        assert all(a is b for a, b in zip(found[0], given_stages[0], strict=True))


def test_a_sensor_that_changes_no_decision_is_silent() -> None:
    # The first tells H; the second only G.
    tables = [
        np.array([[[0.9, 0.1]] * 2, [[0.1, 0.9]] * 2]),
        np.array([[[0.9, 0.1], [0.1, 0.9]]] * 2),
    ]
    joint = joint_of_independent_sensors(np.full((2, 2), 0.25), tables)
    maps = (np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([[0.75, 0.25], [0.25, 0.75]]))
    ((first, second),) = least_said(joint, (maps,))
    assert first is maps[0]
    assert second.tolist() == [[0.5, 0.5]] * 2


def test_what_lies_below_the_threshold_is_taken_back_to_it() -> None:
    # H is 0 with 0.7; a symbol changes the decision from odds of 7/3 on, and no design of ours may
    # say more than decides: of the last sensor's share nothing is left that turns no decision.
    tables = [np.array([[[0.6, 0.4]], [[0.4, 0.6]]])]
    joint = joint_of_independent_sensors(np.array([[0.7], [0.3]]), tables)
    ((one,),) = least_said(joint, ((np.array([[0.9, 0.1], [0.1, 0.9]]),),))
    assert one.tolist() == [[0.5, 0.5]] * 2


@pytest.mark.parametrize("architecture", ["direct", "ill", "lip", "local", "information"])
def test_designs_that_cannot_help_are_constant(architecture) -> None:
    # 0.05 nats do not turn a decision of 7 to 3.
    tables = [np.array([[[0.6, 0.4]] * 2, [[0.4, 0.6]] * 2])] * 2
    joint = joint_of_independent_sensors(np.array([[0.4, 0.3], [0.1, 0.2]]), tables)
    budgets = Budgets(0.05, 0.05)
    found = design_mapping(joint, budgets, architecture, Options(starts=3))
    assert found.achieved.public_error == pytest.approx(found.achieved.public_chance)
    assert max(found.achieved.local) == 0
    assert found.achieved.information == pytest.approx(0, abs=1e-15)


def test_epic_says_no_more_than_it_needs_to() -> None:
    random = np.random.default_rng(3)
    cells = random.dirichlet(np.ones(2 * 2 * 3 * 2)).reshape(2, 2, 3, 2)
    joint = joint_of_cells(cells)
    found = design_epic(joint, Budgets(0.02, 0.02), Options(starts=2))
    assert found.achieved.public_error == pytest.approx(found.achieved.public_chance)
    assert max(found.achieved.local) == 0
