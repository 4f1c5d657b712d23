"""The worst information over a whole class, with what lies between grid points covered by proof.

``sup K <= max over a grid * excess * (1 + quadrature error)``: the excess is Sturm's comparison
(:mod:`precompute.cip.stream_shapes`), a theorem. The quadrature error is measured, by halving
every panel, on each shape of a coarser grid; it is around 1e-11 and is added as 1e-9 at least.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import Component, FloatArray
from precompute.cip.stream_dictionary import Scene, needs_rough_noise
from precompute.cip.stream_information import information_over, quadrature_error
from precompute.cip.stream_shapes import ShapeFamily
from precompute.cip.stream_spectra import noise_spectrum
from precompute.errors import DesignError

# Tried in turn until the grid is affordable; sets the excess, 6e-5 for the first.
FINE_SPACINGS = (0.01, 0.02, 0.04)
AFFORDABLE_ENTRIES = 400_000_000
CHECK_SPACING = 0.5
QUADRATURE_FLOOR = 1e-9
ROUGH = ("matern12", "oscillator")  # spectra that fall as w^-2


@dataclass(frozen=True, slots=True)
class WorstCase:
    """A certified upper bound of K over a class, and what it is made of.

    Attributes:
        information: the bound; ``sampled * excess * (1 + quadrature_error)``.
        sampled: the largest K on the grid.
        excess: largest factor for what lies between grid points; a proof, not an estimate.
        quadrature_error: relative; measured.
        shapes: number of shapes on the grid.
    """

    information: float
    sampled: float
    excess: float
    quadrature_error: float
    shapes: int

    @property
    def statement(self) -> str:
        """What is proven and what is measured, in one sentence."""
        return (
            f"checked at {self.shapes} shapes of the class; a factor of {self.excess:.7g} covers "
            "what lies between them (proved), and integrals are exact to "
            f"{self.quadrature_error:.1g} (measured)"
        )


def certified_worst(
    scene: Scene, components: Sequence[Component], spacing: float | None = None
) -> WorstCase:
    """The worst K of these components over the class.

    Args:
        spacing: of the grid of shapes; chosen for each family when left out.

    Raises:
        DesignError: the class has a shape so rough that these components leave K unbounded.
    """
    if needs_rough_noise(scene.families) and not any(c.family in ROUGH for c in components):
        raise DesignError(
            "noise without a matern12 component cannot cover a matern12 prior: its information "
            "has no bound; add a matern12 component"
        )
    spectrum = _spectrum_of(components)
    here = spectrum(scene.quadrature.omega)
    bounds, sampled, excesses, errors, shapes = [], [], [], [], 0
    for family in scene.families:
        step = _affordable(family, scene.quadrature.omega.size) if spacing is None else spacing
        grid = family.grid(step)
        largest = float(np.max(information_over(family, grid, scene.quadrature, here)))
        error = max(
            QUADRATURE_FLOOR,
            quadrature_error(family, family.grid(CHECK_SPACING), scene.quadrature, spectrum),
        )
        excess = family.excess(step)
        bounds.append(largest * excess * (1 + error))
        sampled.append(largest)
        excesses.append(excess)
        errors.append(error)
        shapes += len(grid)
    return WorstCase(max(bounds), max(sampled), max(excesses), max(errors), shapes)


def _affordable(family: ShapeFamily, frequencies: int) -> float:
    for spacing in FINE_SPACINGS:
        if len(family.grid(spacing)) * frequencies <= AFFORDABLE_ENTRIES:
            return spacing
    raise DesignError(
        "the class of routines is too wide to be searched; narrow the range of its relative "
        "lengthscale, or raise its lower end"
    )


def _spectrum_of(components: Sequence[Component]) -> Callable[[FloatArray], FloatArray]:
    return lambda omega: noise_spectrum(components, omega)
