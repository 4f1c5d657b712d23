"""From K to promises: published conversions, inverses, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from precompute.cip import accounting
from precompute.errors import DesignError

RHOS = st.floats(1e-6, 1e3)
DELTAS = st.floats(1e-12, 0.5)


def test_hand_worked_values() -> None:
    assert accounting.rho_from_information(2.0, 3.0) == 9.0
    # rho = 1/4, log(1/delta) = 4: epsilon = 1/4 + 2 sqrt(1) = 2.25 at order 1 + sqrt(16) = 5.
    delta = math.exp(-4.0)
    assert accounting.epsilon_at(0.25, delta) == pytest.approx(2.25, rel=1e-14)
    assert accounting.optimal_order(0.25, delta) == pytest.approx(5.0, rel=1e-14)
    assert accounting.epsilon_at_order(0.25, 5.0, delta) == pytest.approx(2.25, rel=1e-14)
    assert accounting.rho_for(2.25, delta) == pytest.approx(0.25, rel=1e-13)
    assert accounting.information_for(9.0, 3.0) == 2.0
    assert accounting.rho_over_segments(0.5, 3) == 1.5
    assert accounting.radius_on_grid(500.0, 0.01, axes=4) == 500.02


@given(rho=RHOS, delta=DELTAS, order=st.floats(1.001, 1e4))
def test_no_order_converts_better_than_the_optimal_one(
    rho: float, delta: float, order: float
) -> None:
    best = accounting.epsilon_at(rho, delta)
    assert best <= accounting.epsilon_at_order(rho, order, delta) * (1 + 1e-12)
    at = accounting.epsilon_at_order(rho, accounting.optimal_order(rho, delta), delta)
    assert at == pytest.approx(best, rel=1e-9)


@given(epsilon=st.floats(1e-6, 1e3), delta=DELTAS)
def test_rho_for_inverts_epsilon_at(epsilon: float, delta: float) -> None:
    assert accounting.epsilon_at(accounting.rho_for(epsilon, delta), delta) == pytest.approx(
        epsilon, rel=1e-10
    )


def test_the_promise_holds_for_simulated_log_ratios() -> None:
    """For a Gaussian the log ratio is N(rho, 2 rho): its tail beyond epsilon stays below delta."""
    rho, delta = 0.3, 0.02
    draws = np.random.default_rng(1).normal(rho, math.sqrt(2 * rho), 400_000)
    share = float(np.mean(draws > accounting.epsilon_at(rho, delta)))
    assert share <= delta
    assert float(np.mean(draws > 0.5 * accounting.epsilon_at(rho, delta))) > delta


def test_the_odds_statement_carries_its_numbers() -> None:
    text = accounting.odds_statement(500.0, "m", math.log(3.0), 1e-3)
    assert "500 m" in text
    assert "factor of 3 " in text
    assert "0.001" in text


@pytest.mark.parametrize(
    "call",
    [
        lambda: accounting.rho_from_information(-1.0, 1.0),
        lambda: accounting.rho_from_information(1.0, 0.0),
        lambda: accounting.epsilon_at(1.0, 1.0),
        lambda: accounting.epsilon_at(math.nan, 0.1),
        lambda: accounting.rho_for(0.0, 0.1),
        lambda: accounting.epsilon_at_order(1.0, 1.0, 0.1),
        lambda: accounting.epsilon_at_order(1.0, math.inf, 0.1),
        lambda: accounting.rho_over_segments(1.0, 0),
    ],
)
def test_nonsense_is_refused_in_one_line(call: object) -> None:
    with pytest.raises(DesignError, match=r"^refused [^\n]*expected[^\n]*$"):
        call()  # type: ignore[operator]


def test_odds_that_no_number_holds_are_said_to_promise_nothing() -> None:
    text = accounting.odds_statement(500.0, "m", 800.0, 1e-3)
    assert "more than 10^308: nothing is promised" in text
