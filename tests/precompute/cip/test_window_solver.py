"""The iterative window design against a general SDP solver, and its certificates on their own."""

import numpy as np
import pytest
from oracles.random_windows import random_window
from oracles.window_sdp import least_power

from precompute.cip.certificates import Witness, prove
from precompute.cip.loss import basic_informations, information, loss
from precompute.cip.window_design import design_window


@pytest.mark.parametrize("seed", range(8))
def test_least_power_agrees_with_a_general_solver(seed: int) -> None:
    window = random_window(seed, largest=12)
    solution = design_window(window.priors, window.secrets, information_limit=window.limits)
    count = len(window.priors[0])
    expected = least_power(window.priors, window.secrets, window.limits)
    assert solution.noise_power * count == pytest.approx(expected, rel=1e-3)
    assert solution.power_lower_bound * count <= expected * (1 + 1e-5)
    assert solution.gap <= 1e-3
    # Every limit is met, by an evaluation that the solver does not use.
    for prior in window.priors:
        for secret, limit in zip(window.secrets, window.limits, strict=True):
            assert loss(prior, secret, solution.noise_cov, 1.0, 2.0) <= limit * (1 + 1e-9)


def test_least_power_above_a_floor_and_in_blocks_agrees_too() -> None:
    window = random_window(2, largest=12)
    priors = window.priors[:2]
    count = len(priors[0])
    floor = 0.02 * np.mean(priors, axis=0)
    solution = design_window(priors, [[1], [4, 5]], information_limit=2.0, floor=0.02)
    expected = least_power(priors, [[1], [4, 5]], [2.0, 2.0], floor=floor)
    assert solution.noise_power * count == pytest.approx(expected, rel=1e-3)
    solution = design_window(priors, [[1], [4, 5]], information_limit=2.0, structure="block")
    inside = [1, 4, 5]
    rest = [i for i in range(count) if i not in inside]
    expected = least_power(priors, [[1], [4, 5]], [2.0, 2.0], blocks=[inside, rest])
    assert solution.noise_power * count == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(solution.noise_cov[np.ix_(inside, rest)], 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_both_questions_have_one_answer(seed: int) -> None:
    window = random_window(seed)
    least = design_window(window.priors, window.secrets, information_limit=4.0)
    back = design_window(window.priors, window.secrets, mse=least.noise_power)
    assert back.worst_information == pytest.approx(4.0, rel=2e-3)
    assert back.noise_power == pytest.approx(least.noise_power, rel=1e-12)
    assert back.information_lower_bound <= back.worst_information
    assert back.gap <= 1e-3


def test_the_closed_form_and_the_path_agree_on_one_secret() -> None:
    """The same prior twice sends the problem to the iterative solver."""
    prior = random_window(4).priors[0]
    closed = design_window(prior, [3], mse=0.1)
    iterated = design_window([prior, prior], [3], mse=0.1)
    assert iterated.worst_information == pytest.approx(closed.worst_information, rel=1e-3)
    assert iterated.rank <= 2


def test_unequal_limits_are_each_met() -> None:
    prior = random_window(0).priors[0]
    solution = design_window(prior, [2, 5, 8], information_limit=[1.0, 4.0, 2.0])
    found = [information(prior, s, solution.noise_cov) for s in (2, 5, 8)]
    assert np.all(np.array(found) <= np.array([1.0, 4.0, 2.0]) * (1 + 1e-9))


def test_a_long_compound_secret_is_solved_by_adding_moves() -> None:
    times = np.arange(24.0)
    prior = np.exp(-np.abs(times[:, None] - times) / 3.0)
    secret = list(range(1, 21, 2))
    solution = design_window(prior, [secret], mse=0.1, tolerance=0.01)
    assert solution.gap <= 0.01
    assert loss(prior, secret, solution.noise_cov, 1.0, 2.0) == pytest.approx(
        solution.worst_information, rel=1e-9
    )


def test_a_robust_class_of_smooth_priors_is_covered() -> None:
    times = np.arange(40.0)
    priors = [np.exp(-((times[:, None] - times) ** 2) / (2 * ell**2)) for ell in (2.0, 5.0, 12.0)]
    solution = design_window(priors, "all", mse=0.05, tolerance=0.01)
    assert solution.gap <= 0.01
    worst = max(float(np.max(basic_informations(p, solution.noise_cov))) for p in priors)
    assert worst == pytest.approx(solution.worst_information, rel=1e-9)
    # No worse than the simple dominating noise: the sum of the three shapes.
    simple = sum(priors) / 3.0 * 0.05
    assert worst <= max(float(np.max(basic_informations(p, simple))) for p in priors)


def test_no_weights_or_estimators_can_prove_too_much() -> None:
    """A certificate from nonsense is still below what an actual noise attains."""
    generator = np.random.default_rng(5)
    window = random_window(1, largest=12)
    prior = window.priors[0]
    count = len(prior)
    for _ in range(50):
        witness = Witness(
            prior,
            ((1,), (2, 3)),
            (np.ones(1), np.array([1.0, -1.0])),
            np.array([1.0, 2.0]),
            generator.uniform(0, 1, 2),
            generator.standard_normal((count, 2)),
        )
        half = generator.standard_normal((count, count))
        noise = half @ half.T
        attained = max(information(prior, 1, noise), 0.5 * loss(prior, [2, 3], noise, 1.0, 2.0))
        proof = prove([witness])
        assert proof.ratio_lower(float(np.trace(noise))) <= attained * (1 + 1e-9)
        assert proof.power_lower(attained) <= float(np.trace(noise)) * (1 + 1e-9)


def test_negative_weights_are_no_proof() -> None:
    one = np.ones(1)
    with pytest.raises(ValueError, match="negative"):
        prove([Witness(np.eye(2), ((0,),), (one,), one, -one, np.ones((2, 1)))])


@pytest.mark.parametrize("lengthscale", [1.0, 2.5])
def test_priors_of_which_one_hardly_correlates_are_solved_for_a_budget(lengthscale: float) -> None:
    times = np.arange(50.0)
    priors = [
        np.exp(-((times[:, None] - times) ** 2) / (2 * (factor * lengthscale) ** 2))
        for factor in (0.5, 1.0, 1.5)
    ]
    found = design_window(priors, [[24]], mse=0.02)
    assert found.gap <= 1e-3
    other_way = design_window(priors, [[24]], information_limit=found.worst_information)
    assert other_way.noise_power == pytest.approx(0.02, rel=1e-3)
