import numpy as np
import pytest
from oracles.integrated_noise import correlation_from_spectrum

from agent.formats.designs import Component, Guarantee, StreamDesign
from precompute.audit.noise_covariance import (
    IndependentNoise,
    component_correlation,
    draw_noise,
    stream_noise_covariance,
)

COMPONENTS = [
    Component("matern12", 1.0, 20.0),
    Component("matern32", 1.0, 20.0),
    Component("matern52", 1.0, 20.0),
    Component("oscillator", 1.0, 20.0, period_seconds=15.0),
]


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda c: c.family)
@pytest.mark.parametrize("lag", [0.0, 3.0, 20.0, 55.0])
def test_correlation_is_the_transform_of_the_spectrum(component, lag):
    expected = correlation_from_spectrum(
        component.family, lag, component.timescale_seconds, component.period_seconds
    )
    found = float(component_correlation(component, np.array([lag]))[0])
    # The tail of the rough spectra beyond the last frequency is 2/(4000 π).
    assert found == pytest.approx(expected, abs=3e-4)


def test_a_stream_adds_its_components():
    guarantee = Guarantee(("any",), "each", 1.0, 1.0, 1.0, 1, 0.5, 1.0, 1e-3, True)
    design = StreamDesign(
        "location",
        ("east", "north"),
        "m",
        0.01,
        (Component("matern12", 9.0, 10.0), Component("matern12", 4.0, 100.0)),
        guarantee,
    )
    covariance = stream_noise_covariance(design, np.array([0.0, 10.0]))
    assert covariance[0, 0] == pytest.approx(13.0)
    assert covariance[1, 0] == pytest.approx(9.0 * np.exp(-1.0) + 4.0 * np.exp(-0.1))


def test_drawn_noise_has_the_covariance_and_independent_axes():
    covariance = np.array([[4.0, 3.0, 0.0], [3.0, 4.0, 1.0], [0.0, 1.0, 2.0]])
    drawn = draw_noise(covariance, 2, 40_000, np.random.default_rng(1))
    assert drawn.shape == (40_000, 3, 2)
    for axis in (0, 1):
        found = np.cov(drawn[:, :, axis], rowvar=False)
        np.testing.assert_allclose(found, covariance, atol=0.12)
    assert abs(np.mean(drawn[:, 0, 0] * drawn[:, 0, 1])) < 0.1


def test_independent_noise_is_diagonal():
    np.testing.assert_array_equal(IndependentNoise(2.0)(np.zeros(2)), [[2.0, 0.0], [0.0, 2.0]])
