"""Built designs: their guarantees against figures worked out by hand, and the bundle's bytes."""

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest

from agent.formats.bundle import read_bundle
from agent.formats.documents import parse_yaml
from precompute.build_bundle import build_bundle
from precompute.cip.loss import information
from precompute.design_config import read_requests

WINDOW = """
designs:
  - name: trip
    kind: window
    times: {count: 12, step: 1 s}
    prior: {kernels: [%s]}
    %s
"""
RBF = "{family: rbf, variance: 1.0, lengthscale: 3 s}"


def built(text):
    return build_bundle(read_requests(parse_yaml(text.encode(), "design.yaml"), Path()))


def covariance_of(design):
    return design.factor @ design.factor.T


def test_every_point_a_secret_costs_one_over_the_noise_variance():
    bundle = built(WINDOW % (RBF, "budget: {mse: 0.02}"))
    design = bundle.designs[0].design
    promise = design.guarantee
    assert design.noise_variance == pytest.approx(0.02, rel=1e-12)
    assert promise.worst_information == pytest.approx(50, rel=1e-9)
    assert promise.radius == pytest.approx(math.sqrt(0.02))  # none was given: one deviation
    assert promise.rho == pytest.approx(0.5 * 50 * (math.sqrt(0.02) + 0.01) ** 2, rel=1e-9)
    assert promise.variance_free
    times = np.arange(12.0)
    prior = np.exp(-0.5 * ((times[:, None] - times) / 3) ** 2)
    assert covariance_of(design) == pytest.approx(0.02 * prior, abs=1e-14)


def test_protect_is_spent_in_full_and_never_exceeded():
    asked = "secret: {radius: 0.5}\n    protect: {epsilon: 2.0, delta: 1e-3}\n    segments: 3"
    text = WINDOW % (RBF, asked)
    promise = built(text).designs[0].design.guarantee
    assert promise.epsilon == pytest.approx(2.0, rel=1e-6)
    assert promise.epsilon <= 2.0 * (1 + 1e-9)
    assert promise.worst_information <= promise.information_limit
    assert promise.segments == 3


def test_a_periodic_prior_over_several_periods_needs_no_jitter():
    text = WINDOW % ("{family: periodic, period: 4 s, lengthscale: 1}", "noise: {std: 1}")
    one = built(text).designs[0]
    assert one.figures["rank"] <= 4
    assert one.figures["factor_error"] <= 1e-12
    cov = covariance_of(one.design)
    assert cov[0] == pytest.approx(np.tile(cov[0, :4], 3), abs=1e-12)


def test_one_secret_warns_of_other_lengthscales():
    one = built(WINDOW % (RBF, "secrets: [[6]]\n    budget: {mse: 0.1}")).designs[0]
    assert "one lengthscale only" in one.warnings[0]
    assert "1.5x the lengthscale" in one.warnings[0]
    assert one.design.guarantee.secrets.startswith("reading 6")
    assert not one.design.guarantee.variance_free


def test_a_compound_secret_on_two_axes_keeps_its_limit_in_every_direction():
    """Moves within balls: tried at random, none exceeds what the guarantee states."""
    text = WINDOW % (
        RBF,
        "axes: [x, y]\n    secrets: [[4, 5, 9]]\n"
        "    secret: {radius: 0.5}\n    protect: {rho: 1.0}",
    )
    design = built(text).designs[0].design
    times = np.arange(12.0)
    prior = np.exp(-0.5 * ((times[:, None] - times) / 3) ** 2)
    K = information(prior, [4, 5, 9], covariance_of(design))
    moves = np.random.default_rng(1).normal(size=(20_000, 3, 2))
    moves /= np.linalg.norm(moves, axis=2, keepdims=True)
    spent = np.einsum("nia,ij,nja->n", moves, K, moves)
    assert float(spent.max()) <= design.guarantee.worst_information
    assert design.guarantee.rho <= 1.0 * (1 + 1e-9)


def test_a_range_of_lengthscales_in_a_window_is_covered_and_its_limits_are_said():
    text = WINDOW % (
        "{family: rbf, variance: 1.0, lengthscale: [2 s, 5 s]}",
        "secret: {radius: 0.5}\n    protect: {rho: 1.0}",
    )
    one = built(text).designs[0]
    promise = one.design.guarantee
    times = np.arange(12.0)
    for lengthscale in np.geomspace(2, 5, 40):
        prior = np.exp(-0.5 * ((times[:, None] - times) / lengthscale) ** 2)
        worst = max(information(prior, i, covariance_of(one.design)) for i in range(12))
        assert worst <= promise.worst_information * (1 + 1e-3)
    assert 0.99 <= promise.rho <= 1.0 * (1 + 1e-9)
    assert not promise.variance_free
    assert "not proved" in one.warnings[-1]


def test_a_stream_states_its_promise_for_the_noise_that_is_given():
    text = """
designs:
  - name: location
    kind: stream
    axes: [east, north]
    noise: {std: 200 m}
    prior: {kernels: [{family: rbf, lengthscale: [30 s, 1 h]}]}
"""
    bundle = built(text)
    one = bundle.designs[0]
    promise = one.design.guarantee
    assert one.design.noise_variance == pytest.approx(40_000, rel=1e-9)
    assert promise.radius == pytest.approx(200)
    K = one.figures["relative_power"] / 40_000
    assert promise.worst_information == pytest.approx(K, rel=1e-8)
    assert promise.rho == pytest.approx(0.5 * K * (200 + 0.01 * math.sqrt(2)) ** 2, rel=1e-8)
    assert "any sum" in promise.prior[-1]
    assert "(proved)" in one.figures["proved"]
    again = read_bundle(bundle.content)
    assert again.sha256 == bundle.sha256 == hashlib.sha256(bundle.content).hexdigest()
    assert again.design("location") == one.design


def test_building_twice_gives_the_same_bytes():
    text = WINDOW % (RBF, "budget: {mse: 0.02}")
    assert built(text).content == built(text).content
