"""Spectra, quadrature and curvature constants of stream designs, against other ways to them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import stream_oracle as oracle

from agent.formats.designs import Component
from precompute.cip.stream_dictionary import scene_for
from precompute.cip.stream_information import information_over
from precompute.cip.stream_refinement import certified_worst
from precompute.cip.stream_shapes import CURVATURE, RoutineShapes, ScaleShapes
from precompute.cip.stream_spectra import noise_spectrum, timescale_slope, unit_spectrum
from precompute.errors import DesignError
from precompute.priors.kernels import DampedPeriodic, smooth_kernel

DAY = 86400.0
TWO = (Component("matern12", 0.7, 10.0), Component("matern52", 1.3, 300.0))
EVERY_FAMILY = (
    Component("matern12", 1.0, 4.0),
    Component("matern32", 1.0, 4.0),
    Component("matern52", 1.0, 4.0),
    Component("oscillator", 1.0, 4.0, 3.0),
)


def information(family, parameters, components):
    scene = scene_for([family])
    spectrum = noise_spectrum(components, scene.quadrature.omega)
    return information_over(family, parameters, scene.quadrature, spectrum)


@pytest.mark.parametrize("component", EVERY_FAMILY, ids=lambda c: c.family)
def test_a_component_spectrum_is_the_transform_of_its_covariance(component):
    covariance = {
        "matern12": lambda t: math.exp(-t / 4),
        "matern32": lambda t: (1 + math.sqrt(3) * t / 4) * math.exp(-math.sqrt(3) * t / 4),
        "matern52": lambda t: (
            (1 + math.sqrt(5) * t / 4 + 5 * t * t / 48) * math.exp(-math.sqrt(5) * t / 4)
        ),
        "oscillator": lambda t: math.exp(-t / 4) * math.cos(2 * math.pi * t / 3),
    }[component.family]
    times = np.linspace(0, 200, 400_001)
    values = np.array([covariance(t) for t in times])
    for w in (0.0, 0.3, 2.0, 5.0):
        transform = 2 * np.trapezoid(values * np.cos(w * times), times)
        assert unit_spectrum(component, np.array([w]))[0] == pytest.approx(transform, rel=1e-5)


@pytest.mark.parametrize("component", EVERY_FAMILY, ids=lambda c: c.family)
def test_the_slope_over_the_timescale_is_the_derivative(component):
    omega = np.geomspace(0.01, 100, 50)
    step = 1e-5
    moved = [
        unit_spectrum(
            Component(component.family, 1.0, 4.0 * math.exp(sign * step), component.period_seconds),
            omega,
        )
        for sign in (1, -1)
    ]
    difference = (moved[0] - moved[1]) / (2 * step)
    assert np.allclose(timescale_slope(component, omega), difference, rtol=1e-6, atol=1e-9)


def test_an_rbf_prior_under_ornstein_uhlenbeck_noise_has_the_hand_value():
    lengthscales = np.array([[3.0], [10.0], [700.0]])
    ell, T, c = lengthscales[:, 0], 25.0, 2.0
    found = information(ScaleShapes("rbf", 3, 700), lengthscales, [Component("matern12", c, T)])
    hand = math.sqrt(math.pi) / (2 * c) * (ell / T + T / (2 * ell))
    assert found == pytest.approx(hand, rel=1e-12)


@pytest.mark.parametrize("name", ["matern12", "matern32", "matern52"])
def test_noise_shaped_like_the_prior_gives_one_over_its_power(name):
    found = information(ScaleShapes(name, 7, 7), np.array([[7.0]]), [Component(name, 4.0, 7.0)])
    assert found[0] == pytest.approx(0.25, rel=1e-12)


def test_the_path_that_is_seen_in_steps_gives_at_most_this_and_nearly_this():
    times = np.arange(-120, 120.01, 0.25)
    lags = np.abs(times[:, np.newaxis] - times)
    noise = 0.7 * np.exp(-lags / 10) + 0.5 * np.exp(-lags / 40)
    a = np.exp(-0.5 * (times / 6) ** 2)
    in_steps = float(a @ np.linalg.solve(noise, a))
    components = [Component("matern12", 0.7, 10.0), Component("matern12", 0.5, 40.0)]
    bound = information(ScaleShapes("rbf", 6, 6), np.array([[6.0]]), components)[0]
    assert in_steps <= bound * (1 + 1e-9)
    assert in_steps == pytest.approx(bound, rel=2e-3)


@pytest.mark.parametrize(("name", "nu"), [("rbf", None), ("matern12", 0.5), ("matern32", 1.5)])
def test_information_agrees_with_adaptive_quadrature(name, nu):
    lengthscales = np.geomspace(3, 5000, 9)
    density = (
        oracle.rbf_density(lengthscales) if nu is None else oracle.matern_density(nu, lengthscales)
    )
    family = ScaleShapes(name, 3, 5000)
    found = information(family, lengthscales[:, np.newaxis], TWO)
    assert found == pytest.approx(oracle.information(density, TWO, 5000, 3), rel=1e-7)


def test_information_about_a_routine_agrees_with_adaptive_quadrature():
    family = RoutineShapes("rbf", DAY, 0.6, 1.2, 3 * DAY, 20 * DAY)
    noise = (
        Component("matern32", 1.0, 900.0),
        Component("oscillator", 0.8, 25 * DAY, DAY),
        Component("oscillator", 0.2, 25 * DAY, DAY / 2),
    )
    parameters = family.grid(0.5)
    peaks = [2 * math.pi * k / DAY * (1 + e) for k in range(1, 9) for e in (-1e-3, 0, 1e-3)]
    expected = oracle.information(
        oracle.routine_density(parameters[:, 0], DAY, parameters[:, 1]),
        noise,
        20 * DAY,
        900.0,
        peaks=peaks,
        tolerance=1e-6,
    )
    assert information(family, parameters, noise) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["rbf", "matern12", "matern32", "matern52"])
def test_shapes_have_the_spectra_of_the_kernels_they_stand_for(name):
    omega = np.linspace(1e-6, 6e-4, 400)
    scale = ScaleShapes(name, 5000, 5000).spectra(np.array([[5000.0]]), omega)[0]
    assert scale == pytest.approx(smooth_kernel(name, 5000.0).spectrum(omega), rel=1e-12)
    routine = RoutineShapes(name, DAY, 0.7, 0.7, 4 * DAY, 4 * DAY)
    kernel = DampedPeriodic(0.7, DAY, 4 * DAY, envelope=name)
    expected = kernel.spectrum(omega)
    found = routine.spectra(np.array([[0.7, 4 * DAY]]), omega)[0]
    assert found == pytest.approx(expected, abs=1e-8 * float(expected.max()))


@given(
    name=st.sampled_from(["rbf", "matern12", "matern32", "matern52"]),
    exponent=st.floats(-8, 8),
    other=st.floats(-8, 8),
)
def test_a_product_of_two_terms_curves_down_no_faster_than_stated(name, exponent, other):
    """Second differences of log-scale products, for terms at any two distances."""
    step = 1e-3
    scale = np.exp(step * np.array([-1.0, 0.0, 1.0]))

    def term(distance):
        family = ScaleShapes(name, 1, 1)
        return family.spectra(scale[:, np.newaxis], np.array([distance]))[:, 0]

    product = term(math.exp(exponent)) * term(math.exp(other))
    second = (product[0] - 2 * product[1] + product[2]) / step**2
    assert second >= -CURVATURE[name] * product[1] * (1 + 1e-3) - 1e-12


@given(a=st.floats(0.05, 60), k=st.integers(0, 40), other=st.integers(0, 40))
def test_a_product_of_harmonics_curves_down_no_faster_than_stated(a, k, other):
    from scipy.special import ive

    step = 1e-3
    values = a * np.exp(step * np.array([-1.0, 0.0, 1.0]))
    product = ive(k, values) * ive(other, values)
    second = (product[0] - 2 * product[1] + product[2]) / step**2
    assert second >= -2 * a * product[1] * (1 + 1e-3) - 1e-9 * product.max() / step


@settings(max_examples=25, deadline=None)
@given(
    noise=st.lists(
        st.tuples(st.sampled_from(["matern12", "matern32", "matern52"]), st.floats(1, 300)),
        min_size=1,
        max_size=3,
    ),
    spacing=st.floats(0.1, 0.5),
)
def test_what_lies_between_grid_points_stays_below_the_certified_worst(noise, spacing):
    components = [Component(family, 1.0, time) for family, time in noise]
    family = ScaleShapes("rbf", 5, 50)
    worst = certified_worst(scene_for([family]), components, spacing)
    between = information(family, family.grid(spacing / 20), components)
    assert float(between.max()) <= worst.information
    assert worst.information <= 1.2 * worst.sampled


def test_a_rough_prior_under_smooth_noise_is_refused():
    scene = scene_for([ScaleShapes("matern12", 5, 50)])
    with pytest.raises(DesignError, match="has no bound"):
        certified_worst(scene, [Component("matern32", 1.0, 5.0)])
