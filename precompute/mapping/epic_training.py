"""EPIC's settings and its classifiers for given maps: one problem, or one against the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from precompute.mapping.epic_classifier import train
from precompute.mapping.epic_kernel import factor, features, products
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, Joint, Maps


@dataclass(frozen=True, slots=True)
class EpicSettings:
    """What EPIC has beyond :class:`precompute.mapping.solution.Options`.

    Attributes:
        regulariser: λ > 0.
        bandwidth: σ of the kernel; None takes the root of half the sensors, so that outcomes that
            differ in half of them are as alike as 1/e.
        loss: ``mean``, the published one, takes the loss of f's mean over what a row may say;
            ``each`` takes the mean loss over what it may say. The first is never larger, and
            hardly sees noise that a larger f undoes on the mean; the second sees it as the error
            of H does.
        progress: a round that lowers the risk by a smaller share ends the search from that start.
    """

    regulariser: float = 1e-3
    bandwidth: float | None = None
    loss: Literal["mean", "each"] = "each"
    progress: float = 3e-4

    def __post_init__(self) -> None:
        for name in ("regulariser", "bandwidth", "progress"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise MappingError(f"epic: {name} is {value:g}; expected a number above zero")


def classifiers(
    joint: Joint,
    said: Sequence[FloatArray],
    lower: FloatArray,
    settings: EpicSettings,
    start: FloatArray | None,
) -> tuple[FloatArray, float]:
    """(C, m) weights of each problem, and the whole risk, penalties included.

    Args:
        joint: the rows.
        said: for each sensor (K, |Z|), what each class says.
        lower: of the kernel.
        settings: see there.
        start: (C, m) a guess, or None.
    """
    signs = signs_of(joint)
    if settings.loss == "mean":
        phi = features(said, lower)
        parts = [(phi, sign, joint.weights) for sign in signs.T]
    else:
        chances = products(said, joint.weights.size)
        phi = features([np.eye(lower.shape[0])[symbols] for symbols in _outcomes(said)], lower)
        parts = []
        for sign in signs.T:
            mass = np.concatenate(
                [(joint.weights * (sign == side)) @ chances for side in (1.0, -1.0)]
            )
            heard = mass > 0
            sides = np.repeat([1.0, -1.0], chances.shape[1])
            parts.append((np.vstack([phi, phi])[heard], sides[heard], mass[heard]))
    found = [
        train(*part, settings.regulariser, None if start is None else start[c])
        for c, part in enumerate(parts)
    ]
    return np.stack([one.weights for one in found]), sum(one.risk for one in found)


def signs_of(joint: Joint) -> FloatArray:
    """(K, C) +1 where the class has the value, else -1; of two values, one problem for h = 0."""
    problems = 1 if joint.publics == 2 else joint.publics
    return np.where(joint.public[:, None] == np.arange(problems), 1.0, -1.0)


def kernel_factor(joint: Joint, symbols: int, settings: EpicSettings) -> FloatArray:
    """L of the kernel of one sensor."""
    bandwidth = settings.bandwidth or math.sqrt(len(joint.tables) / 2.0)
    return factor(symbols, bandwidth)


def public_outcomes(joint: Joint, maps: Maps) -> FloatArray:
    """(|H|, |Z|^s) p(h, z)."""
    said = products(joint.after(maps).tables, joint.weights.size)
    return np.stack([(joint.weights * (joint.public == h)) @ said for h in range(joint.publics)])


def _outcomes(said: Sequence[FloatArray]) -> FloatArray:
    """(s, |Z|^s) the symbol of each sensor in each outcome, the last sensor fastest."""
    return np.indices(tuple(table.shape[1] for table in said)).reshape(len(said), -1)
