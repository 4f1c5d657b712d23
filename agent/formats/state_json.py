"""A released state as JSON: ``{"epsilon", "id", "state", "t"}``, keys sorted, no blanks, UTF-8.

``id`` is the release's identity (device/channel/sequence), ``t`` its Unix time in seconds,
``state`` a state's name, or for unary encoding the list of the names in the released set, in the
design's order. ``epsilon`` is the budget that this release was drawn with, in nats: with it and
the design's mechanism a subscriber can correct counts for the noise. It depends on when releases
were made, never on a state; 0 means that the release was drawn without looking at the state.
Nothing else is ever added.
"""

import json
import math
from dataclasses import dataclass

from agent.formats.errors import FormatError
from agent.formats.leakage_design import MAX_STATE_NAME, MAX_STATES

MAX_BYTES = 1 << 20
MAX_TEXT = 256
_KEYS = {"epsilon", "id", "state", "t"}


@dataclass(frozen=True, slots=True)
class StateMessage:
    """What the JSON says; ``state`` is a tuple where the release is a set of states."""

    identity: str
    time_ms: int
    state: str | tuple[str, ...]
    epsilon: float


def encode_state_message(message: StateMessage) -> bytes:
    """The same bytes for the same message, always."""
    seconds, rest = divmod(message.time_ms, 1000)
    content = {
        "epsilon": message.epsilon,
        "id": message.identity,
        "state": message.state if isinstance(message.state, str) else list(message.state),
        "t": seconds if rest == 0 else message.time_ms / 1000,
    }
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False
    ).encode()


def decode_state_message(content: bytes) -> StateMessage:
    """The inverse of encode_state_message, strict.

    Raises:
        FormatError: too long, not such JSON, a key missing or unknown, a value out of range.
    """
    if len(content) > MAX_BYTES:
        raise FormatError(f"state message: {len(content)} bytes; expected at most {MAX_BYTES}")
    try:
        found = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        raise FormatError("state message: not JSON; expected what `sfumato run` sends") from None
    if not isinstance(found, dict) or set(found) != _KEYS:
        raise FormatError(f"state message: expected exactly the keys {', '.join(sorted(_KEYS))}")
    state = found["state"]
    if isinstance(state, list):
        if len(state) > MAX_STATES:
            raise FormatError(f"state message: over {MAX_STATES} states")
        names = tuple(_text("state", name, MAX_STATE_NAME) for name in state)
        if len(set(names)) != len(names):
            raise FormatError("state message: a state twice")
        states: str | tuple[str, ...] = names
    else:
        states = _text("state", state, MAX_STATE_NAME)
    return StateMessage(
        identity=_text("id", found["id"], MAX_TEXT),
        time_ms=round(_amount("t", found["t"], 1e11) * 1000),
        state=states,
        epsilon=_amount("epsilon", found["epsilon"], math.inf),
    )


def _text(key: str, value: object, most: int) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
        raise FormatError(f"state message: {key} is not printable text of 1 to {most} letters")
    return value


def _amount(key: str, value: object, limit: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FormatError(f"state message: {key} is not a number")
    try:
        amount = float(value)
    except OverflowError:
        amount = math.inf
    if not 0 <= amount <= limit or math.isinf(amount):
        raise FormatError(f"state message: {key} is below zero, not finite or out of range")
    return amount
