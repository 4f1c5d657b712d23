"""The loss function and its table, against three oracles that share nothing with them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.leakage_linear_program import linear_program_loss, linear_program_loss_of_matrix
from oracles.leakage_subsets import subset_loss, subset_points

from agent.formats.leakage_table import LeakageTable
from precompute.leakage import envelope
from precompute.leakage.envelope import build_chain, build_table, slack
from precompute.leakage.hull import chain_of
from precompute.leakage.loss_function import loss, pair_breakpoints
from precompute.leakage.pruning import pairs_that_matter
from precompute.leakage.transition_matrices import (
    TransitionMatrix,
    smoothed,
    strongest_correlation,
)

# Absolute, nats, for values below a few hundred: sums of few terms and two logarithms.
EXACT = 1e-12
# Relative, for larger ones: the table rounds up by eight units in the last place.
RELATIVE = 2e-15
ALPHAS = (1e-3, 0.1, 1.0, 5.0, 20.0, 50.0, 300.0, 700.0, 2000.0)


def random_matrix(seed: int, states: int, zeros: float = 0.0) -> TransitionMatrix:
    """Rows with entries of very different sizes, some of them zero."""
    rng = np.random.default_rng(seed)
    raw = rng.random((states, states)) ** rng.choice([1.0, 3.0, 8.0])
    raw *= rng.random((states, states)) >= zeros
    raw[np.arange(states), rng.permutation(states)] += 0.1
    return TransitionMatrix(raw / raw.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("seed", range(12))
def test_the_table_agrees_with_every_subset_in_exact_fractions(seed: int) -> None:
    matrix = random_matrix(seed, 2 + seed % 5, zeros=0.3 * (seed % 2))
    table = build_table(matrix)
    points = subset_points(matrix.probabilities)
    for alpha in ALPHAS:
        expected = subset_loss(points, alpha)
        assert expected <= table.look_up(alpha) <= expected * (1 + RELATIVE) + EXACT
        assert loss(matrix.probabilities, alpha) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("seed", range(6))
def test_the_table_agrees_with_the_linear_program(seed: int) -> None:
    matrix = random_matrix(seed, 3 + seed % 2)
    matrix = smoothed(matrix, 1e-3)  # the program needs entries above zero
    table = build_table(matrix)
    for alpha in (1e-3, 0.5, 3.0, 15.0, 50.0):
        expected = linear_program_loss_of_matrix(matrix.probabilities, alpha)
        assert table.look_up(alpha) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", ["dense", "heavy-tailed", "sparse", "learned"])
def test_pruning_loses_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    states = 90
    raw = {
        "dense": rng.random((states, states)),
        "heavy-tailed": rng.dirichlet(np.full(states, 0.1), states),
        "sparse": rng.random((states, states)) * (rng.random((states, states)) < 0.1)
        + 0.01 * np.eye(states),
        "learned": 0.01 + rng.poisson(0.05, (states, states)),
    }[kind]
    matrix = TransitionMatrix(raw / raw.sum(axis=1, keepdims=True))
    everything = build_table(matrix)
    monkeypatch.setattr(envelope, "SORT_ALL_BELOW", 0)
    pruned = build_table(matrix)
    for alpha in np.geomspace(1e-4, 700, 80):
        assert pruned.look_up(alpha) == pytest.approx(everything.look_up(alpha), abs=EXACT)


def test_pruning_sorts_few_pairs_of_a_dense_matrix() -> None:
    rng = np.random.default_rng(1)
    raw = rng.random((150, 150))
    _, first, _ = pairs_that_matter(raw / raw.sum(axis=1, keepdims=True))
    assert 0 < first.size < 150 * 149 / 2 / 4


def test_pruning_knows_rows_without_a_common_column() -> None:
    chain, first, _ = pairs_that_matter(np.eye(300))
    assert (chain.losses.tolist(), chain.gains.tolist(), first.size) == ([0.0], [1.0], 0)


def test_breakpoints_have_the_logarithm_of_one_plus() -> None:
    # Worked by hand: ratios 2, 5/4; k = 2 has Q = .6, D = .3 before it.
    # alpha_2 = log(1 + (.25 - .2)/(.6 * .2 - .25 * .3)) = log(1 + .05/.045)
    q, d = np.array([0.6, 0.25, 0.15]), np.array([0.3, 0.2, 0.5])
    points = pair_breakpoints(q, d)
    assert points[0] == math.inf
    assert points[1] == pytest.approx(math.log(1 + 0.05 / 0.045), abs=EXACT)
    # Just below it the program's best set has both columns, just above only the first.
    for alpha, gain, lost in ((points[1] - 1e-3, 0.85, 0.5), (points[1] + 1e-3, 0.6, 0.3)):
        u = math.expm1(alpha)
        expected = math.log((gain * u + 1) / (lost * u + 1))
        assert linear_program_loss(q, d, alpha) == pytest.approx(expected, abs=1e-9)
        assert max(points > alpha), "the first column always stays"
        assert (points[1] > alpha) == (gain == 0.85)


def test_one_pairs_table_starts_its_pieces_at_the_papers_breakpoints() -> None:
    matrix = TransitionMatrix(np.array([[0.6, 0.25, 0.15], [0.3, 0.2, 0.5], [0.3, 0.2, 0.5]]))
    q, d = matrix.probabilities[:2]
    reversed_pair = [float(x) for x in pair_breakpoints(d, q) if math.isfinite(x)]
    assert reversed_pair == []
    assert any(
        start == pytest.approx(float(pair_breakpoints(q, d)[1]), abs=1e-9)
        for start in build_chain_starts(matrix, 0, 1)
    )


def build_chain_starts(matrix: TransitionMatrix, first: int, second: int) -> list[float]:
    """Starts of one ordered pair's own pieces, from its hull."""
    q, d = matrix.probabilities[first], matrix.probabilities[second]
    order = np.argsort(-q / d)
    chain = chain_of(np.cumsum(d[order]), np.cumsum(q[order]))
    return list(envelope.round_outwards(chain, 3).starts)


def test_identity_leaks_everything_and_equal_rows_nothing() -> None:
    certain = build_table(TransitionMatrix(np.eye(4)))
    assert certain == LeakageTable((0.0,), (1.0,), (0.0,))
    assert [certain.look_up(a) for a in (0.3, 5.0, 900.0)] == [0.3, 5.0, 900.0]
    nothing = build_table(TransitionMatrix(np.full((4, 4), 0.25)))
    assert nothing == LeakageTable((), (), ())
    assert nothing.look_up(10.0) == 0.0


def test_the_stated_slack_is_small() -> None:
    assert slack(10) < 2e-14
    assert slack(1000) < 1e-12


def test_one_state_leaks_nothing() -> None:
    assert build_table(TransitionMatrix(np.ones((1, 1)))).look_up(3.0) == 0.0


def test_a_permutation_leaks_everything_whatever_its_size() -> None:
    table = build_table(strongest_correlation(250, seed=3))
    assert table.look_up(2.5) == 2.5


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    states=st.integers(2, 12),
    zeros=st.sampled_from([0.0, 0.4]),
    alpha=st.floats(1e-6, 900.0),
)
def test_the_table_is_an_upper_bound_of_every_pair(
    seed: int, states: int, zeros: float, alpha: float
) -> None:
    matrix = random_matrix(seed, states, zeros)
    table = build_table(matrix)
    exact = loss(matrix.probabilities, alpha)
    assert exact <= table.look_up(alpha) <= min(alpha, exact * (1 + RELATIVE) + EXACT)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), states=st.integers(2, 8), alpha=st.floats(1e-6, 60.0))
def test_the_inverse_never_promises_too_much(seed: int, states: int, alpha: float) -> None:
    table = build_table(random_matrix(seed, states, 0.3))
    leaked = table.look_up(alpha)
    # Never above the largest alpha with that leakage, and so close that looking it up again gives
    # the leakage back.
    back = table.invert(leaked)
    if math.isfinite(back):
        assert table.look_up(back) == pytest.approx(leaked, abs=1e-12)
        assert table.look_up(back) <= leaked + 4e-15 * max(1.0, back)
    else:
        assert leaked >= table.limit - 1e-12


def test_more_smoothing_leaks_less() -> None:
    base = strongest_correlation(6, seed=0)
    losses = [build_table(smoothed(base, s)).look_up(1.0) for s in (0.0, 0.005, 0.05, 0.5)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == 1.0


def test_the_whole_chain_equals_the_hull_of_all_points_in_any_order() -> None:
    matrix = random_matrix(3, 30).probabilities
    forward = build_chain(matrix)
    backward = build_chain(matrix[::-1, ::-1])
    np.testing.assert_allclose(forward.gains, backward.gains, rtol=1e-13)
    np.testing.assert_allclose(forward.losses, backward.losses, rtol=1e-13)
