"""The candidate components among which a stream design looks for its noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import Component, ComponentFamily
from precompute.cip.stream_quadrature import Quadrature, frequency_grid
from precompute.cip.stream_shapes import Line, RoutineShapes, ScaleShapes, ShapeFamily

# A shape of lengthscale l is met by components within this factor of l.
REACH = 3.0
# Neighbouring candidates of one family; re-optimised later, so it need not be fine.
TIMESCALE_RATIO = 1.6
DAMPING_RATIO = 1.8
# A harmonic with less than this share of a routine's variance gets no oscillator of its own.
HARMONIC_SHARE = 1e-4
MAX_HARMONIC = 12


@dataclass(frozen=True, slots=True)
class Scene:
    """The class in the form the optimiser wants it.

    Attributes:
        families: whose union is the class.
        quadrature: fine enough for the families and for every candidate.
    """

    families: tuple[ShapeFamily, ...]
    quadrature: Quadrature

    @property
    def timescales(self) -> tuple[float, float]:
        """Shortest and longest of any family, seconds."""
        return (
            min(family.timescales[0] for family in self.families),
            max(family.timescales[1] for family in self.families),
        )


def scene_for(families: Sequence[ShapeFamily]) -> Scene:
    """The class with a quadrature for it and its candidates."""
    shortest = min(family.timescales[0] for family in families)
    longest = max(family.timescales[1] for family in families)
    lines = [
        Line(line.centre, line.width / REACH, line.spacing)
        for family in families
        for line in family.lines
    ]
    return Scene(tuple(families), frequency_grid(shortest / REACH, longest * REACH, lines))


def candidates(
    scene: Scene, families: Sequence[ComponentFamily], *, finer: int = 1
) -> tuple[Component, ...]:
    """Unit-variance components of the given families that suit the class.

    Args:
        finer: divides the logarithmic spacing of timescales.
    """
    shortest, longest = scene.timescales
    found: list[Component] = []
    for name in families:
        if name == "oscillator":
            found += _oscillators(scene, finer)
        else:
            times = _log_range(shortest / REACH, longest * REACH, TIMESCALE_RATIO, finer)
            found += [Component(name, 1.0, time) for time in times]
    return tuple(found)


def needs_rough_noise(families: Sequence[ShapeFamily]) -> bool:
    """Whether Matern-3/2 and smoother noise alone would give K without bound.

    phi^2 falls as w^-4 for a Matern-1/2 shape, and S as w^-4 or faster for such noise.
    """
    return any(
        family.name == "matern12"
        for family in families
        if isinstance(family, (ScaleShapes, RoutineShapes))
    )


def _oscillators(scene: Scene, finer: int) -> list[Component]:
    found = []
    for family in scene.families:
        if not isinstance(family, RoutineShapes):
            continue
        times = _log_range(family.fastest / REACH, family.slowest * REACH, DAMPING_RATIO, finer)
        for k in range(1, family.harmonics_above(HARMONIC_SHARE, MAX_HARMONIC) + 1):
            found += [Component("oscillator", 1.0, time, family.period / k) for time in times]
    return found


def _log_range(low: float, high: float, ratio: float, finer: int) -> list[float]:
    steps = math.ceil(math.log(high / low) / math.log(ratio)) * finer
    return [float(time) for time in np.geomspace(low, high, steps + 1)]
