"""What a kind of design is to the rest: a request that can be built."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from agent.formats.designs import Design

Report: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BuiltDesign:
    """A design that is ready to ship.

    Attributes:
        design: what goes into the bundle.
        figures: JSON values about how it was found, beyond what the bundle holds.
        words: what these figures say, a sentence each, for the terminal.
        warnings: what the user should know before using it.
    """

    design: Design
    figures: dict[str, Any]
    words: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class Request(Protocol):
    """One design as asked for."""

    @property
    def name(self) -> str:
        """Of the design."""
        ...

    def build(self, report: Report) -> BuiltDesign:
        """Do the work; ``report`` is told in words how far it is.

        Raises:
            PrecomputeError: no noise can do what is asked.
        """
        ...
