"""K against 60-digit arithmetic, loss against integrals, and the properties both must have."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.exact_loss import gaussian_renyi_by_quadrature, information_by_definition
from oracles.window_sdp import tight_bound

from precompute import cip
from precompute.cip import compound
from precompute.cip.axes import circle_information, joint_circle, square_information
from precompute.cip.loss import basic_informations, information_matrix
from precompute.errors import DesignError, PriorError

SEEDS = st.integers(0, 2**32 - 1)


def _rbf(count: int, lengthscale: float) -> np.ndarray:
    times = np.arange(count, dtype=float)
    return np.exp(-((times[:, None] - times) ** 2) / (2 * lengthscale**2))


def _random_pair(seed: int, count: int = 7) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    lag = np.subtract.outer(times := np.cumsum(generator.uniform(0.2, 2.0, count)), times)
    prior = np.exp(generator.normal()) * np.exp(-np.abs(lag) / generator.uniform(0.5, 5.0))
    half = generator.standard_normal((count, count))
    return prior, np.exp(generator.normal()) * half @ half.T / count


@pytest.mark.parametrize("noise", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("secret", [[8], [8, 9], [2, 8, 13]])
def test_information_of_a_singular_prior_matches_the_definition(
    noise: float, secret: list[int]
) -> None:
    prior = _rbf(20, 6.0)
    expected = information_by_definition(prior, secret, noise * np.eye(20))
    found = information_matrix(prior, secret, noise * np.eye(20))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.max(expected))
    if len(secret) == 1:
        every = basic_informations(prior, noise * np.eye(20))
        assert every[8] == pytest.approx(expected[0, 0], rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_information_matches_the_definition_for_any_noise(seed: int) -> None:
    prior, noise = _random_pair(seed)
    for secret in ([0], [3], [1, 4]):
        expected = information_by_definition(prior, secret, noise)
        np.testing.assert_allclose(
            information_matrix(prior, secret, noise), expected, rtol=1e-7, atol=1e-9
        )
    np.testing.assert_allclose(
        basic_informations(prior, noise)[3], information_by_definition(prior, [3], noise)[0, 0]
    )


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, order=st.floats(1.2, 8.0))
def test_the_loss_is_a_renyi_divergence_between_releases(seed: int, order: float) -> None:
    """z given x_s = a is N(A a, C + G): integrate the divergence of two such releases."""
    prior, noise = _random_pair(seed, 5)
    radius = 0.5
    follow = prior[:, 2] / prior[2, 2]
    release = prior - np.outer(follow, prior[2]) + noise
    expected = gaussian_renyi_by_quadrature(radius * follow, np.zeros(5), release, order)
    assert cip.loss(prior, 2, noise, radius, order) == pytest.approx(expected, rel=1e-6)


def test_low_rank_noise_is_measured_exactly() -> None:
    """One shape of noise over a singular prior: K = (v-part) by Sherman-Morrison in 60 digits."""
    prior = _rbf(16, 4.0)
    shape = prior[:, 7]
    almost = information_by_definition(prior, [7], np.outer(shape, shape) + 1e-25 * np.eye(16))
    assert cip.information(prior, 7, np.outer(shape, shape)) == pytest.approx(
        almost[0, 0], rel=1e-6
    )
    assert basic_informations(prior, np.outer(shape, shape))[7] == pytest.approx(
        almost[0, 0], rel=1e-6
    )


def test_without_noise_everything_is_known() -> None:
    prior = _rbf(5, 0.7)
    assert cip.information(prior, 2, np.zeros((5, 5))) == np.inf
    assert np.all(np.isinf(basic_informations(prior, np.zeros((5, 5)))))
    assert cip.loss(prior, 2, np.zeros((5, 5)), 1.0, 2.0) == np.inf


def test_noise_shaped_like_the_prior_reveals_nothing_by_correlation() -> None:
    prior = _rbf(50, 6.0)
    for secret in ([0], [24], [24, 25], [3, 30, 49]):
        own = np.linalg.inv(prior[np.ix_(secret, secret)]) / 0.3
        np.testing.assert_allclose(information_matrix(prior, secret, 0.3 * prior), own, rtol=1e-6)
    np.testing.assert_allclose(basic_informations(prior, 0.3 * prior), 1 / 0.3, rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_more_noise_never_reveals_more(seed: int) -> None:
    prior, noise = _random_pair(seed)
    more = noise + _random_pair(seed + 1)[1]
    assert np.all(basic_informations(prior, more) <= basic_informations(prior, noise) * (1 + 1e-9))
    less = information_matrix(prior, [1, 4], noise) - information_matrix(prior, [1, 4], more)
    assert np.linalg.eigvalsh(less)[0] >= -1e-9 * np.trace(less)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_a_reading_alone_reveals_at_least_its_own_share(seed: int) -> None:
    prior, noise = _random_pair(seed)
    assert np.all(basic_informations(prior, noise) >= (1 - 1e-9) / np.diagonal(noise))


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, scale=st.floats(0.01, 100.0))
def test_information_scales_with_the_unit(seed: int, scale: float) -> None:
    prior, noise = _random_pair(seed)
    np.testing.assert_allclose(
        basic_informations(scale * prior, scale * noise),
        basic_informations(prior, noise) / scale,
        rtol=1e-8,
    )


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, cut=st.integers(1, 6))
def test_independent_segments_multiply_the_information_by_at_most_their_number(
    seed: int, cut: int
) -> None:
    prior, noise = _random_pair(seed)
    pinched = noise.copy()
    pinched[:cut, cut:] = pinched[cut:, :cut] = 0.0
    assert np.all(
        basic_informations(prior, pinched) <= 2.0 * basic_informations(prior, noise) * (1 + 1e-9)
    )


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, size=st.integers(1, 7))
def test_exact_is_below_tight_is_below_paper(seed: int, size: int) -> None:
    half = np.random.default_rng(seed).standard_normal((size, size + 1))
    matrix = half @ half.T
    exact, tight, paper = (
        compound.worst_square(matrix, method).value for method in ("exact", "tight", "paper")
    )
    assert exact <= tight * (1 + 1e-12)
    assert tight <= paper * (1 + 1e-12)
    assert compound.worst_square(matrix, "tight").lower <= exact * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_tight_bound_is_the_optimum_of_its_sdp(seed: int) -> None:
    half = np.random.default_rng(seed).standard_normal((6, 3))
    matrix = half @ half.T
    assert compound.tight_square(matrix).value == pytest.approx(tight_bound(matrix), rel=1e-5)


def test_hand_worked_compound_values() -> None:
    matrix = np.array([[2.0, -1.0], [-1.0, 2.0]])
    assert compound.worst_vertex(matrix)[0] == 6.0
    assert compound.worst_square(matrix, "tight").value == pytest.approx(6.0, rel=1e-9)
    assert compound.worst_square(matrix, "paper").value == pytest.approx(6.0, rel=1e-12)
    diagonal = np.diag([1.0, 9.0])
    assert compound.worst_square(diagonal, "tight").value == pytest.approx(10.0, rel=1e-9)
    assert compound.worst_square(diagonal, "paper").value == pytest.approx(18.0, rel=1e-12)


def test_axes_circle_and_square() -> None:
    assert circle_information([2.0, 3.0]) == 3.0
    assert square_information([2.0, 3.0]) == 5.0
    between = np.array([[1.0, 0.6], [0.6, 2.0]])
    prior = np.kron(between, _rbf(6, 1.0))
    noise = np.kron(np.diag([0.3, 0.5]), np.eye(6))
    joint = joint_circle(prior, 2, noise, axes=2)
    matrix = information_by_definition(prior, [2, 8], noise)
    assert joint.method == "exact"
    assert joint.value == pytest.approx(np.linalg.eigvalsh(matrix)[-1], rel=1e-9)
    several = joint_circle(prior, [1, 4], noise, axes=2)
    # No pair of moves in the two discs beats the bound, and one comes close to the lower figure.
    matrix = information_by_definition(prior, [1, 7, 4, 10], noise)
    angles = np.linspace(0, 2 * np.pi, 181)
    disc = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    worst = max(
        float(np.concatenate([a, b]) @ matrix @ np.concatenate([a, b])) for a in disc for b in disc
    )
    assert several.lower <= worst * (1 + 1e-3)
    assert worst <= several.value * (1 + 1e-9)
    with pytest.raises(DesignError, match="multiple"):
        joint_circle(np.eye(5), 0, np.eye(5), axes=2)


def test_independent_axes_agree_with_the_joint_form() -> None:
    prior = _rbf(6, 1.0)
    informations = [cip.information(prior, 2, s * np.eye(6)) for s in (0.3, 0.5)]
    joint = joint_circle(
        np.kron(np.eye(2), prior), 2, np.kron(np.diag([0.3, 0.5]), np.eye(6)), axes=2
    )
    assert joint.value == pytest.approx(circle_information(informations), rel=1e-9)


def test_posterior_variance_by_hand() -> None:
    assert cip.posterior_variance([[4.0]], 0, [[4.0]]) == pytest.approx(2.0)
    block = cip.posterior_variance(_rbf(4, 1.0), [1, 2], np.eye(4))
    assert isinstance(block, np.ndarray)
    prior = _rbf(4, 1.0)
    expected = prior - prior @ np.linalg.solve(prior + np.eye(4), prior)
    np.testing.assert_allclose(block, expected[1:3, 1:3], atol=1e-14)


def test_bad_requests_are_refused() -> None:
    prior = _rbf(4, 1.0)
    with pytest.raises(DesignError, match="order"):
        cip.loss(prior, 0, np.eye(4), 1.0, 1.0)
    with pytest.raises(DesignError, match="radius"):
        cip.loss(prior, 0, np.eye(4), 0.0, 2.0)
    with pytest.raises(DesignError, match="shape"):
        cip.information(prior, 0, np.eye(3))
    with pytest.raises(PriorError, match="certain beforehand"):
        cip.information(np.diag([0.0, 1.0]), 0, np.eye(2))
    with pytest.raises(PriorError, match="determine each other"):
        cip.information(_rbf(30, 12.0), list(range(10, 20)), np.eye(30))
    with pytest.raises(DesignError, match="tight"):
        cip.loss(np.eye(20), list(range(17)), np.eye(20), 1.0, 2.0)
    assert cip.loss(np.eye(20), list(range(17)), np.eye(20), 1.0, 2.0, "tight") == pytest.approx(17)


def test_readings_that_determine_each_other_do_not_make_hidden_secrets_visible() -> None:
    # Two periods of an exactly periodic prior: readings 6 and 18 are one.
    times = np.arange(24.0)
    prior = np.exp(-2 * np.sin(np.pi * (times[:, None] - times) / 12) ** 2)
    once = prior[:12, :12]
    # Equal noise on both readings of a pair is the noise on one.
    noise = np.tile(0.3 * once + 0.1, (2, 2))
    assert cip.information(prior, 6, noise) == pytest.approx(
        cip.information(once, 6, noise[:12, :12]), rel=1e-6
    )
    # Noise that differs within the pair only where there is none shows the reading.
    noise[18:] = noise[:, 18:] = 0.0
    assert cip.information(prior, 6, noise) == np.inf
