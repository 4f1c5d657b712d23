"""Everything wrong that a design can be asked for is refused, in one clear line."""

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.formats.documents import Section
from agent.formats.errors import SfumatoError
from precompute import cip
from precompute.build_bundle import build_bundle
from precompute.cip.covariance import REPAIR_TOLERANCE
from precompute.design_config import read_requests
from precompute.errors import DesignError, PriorError
from precompute.priors.kernels import RBF

WINDOW: dict[str, Any] = {
    "name": "one",
    "kind": "window",
    "times": {"count": 20, "step": "1 s"},
    "prior": {"kernels": [{"family": "rbf", "variance": 1.0, "lengthscale": "6 s"}]},
    "secrets": [[9]],
    "budget": {"mse": 0.02},
}
STREAM: dict[str, Any] = {
    "name": "one",
    "kind": "stream",
    "secret": {"radius": 1.0},
    "protect": {"epsilon": 1.0, "delta": 1e-3},
    "prior": {"kernels": [{"family": "rbf", "lengthscale": "6 s"}]},
}


def _kernel(**changes: Any) -> dict[str, Any]:
    kernel = {"family": "rbf", "variance": 1.0, "lengthscale": "6 s", **changes}
    return {"prior": {"kernels": [{k: v for k, v in kernel.items() if v is not None}]}}


def _periodic(period: str, **changes: Any) -> dict[str, Any]:
    return _kernel(family="periodic", lengthscale=1.0, period=period, **changes)


def _protect(**promise: Any) -> dict[str, Any]:
    return {"budget": None, "protect": {"radius": 1.0, **promise}}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no secret": (WINDOW, {"secrets": []}, "an empty list"),
    "an empty secret": (WINDOW, {"secrets": [[]]}, r"found \[\[\]\]; expected all, or"),
    "a reading twice": (WINDOW, {"secrets": [[3, 3]]}, "stands twice"),
    "a secret twice": (WINDOW, {"secrets": [[3, 4], [4, 3]]}, "repeated"),
    "a reading outside": (WINDOW, {"secrets": [[20]]}, "expected 0 to 19"),
    "a reading before": (WINDOW, {"secrets": [[-1]]}, "found -1"),
    "a word for secrets": (WINDOW, {"secrets": "some"}, "expected all, or"),
    "readings that determine each other": (
        WINDOW,
        {"secrets": [[3, 4]], **_kernel(lengthscale="1 w")},
        "determine each other",
    ),
    "no budget": (WINDOW, {"budget": {"mse": 0}}, "above zero"),
    "a negative budget": (WINDOW, {"budget": {"mse": -1}}, "above zero"),
    "a budget that is no number": (WINDOW, {"budget": {"mse": float("nan")}}, "not finite"),
    "no noise": (WINDOW, {"budget": {"std": 0}}, "above zero"),
    "epsilon 0": (WINDOW, _protect(epsilon=0, delta=1e-3), "above zero"),
    "rho 0": (WINDOW, _protect(rho=0), "above zero"),
    "radius 0": (WINDOW, _protect(rho=0.1, radius=0), "above zero"),
    "a limit that no noise meets": (WINDOW, _protect(rho=1e-9, radius=1e16), "no noise"),
    "a limit out of this world": (WINDOW, _protect(rho=1e-300), "between 1e-30 and 1e\\+30"),
    "a limit and a budget": (WINDOW, {"protect": {"rho": 1.0, "radius": 1.0}}, "expected one of"),
    "a floor above the budget": (WINDOW, {"floor": 1.0}, "lower the floor"),
    "a floor in blocks": (WINDOW, {"floor": 0.001, "structure": "block"}, "structure 'free'"),
    "a structure that is none": (WINDOW, {"structure": "diagonal"}, "expected one of free, block"),
    "lengthscales reversed": (WINDOW, _kernel(lengthscale=["9 s", "3 s"]), "smaller first"),
    "lengthscale 0": (WINDOW, _kernel(lengthscale="0 s"), "above zero"),
    "a lengthscale without its unit": (WINDOW, _kernel(lengthscale=6), "unit"),
    "a period below two steps": (WINDOW, _periodic("1.5 s"), "two steps a period"),
    "such a period that fades": (
        WINDOW,
        _periodic("1.5 s")
        | _kernel(family="damped_periodic", lengthscale=1.0, period="1.5 s", damping="9 s"),
        "two steps a period",
    ),
    "damping reversed": (
        WINDOW,
        _kernel(family="damped_periodic", lengthscale=1.0, period="5 s", damping=["9 s", "5 s"]),
        "smaller first",
    ),
    "no reading": (WINDOW, {"times": {"count": 0, "step": "1 s"}}, "at least 1"),
    "a step of 0": (WINDOW, {"times": {"count": 5, "step": "0 s"}}, "above zero"),
    "no kernel": (WINDOW, {"prior": {"kernels": []}}, "an empty list"),
    "no variance": (WINDOW, _kernel(variance=None), "has no variance"),
    "variance 0": (WINDOW, _kernel(variance=0), "above zero"),
    "a stream of lengthscales reversed": (
        STREAM,
        _kernel(variance=None, lengthscale=["9 s", "3 s"]),
        "smaller first",
    ),
    "a stream against what never fades": (STREAM, _periodic("1 d", variance=None), "damping"),
    "a stream of epsilon 0": (STREAM, {"protect": {"epsilon": 0, "delta": 1e-3}}, "above zero"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_design_file_asks_for_nonsense(case: str) -> None:
    base, changes, expected = CASES[case]
    design = copy.deepcopy(base) | changes
    content = {"designs": [{k: v for k, v in design.items() if v is not None}]}
    with pytest.raises(SfumatoError) as refused:
        build_bundle(read_requests(Section(content, "design.yaml"), Path()))
    line = str(refused.value)
    assert re.search(expected, line), line
    assert "\n" not in line
    assert len(line) < 300


PRIOR = np.exp(-((np.arange(6.0)[:, None] - np.arange(6.0)) ** 2) / 8)
CALLS: dict[str, Callable[[np.ndarray], object]] = {
    "information": lambda prior: cip.information(prior, 2, np.eye(6)),
    "posterior_variance": lambda prior: cip.posterior_variance(prior, 2, np.eye(6)),
    "loss": lambda prior: cip.loss(prior, 2, np.eye(6), 1.0, 2.0),
    "the noise of information": lambda noise: cip.information(PRIOR, 2, noise),
    "design_window": lambda prior: cip.design_window(prior, [[2]], mse=0.1),
}
MATRICES: dict[str, tuple[np.ndarray, str]] = {
    "not square": (PRIOR[:5], "shape"),
    "not symmetric": (PRIOR + np.triu(np.ones((6, 6)), 1), "asymmetry"),
    "indefinite": (PRIOR - 0.5 * np.eye(6), "eigenvalue"),
    "not finite": (PRIOR * np.nan, "NaN"),
    "of nothing": (np.zeros((0, 0)), "shape"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", MATRICES)
def test_a_matrix_that_is_no_covariance(call: str, kind: str) -> None:
    matrix, expected = MATRICES[kind]
    with pytest.raises((PriorError, DesignError), match=expected) as refused:
        CALLS[call](matrix)
    assert "\n" not in str(refused.value)


def test_a_near_miss_is_repaired_and_said() -> None:
    slanted = PRIOR.copy()
    slanted[0, 1] += 0.5 * REPAIR_TOLERANCE
    repaired = cip.design_window(slanted, [[2]], mse=0.1)
    assert any("averaged away" in note for note in repaired.notes)
    dipped = PRIOR - (np.linalg.eigvalsh(PRIOR)[0] + 0.5 * REPAIR_TOLERANCE) * np.eye(6)
    repaired = cip.design_window(dipped, [[2]], mse=0.1)
    assert any("set to 0" in note for note in repaired.notes)
    assert cip.design_window(PRIOR, "all", mse=0.1).notes == ()


@pytest.mark.parametrize(
    ("secrets", "expected"),
    [([], "none"), ([[]], "no index"), ([[1, 1]], "repeated"), ([[1], [1]], "twice"), ("x", "all")],
)
def test_secrets_that_are_none(secrets: Any, expected: str) -> None:
    with pytest.raises(DesignError, match=expected):
        cip.design_window(PRIOR, secrets, mse=0.1)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"mse": 0.0}, "budget"),
        ({"mse": float("inf")}, "budget"),
        ({"information_limit": 0.0}, "no noise"),
        ({"information_limit": 1e-14}, "no noise"),
        ({}, "exactly one"),
        ({"mse": 0.1, "information_limit": 1.0}, "exactly one"),
    ],
)
def test_budgets_and_limits_that_cannot_be(asked: dict[str, float], expected: str) -> None:
    with pytest.raises(DesignError, match=expected):
        cip.design_window(PRIOR, [[2]], **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "priors", [[np.eye(4), np.eye(3)], [np.eye(4), np.ones((4, 3))], [[1.0], [1.0, 2.0]], "prior"]
)
def test_priors_of_different_readings(priors: Any) -> None:
    with pytest.raises(PriorError, match=r"different shapes.*expected \(n, n\) each") as refused:
        cip.design_window(priors, [[2]], mse=0.1)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("radius", [0.0, -1.0, float("inf"), float("nan")])
def test_radii_that_cannot_be(radius: float) -> None:
    with pytest.raises(DesignError, match="radius"):
        cip.loss(PRIOR, 2, np.eye(6), radius, 2.0)


@pytest.mark.parametrize(
    ("times", "expected"),
    [([0.0, 1.0, 1.0], "1 and 2 are equal"), ([0.0, 2.0, 1.0], "goes back"), ([], "shape")],
)
def test_times_that_cannot_be(times: list[float], expected: str) -> None:
    with pytest.raises(PriorError, match=expected):
        cip.prior_covariance(RBF(3.0), times)


def test_times_need_not_be_even() -> None:
    found = cip.prior_covariance(RBF(3.0), [0.0, 1.0, 5.0])
    assert found[1, 2] == pytest.approx(np.exp(-16 / 18))
