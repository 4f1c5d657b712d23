"""One block of the search: one sensor's one stage, everything else fixed.

The block's map is p(y|x) of shape (|X|, |Y|); what is said follows through ``post`` (Y to Z),
or is y itself. The error of H for a fixed decision rule and the rows of information privacy are
linear in it.
"""

import math
from dataclasses import dataclass

import numpy as np

from precompute.mapping.joint import FloatArray, IntArray
from precompute.mapping.regimes import comparisons
from precompute.mapping.row_generation import information_rows

# Budgets are met with this to spare when solving, a tenth of it when checking, so that solver
# tolerances and rounding never lead above what was asked.
HAIR = 1e-7
# exp(30) is as good as no bound, and still harmless to a solver.
LARGEST = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """What one sensor's one stage can do.

    Attributes:
        reward: (|H|, o, |X|) p(h, what the others say, x).
        post: (|Y|, |Z|) the stage after this one, or None.
        guard: (|G|, o', |X|) p(g, what the others say, x) whose outcomes must be private, or None.
        guard_post: (|Y|, |Z|) between this stage and the guarded outcomes, or None.
        information: epsilon_I; used where ``guard`` is there.
        local: epsilon_LD of this stage; inf for none.
        symbols: |Y|.
        value_of: of :class:`Joint`, for ``guard``.
        surrogate: whether the published stand-in is solved in place of ``guard``'s rows.
    """

    reward: FloatArray
    post: FloatArray | None
    guard: FloatArray | None
    guard_post: FloatArray | None
    information: float
    local: float
    symbols: int
    value_of: tuple[int, ...] | None = None
    surrogate: bool = False

    def said(self, one: FloatArray) -> FloatArray:
        """(|X|, |Z|) what is said through this map and the stage after it."""
        return one if self.post is None else np.asarray(one @ self.post)

    def guarded(self, one: FloatArray) -> FloatArray:
        """(|X|, .) what must be private."""
        return one if self.guard_post is None else np.asarray(one @ self.guard_post)

    def outcomes(self, one: FloatArray) -> FloatArray:
        """(|H|, o, |Z|) p(h, z)."""
        return np.asarray(self.reward @ self.said(one))

    def success(self, one: FloatArray) -> float:
        """The chance of deciding rightly by the best rule."""
        return float(self.outcomes(one).max(axis=0).sum())

    def rule(self, one: FloatArray) -> IntArray:
        """(o, |Z|) the best decision for each outcome; the first of equals."""
        return np.asarray(self.outcomes(one).argmax(axis=0))

    def gain(self, rule: IntArray) -> FloatArray:
        """(|X|, |Y|) c such that a map is right with chance sum(c * map) under this rule."""
        symbols = rule.shape[1]
        given = np.zeros((self.reward.shape[2], symbols))
        for h in range(self.reward.shape[0]):
            given += self.reward[h].T @ (rule == h)
        return given if self.post is None else np.asarray(given @ self.post.T)

    def worth(self, one: FloatArray, power: float) -> float:
        """The success, or a smooth stand-in for it: the sum over outcomes of the norm of p(., z).

        The power-norm of p(h, z) over h is the largest of them where ``power`` is inf. Below that
        it grows with whatever tells values of H apart, also where no decision changes yet.
        """
        return total_norm(self.outcomes(one), power)

    def slope(self, one: FloatArray, power: float) -> FloatArray:
        """(|X|, |Y|) c, the slope of ``worth`` there: it is convex, so that
        worth(new) >= worth(one) + sum(c * (new - one))."""
        if math.isinf(power):
            return self.gain(self.rule(one))
        cells = self.outcomes(one)
        top = cells.max(axis=0)
        cells = cells / np.where(top > 0, top, 1.0)
        norm = np.sum(cells**power, axis=0) ** (1.0 / power)
        slopes = (cells / np.where(norm > 0, norm, 1.0)) ** (power - 1.0)
        given = np.zeros((self.reward.shape[2], slopes.shape[2]))
        for reward, slope in zip(self.reward, slopes, strict=True):
            given += reward.T @ slope
        return given if self.post is None else np.asarray(given @ self.post.T)

    @property
    def sides(self) -> int:
        """Rows of information privacy for each outcome."""
        if self.guard is None:
            return 0
        if self.value_of is None:
            return 2 * int(self.guard.shape[0])
        return int(comparisons(self.value_of).shape[0])

    def rows(self, limit: float) -> FloatArray:
        """(R, |X|) the rows of information privacy at a limit; R is 0 without a guard."""
        if self.guard is None:
            return np.zeros((0, self.reward.shape[2]))
        return information_rows(self.guard, limit, self.value_of)


def total_norm(cells: FloatArray, power: float) -> float:
    """The sum over outcomes of the power-norm of p(h, .) over h, its first axis."""
    if math.isinf(power):
        return float(cells.max(axis=0).sum())
    return float(np.sum(np.sum(cells**power, axis=0) ** (1.0 / power)))


def solving_limit(asked: float) -> float:
    """The budget to solve with."""
    return asked if math.isinf(asked) else min(asked, LARGEST) - min(HAIR, 1e-5 * asked)


def checking_limit(asked: float) -> float:
    """The budget that every map is checked against before it is taken."""
    return asked if math.isinf(asked) else min(asked, LARGEST) - 0.1 * min(HAIR, 1e-5 * asked)


def accepting_limit(asked: float) -> float:
    """The budget that finished maps are accepted at: rounding apart from ``checking_limit``."""
    return asked if math.isinf(asked) else min(asked, LARGEST) - 0.05 * min(HAIR, 1e-5 * asked)
