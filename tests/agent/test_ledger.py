"""The device's account: exact to the workstation's, refuses in time, survives as bytes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import RefusedError
from agent.formats.errors import FormatError
from agent.formats.leakage_table import LeakageTable
from agent.ledger import (
    LedgerRules,
    LedgerState,
    advance,
    allowance,
    charge,
    decode_state,
    encode_state,
    leakages,
    offer,
)
from precompute.leakage.allocation import allocate_known_horizon, steady_state
from precompute.leakage.online import allocate_online
from precompute.leakage.quantification import Adversary, quantify
from precompute.leakage.transition_matrices import (
    TransitionMatrix,
    smoothed,
    strongest_correlation,
)

TWO_WAY = TransitionMatrix(np.array([[0.8, 0.2], [0.1, 0.9]]))
BOTH = Adversary.knowing(TWO_WAY, TWO_WAY)


def rules_for(adversary: Adversary, alpha: float = 1.0, horizon: int = 50) -> LedgerRules:
    """What a bundle's design would say."""
    steady = steady_state(adversary, alpha)
    return LedgerRules(
        alpha, adversary.backward, adversary.forward, steady.backward, steady.forward, horizon
    )


def random_adversary(seed: int, smoothing: float = 0.05) -> Adversary:
    one = smoothed(strongest_correlation(4, seed), smoothing)
    two = smoothed(strongest_correlation(4, seed + 1), 2 * smoothing)
    return Adversary.knowing(one, two)


def true_tpl(adversary: Adversary, budgets: list[float]) -> list[float]:
    """TPL of every step, silent ones (budget 0) included; the whole recursion, nothing clever."""
    backward, forward = [], []
    value = 0.0
    for epsilon in budgets:
        value = adversary.backward.look_up(value) + epsilon
        backward.append(value)
    value = 0.0
    for epsilon in reversed(budgets):
        value = adversary.forward.look_up(value) + epsilon
        forward.append(value)
    forward.reverse()
    return [b + f - e for b, f, e in zip(backward, forward, budgets, strict=True)]


def test_offers_are_the_papers_plan_without_knowing_the_horizon() -> None:
    rules = rules_for(BOTH)
    state = LedgerState()
    plan = allocate_known_horizon(BOTH, 1.0, 20)
    for step in range(19):
        epsilon = offer(rules, state, step)
        assert epsilon == pytest.approx(plan[step], abs=1e-9)
        state = charge(rules, state, step, epsilon)
    last = allowance(rules, state, 19)
    assert last == pytest.approx(plan[19], abs=1e-8)
    state = charge(rules, state, 19, last)
    assert leakages(rules, state) == pytest.approx([1.0] * 20, abs=1e-8)
    assert state.worst <= 1.0 + 1e-12


def test_the_device_agrees_with_the_workstation_over_silences() -> None:
    adversary = random_adversary(6)
    released = ([True] * 7 + [False] * 5 + [True, False]) * 6
    expected = allocate_online(adversary, 1.0, released)
    rules = rules_for(adversary)
    state = LedgerState()
    for step, release in enumerate(released):
        if release:
            epsilon = offer(rules, state, step)
            assert epsilon == pytest.approx(expected[step], abs=1e-12)
            state = charge(rules, state, step, epsilon)
    assert state.releases == sum(released)
    assert max(true_tpl(adversary, list(expected))) <= 1.0


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 500),
    alpha=st.floats(0.05, 5.0),
    asked=st.lists(st.tuples(st.integers(1, 4), st.floats(0.001, 2.0)), min_size=1, max_size=40),
)
def test_whatever_is_asked_no_step_passes_alpha_and_refusals_are_needed(
    seed: int, alpha: float, asked: list[tuple[int, float]]
) -> None:
    adversary = random_adversary(seed)
    rules = rules_for(adversary, alpha)
    state, budgets = LedgerState(), []
    for gap, epsilon in asked:
        step = len(budgets) + gap - 1
        with_it = [*budgets, *[0.0] * (gap - 1), epsilon]
        try:
            state = charge(rules, state, step, epsilon)
        except RefusedError:
            # Refused only when the full recursion says that it had to be.
            assert max(true_tpl(adversary, with_it)) > alpha * (1 - 1e-12)
        else:
            budgets = with_it
            assert max(true_tpl(adversary, budgets)) <= alpha * (1 + 1e-12)


def test_the_shown_leakage_is_the_workstations() -> None:
    adversary = random_adversary(2)
    rules = rules_for(adversary, horizon=8)
    state, steps = LedgerState(), [0, 1, 2, 5, 6, 9, 10, 11, 12, 15]
    budgets = [0.0] * 16
    for step in steps:
        budgets[step] = 0.5 * offer(rules, state, step)
        state = charge(rules, state, step, budgets[step])
    expected = true_tpl(adversary, budgets)
    assert leakages(rules, state) == pytest.approx([expected[s] for s in steps[-8:]], abs=1e-12)
    assert len(state.recent) == 8


def test_a_constant_budget_is_never_refused() -> None:
    rules = rules_for(BOTH, horizon=4)
    epsilon = steady_state(BOTH, 1.0).epsilon
    state = LedgerState()
    for step in range(5000):
        state = charge(rules, state, step, epsilon)
    assert state.worst <= 1.0
    assert quantify(BOTH, [epsilon] * 5000).worst <= 1.0


def test_a_larger_constant_budget_is_refused_in_time() -> None:
    rules = rules_for(BOTH)
    state = LedgerState()
    while allowance(rules, state, state.step + 1) >= 0.2:
        state = charge(rules, state, state.step + 1, 0.2)
    with pytest.raises(RefusedError, match=r"would pass the limit 1; 0\.\d+ is left"):
        charge(rules, state, state.step + 1, 0.2)
    budgets = [0.2] * state.releases
    assert max(true_tpl(BOTH, budgets)) <= 1.0
    assert max(true_tpl(BOTH, [*budgets, 0.2])) > 1.0


def test_one_step_is_used_once_only() -> None:
    rules = rules_for(BOTH)
    state = charge(rules, LedgerState(), 7, 0.1)
    for step in (7, 3):
        with pytest.raises(RefusedError, match="already accounted for"):
            charge(rules, state, step, 0.1)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_a_budget_that_is_none_is_refused(epsilon: float) -> None:
    with pytest.raises(RefusedError, match="not finite and above zero"):
        charge(rules_for(BOTH), LedgerState(), 0, epsilon)


def test_a_long_silence_forgets_and_takes_no_time() -> None:
    rules = rules_for(BOTH)
    state = charge(rules, LedgerState(), 0, 0.5)
    later = advance(rules, state, 10**12)
    assert later.backward < 1e-9
    assert offer(rules, state, 10**12) == pytest.approx(rules.steady_backward, abs=1e-9)
    certain = Adversary.knowing(TransitionMatrix(np.eye(2)), TransitionMatrix(np.eye(2)))
    never = LedgerRules(1.0, certain.backward, certain.forward, 0.5, 0.5, 5)
    kept = advance(never, charge(never, LedgerState(), 0, 0.5), 10**12)
    assert kept.backward == 0.5


def test_the_state_survives_as_bytes() -> None:
    rules = rules_for(BOTH, horizon=5)
    state = LedgerState()
    assert decode_state(encode_state(state)) == state
    for step in (0, 1, 4, 5, 6, 9):
        state = charge(rules, state, step, offer(rules, state, step))
        assert decode_state(encode_state(state)) == state


def test_damaged_states_are_refused() -> None:
    rules = rules_for(BOTH)
    state = charge(rules, charge(rules, LedgerState(), 0, 0.3), 1, 0.1)
    content = encode_state(state)
    for size in range(len(content)):
        with pytest.raises(FormatError):
            decode_state(content[:size])
    with pytest.raises(FormatError, match="wrong length"):
        decode_state(content + b"\0")
    for broken in (
        replace(state, backward=math.nan),
        replace(state, ceiling=-1.0),
        replace(state, step=0),
        replace(state, releases=1),
        replace(state, recent=state.recent[::-1]),
    ):
        with pytest.raises(FormatError, match="contradicts itself"):
            decode_state(encode_state(broken))


def test_rules_are_checked() -> None:
    empty = LeakageTable((), (), ())
    for limit, steady, horizon in ((0.0, 0.0, 5), (1.0, 1.5, 5), (1.0, 0.5, 0)):
        with pytest.raises(FormatError, match="ledger: "):
            LedgerRules(limit, empty, empty, steady, steady, horizon)
