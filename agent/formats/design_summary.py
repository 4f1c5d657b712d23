"""The figures of a design that people ask for, worked out from what the bundle holds."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from agent.formats.designs import Design, NoiseDesign, StreamDesign
from agent.formats.leakage_design import LeakageDesign
from agent.formats.leakage_summary import summarise_leakage
from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_summary import summarise_mapping
from agent.formats.odds import certainty_in_words, odds_factor

# Odds of over 22,000 to 1: whoever reads a promise should not take this for one.
WEAK_EPSILON = 10.0


@dataclass(frozen=True, slots=True)
class TypicalError:
    """How far a published value lies from the true one, in the design's unit.

    Attributes:
        mean: mean distance (two axes) or mean absolute error (one axis).
        within_95: 95 % of published values are closer than this.
    """

    mean: float
    within_95: float


def noise_std_range(design: NoiseDesign) -> tuple[float, float]:
    """The smallest and the largest standard deviation per axis; equal for a stream."""
    if isinstance(design, StreamDesign):
        std = math.sqrt(design.noise_variance)
        return std, std
    stds = np.sqrt(np.sum(design.factor * design.factor, axis=1))
    return float(np.min(stds)), float(np.max(stds))


def typical_error(std: float, axes: int) -> TypicalError | None:
    """For Gaussian noise of ``std`` per axis; None for over two axes.

    One axis: half-normal, mean sqrt(2/pi) std and 95 % below 1.960 std. Two: Rayleigh, mean
    sqrt(pi/2) std and 95 % below sqrt(2 log 20) std = 2.448 std.
    """
    if axes == 1:
        return TypicalError(std * math.sqrt(2.0 / math.pi), std * 1.959963984540054)
    if axes == 2:
        return TypicalError(std * math.sqrt(math.pi / 2.0), std * math.sqrt(2.0 * math.log(20.0)))
    return None


def promise_warnings(design: NoiseDesign) -> tuple[str, ...]:
    """What a person must know before relying on the promise."""
    promise = design.guarantee
    if promise.epsilon <= WEAK_EPSILON:
        return ()
    unit = "" if design.unit == "1" else f" {design.unit}"
    return (
        f"epsilon {promise.epsilon:.3g} promises practically nothing at {promise.radius:g}{unit}: "
        f"an observer may end up {certainty_in_words(promise.epsilon)} sure of two such values "
        "which it is; ask for more noise, a smaller radius, or fewer segments",
    )


def summarise(design: Design) -> dict[str, Any]:
    """Every figure as JSON values; the fields are named as in designs.py, or with their unit."""
    if isinstance(design, LeakageDesign):
        return summarise_leakage(design)
    if isinstance(design, MappingDesign):
        return summarise_mapping(design)
    promise = design.guarantee
    lowest, highest = noise_std_range(design)
    root_mean_square = math.sqrt(design.noise_variance)
    error = typical_error(root_mean_square, len(design.axes)) if _even(lowest, highest) else None
    summary: dict[str, Any] = {
        "name": design.name,
        "kind": design.kind,
        "axes": list(design.axes),
        "unit": design.unit,
        "grid": design.grid,
        "noise_power": design.noise_variance,
        "noise_std": root_mean_square,
        "noise_std_lowest": lowest,
        "noise_std_highest": highest,
        "mean_error": error.mean if error else None,
        "error_95": error.within_95 if error else None,
        "secrets": promise.secrets,
        "radius": promise.radius,
        "prior": list(promise.prior),
        "variance_free": promise.variance_free,
        "information_limit": promise.information_limit,
        "worst_information": promise.worst_information,
        "segments": promise.segments,
        "rho": promise.rho,
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "odds_factor": odds_factor(promise.epsilon),
        "warnings": list(promise_warnings(design)),
    }
    if isinstance(design, StreamDesign):
        summary["components"] = [
            {
                "family": component.family,
                "variance": component.variance,
                "timescale_seconds": component.timescale_seconds,
                "period_seconds": component.period_seconds,
            }
            for component in design.components
        ]
    else:
        rows, rank = design.factor.shape
        summary |= {"rows": rows, "rank": rank, "step_seconds": design.step_ms / 1000.0}
    return summary


def _even(lowest: float, highest: float) -> bool:
    """Whether one standard deviation describes every reading, to a percent."""
    return highest - lowest <= 0.01 * highest
