"""The interfaces of sanitising: a sanitiser to its channel, and kinds of noise to their sanitiser.

A mechanism is pure: fresh normals and a state go in, noise and the next state come out. The
state is a value that can be saved, so that noise once drawn is never drawn again.
"""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from agent.formats.designs import FloatArray
from agent.health import Account

State = TypeVar("State")


class ChannelSanitiser(Protocol):
    """A value in, a release and the state after it out; both are stored in one transaction."""

    def cold_start(self, segment: int) -> bytes:
        """The state in which nothing is drawn yet; the first segment is 0.

        Raises:
            RefusedError: the design does not cover that many segments.
        """
        ...

    def segment(self, state: bytes) -> int:
        """The segment that the state is in.

        Raises:
            FormatError: damaged, or of another design or version.
        """
        ...

    def sanitise(
        self, state: bytes, time_ms: int, value_steps: tuple[int, ...]
    ) -> tuple[tuple[int, ...], bytes]:
        """The release and the state after it.

        Raises:
            RefusedError: nothing may be released; nothing has changed.
            FormatError: the state is damaged, or of another design or version.
        """
        ...

    def last_budget(self, state: bytes) -> float | None:
        """What the last release was drawn with, where the design counts by release (nats)."""
        ...

    def account(self, state: bytes) -> Account | None:
        """What all releases leak together, where the design bounds that."""
        ...


class NoiseMechanism(Protocol[State]):
    """Gaussian noise, sampled reading by reading; axes are independent and alike.

    ``step`` realises: noise at the steps' times ~ N(0, materialize(times)) on each axis.
    """

    @property
    def axes(self) -> int:
        """Number of axes."""
        ...

    def initial_state(self, segment: int) -> State:
        """Nothing drawn yet in this independent segment of noise (the first is 0).

        Raises:
            RefusedError: the design's guarantee does not cover that many segments.
        """
        ...

    def segment(self, state: State) -> int:
        """The segment that the state is in; a window design advances it by itself."""
        ...

    def normals_needed(self, state: State, time_ms: int) -> int:
        """How many fresh standard normals ``step`` takes at this time.

        Raises:
            RefusedError: no noise may be drawn at this time (not after the last one, off the
                window's times, past the design's allowance).
        """
        ...

    def step(self, state: State, time_ms: int, normals: FloatArray) -> tuple[FloatArray, State]:
        """Noise of shape (axes,), in the design's unit, and the state after it."""
        ...

    def encode(self, state: State) -> bytes:
        """The state as bytes, for the store."""
        ...

    def decode(self, content: bytes) -> State:
        """The inverse of encode.

        Raises:
            FormatError: the bytes are not a state of this mechanism.
        """
        ...

    def materialize(self, times_ms: Sequence[int]) -> FloatArray:
        """The covariance (n, n) on one axis at these times; what tests compare against."""
        ...
