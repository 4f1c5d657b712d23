import numpy as np
import pytest

from agent.formats.bundle import load_bundle
from agent.formats.quantities import format_duration
from precompute.demo.material import own_material
from precompute.demo.noise import (
    BUNDLE_NAME,
    design_noise,
    fit_class,
    independent_information,
)
from precompute.priors.kernels import RBF, Matern32, Matern52
from precompute.priors.prior_class import KernelRange, PriorClass, Range
from tests.precompute.demo.test_material import write_walk


@pytest.mark.parametrize("kernel", [RBF, Matern32, Matern52])
def test_information_of_independent_noise_is_the_sum_over_all_readings(kernel):
    one = kernel(variance=1.0, lengthscale=600.0)
    times = np.arange(-3000, 3001) * 30.0
    correlation = one.covariance(np.zeros(1), times)[0]
    family = {RBF: "rbf", Matern32: "matern32", Matern52: "matern52"}[kernel]
    prior = PriorClass((KernelRange(family, Range(60.0, 600.0)),))
    found = independent_information(prior, 30.0, 4e4)
    assert found == pytest.approx(float(np.sum(correlation**2)) / 4e4, rel=1e-6)


def test_a_trace_too_short_to_fit_falls_back_on_a_stated_default(tmp_path):
    path = tmp_path / "walk.csv"
    material = own_material(write_walk(path, 9), tmp_path, repair=False)
    fitted = fit_class(material, tmp_path, lambda total: lambda done: None)
    assert "the default" in fitted.origin_of_it
    assert {member.lengthscale.low for member in fitted.prior.kernels} == {30.0}
    design, sha256 = design_noise(tmp_path)
    assert design.noise_variance == pytest.approx(200.0**2)
    assert load_bundle(tmp_path / BUNDLE_NAME, sha256).designs["location"] == design
    assert design.guarantee.variance_free


def test_a_fitted_class_reaches_to_two_weeks(tmp_path):
    material = own_material(write_walk(tmp_path / "walk.csv", 1200), tmp_path, repair=False)
    fitted = fit_class(material, tmp_path, lambda total: lambda done: None)
    assert "fitted to" in fitted.origin_of_it
    low = min(member.lengthscale.low for member in fitted.prior.kernels)
    assert f"takes from {format_duration(low)} (the 5 % quantile of" in fitted.origin_of_it
    assert max(m.lengthscale.high for m in fitted.prior.kernels) >= 14 * 86400
