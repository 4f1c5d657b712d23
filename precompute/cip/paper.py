"""The noise of Meehan & Chaudhuri 2021 (arXiv 2102.11955), for comparison.

SDP_A designs noise for one secret, independent between the secret and the rest; SDP_B finds the
least noise that dominates several; Algorithm 1, *Multiple Secrets*, is SDP_A for each and then
SDP_B. Beside them stand the paper's two baselines. Written from the paper's statement, on conic
solvers through cvxpy, which is no dependency of the product itself: Clarabel, and SCS where an
interior point method would need tens of gigabytes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.formats.designs import FloatArray
from precompute.cip.covariance import checked_covariance, checked_secret, checked_secrets
from precompute.cip.posterior import regression
from precompute.errors import DesignError, PrecomputeError

_INTERIOR_POINT_ENTRIES = 20_000


def sdp_a(prior_cov: npt.ArrayLike, secret: int | Sequence[int], total_power: float) -> FloatArray:
    """Noise covariance for one secret with trace at most ``total_power``.

    With A how the trace follows the secret, A+ its left inverse and C what the secret leaves open,
    the program maximises b over Y with ``A+ Y A+^T >= b I``, ``Y >= C`` and ``tr Y <= tr C +
    total_power``. It stands in for maximising the smallest eigenvalue of ``(A^T Y^-1 A)^-1``, which
    ``A+ Y A+^T`` bounds from above only. The noise is ``Y - C``, with the blocks between secret and
    rest dropped and the secret's own block averaged to a multiple of the identity.

    Raises:
        DesignError: no optimum was found, or the budget is not positive.
        PrecomputeError: cvxpy is not installed.
    """
    prior = checked_covariance(prior_cov).matrix
    inside = list(checked_secret(secret, len(prior)))
    _require_budget(total_power)
    cp = _cvxpy()
    follow, left_open = regression(prior, tuple(inside))
    left_inverse = np.linalg.pinv(follow)
    total = cp.Variable(prior.shape, symmetric=True)
    smallest = cp.Variable(nonneg=True)
    _solve(
        cp,
        cp.Maximize(smallest),
        [
            left_inverse @ total @ left_inverse.T >> smallest * np.eye(len(inside)),
            total >> left_open,
            cp.trace(total) <= np.trace(left_open) + total_power,
        ],
    )
    rest = [index for index in range(len(prior)) if index not in inside]
    spread = np.asarray(total.value, dtype=np.float64) - left_open
    noise = np.zeros_like(prior)
    noise[inside, inside] = np.mean(spread[inside, inside])
    noise[np.ix_(rest, rest)] = spread[np.ix_(rest, rest)]
    return _positive(noise)


def sdp_b(noise_covs: Sequence[npt.ArrayLike]) -> FloatArray:
    """The noise of least trace that lies above every one of ``noise_covs``.

    A first-order solver's answer is lifted by a multiple of the identity until it does.
    """
    if len(noise_covs) == 0:
        raise DesignError("refused noise covariances: found none, expected at least one")
    given = [checked_covariance(one, "noise covariance").matrix for one in noise_covs]
    cp = _cvxpy()
    noise = cp.Variable(given[0].shape, symmetric=True)
    large = len(given) * given[0].size > _INTERIOR_POINT_ENTRIES
    constraints = [noise >> one for one in given]
    _solve(cp, cp.Minimize(cp.trace(noise)), constraints, cp.SCS if large else cp.CLARABEL)
    found = _positive(np.asarray(noise.value, dtype=np.float64))
    missing = max(-float(np.linalg.eigvalsh(found - one)[0]) for one in given)
    return found + max(missing, 0.0) * np.eye(len(found))


def multiple_secrets(
    prior_cov: npt.ArrayLike, secrets: Sequence[int | Sequence[int]], power_each: float
) -> FloatArray:
    """Algorithm 1: SDP_A for each secret with ``power_each``, joined by SDP_B."""
    prior = checked_covariance(prior_cov).matrix
    chosen = checked_secrets(secrets, len(prior))
    return sdp_b([sdp_a(prior, secret, power_each) for secret in chosen])


def independent_uniform(count: int, total_power: float) -> FloatArray:
    """Baseline: the same independent noise on every reading."""
    _require_budget(total_power)
    return np.eye(count) * (total_power / count)


def independent_concentrated(
    count: int, secret: int | Sequence[int], total_power: float
) -> FloatArray:
    """Baseline: independent noise on the secret's readings only."""
    _require_budget(total_power)
    inside = list(checked_secret(secret, count))
    noise = np.zeros((count, count))
    noise[inside, inside] = total_power / len(inside)
    return noise


def _cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError as error:
        raise PrecomputeError(
            "the published designs need cvxpy: pip install 'sfumato[dev]'"
        ) from error
    return cvxpy


def _solve(cp: Any, objective: Any, constraints: list[Any], solver: str | None = None) -> None:
    problem = cp.Problem(objective, constraints)
    problem.solve(solver=solver or cp.CLARABEL)
    if problem.status not in {cp.OPTIMAL, cp.OPTIMAL_INACCURATE}:
        raise DesignError(f"refused the published design: the solver says {problem.status}")


def _positive(noise: FloatArray) -> FloatArray:
    """Without the solver's small negative eigenvalues."""
    values, vectors = np.linalg.eigh(0.5 * (noise + noise.T))
    result: FloatArray = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return result


def _require_budget(total_power: float) -> None:
    if not total_power > 0:
        raise DesignError(f"refused the budget: found {total_power:g}, expected above 0")
