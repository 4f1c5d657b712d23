"""A node's symbol as JSON: ``{"design", "id", "node", "t", "z"}``, keys sorted, no blanks, ASCII.

``design`` is the first 16 hexadecimal digits of the design's digest, so that a fusion centre never
decides by another design than the node spoke by; ``id`` is the release's identity
(device/channel/sequence), ``node`` the node's name, ``t`` its Unix time in seconds and ``z`` the
number of the symbol, from 0. Nothing else is ever added.
"""

import json
import re
from dataclasses import dataclass

from agent.formats.errors import FormatError
from agent.formats.manifest_values import is_name
from agent.formats.mapping_node import MAX_NODE_NAME, MAX_SYMBOLS

MAX_BYTES = 4096
MAX_TEXT = 256
DESIGN_DIGITS = 16
_KEYS = {"design", "id", "node", "t", "z"}
_DIGITS = re.compile(rf"[0-9a-f]{{{DESIGN_DIGITS}}}")
_LATEST_SECONDS = 1e11


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
    seconds, rest = divmod(message.time_ms, 1000)
    content = {
        "design": message.design,
        "id": message.identity,
        "node": message.node,
        "t": seconds if rest == 0 else message.time_ms / 1000,
        "z": message.symbol,
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def decode_mapping_message(content: bytes) -> MappingMessage:
    """The inverse of encode_mapping_message, strict: other bytes for the same are refused too.

    Raises:
        FormatError: too long, not such JSON, a key missing or unknown, a value out of range.
    """
    if len(content) > MAX_BYTES:
        raise FormatError(f"mapping message: {len(content)} bytes; expected at most {MAX_BYTES}")
    try:
        found = json.loads(content.decode("ascii"))
    except (ValueError, RecursionError):
        raise FormatError("mapping message: not JSON; expected what `sfumato run` sends") from None
    if not isinstance(found, dict) or set(found) != _KEYS:
        raise FormatError(f"mapping message: expected exactly the keys {', '.join(sorted(_KEYS))}")
    identity, design, node = found["id"], found["design"], found["node"]
    time, symbol = found["t"], found["z"]
    if not isinstance(identity, str) or not 0 < len(identity) <= MAX_TEXT:
        raise FormatError(f"mapping message: id is not text of 1 to {MAX_TEXT} letters")
    if not identity.isprintable():
        raise FormatError("mapping message: id is not printable")
    if not isinstance(design, str) or not _DIGITS.fullmatch(design):
        raise FormatError(f"mapping message: design is not {DESIGN_DIGITS} hexadecimal digits")
    if not isinstance(node, str) or not is_name(node) or len(node) > MAX_NODE_NAME:
        raise FormatError("mapping message: node is not a node's name")
    if type(symbol) is not int or not 0 <= symbol < MAX_SYMBOLS:
        raise FormatError(f"mapping message: z is not a whole number from 0 to {MAX_SYMBOLS - 1}")
    if type(time) not in (int, float) or not 0 <= time <= _LATEST_SECONDS:
        raise FormatError("mapping message: t is not a number of seconds")
    message = MappingMessage(identity, round(time * 1000), design, node, symbol)
    if encode_mapping_message(message) != content:
        raise FormatError("mapping message: not in canonical form")
    return message
