"""Information privacy as linear rows of one sensor's map, made only where they bind.

With the other sensors fixed, p(g, z) = sum_x tensor[g, o, x] map[x, z_t]. Both sides of

    exp(-limit) p(g) p(z) <= p(g, z) <= exp(limit) p(g) p(z)

(or, with regimes, p(z|r) <= exp(limit) p(z|r') for all that differ in G; regimes.py)
are linear in the map, with coefficients that do not depend on z_t: row (side, g, o) read at the
symbol z_t is ``rows[r] @ map[:, z_t] <= 0``. Rows are scaled to a largest entry of order 1, since
outcomes may be as rare as 1e-10 while a solver's tolerance is absolute.
"""

import math

import numpy as np

from precompute.mapping.joint import FloatArray, IntArray
from precompute.mapping.regimes import comparisons

# Rows added in a round: few keep the program small, many keep the rounds few.
MOST_ADDED = 48


def sides(prior: FloatArray, limit: float, value_of: tuple[int, ...] | None) -> FloatArray:
    """(S, |G|) rows c: information privacy asks c @ p(z|g) <= 0 for each of them and all z.

    Args:
        prior: (|G|,) p(g), or of regimes.
        limit: epsilon_I, finite, in nats.
        value_of: of :class:`Joint`: the value of G of each regime, or None.

    Values of G (or regimes) without probability have no row and the coefficient 0.
    """
    held = np.flatnonzero(prior > 0)
    little = math.exp(-limit)
    if value_of is None:
        one, other = np.eye(prior.size)[held], prior / prior.sum()
        return np.concatenate([little * one - other, little * other - one])
    pairs = comparisons(value_of)
    pairs = pairs[np.isin(pairs, held).all(axis=1)]
    found = np.zeros((pairs.shape[0], prior.size))
    found[np.arange(pairs.shape[0]), pairs[:, 0]] = little
    found[np.arange(pairs.shape[0]), pairs[:, 1]] = -1.0
    return found


def information_rows(
    tensor: FloatArray, limit: float, value_of: tuple[int, ...] | None = None
) -> FloatArray:
    """(R, |X|) rows v with v @ map[:, z] <= 0 for every symbol z; R is o times the sides.

    Args:
        tensor: (|G|, o, |X|) p(g, what the others say, x).
        limit: epsilon_I, finite, in nats.
        value_of: as for :func:`sides`.

    Outcomes of the others that never happen have no row.
    """
    prior = tensor.sum(axis=(1, 2))
    scale = tensor.sum(axis=0).max(axis=1)
    held = scale > 0
    # p(z|g) against p(z): scaled so that a violation is a relative one, whatever p(g).
    given = tensor[:, held] / (
        np.where(prior > 0, prior, 1.0)[:, None, None] * scale[held][:, None]
    )
    rows = np.tensordot(sides(prior, limit, value_of), given, axes=1)
    return np.asarray(rows.reshape(-1, tensor.shape[2]))


def violated(rows: FloatArray, said: FloatArray, slack: FloatArray | float) -> IntArray:
    """Numbers r * |Z| + z of the worst rows above their slack, the worst first.

    Args:
        rows: (R, |X|) of :func:`information_rows`.
        said: (|X|, |Z|) the map to look at.
        slack: what a row may reach, a number or (R, |Z|).
    """
    excess = (rows @ said - slack).ravel()
    places = np.flatnonzero(excess > 0)
    if places.size > MOST_ADDED:
        places = places[np.argpartition(-excess[places], MOST_ADDED)[:MOST_ADDED]]
    return np.asarray(places[np.argsort(-excess[places], kind="stable")])
