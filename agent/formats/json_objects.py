"""JSON messages as they come from outside: any JSON text, however it is spaced or ordered.

Strict about the rest: UTF-8, one object, no key twice (two parsers might then read two messages),
no NaN or Infinity (JSON has none), at most so many bytes. Nothing of what was found is shown.
"""

import json
from typing import Any, NoReturn

from agent.formats.errors import FormatError


def read_object(content: bytes, what: str, most_bytes: int) -> dict[str, Any]:
    """The object that the message is.

    Args:
        content: the message.
        what: it should be, for messages.
        most_bytes: that it may have.

    Raises:
        FormatError: too long, or not such JSON.
    """
    if len(content) > most_bytes:
        raise FormatError(f"{what}: too long; expected at most {most_bytes} bytes")
    try:
        found = json.loads(
            content.decode("utf-8"), object_pairs_hook=_without_repeats, parse_constant=_refuse
        )
    except _RepeatedKeyError:
        raise FormatError(f"{what}: a key stands twice in an object") from None
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        raise FormatError(f"{what}: not JSON; expected what `sfumato run` sends") from None
    if not isinstance(found, dict):
        raise FormatError(f"{what}: JSON, but not an object; expected what `sfumato run` sends")
    return found


def require_keys(found: dict[str, Any], keys: set[str], what: str) -> None:
    """Just these keys.

    Raises:
        FormatError: one is missing or unknown.
    """
    if set(found) != keys:
        raise FormatError(f"{what}: expected exactly the keys {', '.join(sorted(keys))}")


class _RepeatedKeyError(Exception):
    """Inside the parser only."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKeyError
    return found


def _refuse(_word: str) -> NoReturn:
    raise ValueError
