"""Which pairs of rows can touch the envelope: for large matrices, few need to be sorted.

The hull of a pair's prefix points has the support function

    E_c(q || d) = max over S of q(S) - c d(S) = (sum_j |q_j - c d_j| + 1 - c) / 2,   c >= 1

(the hockey-stick divergence), which needs no sort. It is convex in c, so between two slopes it
stays below its chord. The largest E over all pairs is bounded from below by the vertices already
known, convex and piecewise linear. A pair whose chords never pass that bound adds nothing. Slopes
are added where most pairs are still in doubt, as in the chord algorithm for convex hulls; a pair
is dropped only on proof, with the rounding of the sums on its side.
"""

import sys

import numpy as np
import numpy.typing as npt

from precompute.leakage.hull import Chain
from precompute.leakage.loss_function import IntArray, points_of_pairs

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
MAX_SLOPES = 32
PAIRS_WORTH_A_SLOPE = 10  # times the number of rows: sorting as many costs what one slope does
FIRST_LOOK = 10  # slopes after which pruning stops if it has dropped less than half of the pairs
MOST_VERTICES = 64


def pairs_that_matter(rows: FloatArray) -> tuple[Chain, IntArray, IntArray]:
    """A chain of points of the matrix, and the pairs that could still extend it.

    Args:
        rows: (m, n), all different, each summing to 1.

    Returns:
        The chain found so far, and the row numbers (first, second) of the pairs to be sorted.
    """
    number = rows.shape[0]
    # Beyond the steepest finite ratio only columns with d = 0 count: E is their mass.
    certain = rows @ (rows == 0).astype(np.float64).T
    chain = _with_pair(Chain(np.zeros(0), np.zeros(0)), rows, certain)
    if chain.gains.size and chain.losses[-1] == 0 and chain.gains[-1] >= 1 - _rounding(rows):
        # Rows without a common column: L(alpha) = alpha, which nothing exceeds.
        return Chain(np.zeros(1), np.ones(1)), np.zeros(0, np.intp), np.zeros(0, np.intp)
    alive = np.flatnonzero(~np.eye(number, dtype=bool))
    divergence, chain = _divergence(rows, 1.0, chain)
    slopes = [1.0, _steepest_ratio(rows)]
    values = [divergence.ravel()[alive], certain.ravel()[alive]]
    while True:
        doubtful, chosen = _doubtful(slopes, values, chain)
        alive = alive[doubtful]
        values = [value[doubtful] for value in values]
        hopeless = len(slopes) >= FIRST_LOOK and 2 * alive.size > number * number
        enough = alive.size <= PAIRS_WORTH_A_SLOPE * number or len(slopes) >= MAX_SLOPES
        if chosen is None or enough or hopeless:
            break
        divergence, chain = _divergence(rows, chosen, chain)
        place = int(np.searchsorted(slopes, chosen))
        slopes.insert(place, chosen)
        values.insert(place, divergence.ravel()[alive])
    first, second = np.divmod(alive, number)
    unordered = np.unique(np.minimum(first, second) * number + np.maximum(first, second))
    return chain, unordered // number, unordered % number


def _divergence(rows: FloatArray, slope: float, chain: Chain) -> tuple[FloatArray, Chain]:
    """E of all ordered pairs at a slope, rounded up, and the chain with the best pair's points."""
    from scipy.spatial.distance import cdist

    # c d_j above every q_j counts as much as the largest q_j: capping it there keeps the sums,
    # and so their rounding, small for any slope.
    capped = np.minimum(slope * rows, rows.max(axis=0))
    totals = capped.sum(axis=1)
    value = (cdist(rows, capped, "cityblock") + 1 - totals[None, :]) / 2
    np.fill_diagonal(value, 0.0)
    chain = _with_pair(chain, rows, value)
    return value + _rounding(rows) * (1 + float(totals.max())), chain


def _with_pair(chain: Chain, rows: FloatArray, value: FloatArray) -> Chain:
    """The chain with the points of the ordered pair whose value is largest."""
    first, second = np.unravel_index(int(np.argmax(value)), value.shape)
    for losses, gains in points_of_pairs(rows, np.array([first]), np.array([second])):
        chain = chain.extended(losses.ravel(), gains.ravel())
    return chain


def _doubtful(
    slopes: list[float], values: list[FloatArray], chain: Chain
) -> tuple[BoolArray, float | None]:
    """Which pairs may pass the chain somewhere, and the slope that would settle most of them.

    A chord minus a convex piecewise linear bound is concave, so looking at the bound's kinks and
    at the slopes themselves is enough. Fewer vertices give a lower, still valid bound. At the
    steepest slope the values are exact sums, which rounding the table outwards covers.
    """
    some = np.unique(np.linspace(0, chain.gains.size - 1, MOST_VERTICES).astype(np.intp))
    coarse = Chain(chain.losses[some], chain.gains[some])
    kinks = coarse.slopes()
    doubtful = np.zeros(values[0].size, dtype=bool)
    most, chosen = 0, None
    for i in range(len(slopes) - 1):
        left, right = slopes[i], slopes[i + 1]
        inside = kinks[(kinks > left) & (kinks < right)]
        here = values[i] > float(chain.support(np.array([left]))[0])
        largest, worst = 0.0, None
        for slope, bound in zip(inside.tolist(), coarse.support(inside).tolist(), strict=True):
            share = (slope - left) / (right - left)
            excess = (1 - share) * values[i] + (share * values[i + 1] - bound)
            here |= excess > 0
            greatest = float(np.max(excess, initial=0.0))
            if greatest > largest:
                largest, worst = greatest, slope
        doubtful |= here
        number = int(np.sum(here))
        if worst is not None and number > most:
            most, chosen = number, worst
    return doubtful, chosen


def _steepest_ratio(rows: FloatArray) -> float:
    """The largest finite q_j / d_j over all pairs, rounded up; finite and above 1."""
    least = np.where(rows > 0, rows, np.inf).min(axis=0)
    with np.errstate(over="ignore"):
        largest = float(np.max(rows.max(axis=0) / least)) * (1 + 4 * sys.float_info.epsilon)
    return float(min(max(largest, 1 + 1e-9), sys.float_info.max / 4))


def _rounding(rows: FloatArray) -> float:
    """Relative error of sums of n terms, doubled so that a chord between two is covered too."""
    return float(2 * (rows.shape[1] + 16) * sys.float_info.epsilon)
