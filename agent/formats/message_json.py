"""What the JSON messages have in common: canonical bytes, a time, and fields that are checked.

A message is one JSON object with its keys sorted and no blanks. ``id`` is the release's identity
(device/channel/sequence), ``t`` its Unix time in seconds, a whole number where it can be. What each
message says beside these stands in the module of its format.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from agent.formats.errors import FormatError
from agent.formats.json_objects import read_object, require_keys

MAX_TEXT = 256
LATEST_SECONDS = 1e11


def encode_message(content: Mapping[str, object], *, ascii_only: bool = True) -> bytes:
    """The same bytes for the same content, always; letters beyond ASCII escaped or as UTF-8."""
    return json.dumps(
        content,
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
        ensure_ascii=ascii_only,
    ).encode()


def seconds_of(time_ms: int) -> int | float:
    """``t`` of a time in milliseconds."""
    seconds, rest = divmod(time_ms, 1000)
    return seconds if rest == 0 else time_ms / 1000


class MessageFields:
    """The fields of one message, each taken as what it must be.

    Args:
        what: the message, for errors; they never show a value.
        content: its bytes.
        keys: that it must have, and no others.
        most_bytes: that it may have.

    Raises:
        FormatError: too long, not JSON, not an object, a key missing or unknown.
    """

    def __init__(self, what: str, content: bytes, keys: set[str], most_bytes: int) -> None:
        self._what = what
        self._found = read_object(content, what, most_bytes)
        require_keys(self._found, keys, what)

    def wrong(self, words: str) -> FormatError:
        """An error about this message, to be raised by the caller."""
        return FormatError(f"{self._what}: {words}")

    def value(self, key: str) -> Any:
        """As JSON has it."""
        return self._found[key]

    def text(self, key: str, most: int = MAX_TEXT) -> str:
        """Printable text that is not empty."""
        return self.printable(key, self._found[key], most)

    def printable(self, key: str, value: object, most: int) -> str:
        """The same of a value that is part of a field."""
        if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
            raise self.wrong(f"{key} is not printable text of 1 to {most} letters")
        return value

    def number(self, key: str, least: float = -math.inf, most: float = math.inf) -> float:
        """A finite number within bounds."""
        value = self._found[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong(f"{key} is not a number")
        try:
            amount = float(value)
        except OverflowError:
            amount = math.inf
        if not (math.isfinite(amount) and least <= amount <= most):
            above = "" if least == -math.inf else f", at least {least:g}"
            below = "" if most == math.inf else f", at most {most:g}"
            raise self.wrong(f"{key} is out of range; expected a finite number{above}{below}")
        return amount

    def time_ms(self, least_seconds: float = 0.0) -> int:
        """``t`` in milliseconds."""
        return round(self.number("t", least_seconds, LATEST_SECONDS) * 1000)
