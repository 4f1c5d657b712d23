"""Whole stream designs: figures, limits on a finer grid, equivariance, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import stream_oracle as oracle

from precompute.cip.stream_design import StreamOptions, design_stream
from precompute.cip.stream_polish import scaled
from precompute.errors import DesignError
from precompute.priors.prior_class import CombinedRange, KernelRange, PriorClass, Range

DAY = 86400.0


def smooth(family, low, high):
    return PriorClass((KernelRange(family, Range(low, high)),))


def routine(damping=(3 * DAY, 30 * DAY), shape=(1.0, 1.0), family="damped_periodic"):
    fades = None if family == "periodic" else Range(*damping)
    return KernelRange(family, Range(*shape), period=DAY, damping=fades)


DAILY = PriorClass((KernelRange("rbf", Range(30, 14 * DAY)), routine()))


@pytest.mark.parametrize(("high", "power", "states"), [(1000, 3.0, 8), (100_000, 4.4, 14)])
def test_rbf_ranges_need_the_stated_power_on_a_ten_times_finer_grid(high, power, states):
    solution = design_stream(smooth("rbf", 3, high), 1.0)
    lengthscales = np.geomspace(3, high, round(math.log(high / 3) / 0.001) + 1)
    K = oracle.information(oracle.rbf_density(lengthscales), solution.components, high, 3)
    assert solution.worst_information <= 1.0
    assert float(K.max()) <= solution.worst_information
    assert float(K.max()) >= 0.999
    assert solution.relative_power <= power
    assert solution.power_lower <= solution.power <= 1.04 * solution.power_lower
    assert solution.states <= states


def test_too_little_noise_is_noticed_by_the_same_check():
    solution = design_stream(smooth("rbf", 3, 1000), 1.0)
    lengthscales = np.geomspace(3, 1000, 300)
    less = scaled(solution.components, 0.99)
    K = oracle.information(oracle.rbf_density(lengthscales), less, 1000, 3)
    assert float(K.max()) > 1.0


@pytest.mark.parametrize(
    ("family", "nu"), [("matern12", 0.5), ("matern32", 1.5), ("matern52", 2.5)]
)
def test_matern_ranges_keep_the_limit(family, nu):
    solution = design_stream(smooth(family, 3, 1000), 1.0)
    lengthscales = np.geomspace(3, 1000, 400)
    K = oracle.information(oracle.matern_density(nu, lengthscales), solution.components, 1000, 3)
    assert 0.999 <= float(K.max()) <= solution.worst_information * (1 + 1e-7)
    assert solution.relative_power <= 2.7


@pytest.fixture(scope="module")
def daily():
    return design_stream(DAILY, 1.0)


def test_thirty_days_of_one_routine_tell_no_more_than_promised(daily):
    """The posterior variance of one hour's value, for who sees every hour of a month."""
    times = np.arange(0, 30 * DAY, 3600.0)
    lags = np.abs(times[:, np.newaxis] - times)
    noise = np.zeros_like(lags)
    for c in daily.components:
        x = lags / c.timescale_seconds
        if c.family == "oscillator":
            noise += c.variance * np.exp(-x) * np.cos(2 * np.pi * lags / c.period_seconds)
        else:
            assert c.family == "matern32"
            noise += c.variance * (1 + math.sqrt(3) * x) * np.exp(-math.sqrt(3) * x)
    days = 30 * DAY
    shape = np.exp(-2 * np.sin(np.pi * lags / DAY) ** 2 - 0.5 * (lags / days) ** 2)
    for variance in (0.1, 10.0, 1e4):
        prior = variance * shape
        secret = prior[360]
        left = variance - secret @ np.linalg.solve(prior + noise, secret)
        assert left >= 1 / (daily.worst_information + 1 / variance) * (1 - 1e-6)
        # Independent noise of the same power would be averaged away.
        white = secret @ np.linalg.solve(prior + daily.power * np.eye(times.size), secret)
        assert variance - white < 0.6 * left or variance < 1


def test_a_daily_routine_is_covered_with_few_states(daily):
    solution = daily
    assert solution.relative_power <= 6.5
    assert solution.states <= 24
    lengthscales = np.geomspace(30, 14 * DAY, 1500)
    peaks = [2 * math.pi * k / DAY for k in range(1, 7)]
    smooth_K = oracle.information(
        oracle.rbf_density(lengthscales),
        solution.components,
        14 * DAY,
        30,
        peaks=peaks,
        tolerance=1e-6,
    )
    dampings = np.geomspace(3 * DAY, 30 * DAY, 300)
    routine_K = oracle.information(
        oracle.routine_density(np.ones(300), DAY, dampings),
        solution.components,
        30 * DAY,
        1800.0,
        peaks=[peak * (1 + e) for peak in peaks for e in (-1e-3, 0, 1e-3)],
        tolerance=1e-6,
    )
    assert float(smooth_K.max()) <= 1.0
    assert float(routine_K.max()) <= 1.0


def test_without_oscillators_a_routine_would_cost_many_times_as_much():
    """White-like noise must drown the lines: the reason for oscillators."""
    from precompute.cip.stream_classes import shape_families
    from precompute.cip.stream_dictionary import candidates, scene_for
    from precompute.cip.stream_exchange import solve_class

    scene = scene_for(shape_families(DAILY))
    solution, _ = solve_class(scene, candidates(scene, ("matern32",)))
    assert 30 <= float(solution.variances.sum()) <= 70


@settings(max_examples=5, deadline=None)
@given(factor=st.floats(1e-3, 1e6), limit=st.floats(1e-8, 1e3))
def test_another_unit_of_time_or_value_changes_nothing_else(factor, limit):
    base = design_stream(smooth("rbf", 3, 60), 1.0)
    other = design_stream(smooth("rbf", 3 * factor, 60 * factor), limit)
    assert other.relative_power == pytest.approx(base.relative_power, rel=2e-3)
    assert other.worst_information <= limit
    assert other.power == pytest.approx(base.power / limit, rel=2e-3)


def test_a_wider_class_needs_no_less_than_the_bound_of_a_narrower_one():
    narrow = design_stream(smooth("rbf", 3, 60), 1.0)
    wide = design_stream(smooth("rbf", 3, 600), 1.0)
    assert wide.power >= narrow.power_lower


def test_a_stated_power_gives_the_limit_it_affords():
    solution = design_stream(smooth("rbf", 3, 60), 1.0).for_power(40_000.0)
    assert solution.power == pytest.approx(40_000.0, rel=1e-12)
    assert solution.worst_information <= solution.information_limit


def test_rough_components_are_used_when_smooth_paths_are_not_asked_for():
    plain = design_stream(smooth("rbf", 3, 60), 1.0, StreamOptions(smooth=False))
    assert plain.power <= design_stream(smooth("rbf", 3, 60), 1.0).power * 1.02
    assert all(c.family != "matern12" for c in design_stream(smooth("rbf", 3, 60), 1.0).components)


def test_a_sum_of_kernels_is_covered_by_its_parts():
    parts = (KernelRange("rbf", Range(3, 60)), KernelRange("matern32", Range(5, 50)))
    of_sum = design_stream(PriorClass((CombinedRange("sum", parts),)), 1.0)
    mixed = [
        oracle.information(
            lambda w, s=share: (
                s * oracle.rbf_density(np.array([7.0]))(w)
                + (1 - s) * oracle.matern_density(1.5, np.array([20.0]))(w)
            ),
            of_sum.components,
            60,
            3,
        )[0]
        for share in (0.0, 0.3, 0.7, 1.0)
    ]
    assert max(mixed) <= 1.0


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (routine(family="periodic"), "repeats for ever"),
        (routine(shape=(0.01, 1.0)), "too sharp"),
        (routine(damping=(0.1 * DAY, DAY)), "must fade"),
        (CombinedRange("white"), "cannot cover"),
        (KernelRange("rbf", Range(1e-3, 1e9)), "at most"),
    ],
)
def test_a_prior_that_no_stream_can_cover_is_refused(kernel, words):
    with pytest.raises(DesignError, match=words):
        design_stream(PriorClass((kernel,)), 1.0)


def test_a_limit_of_zero_is_refused():
    with pytest.raises(DesignError, match="above zero"):
        design_stream(smooth("rbf", 3, 60), 0.0)
