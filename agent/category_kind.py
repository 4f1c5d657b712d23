"""Channels of states: which region, room or activity, released as one of few names.

A reading says its state in words, or, for a design with regions, as a position whose cell of the
public grid is the state. What is sent is made of the released numbers alone.
"""

import math
from dataclasses import dataclass

from agent.errors import RefusedError
from agent.formats.leakage_design import LeakageDesign
from agent.formats.projection import LocalProjection
from agent.formats.state_json import StateMessage, encode_state_message
from agent.readings import Reading, Release
from agent.sanitise.category import CategorySanitiser

NO_STATE = "without a state"
UNKNOWN_STATE = "a state that the design does not know"
NO_CELL = "not a position on Earth"


@dataclass(frozen=True, slots=True)
class CategorySettings:
    """A state; everything about it stands in the design."""


class CategoryKind:
    """State names or positions in, state JSON out.

    Args:
        design: whose states they are.
        sanitiser: of that design; it knows the states' numbers.
    """

    def __init__(self, design: LeakageDesign, sanitiser: CategorySanitiser) -> None:
        self._design = design
        self._sanitiser = sanitiser
        self._regions = design.regions
        self._projection = (
            None
            if design.regions is None
            else LocalProjection(design.regions.latitude, design.regions.longitude)
        )

    def flaw(self, reading: Reading) -> str | None:
        """No state, no position, or a state that the design neither has nor calls elsewhere."""
        if self._regions is None:
            if reading.label is None:
                return NO_STATE
        elif not _on_earth(reading.values):
            return NO_CELL
        try:
            self._sanitiser.number_of(self._name(reading))
        except RefusedError:
            return UNKNOWN_STATE
        return None

    def remark(self, reading: Reading) -> str | None:
        """Nothing: a reading is used as it is, or refused."""
        del reading
        return None

    def to_steps(self, reading: Reading) -> tuple[int, ...]:
        """The state's number."""
        return (self._sanitiser.number_of(self._name(reading)),)

    def encode(self, release: Release) -> bytes:
        """State JSON; a list of names where the release is a set."""
        names = tuple(self._design.states[number] for number in release.steps)
        several = self._design.mechanism == "unary_encoding"
        return encode_state_message(
            StateMessage(
                release.identity,
                release.time_ms,
                names if several else names[0],
                release.budget or 0.0,
            )
        )

    def _name(self, reading: Reading) -> str:
        if self._regions is None or self._projection is None:
            return reading.label or ""
        east, north = self._projection.forward(*reading.values)
        cell = self._regions.cell_metres
        return f"e{math.floor(float(east) / cell)}n{math.floor(float(north) / cell)}"


def _on_earth(values: tuple[float, ...]) -> bool:
    if len(values) != 2 or not all(math.isfinite(value) for value in values):
        return False
    return abs(values[0]) <= 90 and abs(values[1]) <= 180
