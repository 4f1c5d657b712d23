import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import decimal_systems

from agent.formats.designs import Component
from agent.sanitise.state_space import covariance, first_step, readout, step_matrices
from tests.agent.example_designs import FAMILIES

MATERN = {"matern12": 1, "matern32": 2, "matern52": 3}
TEN_YEARS_MS = 315_576_000_000
# Every entry is a sum of positive terms, and the condition of the scaled 3 x 3 matrix is 5e2.
RELATIVE = 1e-13
FACTOR_RELATIVE = 2e-12


def unit_rate(family: str) -> Component:
    """A component whose step x is the elapsed time in seconds."""
    return Component(family, 1.0, math.sqrt(2 * MATERN[family] - 1))  # type: ignore[arg-type]


@pytest.mark.parametrize("family", MATERN)
@pytest.mark.parametrize(
    "x", [1e-8, 1e-5, 1e-3, 0.03, 0.4, 0.5, 0.51, 1.0, 1.49, 1.5, 1.51, 2.0, 2.6, 7.0, 40.0, 300.0]
)
def test_transition_and_factor_agree_with_120_digits_entry_by_entry(family: str, x: float) -> None:
    order = MATERN[family]
    # One millisecond of a timescale so long that the step is x.
    component = Component(family, 1.0, math.sqrt(2 * order - 1) * 1e-3 / x)  # type: ignore[arg-type]
    exact_x = math.sqrt(2 * order - 1) * 1e-3 / component.timescale_seconds
    step = step_matrices(component, 1)
    transition, noise = decimal_systems.chain_step(order, exact_x)
    factor = decimal_systems.cholesky(noise)
    for i in range(order):
        for j in range(i + 1):
            # The exponential's own error grows with its argument.
            assert step.transition[i, j] == pytest.approx(
                float(transition[i][j]), rel=RELATIVE * max(1.0, x / 100)
            )
            assert step.factor[i, j] == pytest.approx(float(factor[i][j]), rel=FACTOR_RELATIVE)


def test_a_short_step_of_matern32_moves_position_by_a_root_of_cubed_time() -> None:
    # By hand: Q of g over a short step is 4 x^3 / 3 in units of the variance.
    component = Component("matern32", 1.0, math.sqrt(3.0))
    step = step_matrices(component, 1)
    variance = float(np.sum((readout(component) @ step.factor) ** 2))
    assert variance == pytest.approx(4e-9 / 3.0, rel=2e-3)
    # The textbook's 1 - e^(-2x)(1 + 2x + 2x^2) has lost half of its digits here.


def test_an_oscillator_turns_by_a_quarter_in_a_quarter_of_its_period() -> None:
    component = Component("oscillator", 1.0, 1.0 / math.log(2.0), 4.0)
    step = step_matrices(component, 1000)
    np.testing.assert_allclose(step.transition, [[0.0, -0.5], [0.5, 0.0]], atol=1e-15)
    np.testing.assert_allclose(step.factor, math.sqrt(0.75) * np.eye(2), rtol=1e-15)


@pytest.mark.parametrize("component", FAMILIES.values(), ids=FAMILIES)
@settings(max_examples=60, deadline=None)
@given(elapsed_ms=st.integers(1, TEN_YEARS_MS), timescale=st.floats(1e-3, 1e10))
def test_a_step_keeps_the_stationary_covariance(
    component: Component, elapsed_ms: int, timescale: float
) -> None:
    component = Component(component.family, component.variance, timescale, component.period_seconds)
    start = first_step(component).factor
    stationary = start @ start.T
    step = step_matrices(component, elapsed_ms)
    after = step.transition @ stationary @ step.transition.T + step.factor @ step.factor.T
    np.testing.assert_allclose(after, stationary, rtol=0, atol=1e-14)
    weights = readout(component)
    assert weights @ stationary @ weights == pytest.approx(component.variance, rel=1e-14)
    assert bool(np.all(np.diag(step.factor) >= 0))


@pytest.mark.parametrize("component", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("timescale", [1e-300, 1e-12, 1e12, 1e300])
def test_absurd_timescales_give_finite_matrices(component: Component, timescale: float) -> None:
    component = Component(component.family, 1.0, timescale, component.period_seconds)
    for elapsed_ms in (1, TEN_YEARS_MS):
        step = step_matrices(component, elapsed_ms)
        assert bool(np.all(np.isfinite(step.transition)) and np.all(np.isfinite(step.factor)))


@pytest.mark.parametrize("component", FAMILIES.values(), ids=FAMILIES)
def test_closed_forms_agree_with_the_definitions_in_120_digits(component: Component) -> None:
    lags = [0, 1, 20, 999, 10_000, 40_000, 123_456, 1_000_000, 7_000_001, TEN_YEARS_MS]
    found = covariance(component, np.array(lags, dtype=np.int64)) / component.variance
    for lag, value in zip(lags, found, strict=True):
        expected = decimal_systems.kernel(
            component.family, lag, component.timescale_seconds, component.period_seconds
        )
        assert value == pytest.approx(expected, abs=1e-14)
    np.testing.assert_array_equal(
        found, covariance(component, -np.array(lags)) / component.variance
    )
