"""The linear program of one block: the best map for a fixed decision rule.

Variables p(y|x), x slowest, and for local differential privacy m_y with
m_y <= p(y|x) <= exp(limit) m_y. Rows of information privacy come in as they are violated
(:mod:`precompute.mapping.row_generation`); those of the last visit are there from the start.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import linprog

from precompute.mapping.blocks import Block, solving_limit
from precompute.mapping.joint import FloatArray, IntArray
from precompute.mapping.repair import repaired
from precompute.mapping.row_generation import violated

# Rounds of row generation; what is still violated after them is repaired by mixing.
MOST_ROUNDS = 40
# Of normalised rows, whose numbers are relative to an outcome's chance.
FEASIBILITY = 1e-9


def solve_block(
    block: Block, gain: FloatArray, present: FloatArray, active: IntArray
) -> tuple[FloatArray, IntArray]:
    """The best map under a rule, and the rows that bind.

    Args:
        block: what this sensor's stage can do.
        gain: (|X|, |Y|) of :meth:`Block.gain`; another objective will do as well.
        present: (|X|, |Y|) a feasible map; it comes back where the solver fails.
        active: numbers r * |Z| + z of rows to begin with.

    Returns:
        a feasible map, and the numbers of the rows it was held by.
    """
    found = _Program(block, present).solve(gain, active)
    if found is None:
        return present, active
    one, active = found
    return repaired(block, one, present), active


class _Program:
    """The program of one block, its rows growing."""

    def __init__(self, block: Block, present: FloatArray) -> None:
        self.cells, self.symbols = present.shape
        self.block = block
        limit = solving_limit(block.local)
        self.rows = block.rows(solving_limit(block.information))
        self.slack = np.maximum(0.0, self.rows @ block.guarded(present))
        private, self.sums = local_rows(self.cells, self.symbols, limit)
        self.local_rows = private
        # The present map may use the hair's breadth that repairs leave: it stays allowed.
        flat = np.concatenate([present.ravel(), present.min(axis=0)])
        self.local_slack = np.maximum(0.0, private @ flat[: private.shape[1]])

    def columns(self) -> int:
        """Variables."""
        return int(self.local_rows.shape[1])

    def written(self, numbers: IntArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients and right-hand sides of some rows of information privacy."""
        post = self.block.guard_post
        said = self.symbols if post is None else post.shape[1]
        row, symbol = np.divmod(numbers, said)
        spread = np.eye(self.symbols)[symbol] if post is None else post[:, symbol].T
        left = (self.rows[row][:, :, None] * spread[:, None, :]).reshape(
            numbers.size, self.cells * self.symbols
        )
        wide = np.zeros((numbers.size, self.columns()))
        wide[:, : left.shape[1]] = left
        return wide, self.slack[row, symbol]

    def solve(self, gain: FloatArray, active: IntArray) -> tuple[FloatArray, IntArray] | None:
        """The best map and the binding rows; None where the solver gives up."""
        objective = np.zeros(self.columns())
        scale = float(np.abs(gain).max())
        objective[: gain.size] = -gain.ravel() / (scale if scale > 0 else 1.0)
        one: FloatArray | None = None
        # Rows of outcomes that have become impossible are gone, and with them their numbers.
        numbers = active[active < self.slack.size]
        for _ in range(MOST_ROUNDS):
            left, right = self.written(numbers)
            result = linprog(
                objective,
                A_ub=np.vstack([self.local_rows, left]),
                b_ub=np.concatenate([self.local_slack, right]),
                A_eq=self.sums,
                b_eq=np.ones(self.cells),
                bounds=(0.0, 1.0),
                method="highs-ds",
                options={
                    "primal_feasibility_tolerance": FEASIBILITY,
                    "dual_feasibility_tolerance": FEASIBILITY,
                },
            )
            if result.status != 0:
                break
            one = np.asarray(result.x[: gain.size]).reshape(self.cells, self.symbols)
            if not self.rows.size:
                break
            new = violated(self.rows, self.block.guarded(one), self.slack + 2 * FEASIBILITY)
            new = np.setdiff1d(new, numbers)
            if not new.size:
                break
            numbers = np.concatenate([numbers, new])
        if one is None:
            return None
        if numbers.size:
            left, right = self.written(numbers)
            numbers = numbers[left[:, : gain.size] @ one.ravel() >= right - 1e-7]
        return one, numbers


@lru_cache(maxsize=256)
def local_rows(cells: int, symbols: int, limit: float) -> tuple[FloatArray, FloatArray]:
    """Rows of local differential privacy (none without a limit), and those of the sums."""
    size = cells * symbols
    sums = np.zeros((cells, size + (0 if math.isinf(limit) else symbols)))
    for cell in range(cells):
        sums[cell, cell * symbols : (cell + 1) * symbols] = 1.0
    if math.isinf(limit):
        return np.zeros((0, size)), sums
    least = np.tile(np.eye(symbols), (cells, 1))
    above = np.hstack([-np.eye(size), least])
    below = np.hstack([math.exp(-limit) * np.eye(size), -least])
    return np.vstack([above, below]), sums
