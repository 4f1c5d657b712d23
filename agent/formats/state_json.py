"""A released state as JSON: ``{"epsilon", "id", "state", "t"}``, keys sorted, no blanks, UTF-8.

``id`` is the release's identity (device/channel/sequence), ``t`` its Unix time in seconds,
``state`` a state's name, or for unary encoding the list of the names in the released set, in the
design's order. ``epsilon`` is the budget that this release was drawn with, in nats: with it and
the design's mechanism a subscriber can correct counts for the noise. It depends on when releases
were made, never on a state; 0 means that the release was drawn without looking at the state.
Nothing else is ever added.
"""

from dataclasses import dataclass

from agent.formats.leakage_design import MAX_STATE_NAME, MAX_STATES
from agent.formats.message_json import MessageFields, encode_message, seconds_of

MAX_BYTES = 1 << 20
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
    content = {
        "epsilon": message.epsilon,
        "id": message.identity,
        "state": message.state if isinstance(message.state, str) else list(message.state),
        "t": seconds_of(message.time_ms),
    }
    return encode_message(content, ascii_only=False)


def decode_state_message(content: bytes) -> StateMessage:
    """The inverse of encode_state_message, strict.

    Raises:
        FormatError: too long, not such JSON, a key missing or unknown, a value out of range.
    """
    fields = MessageFields("state message", content, _KEYS, MAX_BYTES)
    state = fields.value("state")
    if isinstance(state, list):
        if len(state) > MAX_STATES:
            raise fields.wrong(f"over {MAX_STATES} states")
        names = tuple(fields.printable("state", name, MAX_STATE_NAME) for name in state)
        if len(set(names)) != len(names):
            raise fields.wrong("a state twice")
        states: str | tuple[str, ...] = names
    else:
        states = fields.text("state", MAX_STATE_NAME)
    return StateMessage(
        identity=fields.text("id"),
        time_ms=fields.time_ms(),
        state=states,
        epsilon=fields.number("epsilon", 0.0),
    )
