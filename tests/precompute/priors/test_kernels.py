"""Kernels against hand values, scikit-learn, and the property that makes them kernels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

from precompute.errors import PriorError
from precompute.priors.kernels import (
    RBF,
    Constant,
    Coregionalised,
    DampedPeriodic,
    Kernel,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Product,
    Sum,
    White,
)

# Both sides round a handful of operations on numbers of order 1.
ROUNDING = 1e-12
DAY = 86_400.0

SMOOTH = [RBF, Matern12, Matern32, Matern52]


@pytest.mark.parametrize(
    ("kernel", "lag", "expected"),
    [
        (RBF(2.0, 3.0), 2.0, 3 * math.exp(-0.5)),
        (RBF(2.0, 3.0), -4.0, 3 * math.exp(-2)),
        (Matern12(2.0, 3.0), 4.0, 3 * math.exp(-2)),
        (Matern32(math.sqrt(3), 2.0), -1.0, 4 * math.exp(-1)),
        (Matern52(math.sqrt(5), 3.0), 1.0, 7 * math.exp(-1)),
        (Periodic(2.0, 24.0, 5.0), 12.0, 5 * math.exp(-0.5)),
        (Periodic(1.0, 24.0), 6.0, math.exp(-1)),
        (Periodic(1.0, 24.0), 48.0, 1.0),
        (DampedPeriodic(1.0, 24.0, 24.0), 24.0, math.exp(-0.5)),
        (DampedPeriodic(1.0, 24.0, 24.0, envelope="matern12"), 6.0, math.exp(-1.25)),
        (Constant(7.0), 1e9, 7.0),
        (White(7.0), 1e-9, 0.0),
        (White(7.0), 0.0, 7.0),
        (Sum((RBF(1.0, 2.0), White(3.0))), 0.0, 5.0),
        (Product((Constant(3.0), RBF(1.0, 2.0))), 1.0, 6 * math.exp(-0.5)),
    ],
)
def test_a_kernel_has_its_value_worked_by_hand(kernel: Kernel, lag: float, expected: float) -> None:
    assert float(kernel.at_lags(lag)) == pytest.approx(expected, rel=ROUNDING)
    assert kernel.covariance([0.0], [lag])[0, 0] == pytest.approx(expected, rel=ROUNDING)
    assert kernel.variance == pytest.approx(float(kernel.at_lags(0.0)), rel=ROUNDING)


SKLEARN_PAIRS = [
    (RBF(3.0), sk.RBF(3.0)),
    (Matern12(3.0), sk.Matern(3.0, nu=0.5)),
    (Matern32(3.0), sk.Matern(3.0, nu=1.5)),
    (Matern52(3.0), sk.Matern(3.0, nu=2.5)),
    (Periodic(0.8, 7.0), sk.ExpSineSquared(0.8, 7.0)),
    (DampedPeriodic(0.8, 7.0, 11.0), sk.ExpSineSquared(0.8, 7.0) * sk.RBF(11.0)),
    (
        DampedPeriodic(0.8, 7.0, 11.0, 2.0, "matern32"),
        sk.ConstantKernel(2.0) * sk.ExpSineSquared(0.8, 7.0) * sk.Matern(11.0, nu=1.5),
    ),
    (Constant(2.5), sk.ConstantKernel(2.5)),
    (Sum((RBF(3.0, 2.0), Constant(4.0))), 2.0 * sk.RBF(3.0) + sk.ConstantKernel(4.0)),
    (
        Product((Matern52(2.0), Periodic(1.0, 5.0, 3.0))),
        sk.Matern(2.0, nu=2.5) * (3.0 * sk.ExpSineSquared(1.0, 5.0)),
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), SKLEARN_PAIRS)
def test_a_kernel_agrees_with_scikit_learn_at_arbitrary_times(ours, theirs) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.uniform(-30, 30, 17), rng.uniform(-30, 30, 23)
    expected = theirs(a[:, np.newaxis], b[:, np.newaxis])
    np.testing.assert_allclose(ours.covariance(a, b), expected, rtol=0, atol=ROUNDING)


def test_white_noise_agrees_with_scikit_learn_on_one_set_of_times() -> None:
    times = np.array([0.0, 1.0, 4.0])
    ours = Sum((RBF(2.0), White(0.3))).covariance(times, times)
    theirs = (sk.RBF(2.0) + sk.WhiteKernel(0.3))(times[:, np.newaxis])
    np.testing.assert_allclose(ours, theirs, atol=ROUNDING)


@pytest.mark.parametrize(("ours", "_theirs"), SKLEARN_PAIRS)
def test_unix_time_changes_nothing(ours, _theirs) -> None:
    times = np.array([0.0, 0.5, 3.0, 40.0, 1000.0])
    late = times + 1_764_000_000.0  # exact in float64: halves of a second
    np.testing.assert_array_equal(ours.covariance(times, times), ours.covariance(late, late))


def test_a_routine_still_repeats_after_thirty_years() -> None:
    routine = Periodic(0.5, DAY)
    years = np.array([0.0, 1.0, 365.0, 11_000.0])
    values = routine.at_lags(years * DAY + 6 * 3600)
    np.testing.assert_array_equal(values, values[0])


smooth = st.builds(
    lambda family, lengthscale, variance: family(lengthscale, variance),
    st.sampled_from(SMOOTH),
    st.floats(0.1, 100),
    st.floats(0.1, 9),
)
periodic = st.builds(Periodic, st.floats(0.1, 5), st.floats(0.5, 50), st.floats(0.1, 9))
damped = st.builds(
    DampedPeriodic,
    st.floats(0.1, 5),
    st.floats(0.5, 50),
    st.floats(0.5, 100),
    st.floats(0.1, 9),
    st.sampled_from(["rbf", "matern12", "matern32", "matern52"]),
)
plain = smooth | periodic | damped | st.builds(Constant, st.floats(0.1, 9))
any_kernel = st.recursive(
    plain | st.builds(White, st.floats(0.1, 9)),
    lambda inner: st.builds(
        lambda kind, parts: kind(tuple(parts)),
        st.sampled_from([Sum, Product]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=4,
)
times = st.lists(st.floats(-100, 100), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(any_kernel, times)
def test_every_kernel_is_symmetric_and_positive_semidefinite(kernel, times) -> None:
    matrix = kernel.covariance(times, times)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(np.diag(matrix), kernel.variance, rtol=ROUNDING)
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-12 * np.trace(matrix)


@settings(max_examples=40, deadline=None)
@given(any_kernel, times, st.integers(1, 3), st.integers(0, 99))
def test_several_axes_stand_time_first(kernel, times, axes, seed) -> None:
    root = np.random.default_rng(seed).standard_normal((axes, axes))
    between = root @ root.T + np.eye(axes)
    between = (between + between.T) / 2
    several = Coregionalised(kernel, between)
    matrix = several.covariance(times, times)
    one = kernel.covariance(times, times)
    assert matrix.shape == (len(times) * axes, len(times) * axes)
    for i in range(len(times)):
        for j in range(len(times)):
            for a in range(axes):
                for b in range(axes):
                    found = matrix[i * axes + a, j * axes + b]
                    assert found == pytest.approx(one[i, j] * between[a, b], rel=ROUNDING)
    np.testing.assert_allclose(several.axis_variances, kernel.variance * np.diag(between))


@pytest.mark.parametrize(
    "make",
    [
        RBF,
        lambda x: RBF(1.0, x),
        Matern12,
        lambda x: Matern32(1.0, x),
        Matern52,
        lambda x: Periodic(x, 1.0),
        lambda x: Periodic(1.0, x),
        lambda x: DampedPeriodic(1.0, 1.0, x),
        Constant,
        White,
    ],
)
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, True, "1"])
def test_a_parameter_that_is_not_finite_and_positive_is_refused(make, bad) -> None:
    with pytest.raises(PriorError, match="expected a finite number above zero"):
        make(bad)


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ([[1.0, 0.5]], "square"),
        ([[1.0, 0.5], [0.4, 1.0]], "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "eigenvalue"),
        ([[1.0, math.nan], [math.nan, 1.0]], "finite"),
        ([[0.0, 0.0], [0.0, 1.0]], "diagonal"),
    ],
)
def test_a_matrix_that_is_no_covariance_between_axes_is_refused(matrix, reason) -> None:
    with pytest.raises(PriorError, match=reason):
        Coregionalised(RBF(1.0), np.array(matrix))


@pytest.mark.parametrize("bad", [[[1.0]], [math.nan], 3.0])
def test_times_that_are_no_finite_vector_are_refused(bad) -> None:
    with pytest.raises(PriorError, match="not a vector of finite numbers"):
        RBF(1.0).covariance(bad, [1.0])


@pytest.mark.parametrize("kind", [Sum, Product])
def test_a_combination_of_nothing_is_refused(kind) -> None:
    with pytest.raises(PriorError, match="no parts"):
        kind(())
