"""Channels of sensor nodes: a few numbers in, one symbol out.

A reading has a number for each of the node's columns. What is sent is the symbol alone, with the
node's name and the design it was drawn by.
"""

import math
from dataclasses import dataclass

from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_entry import mapping_design_digest
from agent.formats.mapping_json import DESIGN_DIGITS, MappingMessage, encode_mapping_message
from agent.formats.mapping_node import Node
from agent.kinds import NOT_FINITE
from agent.readings import Reading, Release

OUTSIDE = "outside the quantiser"
WRONG_NUMBER = "not as many numbers as the node has columns"


@dataclass(frozen=True, slots=True)
class MappingSettings:
    """Which node of the design the channel is."""

    node: str


class MappingKind:
    """Numbers in, symbol JSON out."""

    def __init__(self, design: MappingDesign, node: Node) -> None:
        self._node = node
        self._quantiser = node.quantiser
        self._design = mapping_design_digest(design).hex()[:DESIGN_DIGITS]

    def flaw(self, reading: Reading) -> str | None:
        """Another number of values than the node has columns, NaN, or infinity."""
        if len(reading.values) != self._quantiser.columns:
            return WRONG_NUMBER
        return None if all(map(math.isfinite, reading.values)) else NOT_FINITE

    def remark(self, reading: Reading) -> str | None:
        """Beyond what the design was made from: it goes to an end cell, and is counted."""
        return OUTSIDE if self._node.is_outside(reading.values) else None

    def to_steps(self, reading: Reading) -> tuple[int, ...]:
        """The reading's cell."""
        return (self._quantiser.cell(reading.values),)

    def encode(self, release: Release) -> bytes:
        """Symbol JSON."""
        return encode_mapping_message(
            MappingMessage(
                release.identity,
                release.time_ms,
                self._design,
                self._node.name,
                release.steps[0],
            )
        )
