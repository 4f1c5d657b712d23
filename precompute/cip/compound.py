"""The worst pair of hypotheses about a compound secret: max of ``d^T K d``.

On one axis every time of the secret may move by up to the radius, so ``d`` lies in a cube (here of
half-width 1; callers multiply by the squared radius). On several axes each time moves within a
ball. Three numbers, each at least the one before:

* exact: the maximum of a convex function over a cube sits at a vertex, so all are tried;
* tight: the least ``sum d_k`` with ``K <= diag(d)``, the dual of a maximum-cut relaxation;
* paper: ``S`` times the largest eigenvalue of K.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from agent.formats.designs import FloatArray
from precompute.errors import DesignError

EXACT_LIMIT = 16
_MAX_SWEEPS = 5000
_RELATIVE_GAP = 1e-9


@dataclass(frozen=True, slots=True)
class Bound:
    """``value`` is never below the true maximum; ``lower`` never above it."""

    value: float
    lower: float
    method: Literal["exact", "tight", "paper"]


def worst_square(matrix: FloatArray, method: Literal["exact", "tight", "paper"]) -> Bound:
    """The maximum of ``d^T K d`` over the unit cube, by the named method.

    Args:
        matrix: K, (S, S), symmetric positive semidefinite; infinite entries give infinity.
    """
    if not bool(np.all(np.isfinite(matrix))):
        return Bound(np.inf, np.inf, method)
    if method == "exact":
        value, _ = worst_vertex(matrix)
        return Bound(value, value, "exact")
    if method == "tight":
        return tight_square(matrix)
    if method == "paper":
        top = float(np.linalg.eigvalsh(matrix)[-1])
        return Bound(len(matrix) * top, top, "paper")
    raise DesignError(f"refused bound {method!r}: expected exact, tight or paper")


def worst_vertex(matrix: FloatArray) -> tuple[float, FloatArray]:
    """The exact maximum over the cube and a vertex, entries ±1, that attains it.

    Raises:
        DesignError: more than ``EXACT_LIMIT`` times.
    """
    size = len(matrix)
    if size > EXACT_LIMIT:
        raise DesignError(
            f"refused bound 'exact': found {size} times in the secret, expected at most "
            f"{EXACT_LIMIT}; use 'tight'"
        )
    moves = vertices(size)
    values = np.einsum("ij,ij->i", moves @ matrix, moves)
    best = int(np.argmax(values))
    return float(values[best]), moves[best]


def vertices(size: int) -> FloatArray:
    """(2^(size-1), size) vertices of the cube; d and -d give the same value, so the first sign is
    always +."""
    codes = np.arange(1 << (size - 1))
    bits = (codes[:, None] >> np.arange(size - 1)) & 1
    return np.hstack([np.ones((len(codes), 1)), 1.0 - 2.0 * bits])


def tight_square(matrix: FloatArray, axes: int = 1) -> Bound:
    """Least ``sum d_k`` with ``K <= diag(d_k) ⊗ I``, as a certified upper bound.

    Args:
        matrix: K, (S axes, S axes), the axes of one time side by side: row ``time * axes + axis``.
        axes: each time moves within a ball of this dimension.

    The relaxation ``max <K, Z>`` over positive semidefinite Z whose blocks have trace 1 is climbed
    in the factored form ``Z = V V^T`` by the exact ascent step ``V_k <- G_k / |G_k|``, ``G = K V``.
    The lengths ``|G_k|`` are dual candidates; raising them by what is missing to
    ``diag(d) - K >= 0`` makes the bound valid wherever the ascent stopped.
    """
    size = len(matrix) // axes
    top = float(np.linalg.eigvalsh(matrix)[-1])
    best_upper, best_lower = size * top, 0.0
    rank = min(len(matrix), int(np.ceil(np.sqrt(2.0 * len(matrix)))) + 1)
    vectors = _start(matrix, rank, size, axes)
    for sweep in range(_MAX_SWEEPS):
        for k in range(size):
            rows = slice(k * axes, (k + 1) * axes)
            pull = matrix[rows] @ vectors
            length = float(np.linalg.norm(pull))
            if length > 0:
                vectors[rows] = pull / length
        if sweep % 10 == 9:
            upper, lower = _bracket(matrix, vectors, size, axes)
            best_upper, best_lower = min(best_upper, upper), max(best_lower, lower)
            if best_upper - best_lower <= _RELATIVE_GAP * best_upper:
                break
    # The ascent's value is that of the relaxation, not of a real pair of hypotheses: the lower
    # bound that is reported comes from one vertex or eigenvector.
    return Bound(best_upper, min(_rounded_lower(matrix, vectors, axes), best_upper), "tight")


def _start(matrix: FloatArray, rank: int, size: int, axes: int) -> FloatArray:
    generator = np.random.default_rng(20211)
    vectors = generator.standard_normal((len(matrix), rank))
    values, basis = np.linalg.eigh(matrix)
    vectors[:, 0] += 4.0 * basis[:, -1] * np.sqrt(len(matrix)) * float(values[-1] > 0)
    blocks = vectors.reshape(size, axes * rank)
    blocks /= np.linalg.norm(blocks, axis=1, keepdims=True)
    return blocks.reshape(len(matrix), rank)


def _bracket(matrix: FloatArray, vectors: FloatArray, size: int, axes: int) -> tuple[float, float]:
    pull = matrix @ vectors
    lengths = np.linalg.norm(pull.reshape(size, -1), axis=1)
    missing = -float(np.linalg.eigvalsh(np.diag(np.repeat(lengths, axes)) - matrix)[0])
    rounding = 1e-14 * float(np.sum(lengths))
    upper = float(np.sum(lengths)) + size * max(missing, 0.0) + rounding
    return upper, float(np.sum(pull * vectors))


def _rounded_lower(matrix: FloatArray, vectors: FloatArray, axes: int) -> float:
    best = 0.0
    for column in np.linalg.svd(vectors, full_matrices=False)[0].T:
        blocks = column.reshape(-1, axes)
        lengths = np.linalg.norm(blocks, axis=1, keepdims=True)
        moved = np.divide(blocks, lengths, out=np.zeros_like(blocks), where=lengths > 0).ravel()
        best = max(best, float(moved @ matrix @ moved))
    return best
