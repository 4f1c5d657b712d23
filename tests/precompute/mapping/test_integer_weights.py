"""Weights on the grid of 2^-32: sums, nearness, and ratios that never exceed the budget."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.formats.mapping_design import WHOLE, local_epsilon
from precompute.mapping.binary_closed_form import best_binary_map
from precompute.mapping.errors import MappingError
from precompute.mapping.integer_weights import from_weights, to_weights


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    local=st.floats(1e-6, 8.0),
    cells=st.integers(1, 16),
    symbols=st.integers(1, 5),
)
def test_the_ratio_of_integers_never_exceeds_the_budget(seed, local, cells, symbols):
    random = np.random.default_rng(seed)
    # Columns between low and exp(local) low: mix a private map up to the limit itself.
    one = random.dirichlet(np.ones(symbols), cells)
    factor = math.exp(local)
    high, low = one.max(axis=0), one.min(axis=0)
    above = np.maximum(0.0, high - factor * low)
    share = float(np.max(above / (above + (factor - 1) / symbols)))
    one = (1 - share) * one + share / symbols
    table = to_weights(one, local)
    assert all(sum(row) == WHOLE for row in table)
    assert local_epsilon((table,)) <= local * (1 + 1e-13)
    assert np.abs(from_weights(table) - one).max() <= 2**-29 + symbols * (factor + 2) / WHOLE


@pytest.mark.parametrize("local", [0.01, 0.07, 0.5, 1.0, 3.0])
def test_randomised_response_at_its_limit_keeps_it(local):
    gain = np.random.default_rng(1).normal(size=(16, 2))
    one = best_binary_map(gain, local)
    table = to_weights(one, local)
    assert local_epsilon((table,)) <= local
    assert np.abs(from_weights(table) - one).max() <= 2 * (math.exp(local) + 2) / WHOLE


def test_without_a_limit_zeros_stay_zeros():
    assert to_weights(np.array([[1.0, 0.0], [0.25, 0.75]]), math.inf) == (
        (WHOLE, 0),
        (WHOLE // 4, 3 * WHOLE // 4),
    )


def test_a_map_that_exceeds_its_budget_is_refused():
    with pytest.raises(MappingError, match="exceed"):
        to_weights(np.array([[0.9, 0.1], [0.1, 0.9]]), 1.0)
