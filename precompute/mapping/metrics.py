"""What one who sees Z learns of G or of X: the metrics of the literature, in nats, exactly.

Every function takes probabilities written out and returns one number >= 0, ``inf`` where nothing
bounds it. Outcomes and values of probability zero are left out: there is nothing to condition on.
How the metrics imply each other, and where they do not, is in docs/mapping-metrics.md.

Conventions: a *map* is (|X|, |Z|) p(z|x), rows summing to 1. A *joint* is (|A|, N) p(a, z), all
summing to 1, with the outcomes of all sensors flattened into one axis. Sums are believed to
rounding (``SUM_TOLERANCE``).

Ratios near 1 are taken as log1p((a - b)/b): a - b is exact there, log(a/b) is not.
"""

import math

import numpy as np
import numpy.typing as npt

from precompute.mapping.errors import MappingError
from precompute.mapping.joint import SUM_TOLERANCE, FloatArray, Joint

# Where the series of h, four terms, and its plain formula are equally good: both to 1e-12.
_SERIES_BELOW = 1e-3


def information_privacy(joint: FloatArray) -> float:
    """The least eps with exp(-eps) <= p(a|z)/p(a) <= exp(eps) for all a and z.

    du Pin Calmon & Fawaz (Allerton 2012), Definition 6; Sun & Tay (2020), Definition 1.

    Args:
        joint: (|A|, N) p(a, z).

    Raises:
        MappingError: not a distribution.
    """
    joint = _possible(joint)
    values, outcomes = joint.sum(axis=1) / joint.sum(), joint.sum(axis=0)
    # p(a)p(z) may underflow where the ratio does not, so the smaller product is never formed alone.
    given = joint / outcomes
    return _widest(given, np.broadcast_to(values[:, None], given.shape))


def local_privacy(table: FloatArray) -> float:
    """The least eps with p(z|x) <= exp(eps) p(z|x') for all x, x' and z.

    Local differential privacy: Kasiviswanathan et al. (2011), Duchi et al. (2013). Every row
    counts, likely or not.

    Args:
        table: (|X|, |Z|) p(z|x).

    Raises:
        MappingError: not a map.
    """
    table = _map(table)
    table = table[:, table.max(axis=0) > 0]
    return _widest(table.max(axis=0), table.min(axis=0))


def inference_privacy(joint: FloatArray) -> float:
    """The least eps with p(z|a) <= exp(eps) p(z|a') for all possible a, a' and all z.

    Differential privacy of a hypothesis: Sun & Tay (2020), inference differential privacy.

    Args:
        joint: (|A|, N) p(a, z).

    Raises:
        MappingError: not a distribution.
    """
    return local_privacy(given_value(joint))


def regime_privacy(joint: FloatArray, value_of: tuple[int, ...]) -> float:
    """The least eps with p(z|r) <= exp(eps) p(z|r') for all regimes r, r' of different values of G.

    What information privacy is worth for every mixture of regimes and every p(g): ours, proved in
    :mod:`precompute.mapping.regimes`. With one regime for each value it is inference privacy.

    Args:
        joint: (R, N) p(r, z).
        value_of: the value of G of each of the R regimes; those of probability 0 do not count.

    Raises:
        MappingError: not a distribution.
    """
    held = joint.sum(axis=1) > 0
    given = given_value(joint)
    values = np.array(value_of)[held]
    given = given[:, given.max(axis=0) > 0]
    worst = 0.0
    for value in np.unique(values):
        ours, others = given[values == value], given[values != value]
        if others.size:
            worst = max(worst, _above(ours.max(axis=0), others.min(axis=0)))
    return worst


def identifiability(joint: FloatArray) -> float:
    """The least eps with p(x|z) <= exp(eps) p(x'|z) for all possible x, x' and all z.

    Wang, Ying & Zhang (IEEE Trans. Inf. Theory 2016), Definition 1, for a database of one record:
    its neighbours are then any two values. Unlike the others it is not 0 when Z says nothing, but
    max log p(x)/p(x').

    Args:
        joint: (|X|, N) p(x, z).

    Raises:
        MappingError: not a distribution.
    """
    joint = _possible(joint)
    return _widest(joint.max(axis=0), joint.min(axis=0))


def maximal_leakage(table: FloatArray, possible: npt.NDArray[np.bool_] | None = None) -> float:
    """log of the sum over z of max over possible x of p(z|x).

    How many times likelier the best guess of any function of X becomes by seeing Z: Issa, Wagner &
    Kamath (2016 and IEEE Trans. Inf. Theory 2020), Theorem 1.

    Args:
        table: (|X|, |Z|) p(z|x).
        possible: (|X|,) whether p(x) > 0; all, if not given.

    Raises:
        MappingError: not a map, or nothing is possible.
    """
    table = _map(table)
    if possible is not None:
        if possible.shape != (table.shape[0],) or not possible.any():
            raise MappingError(
                "metrics: maximal leakage: expected one truth value for each row of the map, one "
                "of them true at least"
            )
        table = table[possible]
    # A row sums to 1, so what the maxima have beyond the first row is the sum's excess over 1.
    return math.log1p(float((table.max(axis=0) - table[0]).sum() / table[0].sum()))


def mutual_information(joint: FloatArray) -> float:
    """I(A; Z) = sum p(a, z) log p(a, z)/(p(a) p(z)).

    Summed as p(a) p(z) h(d), 1 + d the ratio, h(d) = (1 + d) log(1 + d) - d: the same because the
    p(a) p(z) d sum to 0, and without cancellation because h >= 0.

    Args:
        joint: (|A|, N) p(a, z).

    Raises:
        MappingError: not a distribution.
    """
    joint = _possible(joint)
    joint = joint / joint.sum()
    apart = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
    near = apart > 0  # else so small that p(a, z) log(…) is 0 to rounding
    joint, apart = joint[near], apart[near]
    excess = (joint - apart) / apart
    return float((apart * _h(excess)).sum())


def average_leakage(joint: FloatArray) -> float:
    """Average information leakage I(G; Z), du Pin Calmon & Fawaz (2012), Definition 5.

    Args:
        joint: (|G|, N) p(g, z).

    Raises:
        MappingError: not a distribution.
    """
    return mutual_information(joint)


def private_outcomes(joint: Joint) -> FloatArray:
    """(|G|, N) p(g, x_1…x_s), every cell written out."""
    cells = joint.outcomes()
    return np.asarray(cells.sum(axis=0).reshape(joint.privates, -1))


def public_outcomes(joint: Joint) -> FloatArray:
    """(|H|, N) p(h, x_1…x_s), every cell written out."""
    cells = joint.outcomes()
    return np.asarray(cells.sum(axis=1).reshape(joint.publics, -1))


def reading_outcomes(joint: Joint, sensor: int, table: FloatArray) -> FloatArray:
    """(|X_t|, |Z_t|) p(x_t, z_t) of the sensor, numbered from 0, behind the map."""
    return np.asarray((joint.weights @ joint.tables[sensor])[:, None] * table)


def given_value(joint: FloatArray) -> FloatArray:
    """(|A'|, N) p(z|a) of those a with p(a) > 0.

    Raises:
        MappingError: not a distribution.
    """
    joint = _distribution(joint)
    joint = joint[joint.sum(axis=1) > 0]
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _h(excess: FloatArray) -> FloatArray:
    """(1 + d) log(1 + d) - d, d >= -1; exact to rounding near 0."""
    series = excess**2 * (1 / 2 - excess * (1 / 6 - excess * (1 / 12 - excess / 20)))
    ratio = np.maximum(1.0 + excess, 0.0)
    logs = np.log1p(np.maximum(excess, -1.0), where=ratio > 0, out=np.zeros_like(excess))
    return np.asarray(np.where(np.abs(excess) < _SERIES_BELOW, series, ratio * logs - excess))


def _widest(over: FloatArray, under: FloatArray) -> float:
    """The largest |log(over/under)|; ``inf`` where exactly one is 0; never both are."""
    high, low = np.maximum(over, under), np.minimum(over, under)
    if bool(np.any(low <= 0)):
        return math.inf
    with np.errstate(over="ignore"):
        excess = (high - low) / low
    far = np.log(high) - np.log(low)
    return float(np.max(np.where(excess < 1, np.log1p(np.minimum(excess, 1)), far)))


def _above(over: FloatArray, under: FloatArray) -> float:
    """The largest log(over/under), 0 if there is none above."""
    above = over > under
    return _widest(over[above], under[above]) if bool(above.any()) else 0.0


def _possible(joint: FloatArray) -> FloatArray:
    """Without the rows and columns of probability 0."""
    joint = _distribution(joint)
    return np.asarray(joint[np.ix_(joint.sum(axis=1) > 0, joint.sum(axis=0) > 0)])


def _distribution(joint: FloatArray) -> FloatArray:
    joint = np.asarray(joint, dtype=np.float64)
    _check("a joint distribution", joint, joint.reshape(1, -1))
    return joint


def _map(table: FloatArray) -> FloatArray:
    table = np.asarray(table, dtype=np.float64)
    _check("a map", table, table)
    return table


def _check(what: str, table: FloatArray, rows: FloatArray) -> None:
    if table.ndim != 2 or table.size == 0:
        raise MappingError(
            f"metrics: {what} has the shape {table.shape}; expected (values, outcomes); flatten "
            "the outcomes of several sensors into one axis"
        )
    if not bool(np.all(np.isfinite(rows))) or bool(np.any(rows < 0)):
        raise MappingError(f"metrics: {what} holds a number that is not a probability")
    worst = float(np.max(np.abs(rows.sum(axis=1) - 1)))
    if worst > SUM_TOLERANCE:
        raise MappingError(
            f"metrics: {what}: a sum is {worst:.3g} away from 1; expected probabilities that sum "
            "to 1"
        )
