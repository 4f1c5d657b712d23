"""Variables of maps say just what local differential privacy says."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precompute.mapping.map_variables import map_variables


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 5000),
    cells=st.integers(1, 5),
    symbols=st.integers(1, 4),
    limit=st.sampled_from([1e-3, 0.3, 2.0, 30.0, math.inf]),
    share=st.sampled_from([0.999, 1.001]),
)
def test_a_map_keeps_the_rows_just_where_its_ratios_keep_the_limit(
    seed, cells, symbols, limit, share
):
    random = np.random.default_rng(seed)
    one = random.dirichlet(np.ones(symbols), cells)
    told = 0.0
    if not math.isinf(limit):
        # Mixed with a constant until the ratios are about the limit.
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            mixed = middle * one + (1.0 - middle) / symbols
            over = np.log(mixed.max(axis=0) / mixed.min(axis=0)).max() > limit * share
            low, high = (low, middle) if over else (middle, high)
        one = low * one + (1.0 - low) / symbols
        told = float(np.log(one.max(axis=0) / one.min(axis=0)).max())
    variables = map_variables(cells, symbols, limit)
    v = variables.of(one)
    np.testing.assert_allclose(variables.map(v), one, atol=1e-12)
    inside = (
        v.min() >= -1e-12
        and v.max() <= 1.0 + 1e-12
        and bool(np.all(variables.rows @ v <= variables.high + 1e-12))
        and bool(np.all(variables.rows @ v >= variables.low - 1e-12))
    )
    assert inside == (told <= limit * (1.0 + 1e-9))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 5000), symbols=st.integers(1, 4), limit=st.sampled_from([0.3, math.inf]))
def test_rows_over_the_map_are_written_as_rows_over_its_variables(seed, symbols, limit):
    random = np.random.default_rng(seed)
    one = 0.9 / symbols + 0.1 * random.dirichlet(np.ones(symbols), 3)
    variables = map_variables(3, symbols, limit)
    left = random.normal(size=(4, 3 * symbols))
    rows, constant = variables.written(left)
    np.testing.assert_allclose(rows @ variables.of(one) + constant, left @ one.ravel(), atol=1e-12)


def test_a_map_a_hair_above_its_limit_stays_allowed():
    limit = 0.5
    high = 1.0 / (1.0 + math.exp(-limit * (1.0 + 1e-8)))
    one = np.array([[high, 1.0 - high], [1.0 - high, high]])
    variables = map_variables(2, 2, limit)
    assert np.any(variables.rows @ variables.of(one) > variables.high)
    assert np.all(variables.rows @ variables.of(one) <= variables.held(one))
    assert variables.held(one) == pytest.approx(variables.high, abs=1e-7)
