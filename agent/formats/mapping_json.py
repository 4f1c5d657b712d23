"""A node's symbol as JSON: ``{"design", "id", "node", "t", "z"}``.

What is sent has its keys sorted, no blanks, and is ASCII. Any other JSON text of the same meaning
is read too: other senders and bridges space and order as they like.

``design`` is the first 16 hexadecimal digits of the design's digest, so that a fusion centre never
decides by another design than the node spoke by; ``id`` is the release's identity
(device/channel/sequence), ``node`` the node's name, ``t`` its Unix time in seconds and ``z`` the
number of the symbol, from 0. Nothing else is ever added.
"""

import re
from dataclasses import dataclass

from agent.formats.manifest_values import is_name
from agent.formats.mapping_node import MAX_NODE_NAME, MAX_SYMBOLS
from agent.formats.message_json import MessageFields, encode_message, seconds_of

MAX_BYTES = 4096
DESIGN_DIGITS = 16
_KEYS = {"design", "id", "node", "t", "z"}
_DIGITS = re.compile(rf"[0-9a-f]{{{DESIGN_DIGITS}}}")


@dataclass(frozen=True, slots=True)
class MappingMessage:
    """What the JSON says."""

    identity: str
    time_ms: int
    design: str
    node: str
    symbol: int


def encode_mapping_message(message: MappingMessage) -> bytes:
    """The same bytes for the same message, always."""
    return encode_message(
        {
            "design": message.design,
            "id": message.identity,
            "node": message.node,
            "t": seconds_of(message.time_ms),
            "z": message.symbol,
        }
    )


def decode_mapping_message(content: bytes) -> MappingMessage:
    """The inverse of encode_mapping_message: strict about meaning, not about spacing and order.

    Raises:
        FormatError: too long, not such JSON, a key missing, unknown or twice, a value of another
            type or out of range.
    """
    fields = MessageFields("mapping message", content, _KEYS, MAX_BYTES)
    design, node, symbol = fields.text("design"), fields.text("node"), fields.value("z")
    if not _DIGITS.fullmatch(design):
        raise fields.wrong(f"design is not {DESIGN_DIGITS} hexadecimal digits")
    if not is_name(node) or len(node) > MAX_NODE_NAME:
        raise fields.wrong("node is not a node's name")
    if type(symbol) is not int or not 0 <= symbol < MAX_SYMBOLS:
        raise fields.wrong(f"z is not a whole number from 0 to {MAX_SYMBOLS - 1}")
    return MappingMessage(fields.text("id"), fields.time_ms(), design, node, symbol)
