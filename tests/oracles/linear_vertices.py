"""Small linear programs by looking at every vertex: each choice of N binding rows or bounds."""

import itertools

import numpy as np

NEAR = 1e-9


def least(cost, rows, limits, bounds):
    """The least cost @ v, or None; limits of the rows and bounds of v are (low, high)."""
    (low, high), (below, above) = limits, bounds
    size = cost.size
    left = np.vstack([rows, -rows, np.eye(size), -np.eye(size)])
    right = np.concatenate([high, -low, above, -below])
    left, right = left[np.isfinite(right)], right[np.isfinite(right)]
    best = None
    for chosen in itertools.combinations(range(right.size), size):
        part = left[list(chosen)]
        if abs(np.linalg.det(part)) < NEAR:
            continue
        v = np.linalg.solve(part, right[list(chosen)])
        if np.all(left @ v <= right + NEAR):
            best = cost @ v if best is None else min(best, cost @ v)
    return best
