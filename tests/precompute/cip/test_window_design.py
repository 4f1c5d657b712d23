"""Closed-form window designs: published-size figures, optimality, refusals."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precompute.cip.loss import basic_informations, information
from precompute.cip.window_design import design_window
from precompute.errors import DesignError, PriorError


def _rbf(count: int, lengthscale_sq: float) -> np.ndarray:
    times = np.arange(count, dtype=float)
    return np.exp(-((times[:, None] - times) ** 2) / (2 * lengthscale_sq))


@pytest.mark.parametrize(
    ("lengthscale_sq", "free", "block"),
    [(1, 1.5305, 2.6182), (9, 4.1099, 7.3025), (36, 7.6086, 12.3475), (100, 11.9411, 18.0849)],
)
def test_one_secret_of_fifty_at_unit_power(
    lengthscale_sq: float, free: float, block: float
) -> None:
    prior = _rbf(50, lengthscale_sq)
    for structure, expected, rank in (("free", free, 1), ("block", block, 2)):
        solution = design_window(prior, [[24]], mse=0.02, structure=structure)  # type: ignore[arg-type]
        assert solution.worst_information == pytest.approx(expected, abs=1.0e-4)
        assert solution.noise_power == pytest.approx(0.02, rel=1e-12)
        assert solution.gap <= 1e-9
        assert solution.rank == rank
        assert solution.factor_error <= 1e-12
        # The other question has the same answer.
        least = design_window(
            prior,
            [24],
            information_limit=solution.worst_information,
            structure=structure,  # type: ignore[arg-type]
        )
        assert least.noise_power == pytest.approx(0.02, rel=1e-9)
        assert least.worst_information <= solution.worst_information
        assert least.gap <= 1e-9


def test_block_noise_is_zero_between_the_secret_and_the_rest() -> None:
    solution = design_window(_rbf(12, 9.0), [5], mse=0.1, structure="block")
    off = np.delete(solution.noise_cov[5], 5)
    np.testing.assert_array_equal(off, 0.0)


@pytest.mark.parametrize("lengthscale_sq", [1, 36])
def test_all_secrets_are_met_by_noise_shaped_like_the_prior(lengthscale_sq: float) -> None:
    prior = 3.0 * _rbf(50, lengthscale_sq)
    solution = design_window(prior, "all", mse=0.5)
    np.testing.assert_allclose(solution.noise_cov, prior / 6.0, rtol=1e-12)
    assert solution.worst_information == pytest.approx(2.0, rel=1e-12)
    assert solution.information_lower_bound == pytest.approx(2.0, rel=1e-12)
    np.testing.assert_allclose(basic_informations(prior, solution.noise_cov), 2.0, rtol=1e-8)
    least = design_window(prior, "all", information_limit=2.0)
    assert least.worst_information <= 2.0
    assert least.noise_power == pytest.approx(0.5, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_other_noise_of_the_same_power_beats_the_prior_shape(seed: int) -> None:
    prior = _rbf(8, 4.0)
    half = np.random.default_rng(seed).standard_normal((8, 8))
    other = half @ half.T
    other *= 8.0 * 0.1 / np.trace(other)
    best = design_window(prior, "all", mse=0.1).worst_information
    assert np.max(basic_informations(prior, other)) >= best * (1 - 1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), power=st.floats(0.01, 10.0))
def test_no_other_noise_beats_the_one_secret_optimum(seed: int, power: float) -> None:
    generator = np.random.default_rng(seed)
    prior = _rbf(8, generator.uniform(0.5, 9.0))
    solution = design_window(prior, [3], mse=power)
    half = generator.standard_normal((8, 8))
    for other in (half @ half.T, solution.noise_cov + 0.1 * half @ half.T, prior):
        scaled = other * (8.0 * power / np.trace(other))
        assert information(prior, 3, scaled) >= solution.worst_information * (1 - 1e-7)
    block = design_window(prior, [3], mse=power, structure="block")
    assert block.worst_information >= solution.worst_information * (1 - 1e-9)


@settings(max_examples=15, deadline=None)
@given(scale=st.floats(1e-3, 1e6))
def test_a_design_follows_the_unit(scale: float) -> None:
    plain = design_window(_rbf(10, 4.0), [4], mse=0.1)
    scaled = design_window(scale * _rbf(10, 4.0), [4], mse=0.1 * scale)
    np.testing.assert_allclose(scaled.noise_cov, scale * plain.noise_cov, rtol=1e-6, atol=1e-9)
    assert scaled.worst_information * scale == pytest.approx(plain.worst_information, rel=1e-8)


def test_a_floor_lies_under_the_answer() -> None:
    prior = _rbf(20, 9.0)
    for request in ({"mse": 0.1}, {"information_limit": 5.0}):
        solution = design_window(prior, [8], floor=0.02, **request)  # type: ignore[arg-type]
        assert np.linalg.eigvalsh(solution.noise_cov - 0.02 * prior)[0] >= -1e-12
        assert solution.gap <= 1e-6
        assert solution.notes == ()
    enough = design_window(prior, [8], floor=0.5, information_limit=5.0)
    assert enough.noise_power == pytest.approx(0.5, rel=1e-6)


def test_fragile_noise_comes_with_a_warning_that_has_numbers() -> None:
    solution = design_window(
        _rbf(50, 36.0), [24], mse=0.02, covariance_at=lambda f: _rbf(50, 36.0 * f * f)
    )
    (warning,) = solution.notes
    assert warning.startswith("warning:")
    assert "0.5x the lengthscale" in warning
    # In exact arithmetic the loss is unbounded; to working precision it grows a hundredfold.
    growth = float(warning.split("1.5x the lengthscale: at least ")[1].split("x")[0])
    assert growth > 30.0
    assert "warning" in design_window(_rbf(9, 4.0), [4], mse=0.1).notes[0]
    assert design_window(_rbf(9, 4.0), "all", mse=0.1).notes == ()


def test_white_noise_on_top_is_never_worse_and_makes_the_factor_full() -> None:
    prior = _rbf(30, 36.0)
    plain = design_window(prior, [12], mse=0.1)
    whitened = design_window(prior, [12], mse=0.1, white=1e-4)
    assert plain.rank == 1
    assert whitened.rank == 30
    np.testing.assert_allclose(whitened.noise_cov - plain.noise_cov, 1e-4 * np.eye(30), atol=1e-15)
    assert information(prior, 12, whitened.noise_cov) <= whitened.worst_information
    with pytest.raises(DesignError, match="white"):
        design_window(prior, [12], mse=0.1, white=-1.0)


def test_six_hundred_secrets_take_seconds() -> None:
    started = time.perf_counter()
    solution = design_window(_rbf(600, 36.0), "all", mse=0.02)
    assert solution.gap <= 1e-9
    assert solution.rank < 600
    assert solution.factor_error <= 1e-10
    assert time.perf_counter() - started < 20.0


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({}, "exactly one"),
        ({"mse": 1.0, "information_limit": 1.0}, "exactly one"),
        ({"mse": 0.0}, "budget"),
        ({"mse": np.nan}, "budget"),
        ({"information_limit": 0.0}, "no noise"),
        ({"information_limit": [1.0, -1.0]}, "no noise"),
        ({"information_limit": [1.0, 1.0, 1.0]}, "each of the 2"),
        ({"mse": 0.1, "floor": -1.0}, "floor"),
        ({"mse": 0.1, "floor": 1.0}, "floor"),
        ({"mse": 0.1, "floor": 0.01, "structure": "block"}, "block"),
        ({"mse": 0.1, "structure": "odd"}, "structure"),
    ],
)
def test_bad_requests_are_refused_in_one_line(request_: dict[str, object], words: str) -> None:
    with pytest.raises(DesignError, match=words) as caught:
        design_window(_rbf(6, 1.0), [[1], [2, 3]], **request_)  # type: ignore[arg-type]
    assert str(caught.value).startswith("refused")
    assert "\n" not in str(caught.value)


def test_bad_secrets_and_priors_are_refused() -> None:
    with pytest.raises(DesignError, match="'all'"):
        design_window(np.eye(3), "some", mse=1.0)  # type: ignore[arg-type]
    with pytest.raises(DesignError, match="expected 0 to 2"):
        design_window(np.eye(3), [[3]], mse=1.0)
    with pytest.raises(DesignError, match="shape"):
        design_window(np.zeros(3), "all", mse=1.0)
    with pytest.raises(PriorError, match="certain beforehand"):
        design_window(np.diag([1.0, 0.0]), "all", mse=1.0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 1.0))
def test_noise_in_blocks_never_beats_free_noise(seed: int, power: float) -> None:
    generator = np.random.default_rng(seed)
    count = int(generator.integers(3, 9))
    half = generator.normal(size=(count, count))
    prior = half @ half.T
    secret = [int(generator.integers(0, count))]
    free = design_window(prior, secret, mse=power)
    block = design_window(prior, secret, mse=power, structure="block")
    assert block.worst_information >= free.worst_information * (1 - 1e-9)
    assert block.information_lower_bound <= block.worst_information * (1 + 1e-9)
