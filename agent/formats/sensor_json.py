"""A sanitised scalar as JSON: ``{"id", "std", "t", "unit", "value"}``, keys sorted, no blanks.

``id`` is the release's identity (device/channel/sequence), ``t`` its Unix time in seconds,
``value`` the released number in ``unit``, and ``std`` the standard deviation of the noise in it.
All are functions of the release and the design; nothing else is ever added.
"""

import json
import math
from dataclasses import dataclass
from decimal import Decimal

from agent.formats.errors import FormatError

MAX_BYTES = 4096
MAX_TEXT = 256
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
    seconds, rest = divmod(message.time_ms, 1000)
    content = {
        "id": message.identity,
        "std": message.std,
        "t": seconds if rest == 0 else message.time_ms / 1000,
        "unit": message.unit,
        "value": message.value,
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def decode_sensor(content: bytes) -> SensorMessage:
    """The inverse of encode_sensor, strict.

    Raises:
        FormatError: too long, not such JSON, a key missing or unknown, a number not finite.
    """
    if len(content) > MAX_BYTES:
        raise FormatError(f"sensor message: {len(content)} bytes; expected at most {MAX_BYTES}")
    try:
        found = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        raise FormatError("sensor message: not JSON; expected what `sfumato run` sends") from None
    if not isinstance(found, dict) or set(found) != _KEYS:
        raise FormatError(f"sensor message: expected exactly the keys {', '.join(sorted(_KEYS))}")
    return SensorMessage(
        identity=_text(found, "id"),
        time_ms=round(_number(found, "t", 1e11) * 1000),
        value=_number(found, "value", math.inf),
        unit=_text(found, "unit"),
        std=_number(found, "std", math.inf),
    )


def _text(found: dict[str, object], key: str) -> str:
    value = found[key]
    if not isinstance(value, str) or not 0 < len(value) <= MAX_TEXT or not value.isprintable():
        raise FormatError(f"sensor message: {key} is not printable text of 1 to {MAX_TEXT} letters")
    return value


def _number(found: dict[str, object], key: str, limit: float) -> float:
    value = found[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FormatError(f"sensor message: {key} is not a number")
    try:
        amount = float(value)
    except OverflowError:
        amount = math.inf
    if not math.isfinite(amount) or abs(amount) > limit:
        raise FormatError(f"sensor message: {key} is not finite or out of range")
    return amount
