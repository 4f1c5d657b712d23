"""Spectra against numerical Fourier transforms in both directions."""

import math

import numpy as np
import pytest
from oracles.fourier import forward, inverse
from scipy.special import i0e

from precompute.errors import PriorError
from precompute.priors.kernels import (
    RBF,
    Constant,
    DampedPeriodic,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Product,
    Sum,
    White,
    harmonic_weights,
)

# Quadrature is asked for 1.5e-8 absolute on each of its pieces; the spectra here are of order 1.
QUADRATURE = 2e-6

KERNELS = [
    RBF(1.5, 2.0),
    Matern12(1.5, 2.0),
    Matern32(1.5, 2.0),
    Matern52(1.5, 2.0),
    DampedPeriodic(0.6, 2.0, 3.0, 1.5),
    DampedPeriodic(0.9, 2.0, 3.0, 1.5, "matern12"),
    DampedPeriodic(0.9, 2.0, 3.0, 1.5, "matern52"),
    Sum((RBF(1.5), Matern32(0.5, 0.2))),
    Product((Constant(3.0), Matern52(1.0))),
    Product((Constant(2.0), Periodic(0.6, 2.0, 1.2), Matern32(2.0, 0.7))),
]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("omega", [0.0, 0.4, math.pi, 5.0])
def test_the_spectrum_is_the_fourier_transform_of_the_kernel(kernel, omega) -> None:
    expected = forward(lambda lag: float(kernel.at_lags(lag)), omega, reach=60.0)
    assert float(kernel.spectrum(omega)) == pytest.approx(expected, abs=QUADRATURE)
    assert float(kernel.spectrum(-omega)) == pytest.approx(expected, abs=QUADRATURE)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("lag", [0.0, 0.3, 4.1])
def test_the_spectrum_gives_the_kernel_back(kernel, lag) -> None:
    reach = 3e4
    found = inverse(lambda omega: float(kernel.spectrum(omega)), lag, reach)
    # Matern-1/2 has 2 v / (pi l reach) of its variance beyond the reach.
    assert found == pytest.approx(float(kernel.at_lags(lag)), abs=5e-5)


@pytest.mark.parametrize("lengthscale", [0.05, 0.3, 1.0, 4.0, 40.0])
def test_the_harmonics_of_a_routine_add_up_to_it(lengthscale) -> None:
    weights = harmonic_weights(lengthscale)
    lags = np.linspace(0, 1, 41)
    series = np.cos(2 * np.pi * np.outer(lags, np.arange(weights.size))) @ weights
    np.testing.assert_allclose(series, Periodic(lengthscale, 1.0).at_lags(lags), atol=2e-10)
    assert bool(np.all(weights > 0))
    assert weights[0] == pytest.approx(i0e(lengthscale**-2))


def test_a_routine_with_countless_harmonics_is_refused() -> None:
    with pytest.raises(PriorError, match="harmonics"):
        harmonic_weights(1e-4)


@pytest.mark.parametrize(
    "kernel",
    [
        Sum((RBF(1.0), White(1.0))),
        Sum((RBF(1.0), Constant(1.0))),
        Product((RBF(1.0), RBF(1.0))),
        Product((Periodic(1.0, 1.0), Periodic(1.0, 2.0), RBF(1.0))),
        Product((Constant(1.0),)),
    ],
)
def test_a_spectrum_that_is_not_known_is_refused(kernel) -> None:
    with pytest.raises(PriorError, match=r"density|spectrum is known"):
        kernel.spectrum([0.0])
