"""The loss function L of pairs of rows, exactly, through the prefix structure.

For an ordered pair (q, d) of rows, L(alpha) is the logarithm of the largest
(q.x)/(d.x) over vectors x whose entries differ by at most a factor e^alpha. The largest is reached
with entries 1 and e^alpha only, so with S the set of the latter,

    L(alpha) = max over S of log[(Q u + 1) / (D u + 1)],  Q = q(S), D = d(S), u = e^alpha - 1.

Every S gives a lower bound, and the best S collects the columns with the largest q_j / d_j (TPL
Theorem 4; the Neyman-Pearson argument). So L is the maximum over the n prefixes of the columns in
that order, for each pair and therefore over all pairs: ``points_of_pairs`` returns those (D, Q).
The reversed pair (d, q) has the reversed order, so its points are (1 - Q, 1 - D) of the same sort;
they are summed from the other end, because 1 - Q would lose small numbers.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
CHUNK_ENTRIES = 2_000_000


def unordered_pairs(states: int) -> tuple[IntArray, IntArray]:
    """Row numbers (first, second) of every pair once."""
    first, second = np.triu_indices(states, 1)
    return first, second


def points_of_pairs(
    matrix: FloatArray, first: IntArray, second: IntArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """(D, Q) of every prefix of both orders of each pair, in bounded memory.

    Args:
        matrix: (n, n), row-stochastic.
        first: (m,) row numbers.
        second: (m,) row numbers.

    Yields:
        Two arrays of equal shape, D and Q; each at most about 2 x CHUNK_ENTRIES entries.
    """
    n = matrix.shape[1]
    size = max(1, CHUNK_ENTRIES // n)
    for start in range(0, first.size, size):
        q = matrix[first[start : start + size]]
        d = matrix[second[start : start + size]]
        # q/(q+d) orders as q/d does and is finite when d = 0. Columns with q = d = 0 add nothing
        # wherever they stand.
        total = q + d
        np.divide(q, total, out=total, where=total > 0)
        order = np.argsort(total, axis=1)[:, ::-1]
        q = np.take_along_axis(q, order, axis=1)
        d = np.take_along_axis(d, order, axis=1)
        yield np.cumsum(d, axis=1), np.cumsum(q, axis=1)
        yield np.cumsum(q[:, ::-1], axis=1), np.cumsum(d[:, ::-1], axis=1)


def log_ratio(gains: FloatArray, losses: FloatArray, alpha: float) -> FloatArray:
    """log[(Q u + 1)/(D u + 1)] elementwise, u = e^alpha - 1, without overflow for any alpha."""
    kept = np.exp(-alpha)
    grown = -np.expm1(-alpha)
    if alpha < 1:
        return np.asarray(np.log1p((gains - losses) * grown / (kept + losses * grown)))
    with np.errstate(divide="ignore"):
        # Q = 0 becomes -inf in place of a value that is not above 0 either.
        lower = np.where(losses > 0, np.log(kept + losses * grown), -alpha)
        return np.asarray(np.log(kept + gains * grown) - lower)


def loss(matrix: FloatArray, alpha: float) -> float:
    """L(alpha) over all ordered pairs of rows of one matrix, directly, without the envelope."""
    largest = 0.0
    for losses, gains in points_of_pairs(matrix, *unordered_pairs(matrix.shape[0])):
        largest = max(largest, float(np.max(log_ratio(gains, losses, alpha))))
    return min(alpha, largest)


def pair_breakpoints(q: FloatArray, d: FloatArray) -> FloatArray:
    """Where one ordered pair drops the last column of its prefix: alpha_k, descending in k.

    alpha_k = log(1 + (q_k - d_k)/(Q_k d_k - q_k D_k)) with Q_k, D_k the sums over the columns
    before k in the order of q/d (TPL, Algorithm 1; the log(1 + .) is often forgotten).
    Columns with q_k <= d_k never belong to S and are left out.
    """
    order = np.argsort(-(q / np.where(q + d > 0, q + d, 1.0)), kind="stable")
    q, d = q[order], d[order]
    gains, losses = np.cumsum(q) - q, np.cumsum(d) - d
    inside = q > d
    room = (gains * d - q * losses)[inside]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(np.where(room > 0, (q - d)[inside] / room, np.inf)))
