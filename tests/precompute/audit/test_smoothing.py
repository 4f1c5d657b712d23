import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.dense_conditioning import conditional_mean_weights, contrast_log_density

from precompute.audit.smoothing import build_smoother
from precompute.audit.trace_attacks import AttackKernel
from precompute.errors import PriorError

TIMES = np.array([0.0, 10.0, 25.0, 60.0, 61.0, 90.0])


def kernel(lengthscale=20.0, deviation=3.0):
    return AttackKernel("matern32", lengthscale, deviation).covariance(TIMES)


@settings(deadline=None, max_examples=40)
@given(
    lengthscale=st.floats(1.0, 200.0),
    deviation=st.floats(0.5, 20.0),
    timescale=st.floats(1.0, 500.0),
)
def test_reconstruction_is_the_conditional_mean_of_the_joint_normal(
    lengthscale, deviation, timescale
):
    noise = 4.0 * np.exp(-np.abs(TIMES[:, None] - TIMES) / timescale)
    prior = kernel(lengthscale, deviation)
    weights = build_smoother(prior, noise).weights
    np.testing.assert_allclose(weights, conditional_mean_weights(prior, noise), atol=2e-4)


def test_two_points_by_hand():
    # Σ = [[2,1],[1,2]], Γ = I: the mean of 0 and 4 is 2; the half difference 2 shrinks by
    # (2−1)/(2−1+1) = 1/2, so 1 and 3.
    smoother = build_smoother(np.array([[2.0, 1.0], [1.0, 2.0]]), np.eye(2))
    np.testing.assert_allclose(smoother.reconstruct(np.array([[0.0], [4.0]])), [[1.0], [3.0]])


def test_likelihood_is_the_density_of_the_contrasts():
    rng = np.random.default_rng(5)
    noise = np.diag([1.0, 2.0, 1.0, 0.5, 1.0, 3.0])
    release = rng.normal(size=(6, 2))
    smoother = build_smoother(kernel(), noise)
    by_axis = [contrast_log_density(kernel(), noise, release[:, axis]) for axis in (0, 1)]
    # The two differ by the constant length of the vector of ones: ½ log n on each axis.
    expected = sum(by_axis) - 2 * 0.5 * np.log(6)
    assert smoother.log_likelihood(release) == pytest.approx(expected, rel=1e-10)


def test_without_noise_the_trace_is_found():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(6, 2))
    found = build_smoother(kernel(), 1e-12 * np.eye(6)).reconstruct(truth)
    np.testing.assert_allclose(found, truth, atol=1e-9)


def test_nothing_is_assumed_about_the_mean():
    smoother = build_smoother(kernel(), np.eye(6))
    release = np.random.default_rng(3).normal(size=(6, 2))
    shifted = smoother.reconstruct(release + np.array([1000.0, -2000.0]))
    np.testing.assert_allclose(shifted - smoother.reconstruct(release), [[1000.0, -2000.0]] * 6)
    assert smoother.log_likelihood(release + 1000.0) == pytest.approx(
        smoother.log_likelihood(release)
    )


@pytest.mark.parametrize("kappa", [0.1, 1.0, 10.0])
def test_against_noise_shaped_like_the_trace_it_gains_exactly_the_predicted_amount(kappa):
    prior = kernel()
    noise = kappa * prior
    weights = build_smoother(prior, noise).weights
    off = weights - np.eye(6)
    variance = np.diag(off @ prior @ off.T + weights @ noise @ weights.T)
    # κΣ_ii/(1+κ), the posterior of one reading by itself, and what not knowing the mean costs.
    precision_of_mean = np.sum(np.linalg.inv(prior))
    predicted = (kappa * np.diag(prior) + kappa**2 / precision_of_mean) / (1 + kappa)
    np.testing.assert_allclose(variance, predicted, rtol=1e-9)


def test_against_independent_noise_it_gains_more_than_against_shaped_noise():
    # 200 fixes of a smooth path: averaging pays.
    times = np.arange(200.0)
    prior = AttackKernel("rbf", 30.0, 10.0).covariance(times) + 1e-6 * np.eye(200)
    errors = []
    for noise in (100.0 * np.eye(200), prior):
        weights = build_smoother(prior, noise).weights
        off = weights - np.eye(200)
        errors.append(np.trace(off @ prior @ off.T + weights @ noise @ weights.T))
    assert errors[0] < 0.2 * errors[1]


def test_a_singular_sum_is_met_with_a_small_jitter():
    times = np.arange(100.0)
    smooth = AttackKernel("rbf", 50.0, 10.0).covariance(times)
    smoother = build_smoother(smooth, smooth)
    assert 0 < smoother.jitter <= 1e-9 * 200.0


def test_what_is_not_a_covariance_is_refused():
    with pytest.raises(PriorError, match="shapes"):
        build_smoother(np.eye(3), np.eye(4))
    with pytest.raises(PriorError, match="positive definite"):
        build_smoother(-np.eye(3) + 2 * np.ones((3, 3)), np.zeros((3, 3)))
    with pytest.raises(PriorError, match="no variance"):
        build_smoother(np.zeros((3, 3)), np.zeros((3, 3)))
