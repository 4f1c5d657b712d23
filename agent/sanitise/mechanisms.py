"""From a design to the mechanism that samples it."""

from typing import Any

from agent.formats.designs import NoiseDesign, StreamDesign
from agent.sanitise.interface import NoiseMechanism
from agent.sanitise.stream import StreamMechanism
from agent.sanitise.window import WindowMechanism


def mechanism_for(design: NoiseDesign) -> NoiseMechanism[Any]:
    """The mechanism of a design. Its state type is its own; callers pass states back unread."""
    if isinstance(design, StreamDesign):
        return StreamMechanism(design)
    return WindowMechanism(design)
