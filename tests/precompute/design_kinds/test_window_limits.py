"""A limit for each secret of a window: ``protect: {rho: [...]}``."""

from pathlib import Path

import numpy as np
import pytest

from agent.formats.documents import parse_yaml
from agent.formats.errors import FormatError
from precompute.build_bundle import build_bundle
from precompute.cip.window_design import design_window
from precompute.design_config import read_requests

WINDOW = """
designs:
  - name: trip
    kind: window
    axes: %s
    times: {count: 50, step: 1 s}
    prior: {kernels: [{family: rbf, variance: 1.0, lengthscale: %s}]}
    secrets: %s
    secret: {radius: 1}
    protect: {rho: %s}
"""


def read(secrets, rho, lengthscale="3 s", axes="[value]"):
    text = WINDOW % (axes, lengthscale, secrets, rho)
    return read_requests(parse_yaml(text.encode(), "design.yaml"), Path())


def information(noise, secret, lengthscale):
    """``A^T (C + G)^-1 A`` written out, with the error that rounding brings."""
    times = np.arange(50.0)
    prior = np.exp(-0.5 * ((times[:, None] - times) / lengthscale) ** 2)
    follow = np.linalg.solve(prior[np.ix_(secret, secret)], prior[secret]).T
    left_open = prior - follow @ prior[secret]
    return follow.T @ np.linalg.solve(left_open + noise + 0.0029**2 * np.eye(50), follow)


@pytest.mark.parametrize("lengthscale", ["3 s", "[3 s, 5 s]"])
def test_each_secret_keeps_its_own_limit(lengthscale):
    (made,) = build_bundle(read("[[24], [40]]", "[0.5, 1.0]", lengthscale)).designs
    promise = made.design.guarantee
    noise = made.design.factor @ made.design.factor.T
    limits = [2 * rho / 1.01**2 for rho in (0.5, 1.0)]
    for secret, limit in zip(([24], [40]), limits, strict=True):
        found = max(
            float(information(noise, secret, scale)[0, 0])
            for scale in (np.linspace(3, 5, 9) if "[" in lengthscale else [3.0])
        )
        assert 0.99 * limit <= found <= limit * (1 + 1e-4)
    assert promise.rho == pytest.approx(1.0, rel=0.01)
    assert promise.information_limit == pytest.approx(limits[1])
    assert "reading 24 (rho 0.5), 40 (rho 1) of 50" in promise.secrets
    assert made.figures["gap"] < 3e-3
    if "[" not in lengthscale:
        times = np.arange(50.0)
        prior = np.exp(-0.5 * ((times[:, None] - times) / 3.0) ** 2)
        same = design_window(prior, [[24], [40]], information_limit=limits)
        assert made.design.noise_variance == pytest.approx(same.noise_power, rel=1e-3)


def test_the_order_of_the_secrets_is_the_order_of_the_limits():
    (made,) = build_bundle(read("[[40], [24, 25]]", "[1.0, 0.5]", axes="[x, y]")).designs
    noise = made.design.factor @ made.design.factor.T
    loose = float(information(noise, [40], 3.0)[0, 0])
    matrix = information(noise, [24, 25], 3.0)
    tight = max(float(move @ matrix @ move) for move in (np.array([1, 1]), np.array([1, -1])))
    radius = 1 + 0.01 * np.sqrt(2)
    assert loose <= 2 * 1.0 / radius**2 * (1 + 1e-6)
    assert tight <= 2 * 0.5 / radius**2 * (1 + 1e-6)
    assert loose > 1.5 * tight


def test_more_secrets_than_are_named_have_their_limits_said():
    secrets = str([[i] for i in range(5, 50, 4)])
    rhos = [1.0] * 8 + [0.5, 0.6, 0.7, 0.8]
    (made,) = build_bundle(read(secrets, str(rhos))).designs
    assert "and 4 more (rho 0.5 to 0.8)" in made.design.guarantee.secrets


@pytest.mark.parametrize(
    ("secrets", "rho", "expected"),
    [
        ("all", "[0.5, 1.0]", "found 2 rho for secrets: all"),
        ("[[24], [40]]", "[0.5, 1.0, 2.0]", "found 3 rho for 2 secrets"),
        ("[[24], [40]]", "[]", "empty"),
        ("[[24], [40]]", "[0.5, -1]", "above"),
        ("[[24], [40]]", "[0.5, .nan]", "rho"),
    ],
)
def test_limits_that_fit_no_secrets_are_refused(secrets, rho, expected):
    with pytest.raises(FormatError, match=expected) as refused:
        read(secrets, rho)
    assert "\n" not in str(refused.value)


def test_a_stream_takes_one_limit_only():
    text = """
designs:
  - {name: s, kind: stream, secret: {radius: 1}, protect: {rho: [0.5, 1.0]},
     prior: {kernels: [{family: rbf, lengthscale: 6 s}]}}
"""
    with pytest.raises(FormatError, match="found 2 rho; expected one number"):
        read_requests(parse_yaml(text.encode(), "design.yaml"), Path())
