"""A window for a range of lengthscales: its certificate holds for the noise and limit that ship."""

import math
from pathlib import Path

import numpy as np
import pytest

from agent.formats.documents import parse_yaml
from precompute.build_bundle import build_bundle
from precompute.cip.window_design import design_window
from precompute.design_config import read_requests
from precompute.design_kinds import window_exchange
from precompute.errors import DesignError

WINDOW = """
designs:
  - name: trip
    kind: window
    times: {count: 50, step: 1 s}
    prior: {kernels: [%s]}
    secrets: [[24]]
    %s
"""
RANGE = "{family: rbf, variance: 1.0, lengthscale: [3 s, 12 s]}"
BUDGET = "budget: {mse: 0.1}"
PROTECT = "secret: {radius: 1}\n    protect: {rho: 0.5}"
TIMES = np.arange(50.0)


def built(kernels, asked):
    text = WINDOW % (kernels, asked)
    (made,) = build_bundle(read_requests(parse_yaml(text.encode(), "design.yaml"), Path())).designs
    return made


def rbf(lengthscale):
    return np.exp(-0.5 * ((TIMES[:, None] - TIMES) / lengthscale) ** 2)


def oracle(prior, noise, secret=24):
    """``1/Var[x|z] - 1/Var[x]``, the best linear estimate judged as it would be used."""
    error = 0.0029**2  # which rounding to the grid of 0.01 brings
    seen = prior + noise + error * np.eye(len(prior))
    weights = np.linalg.solve(seen, prior[:, secret])
    residual = -weights
    residual[secret] += 1.0
    left = residual @ prior @ residual + weights @ (seen - prior) @ weights
    return 1.0 / left - 1.0 / prior[secret, secret]


def scanned(noise):
    """The worst over ten times as many lengthscales as the design checks."""
    return max(oracle(rbf(scale), noise) for scale in np.geomspace(3.0, 12.0, 241))


# Found by an independent search: noise for nine lengthscales, checked on a dense scan.
RIVAL_INFORMATION = 3.4306


@pytest.mark.parametrize("asked", [BUDGET, PROTECT])
def test_the_certificate_of_a_range_is_for_the_noise_that_ships(asked):
    made = built(RANGE, asked)
    promise, figures = made.design.guarantee, made.figures
    noise = made.design.factor @ made.design.factor.T
    power = np.trace(noise) / 50
    assert scanned(noise) <= promise.worst_information * (1 + 1e-3)
    if asked == BUDGET:
        assert power == pytest.approx(0.1, rel=1e-9)
        assert promise.worst_information <= RIVAL_INFORMATION
        assert figures["gap"] == pytest.approx(
            1 - figures["information_lower_bound"] / promise.worst_information, rel=1e-6
        )
    else:
        limit = 2 * 0.5 / 1.01**2
        assert promise.worst_information <= limit
        assert figures["gap"] == pytest.approx(1 - figures["power_lower"] / power, rel=1e-6)
    assert figures["gap"] < 3e-3
    # Rivals: noise for nine lengthscales, at the same power and at the same information.
    nine = [rbf(scale) for scale in np.geomspace(3.0, 12.0, 9)]
    rival = design_window(nine, [24], mse=power)
    assert scanned(rival.noise_cov) >= figures["information_lower_bound"] * (1 - 2e-4)
    frugal = design_window(nine, [24], information_limit=promise.worst_information)
    stretch = max(1.0, scanned(frugal.noise_cov) / promise.worst_information)
    assert frugal.noise_power * stretch >= figures["power_lower"]
    for name in ("information_lower_bound", "power_lower"):
        assert 0 < figures[name] <= max(promise.worst_information, power)


def test_only_the_worst_kernels_checked_join_those_designed_for():
    designed, checked = [rbf(3.0), rbf(12.0)], [rbf(s) for s in np.geomspace(3.0, 12.0, 25)]
    calls = []

    def design(priors):
        calls.append(len(priors))
        return design_window(priors, [24], mse=0.1)

    solution, chosen = window_exchange.exchanged(
        designed, checked, design, lambda prior, noise: oracle(prior, noise + 1e-12)
    )
    assert calls[0] == 2
    assert calls[-1] == len(chosen) < 12
    assert 1 < len(calls) <= window_exchange.MAX_PASSES
    worst = max(oracle(prior, solution.noise_cov) for prior in checked)
    assert worst <= solution.worst_information * (1 + 1.1e-3)


def test_a_pass_that_finds_nothing_leaves_the_one_before():
    designed, checked = [rbf(3.0), rbf(12.0)], [rbf(s) for s in np.geomspace(3.0, 12.0, 25)]

    def design(priors):
        if len(priors) > 2:
            raise DesignError("no way")
        return design_window(priors, [24], mse=0.1)

    solution, chosen = window_exchange.exchanged(designed, checked, design, oracle)
    assert len(chosen) == 2
    assert solution.worst_information < max(oracle(p, solution.noise_cov) for p in checked)


def test_what_is_not_proved_stands_in_the_promise_that_ships():
    made = built(RANGE, BUDGET)
    first = made.design.guarantee.prior[0]
    assert first.startswith(
        "RBF of lengthscale 3 s to 12 s, variance 1 (checked at 25 lengthscales; "
        "not proved between them)"
    )


def test_fragile_noise_says_so_in_the_promise_that_ships():
    made = built("{family: rbf, variance: 1.0, lengthscale: 6 s}", "budget: {mse: 0.02}")
    first = made.design.guarantee.prior[0]
    assert first.startswith("RBF of lengthscale 6 s, variance 1; fragile: at 0.5 times the ")
    times = float(
        first.split("at 1.5 times the lengthscale the information is at least ")[1].split()[0]
    )
    noise = made.design.factor @ made.design.factor.T
    assert times > 30
    # Readings that carry rounding's error are a weaker observer than the one of the figure.
    assert oracle(rbf(9.0), noise) / oracle(rbf(6.0), noise) <= times
    assert math.isfinite(times)


@pytest.mark.parametrize(
    ("kernels", "figures"),
    [
        (
            "{family: rbf, variance: 1.0, lengthscale: 6 s}, "
            "{family: rbf, variance: 1.0, lengthscale: 6.001 s}",
            True,
        ),
        (
            "{family: sum, parts: [{family: rbf, variance: 1.0, lengthscale: 6 s}, "
            "{family: constant, variance: 0.5}]}",
            True,
        ),
        (
            "{family: product, parts: [{family: rbf, variance: 1.0, lengthscale: 6 s}, "
            "{family: periodic, variance: 1.0, lengthscale: 1.0, period: 20 s}]}",
            True,
        ),
    ],
)
def test_noise_of_low_rank_warns_whatever_the_prior(kernels, figures):
    made = built(kernels, BUDGET)
    (warning,) = (line for line in made.warnings if "this noise fits" in line)
    assert ("1.5x the lengthscale" in warning) == figures
    assert "fragile" in made.design.guarantee.prior[-2]


def test_a_floor_is_no_low_rank():
    made = built(
        "{family: rbf, variance: 1.0, lengthscale: 6 s}", "budget: {mse: 0.1}\n    floor: 0.01"
    )
    assert not made.warnings
    assert "fragile" not in made.design.guarantee.prior[0]
