"""BPL, FPL, TPL, suprema, budgets and composition: published values, oracles, properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.leakage_hidden_chain import true_leakage

from precompute.leakage.allocation import (
    allocate_known_horizon,
    allocate_personalised,
    allocate_unknown_horizon,
    common_budgets,
)
from precompute.leakage.composition import leakage_of_window, user_level_leakage, w_event_leakage
from precompute.leakage.errors import LeakageError
from precompute.leakage.online import OnlineAllocator, allocate_online
from precompute.leakage.quantification import (
    Adversary,
    quantify,
    quantify_suprema,
    worst_of_users,
)
from precompute.leakage.suprema import supremum_of_piece
from precompute.leakage.transition_matrices import (
    TransitionMatrix,
    backward_by_bayes,
    smoothed,
    stationary_distribution,
    strongest_correlation,
)

ONE_WAY = TransitionMatrix(np.array([[0.8, 0.2], [0.0, 1.0]]))
TWO_WAY = TransitionMatrix(np.array([[0.8, 0.2], [0.1, 0.9]]))
BOTH = Adversary.knowing(TWO_WAY, TWO_WAY)


def random_adversary(seed: int, states: int = 4, smoothing: float = 0.05) -> Adversary:
    """Different chains in the two directions."""
    one = smoothed(strongest_correlation(states, seed), smoothing)
    two = smoothed(strongest_correlation(states, seed + 1), 2 * smoothing)
    return Adversary.knowing(one, two)


def test_backward_leakage_of_the_papers_figure_3() -> None:
    leakage = quantify(Adversary.knowing(backward=ONE_WAY), [0.1] * 10)
    published = [0.1, 0.1808, 0.2471, 0.3024, 0.3488, 0.3881, 0.4216, 0.4503, 0.4750, 0.4964]
    assert leakage.bpl == pytest.approx(published, abs=5e-5)
    assert leakage.fpl == (0.1,) * 10
    assert leakage.tpl == pytest.approx(leakage.bpl, abs=1e-15)


def test_forward_leakage_mirrors_backward_leakage() -> None:
    backward = quantify(Adversary.knowing(backward=ONE_WAY), [0.1, 0.2, 0.3])
    forward = quantify(Adversary.knowing(forward=ONE_WAY), [0.3, 0.2, 0.1])
    assert forward.fpl == backward.bpl[::-1]


@pytest.mark.parametrize(
    ("gain", "loss", "epsilon", "expected"),
    [(0.8, 0.1, 0.23, 0.792337), (0.8, 0.0, 0.15, 1.192242), (0.8, 0.0, 0.23, None)],
)
def test_suprema_of_single_pieces(
    gain: float, loss: float, epsilon: float, expected: float | None
) -> None:
    found = supremum_of_piece(gain, loss, epsilon)
    assert found is None if expected is None else found == pytest.approx(expected, abs=5e-7)


def test_the_supremum_is_where_a_long_stream_ends() -> None:
    adversary = random_adversary(3)
    suprema = quantify_suprema(adversary, 0.3)
    leakage = quantify(adversary, [0.3] * 4000)
    assert suprema.backward == pytest.approx(leakage.bpl[-1], abs=1e-9)
    assert suprema.forward == pytest.approx(leakage.fpl[0], abs=1e-9)
    assert suprema.total == pytest.approx(leakage.worst, abs=1e-9)


def test_a_budget_past_the_threshold_has_no_finite_bound() -> None:
    threshold = math.log(1 / 0.8)
    adversary = Adversary.knowing(backward=ONE_WAY)
    assert quantify_suprema(adversary, threshold - 1e-6).backward is not None
    assert quantify_suprema(adversary, threshold + 1e-6).backward is None
    assert quantify_suprema(adversary, threshold + 1e-6).total is None


def test_suprema_stand_for_huge_and_tiny_budgets() -> None:
    for epsilon in (1e-9, 1.0, 50.0, 700.0, 1e6):
        suprema = quantify_suprema(BOTH, epsilon)
        assert suprema.backward is not None
        assert epsilon <= suprema.backward <= epsilon + math.log(9) + 1e-9


def test_certain_correlation_adds_up_and_none_does_not() -> None:
    identity = TransitionMatrix(np.eye(3))
    certain = quantify(Adversary.knowing(identity, identity), [0.1] * 20)
    assert certain.tpl == pytest.approx([2.0] * 20, abs=1e-12)
    uniform = TransitionMatrix(np.full((3, 3), 1 / 3))
    independent = quantify(Adversary.knowing(uniform, uniform), [0.1] * 20)
    assert independent.tpl == (0.1,) * 20


def test_the_papers_allocation() -> None:
    plan = allocate_known_horizon(BOTH, 1.0, 30)
    assert (plan[0], plan[-1]) == pytest.approx((0.584560, 0.584560), abs=5e-7)
    assert plan[1:-1] == pytest.approx([0.169120] * 28, abs=5e-7)
    assert allocate_unknown_horizon(BOTH, 1.0) == pytest.approx(0.169120, abs=5e-7)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    states=st.integers(2, 6),
    alpha=st.floats(1e-3, 100.0),
    steps=st.integers(1, 60),
    smoothing=st.sampled_from([1e-4, 0.01, 0.3]),
)
def test_a_known_horizon_is_used_up_exactly_at_every_release(
    seed: int, states: int, alpha: float, steps: int, smoothing: float
) -> None:
    adversary = random_adversary(seed, states, smoothing)
    leakage = quantify(adversary, allocate_known_horizon(adversary, alpha, steps))
    assert leakage.tpl == pytest.approx([alpha] * steps, abs=1e-9)
    assert leakage.worst <= alpha


def test_an_unknown_horizon_never_passes_the_limit_in_a_hundred_thousand_releases() -> None:
    adversary = random_adversary(8, smoothing=0.02)
    epsilon = allocate_unknown_horizon(adversary, 1.0)
    leakage = quantify(adversary, [epsilon] * 100_000)
    assert leakage.worst <= 1.0
    assert leakage.worst == pytest.approx(1.0, abs=1e-9)


def test_a_certain_chain_allows_a_known_horizon_only() -> None:
    identity = TransitionMatrix(np.eye(2))
    adversary = Adversary.knowing(identity, identity)
    assert allocate_known_horizon(adversary, 1.0, 4) == pytest.approx([0.25] * 4, abs=1e-9)
    with pytest.raises(LeakageError, match="no constant budget keeps the leakage within 1"):
        allocate_unknown_horizon(adversary, 1.0)


def test_one_direction_only_is_allocated_too() -> None:
    adversary = Adversary.knowing(forward=TWO_WAY)
    leakage = quantify(adversary, allocate_known_horizon(adversary, 0.7, 25))
    assert leakage.tpl == pytest.approx([0.7] * 25, abs=1e-9)


def test_online_offers_are_the_plan_for_every_horizon() -> None:
    adversary = random_adversary(5)
    for steps in (1, 2, 3, 40):
        allocator = OnlineAllocator.within(adversary, 1.0)
        budgets = []
        for step in range(steps):
            budgets.append(allocator.next_budget(last=step == steps - 1))
            allocator.spend(budgets[-1])
        plan = allocate_known_horizon(adversary, 1.0, steps)
        assert budgets == pytest.approx(plan, abs=1e-8)


def test_online_offers_are_larger_after_silence_and_never_below_the_steady_one() -> None:
    adversary = random_adversary(5)
    steady = allocate_unknown_horizon(adversary, 1.0)
    released = [True] * 10 + [False] * 15 + [True] * 10
    budgets = allocate_online(adversary, 1.0, released)
    offered = [b for b, release in zip(budgets, released, strict=True) if release]
    assert min(offered) >= steady * (1 - 1e-9)
    assert budgets[25] > 1.5 * steady
    # Silent steps have the budget 0, which `quantify` refuses from users; run the recursion here.
    bpl, total = 0.0, []
    for epsilon in budgets:
        bpl = adversary.backward.look_up(bpl) + epsilon
        total.append(bpl)
    fpl = 0.0
    for step in reversed(range(len(budgets))):
        total[step] += adversary.forward.look_up(fpl)
        fpl = adversary.forward.look_up(fpl) + budgets[step]
    assert max(total) <= 1.0


def test_the_online_allocator_refuses_what_would_harm_an_earlier_release() -> None:
    allocator = OnlineAllocator.within(BOTH, 1.0)
    allocator.spend(1.0)  # everything at once is allowed ...
    with pytest.raises(LeakageError, match="would pass the limit"):
        allocator.spend(0.01)  # ... and leaves nothing


@pytest.mark.parametrize("seed", range(3))
def test_no_true_leakage_exceeds_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    states = 2 + seed % 2
    forward = TransitionMatrix(rng.dirichlet(np.ones(states), states))
    initial = stationary_distribution(forward)
    adversary = Adversary.knowing(backward_by_bayes(forward, initial), forward)
    epsilons = [0.4, 0.9, 0.3, 0.6]
    leakage = quantify(adversary, epsilons)
    for step in range(4):
        true = true_leakage(initial, forward.probabilities, epsilons, step)
        assert epsilons[step] - 1e-9 <= true <= leakage.tpl[step] + 1e-12


def test_two_states_reach_the_bound_backward() -> None:
    # With two states the worst vector of the program is one that randomised response produces.
    initial = stationary_distribution(TWO_WAY)
    backward = backward_by_bayes(TWO_WAY, initial)
    leakage = quantify(Adversary.knowing(backward), [0.5, 0.5])
    true = true_leakage(initial, TWO_WAY.probabilities, [0.5, 0.5], 1)
    assert true == pytest.approx(leakage.tpl[1], abs=1e-9)


def test_composition_worked_by_hand() -> None:
    leakage = quantify(BOTH, [0.1, 0.2, 0.3, 0.4])
    b, f, e = leakage.bpl, leakage.fpl, leakage.epsilons
    assert leakage_of_window(leakage, 2, 2) == leakage.tpl[2]
    assert leakage_of_window(leakage, 1, 2) == pytest.approx(b[1] + f[2])
    assert leakage_of_window(leakage, 0, 3) == pytest.approx(b[0] + e[1] + e[2] + f[3])
    assert leakage_of_window(leakage, 0, 3) == pytest.approx(user_level_leakage(leakage))
    assert user_level_leakage(leakage) == pytest.approx(1.0)


@settings(max_examples=30, deadline=None)
@given(
    epsilons=st.lists(st.floats(0.01, 2.0), min_size=1, max_size=12),
    width=st.integers(1, 14),
)
def test_w_event_is_the_worst_window(epsilons: list[float], width: int) -> None:
    leakage = quantify(BOTH, epsilons)
    size = min(width, len(epsilons))
    windows = range(len(epsilons) - size + 1)
    worst = max(leakage_of_window(leakage, t, t + size - 1) for t in windows)
    assert w_event_leakage(leakage, width) == pytest.approx(worst, abs=1e-12)


def test_the_worst_user_counts() -> None:
    users = [quantify(BOTH, [0.1] * 5), quantify(Adversary.knowing(ONE_WAY), [0.1] * 5)]
    assert worst_of_users(users) == tuple(
        max(one, two) for one, two in zip(users[0].tpl, users[1].tpl, strict=True)
    )


def test_personalised_budgets_keep_each_users_own_limit() -> None:
    adversaries = [random_adversary(1), random_adversary(2, states=3)]
    alphas = [0.5, 2.0]
    plans = allocate_personalised(adversaries, alphas, 12)
    common = common_budgets(plans)
    for adversary, alpha, plan in zip(adversaries, alphas, plans, strict=True):
        assert quantify(adversary, plan).tpl == pytest.approx([alpha] * 12, abs=1e-9)
        assert quantify(adversary, common).worst <= alpha + 1e-12


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan, math.inf])
def test_limits_that_are_none_are_refused(alpha: float) -> None:
    with pytest.raises(LeakageError, match="expected a finite number above zero"):
        allocate_known_horizon(BOTH, alpha, 5)


@pytest.mark.parametrize("bad", [0.0, -0.1, math.nan, math.inf])
def test_budgets_that_are_none_are_refused_by_number(bad: float) -> None:
    with pytest.raises(LeakageError, match="number 2 is"):
        quantify(BOTH, [0.1, bad])


def test_an_adversary_needs_matching_knowledge() -> None:
    with pytest.raises(LeakageError, match="neither a backward nor a forward"):
        Adversary.knowing()
    with pytest.raises(LeakageError, match="3 states and the forward one 2"):
        Adversary.knowing(TransitionMatrix(np.eye(3)), ONE_WAY)
