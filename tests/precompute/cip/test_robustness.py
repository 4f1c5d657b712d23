"""Wrong priors: divergences against integrals, the published bound above the exact loss."""

import math

import numpy as np
import pytest

from precompute.cip.robustness import (
    fragility_warning,
    gaussian_renyi,
    lengthscale_sensitivity,
    misspecified_loss,
)
from precompute.errors import DesignError


def _exponential(count: int, scale: float) -> np.ndarray:
    times = np.arange(count, dtype=float)
    return np.exp(-np.abs(times[:, None] - times) / scale)


def test_the_divergence_matches_an_integral() -> None:
    grid = np.linspace(-30, 30, 200_001)
    for mean, variance, other, order in [(0.7, 1.0, 1.5, 2.0), (0.3, 1.2, 0.9, 3.0)]:
        first = np.exp(-((grid - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
        second = np.exp(-(grid**2) / (2 * other)) / math.sqrt(2 * math.pi * other)
        seen = second > 1e-60
        integral = np.trapezoid(first[seen] ** order * second[seen] ** (1 - order), grid[seen])
        expected = math.log(integral) / (order - 1)
        assert gaussian_renyi([mean], [[variance]], [[other]], order) == pytest.approx(expected)


def test_the_divergence_is_infinite_where_it_should_be() -> None:
    assert gaussian_renyi([0.0], [[4.0]], [[1.0]], 2.0) == math.inf
    assert gaussian_renyi([0.0], [[1.0]], [[1.0]], 2.0) == pytest.approx(0.0, abs=1e-15)


def test_the_published_bound_is_above_the_exact_loss() -> None:
    prior, true = _exponential(6, 3.0), _exponential(6, 3.15)
    for deviation in (0.0, 1.0):
        result = misspecified_loss(
            prior, true, 2, 0.5 * np.eye(6), radius=1.0, order=1.5, deviation=deviation
        )
        assert math.isfinite(result.published)
        assert result.exact <= result.published
    same = misspecified_loss(prior, prior, [2, 3], np.eye(6), radius=1.0, order=2.0, deviation=1.0)
    assert same.exact == pytest.approx(same.designed)
    assert same.designed <= same.published
    far = misspecified_loss(prior, _exponential(6, 60.0), 2, np.eye(6), radius=1.0, order=2.0)
    assert far.published == math.inf
    assert math.isfinite(far.exact)


def test_a_wrong_lengthscale_is_reported_as_growth() -> None:
    growth = lengthscale_sensitivity(lambda f: _exponential(8, 3.0 * f), [4], np.eye(8), (0.5, 2.0))
    assert growth[0.5] < 1.0 < growth[2.0]
    assert "0.5x the lengthscale: 0.9x" in fragility_warning({0.5: 0.9, 1.5: 1.2})
    assert "1.5x the lengthscale: at least 42x the loss" in str(
        fragility_warning({0.5: 3.0, 1.5: 42.0})
    )
    with pytest.raises(DesignError):
        lengthscale_sensitivity(lambda f: _exponential(8, f), [4], np.eye(8), (0.0,))
