"""The published designs: they do what the paper says, and ours do at least as well."""

import numpy as np
import pytest

from precompute.cip.loss import basic_informations, information
from precompute.cip.paper import (
    independent_concentrated,
    independent_uniform,
    multiple_secrets,
    sdp_a,
    sdp_b,
)
from precompute.cip.window_design import design_window
from precompute.errors import DesignError


def _rbf(count: int, lengthscale_sq: float) -> np.ndarray:
    times = np.arange(count, dtype=float)
    return np.exp(-((times[:, None] - times) ** 2) / (2 * lengthscale_sq))


def test_sdp_a_keeps_its_budget_and_its_zero_block() -> None:
    prior = _rbf(20, 9.0)
    noise = sdp_a(prior, 10, 0.5)
    assert np.trace(noise) <= 0.5 * (1 + 1e-6)
    assert np.max(np.abs(np.delete(noise[10], 10))) <= 1e-9
    exact_block = design_window(prior, [10], mse=0.5 / 20, structure="block")
    free = design_window(prior, [10], mse=0.5 / 20)
    found = information(prior, 10, noise + 1e-12 * np.eye(20))
    uniform = information(prior, 10, independent_uniform(20, 0.5))
    assert free.worst_information < exact_block.worst_information < found < uniform


def test_sdp_b_lies_above_what_it_is_given() -> None:
    first, second = np.diag([1.0, 0.0, 2.0]), np.diag([0.0, 3.0, 1.0])
    np.testing.assert_allclose(sdp_b([first, second]), np.diag([1.0, 3.0, 2.0]), atol=1e-5)
    with pytest.raises(DesignError, match="none"):
        sdp_b([])


def test_algorithm_one_needs_at_least_our_power_for_its_guarantee() -> None:
    prior = _rbf(12, 4.0)
    noise = multiple_secrets(prior, range(12), 0.5)
    attained = float(np.max(basic_informations(prior, noise)))
    ours = design_window(prior, "all", information_limit=attained)
    assert ours.noise_power * 12 < float(np.trace(noise))


def test_baselines() -> None:
    np.testing.assert_array_equal(independent_uniform(4, 2.0), 0.5 * np.eye(4))
    np.testing.assert_array_equal(
        independent_concentrated(4, [1, 2], 2.0), np.diag([0.0, 1.0, 1.0, 0.0])
    )
    with pytest.raises(DesignError, match="budget"):
        independent_uniform(4, 0.0)
