"""A sanitised scalar as JSON: ``{"id", "std", "t", "unit", "value"}``, keys sorted, no blanks.

``id`` is the release's identity (device/channel/sequence), ``t`` its Unix time in seconds,
``value`` the released number in ``unit``, and ``std`` the standard deviation of the noise in it.
All are functions of the release and the design; nothing else is ever added.
"""

from dataclasses import dataclass
from decimal import Decimal

from agent.formats.message_json import (
    LATEST_SECONDS,
    MessageFields,
    encode_message,
    seconds_of,
)

MAX_BYTES = 4096
_KEYS = {"id", "std", "t", "unit", "value"}


@dataclass(frozen=True, slots=True)
class SensorMessage:
    """What the JSON says."""

    identity: str
    time_ms: int
    value: float
    unit: str
    std: float


def value_on_grid(steps: int, grid: float) -> float:
    """``steps * grid`` with just the decimals that the grid has: 2066 steps of 0.01 are 20.66."""
    return float(Decimal(repr(grid)) * steps)


def encode_sensor(message: SensorMessage) -> bytes:
    """The same bytes for the same message, always."""
    return encode_message(
        {
            "id": message.identity,
            "std": message.std,
            "t": seconds_of(message.time_ms),
            "unit": message.unit,
            "value": message.value,
        }
    )


def decode_sensor(content: bytes) -> SensorMessage:
    """The inverse of encode_sensor, strict.

    Raises:
        FormatError: too long, not such JSON, a key missing or unknown, a number not finite.
    """
    fields = MessageFields("sensor message", content, _KEYS, MAX_BYTES)
    return SensorMessage(
        identity=fields.text("id"),
        time_ms=fields.time_ms(-LATEST_SECONDS),
        value=fields.number("value"),
        unit=fields.text("unit"),
        std=fields.number("std"),
    )
