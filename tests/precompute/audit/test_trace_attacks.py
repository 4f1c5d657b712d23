"""The ordering that the product rests on, on made walks; `make bench-attack` has real traces."""

import numpy as np
import pytest

from precompute.audit.noise_covariance import IndependentNoise, draw_noise
from precompute.audit.paths import path_length_ratio
from precompute.audit.trace_attacks import AttackKernel, attack_windows, kernel_grid

STEP = 30.0
TIMES = np.arange(121) * STEP
SIGMA = 200.0


def walks(count=24, seed=4):
    """(count, n, 2) journeys: a heading that drifts, speeds between standing and a bus."""
    rng = np.random.default_rng(seed)
    headings = np.cumsum(rng.normal(0.0, 0.25, (count, TIMES.size)), axis=1)
    speeds = np.abs(np.cumsum(rng.normal(0.0, 0.5, (count, TIMES.size)), axis=1))
    steps = np.stack([np.cos(headings), np.sin(headings)], axis=-1) * (speeds * STEP)[..., None]
    return np.cumsum(steps, axis=1)


def shaped_covariance():
    """Two components, slow and quicker, of the same total power as the independent noise."""
    lags = np.abs(TIMES[:, None] - TIMES)
    x = np.sqrt(3.0) * lags / 3000.0
    return SIGMA**2 * (0.5 * (1 + x) * np.exp(-x) + 0.5 * np.exp(-lags / 2000.0))


@pytest.fixture(scope="module")
def attacks():
    truth = walks()
    rng = np.random.default_rng(9)
    found = {}
    for name, covariance in (
        ("independent", IndependentNoise(SIGMA**2)(TIMES)),
        ("shaped", shaped_covariance()),
    ):
        released = truth + draw_noise(covariance, 2, truth.shape[0], rng)
        kernels = kernel_grid(STEP, float(TIMES[-1]))[::3]
        attack = attack_windows(TIMES, covariance, truth, released, kernels)
        found[name] = (attack, path_length_ratio(released, truth))
    return found


def test_an_attacker_halves_independent_noise_and_hardly_dents_shaped_noise(attacks):
    independent, shaped = attacks["independent"][0], attacks["shaped"][0]
    assert np.mean(independent.released_error) == pytest.approx(250.7, rel=0.05)
    assert np.mean(independent.tuned) < 0.6 * np.mean(independent.released_error)
    assert np.mean(shaped.tuned) > 0.8 * np.mean(shaped.released_error)
    assert np.mean(shaped.tuned) > 1.5 * np.mean(independent.tuned)
    assert np.mean(shaped.honest) > 1.4 * np.mean(independent.honest)


def test_independent_noise_scribbles_and_shaped_noise_leaves_a_path(attacks):
    scribble, path = attacks["independent"][1], attacks["shaped"][1]
    assert np.median(scribble) > 2.0 * np.median(path)


def test_the_three_choices_are_in_order(attacks):
    for attack, _ in attacks.values():
        assert np.all(attack.clairvoyant <= attack.tuned)
        assert np.all(attack.clairvoyant <= attack.honest)
        assert np.mean(attack.tuned) == np.min(np.mean(attack.errors, axis=1))
        assert attack.tuned_root_mean_square >= np.mean(attack.tuned)


def test_error_of_the_release_by_hand():
    # Off by (3, 4) at each of two times: distance 5, squared 25.
    truth = np.zeros((1, 2, 2))
    released = truth + np.array([3.0, 4.0])
    kernel = AttackKernel("rbf", 10.0, 1.0)
    attack = attack_windows(np.array([0.0, 1.0]), np.eye(2), truth, released, (kernel,))
    assert attack.released_error[0] == pytest.approx(5.0)
    # With equal releases the fitted mean explains them wholly: the reconstruction is the release.
    assert attack.tuned[0] == pytest.approx(5.0)
    assert attack.squared_errors[0, 0] == pytest.approx(25.0)


def test_kernels_at_one_lengthscale_by_hand():
    times = np.array([0.0, 2.0])
    assert AttackKernel("rbf", 2.0, 3.0).covariance(times)[0, 1] == pytest.approx(9 * np.exp(-0.5))
    x = np.sqrt(3.0)
    assert AttackKernel("matern32", 2.0, 3.0).covariance(times)[0, 1] == pytest.approx(
        9 * (1 + x) * np.exp(-x)
    )


def test_the_grid_of_kernels_spans_steps_to_windows():
    kernels = kernel_grid(30.0, 7200.0)
    assert {k.family for k in kernels} == {"rbf", "matern32"}
    assert min(k.lengthscale_seconds for k in kernels) == pytest.approx(60.0)
    assert max(k.lengthscale_seconds for k in kernels) >= 7200.0
