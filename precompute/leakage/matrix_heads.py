"""The comment head that ``sfumato leakage learn`` writes above a matrix, and what must agree.

A head says which direction the matrix has, the step between its states and, for positions, the
grid of regions. Each line may be missing: a matrix from elsewhere has no head and passes every
check. A matrix used with another step, grid or direction than its own gives a leakage that is
simply wrong, so each disagreement is refused.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from agent.formats.quantities import format_duration
from precompute.leakage.errors import LeakageError
from precompute.leakage.transition_matrices import TransitionMatrix

Direction = Literal["backward", "forward"]
FORWARD_COMMENT = "forward: Pr(column next | row now)"
BACKWARD_COMMENT = "backward: Pr(column before | row now)"
_DIRECTIONS: dict[str, Direction] = {FORWARD_COMMENT: "forward", BACKWARD_COMMENT: "backward"}
_NUMBER = r"([-+.0-9e]+)"
_STEP = re.compile(rf"step {_NUMBER} s")
_GRID = re.compile(rf"grid: origin {_NUMBER} {_NUMBER}, cell {_NUMBER} m\b.*")
_WRITTEN = 1e-5  # heads were once written with six digits


@dataclass(frozen=True, slots=True)
class Grid:
    """A public origin in degrees and the side of a cell in metres."""

    latitude: float
    longitude: float
    cell_metres: float

    def __str__(self) -> str:
        return (
            f"latitude {self.latitude:.12g}, longitude {self.longitude:.12g}, "
            f"cell {self.cell_metres:.12g} m"
        )

    def comment(self) -> str:
        """The head's line."""
        return (
            f"grid: origin {self.latitude:.12g} {self.longitude:.12g}, "
            f"cell {self.cell_metres:.12g} m, names e<east>n<north>"
        )


@dataclass(frozen=True, slots=True)
class MatrixHead:
    """What a file says of its matrix; None where it says nothing."""

    direction: Direction | None = None
    step_seconds: float | None = None
    grid: Grid | None = None


@dataclass(frozen=True, slots=True)
class MatrixFile:
    """A matrix with the file it came from and its head."""

    path: Path
    matrix: TransitionMatrix
    head: MatrixHead


def step_comment(step_seconds: float) -> str:
    """The head's line."""
    return f"step {step_seconds:.12g} s"


def parse_head(comments: Iterable[str]) -> MatrixHead:
    """The head among comments (without ``#``); other comments say nothing.

    Raises:
        LeakageError: a line of the head twice, with different content.
    """
    direction: Direction | None = None
    step: float | None = None
    grid: Grid | None = None
    seen: dict[str, str] = {}
    for comment in comments:
        if comment in _DIRECTIONS:
            kind, direction = "direction", _DIRECTIONS[comment]
        elif found := _numbers(_STEP, comment):
            kind, step = "step", found[0]
        elif found := _numbers(_GRID, comment):
            kind, grid = "grid", Grid(*found)
        else:
            continue
        if seen.setdefault(kind, comment) != comment:
            raise LeakageError(
                f"its head names two different values of the {kind}; expected one: learn it again"
            )
    return MatrixHead(direction, step, grid)


def require_direction(file: MatrixFile, expected: Direction) -> None:
    """Refuse a forward matrix where a backward one belongs, and the reverse.

    Raises:
        LeakageError: the head says the other direction.
    """
    found = file.head.direction
    if found is not None and found != expected:
        raise LeakageError(
            f"{file.path}: found a {found} matrix (its head says so); expected a {expected} one: "
            f"give it as {found}, or the file that `sfumato leakage learn` wrote as {expected}"
        )


def require_same_chain(files: Sequence[MatrixFile]) -> None:
    """Refuse two matrices that cannot be of one chain: other steps, grids or names of states.

    Raises:
        LeakageError: the first difference; names are never repeated.
    """
    for first, second in pairwise(files):
        what_to_do = "learn both directions in one run (`-o` and `--backward`)"
        step, other_step = first.head.step_seconds, second.head.step_seconds
        if step is not None and other_step is not None and not _same(step, other_step):
            raise LeakageError(
                f"{second.path}: found a step of {format_duration(other_step)}; expected that of "
                f"{first.path}, {format_duration(step)}: {what_to_do}"
            )
        grid, other_grid = first.head.grid, second.head.grid
        if grid is not None and other_grid is not None and not _same_grid(grid, other_grid):
            raise LeakageError(
                f"{second.path}: found a grid of {other_grid}; expected that of {first.path}, "
                f"{grid}: {what_to_do}"
            )
        names = (first.matrix.names, second.matrix.names)
        both_named = all(_has_names(file.matrix) for file in (first, second))
        if both_named and len(names[0]) == len(names[1]) and names[0] != names[1]:
            others = sum(one != other for one, other in zip(*names, strict=True))
            raise LeakageError(
                f"{second.path}: found {others} of {len(names[1])} states with another name or "
                f"place; expected those of {first.path}, in the same order: {what_to_do}"
            )


def require_step(file: MatrixFile, step_seconds: float) -> None:
    """Refuse a design whose step is not the matrix's.

    Raises:
        LeakageError: the head says another step.
    """
    known = file.head.step_seconds
    if known is not None and not _same(known, step_seconds):
        raise LeakageError(
            f"step: found {format_duration(step_seconds)} in the design; expected "
            f"{format_duration(known)}, that of {file.path}: write that step, or learn the matrix "
            "again with `--step`"
        )


def require_grid(file: MatrixFile, grid: Grid) -> None:
    """Refuse a design whose regions are not the matrix's.

    Raises:
        LeakageError: the head says another origin or cell.
    """
    known = file.head.grid
    if known is not None and not _same_grid(known, grid):
        raise LeakageError(
            f"regions: found {grid} in the design; expected {known}, those of {file.path}: write "
            "those regions, or learn the matrix again"
        )


def _has_names(matrix: TransitionMatrix) -> bool:
    """Whether the file named its states, so that they are not just numbered."""
    return matrix.names != tuple(str(place + 1) for place in range(len(matrix)))


def _numbers(pattern: "re.Pattern[str]", comment: str) -> list[float]:
    found = pattern.fullmatch(comment)
    try:
        numbers = [float(group) for group in found.groups()] if found else []
    except ValueError:
        return []
    return numbers if all(math.isfinite(number) for number in numbers) else []


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_WRITTEN)


def _same_grid(one: Grid, other: Grid) -> bool:
    """Origins in degrees to about a centimetre; written origins are half degrees anyway."""
    origin = max(abs(one.latitude - other.latitude), abs(one.longitude - other.longitude))
    return origin < 1e-7 and _same(one.cell_metres, other.cell_metres)
