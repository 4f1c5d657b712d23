"""From the dictionary's optimum to a few components that a small device can run.

First neighbouring timescales become one component. Then, again and again, the cheapest change is
made that saves a component (leave one out, or merge two neighbours of one family), and the rest
is re-optimised, until the power exceeds what was reached at best by more than the stated loss.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agent.formats.designs import Component, FloatArray
from precompute.cip.stream_dictionary import REACH, Scene
from precompute.cip.stream_exchange import ActiveShapes, violating_shapes
from precompute.cip.stream_polish import polish, rescale, total_power
from precompute.cip.stream_spectra import noise_spectrum, state_variables

# Components below this share of the power are left out from the start.
LEAST_SHARE = 1e-4
# Changes that are tried in full, of those that look cheapest.
TRIED = 2
POLISH_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Economy:
    """How far to prune.

    Attributes:
        loss: prune while the power stays below ``(1 + loss)`` times the best.
        states: prune further while an axis has more state variables than this ...
        most_loss: ... and the power stays below ``(1 + most_loss)`` times the best.
    """

    loss: float = 0.02
    states: int = 24
    most_loss: float = 0.10


def prune(
    scene: Scene,
    shapes: ActiveShapes,
    components: Sequence[Component],
    economy: Economy,
    report: Callable[[str], None],
) -> tuple[Component, ...]:
    """Fewer components for limits of 1.

    Args:
        components: the dictionary's optimum.
        report: called with words on how far it is.
    """
    current = _clustered(components)
    current, shapes = _settled(scene, shapes, current)
    best = min(total_power(components), total_power(current))
    while len(current) > 1:
        report(f"pruning from {len(current)} components")
        options = [
            polish(shapes.rows, option, scene.quadrature.omega, _range(scene))
            for option in _cheapest(shapes.rows, current, scene.quadrature.omega)
        ]
        chosen, wider = _settled(scene, shapes, min(options, key=total_power))
        many = state_variables(current) > economy.states
        if total_power(chosen) > (1 + (economy.most_loss if many else economy.loss)) * best:
            break
        current, shapes = chosen, wider
    return current


def _settled(
    scene: Scene, shapes: ActiveShapes, components: Sequence[Component]
) -> tuple[tuple[Component, ...], ActiveShapes]:
    """Polished against the whole class, by exchange; the size suits the worst shape found."""
    omega = scene.quadrature.omega
    current = polish(shapes.rows, components, omega, _range(scene))
    for _ in range(POLISH_ROUNDS):
        more = violating_shapes(scene, noise_spectrum(current, omega))
        if not len(more):
            break
        shapes = shapes.joined(more)
        current = polish(shapes.rows, current, omega, _range(scene))
    return current, shapes


def _clustered(components: Sequence[Component]) -> tuple[Component, ...]:
    """Neighbours on the dictionary's grid of timescales become one."""
    total = total_power(components)
    groups: list[list[Component]] = []
    for component in components:
        if component.variance < LEAST_SHARE * total:
            continue
        last = groups[-1][-1] if groups else None
        if last is not None and _alike(last, component) and _apart(last, component) < 2.0:
            groups[-1].append(component)
        else:
            groups.append([component])
    return tuple(_merged(group) for group in groups)


def _cheapest(
    rows: FloatArray, components: Sequence[Component], omega: FloatArray
) -> list[tuple[Component, ...]]:
    options = [rescale(rows, option, omega) for option in _smaller(components)]
    return sorted(options, key=total_power)[:TRIED]


def _smaller(components: Sequence[Component]) -> Iterator[tuple[Component, ...]]:
    """All sets with one component less."""
    for j, component in enumerate(components):
        rest = [*components[:j], *components[j + 1 :]]
        yield tuple(rest)
        longer = [
            k
            for k, other in enumerate(rest)
            if _alike(other, component) and other.timescale_seconds > component.timescale_seconds
        ]
        if longer:
            k = min(longer, key=lambda k: rest[k].timescale_seconds)
            yield (*rest[:k], _merged([component, rest[k]]), *rest[k + 1 :])


def _merged(group: Sequence[Component]) -> Component:
    """The sum of the variances at the geometric mean of the timescales."""
    weights = np.array([component.variance for component in group])
    logs = np.log([component.timescale_seconds for component in group])
    return replace(
        group[0],
        variance=float(weights.sum()),
        timescale_seconds=math.exp(float(weights @ logs / weights.sum())),
    )


def _alike(a: Component, b: Component) -> bool:
    return a.family == b.family and a.period_seconds == b.period_seconds


def _apart(a: Component, b: Component) -> float:
    return b.timescale_seconds / a.timescale_seconds


def _range(scene: Scene) -> tuple[float, float]:
    shortest, longest = scene.timescales
    return shortest / REACH, longest * REACH
