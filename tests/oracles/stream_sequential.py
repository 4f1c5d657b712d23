"""The stream's convex problem by sequential quadratic programming with OSQP.

Each step minimises the quadratic model of the Lagrangian under the linearised limits
``1/K_i >= 1``, in units of the current variances; the new point is scaled so that the worst limit
holds exactly, and halved towards the old one while it is no better. Independent of the
interior-point solver; also what ``make bench-stream`` times it against.
"""

import numpy as np
import osqp
from scipy import sparse

MAX_STEPS = 40
LOWEST, HIGHEST = -0.95, 2.0  # relative change of a variance in one step


def least_power_by_sequential_programs(
    rows: np.ndarray, spectra: np.ndarray, tolerance: float = 1e-7
) -> tuple[float, int]:
    """Least power for limits of 1, and the number of quadratic programs it took."""
    m, J = len(rows), spectra.shape[1]
    c = _scaled(rows, spectra, np.ones(J))
    multipliers = np.full(m, c.sum() / m)
    for programs in range(1, MAX_STEPS + 1):
        power = c.sum()
        change, multipliers = _program(rows, spectra, c, multipliers)
        step = 1.0
        trial = _scaled(rows, spectra, c * (1 + change))
        while trial.sum() > power and step > 1e-3:
            step /= 2
            trial = _scaled(rows, spectra, c * (1 + step * change))
        c = trial
        if abs(c.sum() / power - 1) < tolerance or programs == MAX_STEPS:
            return float(c.sum()), programs
    raise AssertionError


def _program(
    rows: np.ndarray, spectra: np.ndarray, c: np.ndarray, multipliers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The relative change of c, and the new multipliers, from one quadratic program."""
    m, J = len(rows), len(c)
    inverse = 1 / (spectra @ c)
    K = rows @ inverse
    scaled = spectra * c
    rise = (rows * inverse**2) @ scaled / K[:, None] ** 2
    curvature = 2 * ((multipliers / K**2) @ rows) * inverse**3
    hessian = (scaled.T * curvature) @ scaled - (rise.T * (2 * multipliers * K)) @ rise
    power = c.sum()
    solver = osqp.OSQP()
    solver.setup(
        sparse.csc_matrix(np.triu(hessian / power + 1e-6 * np.eye(J))),
        c / power,
        sparse.csc_matrix(np.vstack([rise, np.eye(J)])),
        np.concatenate([1 - 1 / K, np.full(J, LOWEST)]),
        np.concatenate([np.full(m, np.inf), np.full(J, HIGHEST)]),
        verbose=False,
        eps_abs=1e-7,
        eps_rel=1e-7,
        max_iter=10_000,
        polishing=True,
    )
    answer = solver.solve(raise_error=False)
    return np.clip(answer.x, LOWEST, HIGHEST), np.maximum(-answer.y[:m], 0.0) * power


def _scaled(rows: np.ndarray, spectra: np.ndarray, c: np.ndarray) -> np.ndarray:
    return c * np.max(rows @ (1 / (spectra @ c)))
