"""Noise for a stream without end: least power for a whole class of priors.

The problem is solved for a limit of 1 and scaled, since K is homogeneous of degree -1 in the
noise. Steps: a dictionary of components (:mod:`stream_dictionary`), the convex optimum over it by
exchange (:mod:`stream_exchange`), few components from many (:mod:`stream_pruning`), the certified
worst case (:mod:`stream_refinement`), by which the noise is scaled, and a lower bound of the power
of any stationary noise at all (:mod:`stream_certificate`).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from agent.formats.designs import Component, ComponentFamily
from precompute.cip.stream_certificate import power_lower_any
from precompute.cip.stream_classes import shape_families
from precompute.cip.stream_dictionary import Scene, candidates, needs_rough_noise, scene_for
from precompute.cip.stream_exchange import ActiveShapes, solve_class
from precompute.cip.stream_polish import scaled, total_power
from precompute.cip.stream_pruning import Economy, prune
from precompute.cip.stream_refinement import WorstCase, certified_worst
from precompute.cip.stream_shapes import RoutineShapes
from precompute.cip.stream_spectra import state_variables
from precompute.errors import DesignError
from precompute.priors.algebra_threads import one_algebra_thread
from precompute.priors.prior_class import PriorClass

# A menu of smoother components is taken when its power is at most this above what is possible.
SMOOTH_LOSS = 0.03
# Keeps the worst information below the limit when products are rounded.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What a design may choose.

    Attributes:
        smooth: prefer components whose paths a map can show, within SMOOTH_LOSS of the power.
        economy: how far to prune.
    """

    smooth: bool = True
    economy: Economy = field(default_factory=Economy)


@dataclass(frozen=True, slots=True)
class StreamSolution:
    """A stream's noise on one axis, with what is proven about it.

    Attributes:
        components: the noise.
        information_limit: K that was asked for (1/unit^2).
        worst_information: certified upper bound of K over the class.
        power: sum of the components' variances (unit^2).
        power_lower: no stationary noise whatever that keeps the limit has less power.
        worst_case: for the limit of 1: the grid's maximum and the factors put on top of it.
        seconds: spent.
    """

    components: tuple[Component, ...]
    information_limit: float
    worst_information: float
    power: float
    power_lower: float
    worst_case: WorstCase
    seconds: float

    @property
    def relative_power(self) -> float:
        """Power over that of noise matched to one known kernel, which is 1/limit."""
        return self.power * self.information_limit

    @property
    def states(self) -> int:
        """State variables the device keeps for each axis."""
        return state_variables(self.components)

    def for_limit(self, information_limit: float) -> "StreamSolution":
        """The same design for another limit."""
        if not 0 < information_limit < float("inf"):
            raise DesignError(
                f"an information limit of {information_limit:g}; expected a finite one above zero"
            )
        factor = self.information_limit / information_limit
        components = scaled(self.components, factor)
        return replace(
            self,
            components=components,
            information_limit=information_limit,
            worst_information=self.worst_information / factor,
            power=total_power(components),
            power_lower=self.power_lower * factor,
        )

    def for_power(self, power: float) -> "StreamSolution":
        """The same design with this noise variance; the limit follows."""
        return self.for_limit(self.relative_power / power)


def design_stream(
    prior: PriorClass,
    information_limit: float,
    options: StreamOptions | None = None,
    report: Callable[[str], None] | None = None,
) -> StreamSolution:
    """The least noise found that keeps K at the limit for every member of the class.

    Args:
        prior: the class; variances in it are not used, the result holds for every variance.
        information_limit: K (1/unit^2) on one axis.
        options: what else may be chosen.
        report: called with words on how far the work is.

    Raises:
        DesignError: a class that no stream can cover, or a limit that is not above zero.
    """
    options = StreamOptions() if options is None else options
    report = (lambda _: None) if report is None else report
    began = time.perf_counter()
    scene = scene_for(shape_families(prior))
    report("choosing among all components")
    with one_algebra_thread():
        dense = _chosen_optimum(scene, options)
        components = prune(scene, dense.shapes, dense.components, options.economy, report)
    report("checking the whole class")
    # The certified worst K at this size becomes the new unit: exactly proportional.
    worst = certified_worst(scene, components)
    components = scaled(components, worst.information * (1 + ROUNDING))
    solution = StreamSolution(
        components,
        1.0,
        1 / (1 + ROUNDING),
        total_power(components),
        dense.power_lower * (1 - worst.quadrature_error),
        worst,
        time.perf_counter() - began,
    )
    return solution.for_limit(information_limit)


@dataclass(frozen=True, slots=True, eq=False)
class _Optimum:
    """The convex optimum over one menu of components, for a limit of 1."""

    components: tuple[Component, ...]
    shapes: ActiveShapes
    power_lower: float


def _chosen_optimum(scene: Scene, options: StreamOptions) -> _Optimum:
    optima: list[_Optimum] = []
    for menu in _menus(scene, options):
        found = _optimum(scene, menu)
        if total_power(found.components) <= (1 + SMOOTH_LOSS) * found.power_lower:
            return found
        optima.append(found)
    least = min(total_power(found.components) for found in optima)
    return next(
        found for found in optima if total_power(found.components) <= (1 + SMOOTH_LOSS) * least
    )


def _menus(scene: Scene, options: StreamOptions) -> list[tuple[ComponentFamily, ...]]:
    """Families of components, in the order of preference."""
    everything: tuple[ComponentFamily, ...] = ("matern12", "matern32", "matern52")
    menus: list[tuple[ComponentFamily, ...]] = [everything]
    routine = any(isinstance(family, RoutineShapes) for family in scene.families)
    if options.smooth and needs_rough_noise(scene.families) and not routine:
        menus = [("matern12",), ("matern12", "matern32"), everything]
    elif options.smooth:
        # Matern-3/2 before -5/2: as good for wide ranges, with two states for three.
        menus = [("matern32",), ("matern32", "matern52"), everything]
    return [(*menu, "oscillator") for menu in menus] if routine else menus


def _optimum(scene: Scene, menu: Sequence[ComponentFamily]) -> _Optimum:
    dictionary = candidates(scene, menu)
    solution, shapes = solve_class(scene, dictionary)
    lower = power_lower_any(shapes.rows, solution.multipliers, scene.quadrature.weights)
    components = tuple(
        replace(component, variance=float(variance))
        for component, variance in zip(dictionary, solution.variances, strict=True)
    )
    return _Optimum(components, shapes, lower)
