"""How private fixed maps are for the distribution behind a log: an upper confidence bound.

A model learnt from a log is not the truth. For maps that were fixed *before* looking at some rows,
those rows bound epsilon_I for the distribution they were drawn from. The proof is in
docs/mapping.md (The margin); in short:

* A product of maps says z about a row x with f_z(x) = prod_t Q_t(z_t|x_t), known and within
  [m_z, M_z]. With f_z = m_z (1 + r_z u_z), r_z = M_z/m_z - 1 and 0 <= u_z <= 1, the ratio
  theta = p(g|z)/p(g) satisfies E[u_z (1{G=g} - theta pi)] = pi (theta - 1)/r_z, where pi = p(g).
  Small budgets make r_z small, and an error in E[u_z ...] then counts r_z times only.
* Rows near in time depend on each other, so that a block of time counts as one observation. For
  the true theta, blocks' averages X_b(theta) have the mean zero and are at least -d(theta). Hence
  the capital of a gambler, the average over eta of prod_b (1 + eta X_b/d), has the mean 1, and
  passes 1/delta with a probability of at most delta (Markov). Every theta at which it passes is
  refused. (Betting on bounded means: Waudby-Smith and Ramdas, 2023, with fixed stakes.)
* For ratios above 1 the capital rises with theta and with pi, for ratios below 1 it falls with
  both. So pi may be replaced by the lower (upper) end of an interval for it, found in the same
  way, and the last theta that is not refused is found by bisection.
* delta is divided by the number of all these statements.

Assumptions: blocks are independent of each other and alike (stationary), how many rows they hold
does not depend on what the rows say, and they were not used for the design. Blocks count alike
however many rows they hold. Nothing is assumed about rows within a block.
"""

import math
from dataclasses import dataclass

import numpy as np

from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, IntArray, Maps
from precompute.mapping.learning import Rows
from precompute.mapping.outcome_shares import OutcomeShares

# Share of the risk that is spent on p(g).
PRIOR_SHARE = 0.1
STAKES = np.array([0.99, 0.9, *(2.0 ** (-k / 2) for k in range(1, 17))])
# Beyond so many outcomes only what local privacy implies is stated.
MAX_OUTCOMES = 4096
LARGEST = 30.0
BISECTIONS = 40
LEAST_BLOCKS = 2


@dataclass(frozen=True, slots=True)
class Margin:
    """An upper confidence bound of epsilon_I.

    Attributes:
        upper: nats; inf where nothing can be said.
        confidence: with which ``upper`` holds.
        blocks: of time, counted as one observation each.
        rows: in these blocks.
        by_local: whether ``upper`` is just what the sum of the local budgets implies.
    """

    upper: float
    confidence: float
    blocks: int
    rows: int
    by_local: bool


def information_upper(maps: Maps, rows: Rows, *, block_seconds: float, confidence: float) -> Margin:
    """The bound for these maps from rows that were not used to find them.

    Args:
        maps: (|X_t|, |Z_t|) for each node.
        rows: held out.
        block_seconds: stretches of time that count as independent.
        confidence: between 0 and 1.

    Raises:
        MappingError: a confidence or block that is none.
    """
    if not 0 < confidence < 1:
        raise MappingError(f"margin: the confidence is {confidence:g}; expected between 0 and 1")
    if not block_seconds > 0:
        raise MappingError("margin: the block is not above zero seconds")
    implied = implied_by_local(maps)
    outcomes = math.prod(one.shape[1] for one in maps)
    blocks = _blocks(rows.times_seconds, block_seconds)
    count = int(blocks[-1]) + 1 if blocks.size else 0
    best = implied
    if count >= LEAST_BLOCKS and outcomes <= MAX_OUTCOMES and implied > 0:
        best = min(implied, _by_betting(maps, rows, blocks, 1 - confidence, min(implied, LARGEST)))
    return Margin(best, confidence, count, len(rows), by_local=best >= implied)


def implied_by_local(maps: Maps) -> float:
    """The sum of the maps' local budgets, which bounds epsilon_I for every distribution."""
    total = 0.0
    for one in maps:
        low, high = one.min(axis=0), one.max(axis=0)
        said = high > 0
        if bool(np.any(low[said] == 0)):
            return math.inf
        total += float(np.log(high[said] / low[said]).max())
    return total


def mean_interval(blocks: FloatArray, risk: float) -> tuple[float, float]:
    """Ends that the mean of independent, alike blocks in [0, 1] passes with at most ``risk``.

    Args:
        blocks: (B,) averages in [0, 1].
        risk: of the two ends together.
    """

    def highest(values: FloatArray) -> float:
        low, high = float(values.mean()), 1.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            if middle >= 1 or _log_capital(((middle - values) / (1 - middle))[None, :])[
                0
            ] >= math.log(2 / risk):
                high = middle
            else:
                low = middle
        return high

    return 1 - highest(1 - blocks), highest(blocks)


def _by_betting(maps: Maps, rows: Rows, blocks: IntArray, risk: float, largest: float) -> float:
    """The least epsilon (rounded up) that all tests allow; inf where that passes ``largest``."""
    shares = OutcomeShares(maps, rows, blocks)
    if not shares.ratio.size:  # nothing varies but by rounding
        return math.inf
    bar = math.log(2 * rows.privates * shares.ratio.size / (risk * (1 - PRIOR_SHARE)))
    intervals = [
        mean_interval(shares.frequencies(value), risk * PRIOR_SHARE / rows.privates)
        for value in range(rows.privates)
    ]
    # What one test refuses it refuses farther from 1 too. So the least that all refuse is the
    # largest of what each does, and a test that refuses the largest so far has nothing to add.
    found = math.ldexp(largest, -BISECTIONS)
    for said, part in shares.groups():
        for value, (low, high) in enumerate(intervals):
            test = _Tests(*shares.averages(said, value), shares.ratio[part], low, high)
            if not test.refuses(math.exp(found), bar):
                found = _least_refused(test, bar, largest)
            if found == math.inf:
                return found
    return found


def _least_refused(test: "_Tests", bar: float, largest: float) -> float:
    if not test.refuses(math.exp(largest), bar):
        return math.inf
    low, high = 0.0, largest
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if test.refuses(math.exp(middle), bar) else (middle, high)
    return high


@dataclass(frozen=True, slots=True, eq=False)
class _Tests:
    """Statements about one value g: (outcomes, B) block averages of u where G = g, and where not;
    r of each outcome; the interval of p(g).
    """

    here: FloatArray
    elsewhere: FloatArray
    ratio: FloatArray
    low: float
    high: float

    def refuses(self, theta: float, bar: float) -> bool:
        """Whether both theta and 1/theta are refused at every outcome."""
        return self._refuses_above(theta, bar) and self._refuses_below(1 / theta, bar)

    def _refuses_above(self, theta: float, bar: float) -> bool:
        # No distribution reaches beyond (1 + r)/(1 + r pi), and the least pi allows most.
        prior = max(self.low, 1e-300)
        reach = (1 + 1 / self.ratio) / (prior + 1 / self.ratio)
        open_ = np.flatnonzero(reach > theta)
        if theta * prior >= 1:  # p(g|z) would pass 1
            return True
        offset = prior * (theta - 1) / self.ratio[open_, None]
        depth = 1 - theta * prior - offset
        possible = depth[:, 0] > 0
        open_, offset, depth = open_[possible], offset[possible], depth[possible]
        gain = (
            offset - (1 - theta * prior) * self.here[open_] + theta * prior * self.elsewhere[open_]
        )
        return bool(np.all(_log_capital(gain / depth) >= bar))

    def _refuses_below(self, theta: float, bar: float) -> bool:
        depth = theta - (1 - theta) / self.ratio
        open_ = np.flatnonzero(depth > 0)  # elsewhere no distribution reaches so low
        if not open_.size:
            return True
        prior = max(self.high, 1e-300)
        gain = (
            (1 / prior - theta) * self.here[open_]
            - theta * self.elsewhere[open_]
            + ((1 - theta) / self.ratio)[open_, None]
        )
        return bool(np.all(_log_capital(gain / depth[open_, None]) >= bar))


def _log_capital(gains: FloatArray) -> FloatArray:
    """(m,) log of the average over stakes of prod_b (1 + eta gain_b), gains (m, B) >= -1."""
    wealth = np.empty((STAKES.size, gains.shape[0]))
    for place, stake in enumerate(STAKES):
        wealth[place] = np.log1p(stake * np.maximum(gains, -1.0)).sum(axis=1)
    top = wealth.max(axis=0)
    return np.asarray(top + np.log(np.exp(wealth - top).mean(axis=0)))


def _blocks(times_seconds: FloatArray, block_seconds: float) -> IntArray:
    """(n,) the number of each row's block, those without rows left out."""
    if not times_seconds.size:
        return np.empty(0, dtype=np.intp)
    number = np.floor((times_seconds - times_seconds[0]) / block_seconds)
    return np.concatenate([[0], np.cumsum(np.diff(number) > 0)])
