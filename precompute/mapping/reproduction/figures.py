"""Figures 5, 6 and 7 of Sun & Tay (IEEE TIFS 2020) on our joint: the numbers.

Every amount is what the maps achieve by brute force over all outcomes, never a solver's word.
"""

import math
import multiprocessing
import signal
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from multiprocessing.pool import Pool

from precompute.mapping.joint import Joint
from precompute.mapping.reproduction.made_up_joint import paper_like_joint
from precompute.mapping.solution import Architecture, Budgets, Options
from precompute.mapping.two_stage import design_mapping

COLUMNS: Mapping[str, tuple[Architecture, bool]] = {
    "ldp_only": ("local", True),
    "information_only": ("information", True),
    "ill_staged": ("ill", False),
    "lip_staged": ("lip", False),
    "ill_refined": ("ill", True),
    "lip_refined": ("lip", True),
    "direct": ("direct", True),
}
"""Each column: the architecture and whether both stages are improved after being built."""

BOTH_BUDGETS = ("ill_staged", "lip_staged", "ill_refined", "lip_refined", "direct")
SMALL_LOCAL = 0.07
# At SMALL_LOCAL six sensors can hardly move an error; see docs/reproduce-iot.md.
LARGER_LOCAL = 0.5
STARTS = 4
_ENDING = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one design achieves; ``local`` is the worst sensor's, None where unbounded."""

    public_error: float
    private_error: float
    information: float | None
    local: float | None
    reading_information: float
    private_leakage: float
    public_information: float


@dataclass(frozen=True, slots=True)
class Point:
    """One place on an axis: the budgets asked, and every column's design."""

    information: float
    local: float
    cells: Mapping[str, Cell]


# Of each figure, the budgets (epsilon_I, epsilon_LD) of its points.
LOCALS = (SMALL_LOCAL, 0.25, LARGER_LOCAL, 1.0, 2.0)
INFORMATIONS = (0.001, 0.01, 0.05, 0.18, 0.4)
GRIDS: dict[str, tuple[tuple[float, float], ...]] = {
    "5": tuple((i, ld) for i in (0.01, 0.18) for ld in LOCALS),
    "6": tuple((i, ld) for ld in (SMALL_LOCAL, LARGER_LOCAL) for i in INFORMATIONS),
    "7": tuple((0.15, ld) for ld in LOCALS),
}


def points(figure: str) -> tuple[Point, ...]:
    """All points of a figure, some tens of seconds each, on all of the machine's cores."""
    from tqdm import tqdm

    joint = paper_like_joint(first_is_public=figure == "7")
    grid = GRIDS[figure]
    with _workers() as pool:
        work = pool.imap(partial(_point, joint, STARTS), grid)
        quiet = not sys.stderr.isatty()
        return tuple(tqdm(work, f"figure {figure}", len(grid), disable=quiet, leave=False))


def _workers() -> Pool:
    """A pool that ends its workers when it is left, also by Ctrl-C in the middle of a point."""
    # Held back, not lost, until workers know what to do with them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        return multiprocessing.Pool(initializer=_end_with_the_parent)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_the_parent() -> None:
    """A terminal sends Ctrl-C to workers too; the parent ends them, and says so once."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


def _point(joint: Joint, starts: int, budgets: tuple[float, float]) -> Point:
    return Point(*budgets, dict(_designs(joint, Budgets(*budgets), starts)))


def _designs(joint: Joint, budgets: Budgets, starts: int) -> Iterator[tuple[str, Cell]]:
    for name, (architecture, refine) in COLUMNS.items():
        options = Options(starts=starts, refine=refine)
        found = design_mapping(joint, budgets, architecture, options).achieved
        yield (
            name,
            Cell(
                public_error=found.public_error,
                private_error=found.private_error,
                information=_finite(found.information),
                local=_finite(max(found.local)),
                reading_information=found.reading_information[0],
                private_leakage=found.private_leakage,
                public_information=found.public_information,
            ),
        )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
