"""Information privacy as linear rows of one sensor's map, made only where they bind.

With the other sensors fixed, p(g, z) = sum_x tensor[g, o, x] map[x, z_t]. Both sides of

    exp(-limit) p(g) p(z) <= p(g, z) <= exp(limit) p(g) p(z)

are linear in the map, with coefficients that do not depend on z_t: row (side, g, o) read at the
symbol z_t is ``rows[r] @ map[:, z_t] <= 0``. Rows are scaled to a largest entry of order 1, since
outcomes may be as rare as 1e-10 while a solver's tolerance is absolute.
"""

import math

import numpy as np

from precompute.mapping.joint import FloatArray, IntArray

# Rows added in a round: few keep the program small, many keep the rounds few.
MOST_ADDED = 48


def information_rows(tensor: FloatArray, limit: float) -> FloatArray:
    """(R, |X|) rows v with v @ map[:, z] <= 0 for every symbol z; R <= 2 |G| o.

    Args:
        tensor: (|G|, o, |X|) p(g, what the others say, x).
        limit: epsilon_I, finite, in nats.

    Outcomes of the others that never happen, and values of G without probability, have no row.
    """
    prior = tensor.sum(axis=(1, 2))
    total = tensor.sum(axis=0)
    scale = total.max(axis=1)
    held = scale > 0
    tensor = tensor[prior > 0][:, held]
    prior = prior[prior > 0][:, None, None]
    total = total[held]
    scale = scale[held][None, :, None]
    # p(g, z) / p(g) against p(z): scaled so that a violation is a relative one, whatever p(g).
    given = tensor / (prior * scale)
    whole = total[None] / scale
    upper = (given - math.exp(limit) * whole) * math.exp(-limit)
    lower = math.exp(-limit) * whole - given
    return np.asarray(np.concatenate([upper, lower]).reshape(-1, tensor.shape[2]))


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
