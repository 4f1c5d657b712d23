"""Which shapes of a class the optimiser has to look at: few to begin with, then the worst ones.

An exchange method: solve for the shapes at hand, look for the worst shapes of the class under the
noise found, add them, and again, until none exceeds the limit by more than a tolerance. What is
left over is covered when the noise is scaled by its certified worst case.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import Component, FloatArray
from precompute.cip.stream_dictionary import Scene
from precompute.cip.stream_information import information_over, squared_spectra
from precompute.cip.stream_shapes import ShapeFamily
from precompute.cip.stream_solver import Solution, least_power
from precompute.cip.stream_spectra import unit_spectra

FIRST_SPACING = 0.3
# The finest that gives a family at most so many shapes; what the search misses between them, under
# half a percent, is made up for when the noise is scaled by its certified worst case.
SEARCH_SPACINGS = (0.04, 0.06, 0.08)
MAX_SEARCHED = 1500
TOLERANCE = 2e-4
MAX_ROUNDS = 12
# New shapes for each family and round, and how far apart (in log parameters).
MAX_NEW = 12
APART = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class ActiveShapes:
    """(m, N) rows ``weights * phi^2`` of the shapes at hand."""

    rows: FloatArray

    def joined(self, rows: FloatArray) -> "ActiveShapes":
        """With more shapes."""
        return ActiveShapes(np.concatenate([self.rows, rows]))


def first_shapes(scene: Scene, spacing: float = FIRST_SPACING) -> ActiveShapes:
    """A coarse grid over every family."""
    return ActiveShapes(
        np.concatenate(
            [
                squared_spectra(family, family.grid(spacing), scene.quadrature)
                for family in scene.families
            ]
        )
    )


def violating_shapes(
    scene: Scene, spectrum: FloatArray, limit: float = 1 + TOLERANCE
) -> FloatArray:
    """(k, N) rows of the worst shapes with K above the limit; k = 0 when there are none.

    ``spectrum`` is that of the noise at the scene's frequencies.
    """
    found = [np.empty((0, scene.quadrature.omega.size))]
    for family in scene.families:
        grid = _search_grid(family)
        K = information_over(family, grid, scene.quadrature, spectrum)
        places = np.log(grid)
        for _ in range(MAX_NEW):
            worst = int(np.argmax(K))
            if K[worst] <= limit:
                break
            found.append(squared_spectra(family, grid[worst : worst + 1], scene.quadrature))
            K[np.max(np.abs(places - places[worst]), axis=1) < APART] = 0.0
    return np.concatenate(found)


def _search_grid(family: ShapeFamily) -> FloatArray:
    for spacing in SEARCH_SPACINGS:
        grid = family.grid(spacing)
        if len(grid) <= MAX_SEARCHED:
            break
    return grid


def solve_class(
    scene: Scene, components: Sequence[Component], shapes: ActiveShapes | None = None
) -> tuple[Solution, ActiveShapes]:
    """Least power over fixed components for the whole class, to within the tolerance."""
    shapes = first_shapes(scene) if shapes is None else shapes
    spectra = unit_spectra(components, scene.quadrature.omega)
    solution = least_power(shapes.rows, spectra)
    for _ in range(MAX_ROUNDS):
        more = violating_shapes(scene, spectra @ solution.variances)
        if not len(more):
            break
        shapes = shapes.joined(more)
        solution = least_power(shapes.rows, spectra)
    return solution, shapes
