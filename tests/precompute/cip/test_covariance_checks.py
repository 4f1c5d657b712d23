"""What is refused as a covariance, times or a secret, and what is repaired and said."""

import numpy as np
import pytest

from precompute.cip.covariance import (
    checked_covariance,
    checked_secret,
    checked_secrets,
    checked_times,
)
from precompute.cip.factors import causal_factor, factor_residual, lower_factor, shortest_factor
from precompute.errors import DesignError, PriorError


def _rbf(count: int, lengthscale: float) -> np.ndarray:
    times = np.arange(count, dtype=float)
    return np.exp(-((times[:, None] - times) ** 2) / (2 * lengthscale**2))


def test_a_smooth_kernel_matrix_passes_untouched() -> None:
    checked = checked_covariance(_rbf(80, 9.0))
    assert checked.note is None
    np.testing.assert_array_equal(checked.matrix, _rbf(80, 9.0))
    assert not checked.matrix.flags.writeable


def test_near_misses_are_repaired_and_said() -> None:
    skewed = np.eye(3)
    skewed[0, 1] = 1e-9
    checked = checked_covariance(skewed)
    assert checked.note is not None
    assert "asymmetry" in checked.note
    np.testing.assert_array_equal(checked.matrix, checked.matrix.T)

    indefinite = np.diag([1.0, 1.0, -1e-10])
    checked = checked_covariance(indefinite)
    assert checked.note is not None
    assert "eigenvalues" in checked.note
    assert np.linalg.eigvalsh(checked.matrix)[0] >= 0


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.zeros((2, 3)), "shape"),
        (np.zeros((0, 0)), "shape"),
        (np.array([1.0, 2.0]), "shape"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "asymmetry"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "eigenvalue"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "NaN"),
        (-np.eye(2), "eigenvalue"),
    ],
)
def test_other_matrices_are_refused(matrix: np.ndarray, words: str) -> None:
    with pytest.raises(PriorError, match=words) as caught:
        checked_covariance(matrix)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("times", "words"),
    [([0.0, 1.0, 1.0], "equal"), ([0.0, 2.0, 1.0], "back"), ([], "shape"), ([0, np.inf], "NaN")],
)
def test_times_must_ascend(times: list[float], words: str) -> None:
    with pytest.raises(PriorError, match=words):
        checked_times(times)


@pytest.mark.parametrize("secret", [[], [1, 1], [5], [-1], [0.5], [[0, 1]]])
def test_secrets_that_are_none(secret: list[int]) -> None:
    with pytest.raises(DesignError, match=r"^refused the secret"):
        checked_secret(secret, 5)


def test_a_secret_listed_twice_is_refused() -> None:
    with pytest.raises(DesignError, match="twice"):
        checked_secrets([[1, 2], [2, 1]], 5)
    with pytest.raises(DesignError, match="none"):
        checked_secrets([], 5)
    assert checked_secrets([3, [0, 1]], 5) == ((3,), (0, 1))


@pytest.mark.parametrize(
    "covariance", [_rbf(60, 6.0), np.eye(3), np.zeros((3, 3)), np.ones((4, 4))]
)
def test_lower_factors_are_lower_and_exact(covariance: np.ndarray) -> None:
    for factor in (lower_factor(covariance), shortest_factor(covariance)):
        np.testing.assert_array_equal(factor, np.tril(factor))
        assert np.all(np.diagonal(factor) >= 0)
        assert factor_residual(factor, covariance) <= 1e-13
    assert shortest_factor(np.ones((4, 4))).shape == (4, 1)


def test_a_causal_factor_keeps_the_product() -> None:
    half = np.random.default_rng(0).standard_normal((6, 2))
    factor = causal_factor(half)
    assert factor.shape == (6, 2)
    assert factor[0, 1] == 0
    np.testing.assert_allclose(factor @ factor.T, half @ half.T, atol=1e-14)


def test_an_indefinite_matrix_has_no_factor() -> None:
    with pytest.raises(PriorError, match="residual"):
        lower_factor(np.array([[1.0, 2.0], [2.0, 1.0]]))
