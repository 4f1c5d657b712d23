"""Fits against scipy's and scikit-learn's likelihoods, a blind search, and known kernels."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.gaussian_density import best_by_blind_search, log_density
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from precompute.errors import PriorError
from precompute.priors.algebra_threads import one_algebra_thread
from precompute.priors.fitting import FIT_FAMILIES, fit_axes, fit_kernel
from precompute.priors.kernels import RBF, Kernel, Matern32, Matern52, Periodic
from precompute.priors.likelihood import decompose, profile

# A fit's likelihood is summed over eigenvalues, the oracles' by Cholesky factors.
ROUNDING = 1e-6
TRUTHS = {
    "rbf": RBF(30.0, 2500.0),
    "matern32": Matern32(60.0, 2500.0),
    "matern52": Matern52(45.0, 2500.0),
    "periodic": Periodic(0.8, 150.0, 2500.0),
}
NOISE = 9.0


@pytest.fixture(autouse=True)
def _one_thread():
    with one_algebra_thread():
        yield


def record(kernel: Kernel, seed: int, points: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Irregular Unix times about 5 s apart, and a draw of the kernel plus noise, off centre."""
    rng = np.random.default_rng(seed)
    times = 1_764_000_000.0 + np.cumsum(rng.uniform(3, 7, points))
    covariance = kernel.covariance(times, times) + NOISE * np.eye(points)
    values = 700.0 + np.linalg.cholesky(covariance) @ rng.standard_normal(points)
    return times, values


@pytest.mark.parametrize("family", FIT_FAMILIES)
def test_the_reported_likelihood_is_the_density_of_the_record(family) -> None:
    times, values = record(TRUTHS[family], seed=1, points=60)
    fit = fit_kernel(times, values, family)
    covariance = fit.kernel.covariance(times, times) + fit.noise_variance * np.eye(60)
    expected = log_density(values, fit.mean, covariance)
    assert fit.log_likelihood == pytest.approx(expected, abs=ROUNDING)


def sklearn_kernel(family: str, length: float, period: float | None):
    match family:
        case "rbf":
            return sk.RBF(length)
        case "matern32":
            return sk.Matern(length, nu=1.5)
        case "matern52":
            return sk.Matern(length, nu=2.5)
    return sk.ExpSineSquared(length, period)


@pytest.mark.parametrize("family", FIT_FAMILIES)
def test_scikit_learn_finds_the_same_likelihood_and_climbs_no_higher(family) -> None:
    times, values = record(TRUTHS[family], seed=2, points=80)
    fit = fit_kernel(times, values, family)
    inner = sklearn_kernel(family, fit.lengthscale, fit.period)
    kernel = sk.ConstantKernel(fit.kernel.variance) * inner + sk.WhiteKernel(fit.noise_variance)
    shifted = (times - times[0])[:, np.newaxis]
    model = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None)
    model.fit(shifted, values - fit.mean)
    found = model.log_marginal_likelihood_value_
    assert found == pytest.approx(fit.log_likelihood, abs=ROUNDING)
    climbed = GaussianProcessRegressor(kernel, alpha=0.0).fit(shifted, values - fit.mean)
    # A lengthscale to 1 % costs second order; 0.05 is far below the 1.9 of a 95 % interval.
    assert climbed.log_marginal_likelihood_value_ <= fit.log_likelihood + 0.05


@settings(max_examples=5, deadline=None)
@example("matern32", 313, 1.0)  # pure noise: the ratio ends at the most that is tried
@given(st.sampled_from(["rbf", "matern32"]), st.integers(0, 1000), st.floats(0.3, 1.5))
def test_no_mean_variance_or_noise_is_better_than_the_profile(family, seed, stretch) -> None:
    times, values = record(TRUTHS[family], seed, points=15)
    kernel = type(TRUTHS[family])(TRUTHS[family].lengthscale * stretch)
    correlation = kernel.covariance(times, times)
    found = profile(decompose(correlation), values)
    assert best_by_blind_search(values, correlation) <= found.log_likelihood + 2e-3
    signal, noise = found.signal_variance, found.noise_ratio * found.signal_variance
    at_found = log_density(values, found.mean, signal * correlation + noise * np.eye(15))
    assert found.log_likelihood == pytest.approx(at_found, abs=ROUNDING)


@pytest.mark.parametrize("family", FIT_FAMILIES)
def test_a_known_kernel_is_found_again(family) -> None:
    truth = TRUTHS[family]
    fits = [fit_kernel(*record(truth, seed), family) for seed in range(8)]
    # One window of 120 points fixes a lengthscale to some 25 % (spread of the fits); the median
    # of eight to about 10 %. 25 % is 2.5 deviations.
    assert np.median([f.lengthscale for f in fits]) == pytest.approx(truth.lengthscale, rel=0.25)
    assert np.median([f.noise_variance for f in fits]) == pytest.approx(NOISE, rel=0.25)
    if family == "periodic":
        assert np.median([f.period for f in fits]) == pytest.approx(150.0, rel=0.03)


@pytest.mark.parametrize("family", ["rbf", "matern32"])
def test_the_true_family_scores_best(family) -> None:
    wins = 0
    for seed in range(6):
        times, values = record(TRUTHS[family], seed)
        scores = {f: fit_kernel(times, values, f).score for f in ("rbf", "matern32")}
        wins += max(scores, key=scores.get) == family
    assert wins >= 5


def test_axes_are_fitted_as_if_each_were_alone() -> None:
    times, east = record(TRUTHS["rbf"], seed=3, points=40)
    north = record(TRUTHS["matern32"], seed=4, points=40)[1]
    together = fit_axes(times, [east, north], "matern52")
    assert together == (fit_kernel(times, east, "matern52"), fit_kernel(times, north, "matern52"))


@settings(max_examples=10, deadline=None)
@given(st.floats(0.01, 100), st.floats(0.1, 10), st.integers(0, 99))
def test_units_of_time_and_value_only_rescale_the_fit(stretch, scale, seed) -> None:
    times, values = record(TRUTHS["rbf"], seed, points=30)
    times = times - times[0]
    fit = fit_kernel(times, values, "rbf")
    other = fit_kernel(times * stretch, values * scale, "rbf")
    assert other.lengthscale == pytest.approx(fit.lengthscale * stretch, rel=0.02)
    expected = fit.log_likelihood - 30 * np.log(scale)
    assert other.log_likelihood == pytest.approx(expected, abs=1e-3)


def test_a_lengthscale_that_the_record_does_not_show_is_marked() -> None:
    times = np.arange(40.0)
    trend = times + 0.5 * np.random.default_rng(0).standard_normal(40)
    assert fit_kernel(times, trend, "rbf").at_bound
    assert not fit_kernel(*record(TRUTHS["rbf"], seed=5), "rbf").at_bound


@pytest.mark.parametrize(
    ("times", "values", "line"),
    [
        (np.arange(9.0), np.arange(9.0), "9 points is too short"),
        (np.zeros(12), np.arange(12.0), "ascending"),
        (np.arange(12.0), np.ones(12), "all equal"),
        (np.arange(12.0), np.full(12, np.nan), "not finite"),
        (np.arange(12.0), np.arange(11.0), "one for each time"),
    ],
)
def test_a_record_that_cannot_be_fitted_is_refused(times, values, line) -> None:
    with pytest.raises(PriorError, match=line):
        fit_kernel(times, values, "rbf")


def test_a_fit_does_not_show_the_record() -> None:
    fit = fit_kernel(*record(TRUTHS["rbf"], seed=6), "rbf")
    assert f"{fit.mean:.3g}"[:3] not in repr(fit)


def test_a_matrix_that_is_no_covariance_is_refused() -> None:
    with pytest.raises(PriorError, match="eigenvalue"):
        decompose(np.array([[1.0, 2.0], [2.0, 1.0]]))
