"""The loss function of a whole matrix as a small table: the upper envelope over all row pairs.

The pieces are the vertices of one chain of the convex hull of all prefix points of all ordered
pairs (see hull and loss_function), and the next piece takes over where the line through both
crosses the diagonal:

    u = (dQ - dD) / (Q dD - D dQ),   alpha = log(1 + u).

So the table is exact up to the rounding of the sums, which ``round_outwards`` covers: its L is
never below the true one and above it by at most :func:`slack`.
"""

import math
import sys
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agent.formats.leakage_table import LeakageTable
from precompute.leakage.hull import Chain, chain_of
from precompute.leakage.loss_function import points_of_pairs, unordered_pairs
from precompute.leakage.pruning import pairs_that_matter
from precompute.leakage.transition_matrices import TransitionMatrix

FloatArray = npt.NDArray[np.float64]
Points: TypeAlias = tuple[FloatArray, FloatArray]
MANY_ENTRIES = 20_000_000
SORT_ALL_BELOW = 200  # states; pruning pays beyond


def build_table(matrix: TransitionMatrix) -> LeakageTable:
    """The loss function of a matrix, never too small, too large by at most :func:`slack`."""
    return round_outwards(build_chain(matrix.probabilities), len(matrix))


def slack(states: int) -> float:
    """By how much, at most, a table's pieces exceed the true L (nats)."""
    return 2 * _relative_rounding(states) + 4 * sys.float_info.epsilon


def _relative_rounding(states: int) -> float:
    # A sum of n non-negative terms has a relative error below n eps / 2; the hull's turns and the
    # tests for being above the chain add a few eps.
    return (states + 16) * sys.float_info.epsilon


def round_outwards(chain: Chain, states: int) -> LeakageTable:
    """The table of a chain with Q rounded up and D rounded down by the sums' rounding."""
    factor = 1 + _relative_rounding(states)
    widened = chain_of(chain.losses / factor, np.minimum(1.0, chain.gains * factor))
    pieces: list[tuple[float, float, float]] = []
    for d, q in zip(widened.losses.tolist(), widened.gains.tolist(), strict=True):
        start = 0.0
        while pieces:
            start = _breakpoint(pieces[-1][1:], (q, d))
            if start > pieces[-1][0]:
                break
            pieces.pop()  # overtaken before it begins; only rounding brings this about
            start = 0.0
        if math.isfinite(start):
            pieces.append((start, q, d))
    starts, gains, losses = zip(*pieces, strict=True) if pieces else ((), (), ())
    return LeakageTable(tuple(starts), tuple(gains), tuple(losses))


def _breakpoint(now: tuple[float, float], then: tuple[float, float]) -> float:
    """alpha from which the vertex ``then`` (Q, D) is at least as good as ``now``, by rising alpha.

    From (Q2 u + 1)(D1 u + 1) >= (Q1 u + 1)(D2 u + 1).
    """
    (q1, d1), (q2, d2) = now, then
    room = q2 * d1 - q1 * d2
    behind = (q1 - q2) - (d1 - d2)
    if room <= 0:
        return math.inf
    return math.log1p(behind / room) if behind > 0 else 0.0


def build_chain(matrix: FloatArray) -> Chain:
    """The chain over all ordered pairs of rows of a row-stochastic matrix."""
    rows = np.unique(matrix, axis=0)  # equal rows give equal pairs
    if rows.shape[0] > SORT_ALL_BELOW:
        chain, first, second = pairs_that_matter(rows)
    else:
        chain = Chain(np.zeros(0), np.zeros(0))
        first, second = unordered_pairs(rows.shape[0])
    points = points_of_pairs(rows, first, second)
    for losses, gains in _with_progress(points, first.size * rows.shape[1]):
        chain = chain.extended(losses.ravel(), gains.ravel())
    return chain


def _with_progress(points: Iterator[Points], entries: int) -> Iterator[Points]:
    """The same points; on a terminal with a bar, when there are many."""
    if entries < MANY_ENTRIES or not sys.stderr.isatty():
        yield from points
        return
    from tqdm import tqdm

    with tqdm(total=2 * entries, desc="row pairs", unit_scale=True, leave=False) as bar:
        for losses, gains in points:
            bar.update(losses.size)
            yield losses, gains
