"""The formulas for the published programs against the conic solvers."""

import numpy as np
import pytest

from precompute.cip.loss import posterior_variance
from precompute.cip.paper import multiple_secrets, sdp_a, sdp_b
from precompute.cip.paper_formulas import (
    join,
    published_noise,
    published_noise_for_all,
    scaled_published_noise,
)
from precompute.errors import DesignError


def _rbf(count: int, lengthscale_sq: float) -> np.ndarray:
    times = np.arange(count, dtype=float)
    return np.exp(-((times[:, None] - times) ** 2) / (2 * lengthscale_sq))


@pytest.mark.parametrize(
    ("secret", "power"), [((5,), 0.3), ((5,), 3.0), ((3, 9), 0.3), ((5, 6), 30.0)]
)
def test_sdp_a_by_formula_is_the_solver_s(secret: tuple[int, ...], power: float) -> None:
    prior = _rbf(12, 4.0)
    np.testing.assert_allclose(
        published_noise(prior, secret, power), sdp_a(prior, secret, power), atol=2e-4 * power
    )


def test_sdp_a_of_rank_one_is_no_worse_than_the_solver_s() -> None:
    # Two adjacent secrets and a small budget: what they leave open decides the direction.
    prior = _rbf(12, 4.0)
    ours = posterior_variance(prior, [5, 6], published_noise(prior, (5, 6), 0.1))
    theirs = posterior_variance(prior, [5, 6], sdp_a(prior, (5, 6), 0.1))
    np.testing.assert_allclose(np.diag(ours), np.diag(theirs), rtol=0.02)


def test_one_secret_does_not_depend_on_the_scaling() -> None:
    prior = _rbf(12, 4.0)
    np.testing.assert_allclose(
        scaled_published_noise(prior, (5,), 0.5, 10.0), published_noise(prior, (5,), 0.5)
    )


def test_sdp_b_by_ascent_is_the_solver_s_and_dominates() -> None:
    factors = [np.random.default_rng(seed).normal(size=(6, 2)) for seed in range(4)]
    factors.append(np.eye(6)[:, :2])
    found = join(factors)
    given = [factor @ factor.T for factor in factors]
    for one in given:
        assert np.linalg.eigvalsh(found.noise_cov - one)[0] > -1e-9
    power = float(np.trace(found.noise_cov))
    assert found.trace_lower <= power <= found.trace_lower * (1 + 1e-3)
    assert power == pytest.approx(float(np.trace(sdp_b(given))), rel=1e-3)


def test_algorithm_one_by_formula_is_the_solver_s() -> None:
    prior = _rbf(10, 4.0)
    found = published_noise_for_all(prior, 0.2)
    expected = multiple_secrets(prior, range(10), 0.2)
    assert float(np.trace(found.noise_cov)) == pytest.approx(float(np.trace(expected)), rel=1e-3)
    assert found.trace_lower == pytest.approx(float(np.trace(found.noise_cov)), rel=1e-4)


def test_three_readings_are_left_to_the_solver() -> None:
    with pytest.raises(DesignError, match=r"paper\.sdp_a"):
        published_noise(_rbf(5, 1.0), (0, 1, 2), 1.0)
