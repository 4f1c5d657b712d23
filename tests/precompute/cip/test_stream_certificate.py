"""The stream solver and its lower bounds, against brute force and a general optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.stream_sequential import least_power_by_sequential_programs

from agent.formats.designs import Component
from precompute.cip.stream_certificate import power_lower_any, power_lower_within
from precompute.cip.stream_dictionary import candidates, scene_for
from precompute.cip.stream_exchange import first_shapes
from precompute.cip.stream_shapes import ScaleShapes
from precompute.cip.stream_solver import least_power
from precompute.cip.stream_spectra import unit_spectra

SCENE = scene_for([ScaleShapes("rbf", 3, 40)])
ROWS = first_shapes(SCENE).rows
MEASURE = SCENE.quadrature.weights


def spectra_of(*components):
    return unit_spectra(components, SCENE.quadrature.omega)


def brute_force(spectra):
    """Least power of two components by trying ratios, finer and finer."""
    low, high = 0.0, 1.0
    for _ in range(4):
        shares = np.linspace(low, high, 401)
        worst = np.max(ROWS @ (1 / (spectra @ np.stack([shares, 1 - shares]))), axis=0)
        best = int(np.argmin(worst))
        low, high = shares[max(best - 2, 0)], shares[min(best + 2, 400)]
    return float(worst[best])


@settings(max_examples=20, deadline=None)
@given(
    first=st.floats(1, 20),
    ratio=st.floats(1.5, 20),
    families=st.sampled_from([("matern12", "matern12"), ("matern32", "matern52")]),
)
def test_the_solver_finds_what_brute_force_finds(first, ratio, families):
    spectra = spectra_of(
        Component(families[0], 1.0, first), Component(families[1], 1.0, first * ratio)
    )
    solution = least_power(ROWS, spectra)
    assert np.all(ROWS @ (1 / (spectra @ solution.variances)) <= 1)
    assert solution.variances.sum() == pytest.approx(brute_force(spectra), rel=1e-5)


@settings(max_examples=20, deadline=None)
@given(first=st.floats(1, 20), ratio=st.floats(1.5, 20), seed=st.integers(0, 2**32 - 1))
def test_lower_bounds_hold_for_any_multipliers_and_any_reference(first, ratio, seed):
    generator = np.random.default_rng(seed)
    spectra = spectra_of(
        Component("matern12", 1.0, first), Component("matern32", 1.0, first * ratio)
    )
    weights = generator.exponential(size=len(ROWS))
    reference = spectra @ generator.exponential(size=2)
    least = brute_force(spectra)
    assert power_lower_within(ROWS, spectra, reference, weights) <= least * (1 + 1e-6)
    assert power_lower_any(ROWS, weights, MEASURE) <= least * (1 + 1e-6)


def test_the_bound_within_components_closes_on_the_solution():
    spectra = spectra_of(*candidates(SCENE, ("matern12", "matern32", "matern52")))
    solution = least_power(ROWS, spectra)
    lower = power_lower_within(ROWS, spectra, spectra @ solution.variances, solution.multipliers)
    power = float(solution.variances.sum())
    assert power * (1 - 1e-5) <= lower <= power * (1 + 1e-9)


def test_the_bound_for_any_noise_is_attained_by_matched_noise():
    scene = scene_for([ScaleShapes("matern32", 5, 5)])
    rows = first_shapes(scene).rows
    lower = power_lower_any(rows, np.ones(1), scene.quadrature.weights)
    assert lower == pytest.approx(1.0, rel=1e-9)


def test_the_bound_for_any_noise_is_attained_by_the_ideal_spectrum():
    """Noise with the spectrum sqrt(sum w phi^2) of the best weights meets every limit."""
    lower = power_lower_any(ROWS, np.ones(len(ROWS)), MEASURE)
    # Spectra that are one on a narrow band each can imitate any spectrum on the grid.
    bands = np.diag(1 / MEASURE)
    keep = ROWS.max(axis=0) > 1e-12 * ROWS.max()
    solution = least_power(ROWS[:, keep], bands[np.ix_(keep, keep)])
    assert lower == pytest.approx(float(solution.variances.sum()), rel=1e-3)


def test_the_solver_agrees_with_sequential_quadratic_programming():
    spectra = spectra_of(*candidates(SCENE, ("matern32",)))
    found = float(least_power(ROWS, spectra).variances.sum())
    other, _ = least_power_by_sequential_programs(ROWS, spectra)
    assert found == pytest.approx(other, rel=1e-4)
