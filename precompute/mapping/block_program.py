"""The linear program of one block: the best map for a fixed decision rule.

Variables and local differential privacy are those of :mod:`precompute.mapping.map_variables`. Rows
of information privacy come in as they are violated (:mod:`precompute.mapping.row_generation`);
those of the last visit are there from the start.
"""

import numpy as np

from precompute.mapping.blocks import Block, solving_limit
from precompute.mapping.joint import FloatArray, IntArray
from precompute.mapping.linear_program import FEASIBILITY, linear_program
from precompute.mapping.map_variables import map_variables
from precompute.mapping.repair import repaired
from precompute.mapping.row_generation import violated

# Rounds of row generation; what is still violated after them is repaired by mixing.
MOST_ROUNDS = 40
# Rows this near to their limit hold the map.
BINDING = 1e-7


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
    found = _Program(block, gain, present).solve(active)
    if found is None:
        return present, active
    one, active = found
    return repaired(block, one, present), active


class _Program:
    """The program of one block, its rows growing."""

    def __init__(self, block: Block, gain: FloatArray, present: FloatArray) -> None:
        self.block = block
        self.rows = block.rows(solving_limit(block.information))
        # The present map may use the hair's breadth that repairs leave: it stays allowed.
        self.slack = np.maximum(0.0, self.rows @ block.guarded(present))
        self.variables = map_variables(*present.shape, solving_limit(block.local))
        scale = float(np.abs(gain).max())
        cost, _ = self.variables.written(-gain.reshape(1, -1) / (scale if scale > 0 else 1.0))
        size = cost.size
        self.program = linear_program(cost.ravel(), np.zeros(size), np.ones(size))
        self.program.add(self.variables.rows, self.variables.low, self.variables.held(present))

    def add(self, numbers: IntArray) -> None:
        """Put in some rows of information privacy."""
        post = self.block.guard_post
        cells, symbols = self.variables.shape
        said = symbols if post is None else post.shape[1]
        row, symbol = np.divmod(numbers, said)
        spread = np.eye(symbols)[symbol] if post is None else post[:, symbol].T
        left = self.rows[row][:, :, None] * spread[:, None, :]
        rows, constant = self.variables.written(left.reshape(numbers.size, cells * symbols))
        self.program.add(rows, np.full(numbers.size, -np.inf), self.slack[row, symbol] - constant)

    def solve(self, active: IntArray) -> tuple[FloatArray, IntArray] | None:
        """The best map and the binding rows; None where the solver gives up."""
        one: FloatArray | None = None
        # Rows of outcomes that have become impossible are gone, and with them their numbers.
        numbers = active[active < self.slack.size]
        if numbers.size:
            self.add(numbers)
        for _ in range(MOST_ROUNDS):
            found = self.program.solve()
            if found is None:
                break
            one = self.variables.map(found)
            if not self.rows.size:
                break
            new = violated(self.rows, self.block.guarded(one), self.slack + 2 * FEASIBILITY)
            new = np.setdiff1d(new, numbers)
            if not new.size:
                break
            self.add(new)
            numbers = np.concatenate([numbers, new])
        if one is None:
            return None
        excess = (self.rows @ self.block.guarded(one) - self.slack).ravel()
        return one, numbers[excess[numbers] >= -BINDING]
