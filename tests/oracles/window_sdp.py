"""The general window design as a semidefinite program on a general conic solver (Clarabel).

Independent of the product: its own conditional covariances (explicit inverses with a stated ridge
where the prior is singular would be needed, so callers pass well-conditioned priors), its own
formulation by Schur complements, and a solver that shares nothing with ours.
"""

import itertools
from collections.abc import Sequence

import cvxpy as cp
import numpy as np


def least_power(
    priors: Sequence[np.ndarray],
    secrets: Sequence[Sequence[int]],
    limits: Sequence[float],
    floor: np.ndarray | None = None,
    blocks: Sequence[Sequence[int]] | None = None,
) -> float:
    """min tr G with d^T K d <= limit for every secret, prior and vertex d of the cube."""
    size = len(priors[0])
    noise = cp.Variable((size, size), PSD=True)
    constraints = list(_limits(priors, secrets, limits, noise))
    if floor is not None:
        constraints.append(noise - floor >> 0)
    if blocks is not None:
        constraints.append(noise[np.ix_(list(blocks[0]), list(blocks[1]))] == 0)
    problem = cp.Problem(cp.Minimize(cp.trace(noise)), constraints)
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    return float(problem.value)


def _limits(priors, secrets, limits, noise):
    for prior in priors:
        for secret, limit in zip(secrets, limits, strict=True):
            inside = list(secret)
            follow = prior[:, inside] @ np.linalg.inv(prior[np.ix_(inside, inside)])
            rest = prior - follow @ prior[inside]
            for signs in itertools.product((1.0, -1.0), repeat=len(inside) - 1):
                pull = (follow @ np.array([1.0, *signs]))[:, None]
                yield cp.bmat([[np.array([[limit]]), pull.T], [pull, rest + noise]]) >> 0


def tight_bound(matrix: np.ndarray) -> float:
    """min sum d with diag(d) - K >= 0."""
    diagonal = cp.Variable(len(matrix))
    problem = cp.Problem(cp.Minimize(cp.sum(diagonal)), [cp.diag(diagonal) - matrix >> 0])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)
