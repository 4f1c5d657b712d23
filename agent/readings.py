"""What goes in and what comes out. Only a Release can enter the outbox."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Reading:
    """A raw measurement, in memory only.

    Attributes:
        time_ms: Unix time, whole milliseconds.
        values: latitude and longitude in degrees for a location; one number for a scalar; none
            where the source says a state in words.
        accuracy: the receiver's own error (metres for a location), where known.
        label: that state's name.
    """

    time_ms: int
    values: tuple[float, ...]
    accuracy: float | None = None
    label: str | None = None

    def __repr__(self) -> str:
        return "Reading(…)"  # raw values never reach a log or a traceback


@dataclass(frozen=True, slots=True)
class Release:
    """A sanitised value: ``steps[k] * grid`` on axis k of the channel, or numbers of states.

    ``budget`` is what this one release was drawn with (nats), where the design counts by release.

    ``(device, channel, sequence)`` is its stable identity; a resend repeats it.
    """

    device: str
    channel: str
    sequence: int
    time_ms: int
    steps: tuple[int, ...]
    budget: float | None = None

    @property
    def identity(self) -> str:
        """``device/channel/sequence``."""
        return f"{self.device}/{self.channel}/{self.sequence}"
