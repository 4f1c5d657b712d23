"""Charts: values land where they belong, ticks are those that people name."""

import re

import numpy as np
import pytest
from scipy.integrate import trapezoid

from agent.formats.designs import Component
from precompute.cip.stream_spectra import noise_spectrum
from precompute.reports.charts import Axis, Curve, draw_chart, draw_matrix
from precompute.reports.design_curves import component_covariance, window_spectrum
from precompute.reports.scales import linear, log_times, logarithmic, times


def test_ticks() -> None:
    assert [text for _, text in log_times(5.0, 4000.0).ticks] == ["10 s", "1 min", "10 min", "1 h"]
    assert [text for _, text in linear(-0.1, 1.0).ticks] == ["0", "0.5", "1"]
    assert [text for _, text in logarithmic(0.5, 20.0).ticks] == ["0.5", "1", "2", "5", "10", "20"]
    assert 3 <= len(times(0.0, 30 * 86400.0).ticks) <= 7
    for scale in (linear(-2.0, 7.0), logarithmic(1e-6, 3.0), times(0.0, 49.0)):
        assert all(scale.low <= value * (1 + 1e-9) for value, _ in scale.ticks if value > 0)
        assert all(value <= scale.high * (1 + 1e-9) for value, _ in scale.ticks)


def test_a_curve_goes_from_corner_to_corner() -> None:
    curve = Curve("", "ours", np.array([1.0, 10.0, 100.0]), np.array([0.0, 0.5, 1.0]))
    text = draw_chart([curve], Axis("x", logarithmic(1.0, 100.0)), Axis("y", linear(0.0, 1.0)), "d")
    found = re.search(r'class="line ours" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)L', text)
    assert found is not None
    left, bottom, middle, half = map(float, found.groups())
    assert (left, bottom) == (100.0, 368.0)
    assert (middle, half) == (pytest.approx(338.0), pytest.approx(192.0))


def test_numbers_that_are_none_break_the_line_and_large_ones_stay_inside() -> None:
    curve = Curve("", "ours", np.arange(4.0), np.array([0.5, np.nan, 0.5, np.inf]))
    text = draw_chart([curve], Axis("x", linear(0.0, 3.0)), Axis("y", linear(0.0, 1.0)), "d")
    path = re.search(r'class="line ours" d="([^"]*)"', text)
    assert path is not None
    assert path.group(1).count("M") == 2
    assert "inf" not in text
    assert "nan" not in text


def test_a_matrix_is_shaded_by_sign_and_size() -> None:
    text = draw_matrix(np.array([[1.0, -0.5], [0.0, 1.0]]), "n", "d")
    assert len(re.findall('class="plus" fill-opacity="1"', text)) == 2
    assert len(re.findall('class="minus" fill-opacity="0.5"', text)) == 1
    assert len(draw_matrix(np.random.default_rng(1).normal(size=(500, 500)), "n", "d")) < 400_000


def test_words_are_escaped() -> None:
    curve = Curve("<b>", "ours", np.arange(2.0), np.arange(2.0))
    text = draw_chart([curve], Axis("&", linear(0.0, 1.0)), Axis("y", linear(0.0, 1.0)), '"')
    assert "<b>" not in text
    assert "&lt;b&gt;" in text


def test_the_covariance_shown_is_that_of_the_spectrum() -> None:
    components = [
        Component("matern12", 1.0, 3.0),
        Component("matern32", 2.0, 5.0),
        Component("matern52", 0.5, 2.0),
        Component("oscillator", 1.5, 20.0, 7.0),
    ]
    omega = np.linspace(0.0, 400.0, 2_000_001)
    lags = np.array([0.0, 0.7, 4.0, 15.0])
    spectrum = noise_spectrum(components, omega)
    expected = [float(trapezoid(spectrum * np.cos(omega * lag), omega) / np.pi) for lag in lags]
    np.testing.assert_allclose(component_covariance(components, lags), expected, atol=3e-3)


def test_the_spectrum_of_a_window_is_the_power_of_its_sinusoids() -> None:
    covariance = np.cov(np.random.default_rng(2).normal(size=(6, 40)))
    found = window_spectrum(covariance)
    for k, value in enumerate(found):
        wave = np.exp(2j * np.pi * k * np.arange(6) / 6) / np.sqrt(6)
        assert value == pytest.approx(float(np.real(wave.conj() @ covariance @ wave)))
