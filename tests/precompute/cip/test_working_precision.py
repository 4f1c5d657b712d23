"""What a window promises holds in exact arithmetic once readings carry an error of their own."""

from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.exact_loss import information_by_definition

from agent.formats.documents import Section
from precompute.cip.window_design import design_window
from precompute.cip.working_precision import information_upper, rounding_variance
from precompute.design_config import read_requests

ERROR = rounding_variance(0.01)


def _rbf(count: int, lengthscale: float) -> np.ndarray:
    times = np.arange(count, dtype=float)
    return np.exp(-((times[:, None] - times) ** 2) / (2 * lengthscale**2))


def _rbf_in_sixty_digits(count: int, lengthscale: int) -> np.ndarray:
    with localcontext() as context:
        context.prec = 60
        return np.array(
            [
                [(-Decimal((i - j) ** 2) / (2 * lengthscale**2)).exp() for j in range(count)]
                for i in range(count)
            ]
        )


def _exactly(prior: np.ndarray, secret: int, factor: np.ndarray, error: float) -> float:
    """With the noise of exactly this factor, in sixty digits throughout."""
    with localcontext() as context:
        context.prec = 60
        half = np.array([[Decimal(float(x)) for x in row] for row in factor])
        noise = half @ half.T + np.diag([Decimal(error)] * len(factor))
    return float(information_by_definition(prior, [secret], noise)[0, 0])


def test_rank_one_noise_hides_a_smooth_secret_from_an_observer_of_sixty_digits() -> None:
    prior = _rbf(50, 6.0)
    found = design_window(prior, [24], mse=0.02)
    noise = found.factor @ found.factor.T
    true_prior = _rbf_in_sixty_digits(50, 6)
    exact = _exactly(true_prior, 24, found.factor, ERROR)
    upper = information_upper(prior, [(24,)], noise, ERROR)
    assert exact <= upper <= found.worst_information
    assert exact == pytest.approx(upper, rel=1e-6)
    # Were readings free of any error, rounding of the design would give the secret away.
    assert _exactly(true_prior, 24, found.factor, 1e-42) > 100 * found.worst_information


def test_noise_like_the_prior_does_too() -> None:
    prior = _rbf(24, 5.0)
    found = design_window(prior, "all", mse=0.02)
    noise = found.factor @ found.factor.T
    upper = information_upper(prior, None, noise, ERROR)
    assert upper == pytest.approx(found.worst_information, rel=1e-6)
    assert (
        max(_exactly(_rbf_in_sixty_digits(24, 5), i, found.factor, ERROR) for i in (0, 11, 23))
        <= upper
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-6, 1.0))
def test_the_bound_is_never_below_the_exact_value(seed: int, error: float) -> None:
    generator = np.random.default_rng(seed)
    count = int(generator.integers(3, 9))
    prior = _rbf(count, float(generator.uniform(0.3, 5.0)))
    factor = generator.normal(size=(count, int(generator.integers(1, count))))
    noise = (np.sqrt(0.1) * factor) @ (np.sqrt(0.1) * factor).T
    pair = (0, int(generator.integers(2, count)))
    upper = information_upper(prior, [(1,)], noise, error)
    assert upper >= _exactly(prior, 1, np.sqrt(0.1) * factor, error) * (1 - 1e-12)
    matrix = information_by_definition(prior, pair, noise + error * np.eye(count))
    worst = max(float(np.array([1, s]) @ matrix @ np.array([1, s])) for s in (-1, 1))
    assert information_upper(prior, [pair], noise, error) >= worst * (1 - 1e-12)


def test_a_window_s_promise_says_what_it_rests_on() -> None:
    request = read_requests(
        Section(
            {
                "designs": [
                    {
                        "name": "one",
                        "kind": "window",
                        "times": {"count": 20, "step": "1 s"},
                        "prior": {
                            "kernels": [{"family": "rbf", "variance": 1.0, "lengthscale": "6 s"}]
                        },
                        "secrets": [[9]],
                        "budget": {"mse": 0.02},
                    }
                ]
            },
            "design.yaml",
        ),
        Path(),
    )[0]
    built = request.build(lambda _: None)
    assert "independent error of 0.0029" in built.design.guarantee.prior[-1]
