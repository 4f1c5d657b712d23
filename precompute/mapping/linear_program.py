"""Small linear programs whose rows grow: minimise cost @ v under rows and bounds.

Blocks are small (some twenty variables), and a search solves thousands of them: what linprog
checks and copies costs ten times what HiGHS needs for the answer. So HiGHS is spoken to directly
where SciPy (1.15 and later) brings it along, and keeps its basis when rows are added. That
interface is SciPy's own and may change: where anything of it is missing, linprog does the same
work, slower.
"""

from functools import cache
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from scipy.optimize import linprog

from precompute.mapping.joint import FloatArray

# Of rows whose numbers are of order 1.
FEASIBILITY = 1e-9
_SPOKEN = (
    "addRows",
    "addVars",
    "changeColsBounds",
    "changeColsCost",
    "getModelStatus",
    "getSolution",
    "passOptions",
    "run",
)


class LinearProgram(Protocol):
    """A program that grows."""

    def add(self, rows: FloatArray, low: FloatArray, high: FloatArray) -> None:
        """Further rows: low <= rows @ v <= high, infinite where there is no limit."""

    def solve(self) -> FloatArray | None:
        """The best v, or None where there is none or the solver gives up."""


def linear_program(cost: FloatArray, low: FloatArray, high: FloatArray) -> LinearProgram:
    """A program without rows.

    Args:
        cost: (N,).
        low: (N,) bounds of the variables.
        high: (N,).
    """
    core = bundled_highs()
    return ByLinprog(cost, low, high) if core is None else ByHighs(core, cost, low, high)


@cache
def bundled_highs() -> ModuleType | None:
    """SciPy's HiGHS, or None where this SciPy does not have what is needed of it."""
    try:
        from scipy.optimize._highspy import _core
    except ImportError:
        return None
    solver = getattr(_core, "_Highs", None)
    known = all(hasattr(solver, name) for name in _SPOKEN)
    return _core if known and hasattr(_core, "HighsOptions") else None


class ByHighs:
    """By HiGHS itself, dual simplex, begun again from its last basis."""

    def __init__(
        self, core: ModuleType, cost: FloatArray, low: FloatArray, high: FloatArray
    ) -> None:
        self.core = core
        self.solver: Any = core._Highs()
        options = core.HighsOptions()
        options.output_flag = False
        options.log_to_console = False
        options.solver = "simplex"
        # Presolve costs more than it saves at these sizes.
        options.presolve = "off"
        options.primal_feasibility_tolerance = FEASIBILITY
        options.dual_feasibility_tolerance = FEASIBILITY
        self.solver.passOptions(options)
        self.solver.addVars(cost.size, low, high)
        self.solver.changeColsCost(cost.size, np.arange(cost.size, dtype=np.int32), cost)

    def add(self, rows: FloatArray, low: FloatArray, high: FloatArray) -> None:
        """See :class:`LinearProgram`."""
        row, column = np.nonzero(rows)
        begins = np.searchsorted(row, np.arange(len(rows)))
        self.solver.addRows(
            len(rows),
            low,
            high,
            row.size,
            begins.astype(np.int32),
            column.astype(np.int32),
            rows[row, column],
        )

    def solve(self) -> FloatArray | None:
        """See :class:`LinearProgram`."""
        self.solver.run()
        if self.solver.getModelStatus() != self.core.HighsModelStatus.kOptimal:
            return None
        return np.array(self.solver.getSolution().col_value)


class ByLinprog:
    """By linprog, from nothing each time."""

    def __init__(self, cost: FloatArray, low: FloatArray, high: FloatArray) -> None:
        self.cost = cost
        self.bounds = np.column_stack([low, high])
        self.rows: list[tuple[FloatArray, FloatArray, FloatArray]] = []

    def add(self, rows: FloatArray, low: FloatArray, high: FloatArray) -> None:
        """See :class:`LinearProgram`."""
        self.rows.append((rows, low, high))

    def solve(self) -> FloatArray | None:
        """See :class:`LinearProgram`."""
        rows = np.concatenate([np.zeros((0, self.cost.size)), *(one[0] for one in self.rows)])
        low = np.concatenate([np.zeros(0), *(one[1] for one in self.rows)])
        high = np.concatenate([np.zeros(0), *(one[2] for one in self.rows)])
        equal = low == high
        above, below = ~equal & np.isfinite(high), ~equal & np.isfinite(low)
        result = linprog(
            self.cost,
            A_ub=np.concatenate([rows[above], -rows[below]]),
            b_ub=np.concatenate([high[above], -low[below]]),
            A_eq=rows[equal],
            b_eq=low[equal],
            bounds=self.bounds,
            method="highs-ds",
            options={
                "primal_feasibility_tolerance": FEASIBILITY,
                "dual_feasibility_tolerance": FEASIBILITY,
            },
        )
        return np.asarray(result.x) if result.status == 0 else None
