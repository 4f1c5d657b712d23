"""Values of a manifest's JSON, taken strictly: of the type that is meant, or the bundle is refused.

Every function raises FormatError; ``what`` names the value in the message.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from agent.formats.errors import FormatError

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For json.loads, which otherwise lets the last of two equal keys win."""
    content = dict(pairs)
    if len(content) != len(pairs):
        raise FormatError("its manifest has a key twice")
    return content


def refuse_constant(name: str) -> NoReturn:
    """For json.loads, which otherwise takes NaN and the infinities."""
    raise FormatError(f"its manifest holds {name}, which is not JSON")


def take_object(what: str, value: object, keys: tuple[str, ...]) -> dict[str, Any]:
    """An object with exactly these keys."""
    if not isinstance(value, dict):
        raise FormatError(f"a {what} in its manifest is not an object")
    require_keys(what, value, keys)
    return value


def require_keys(what: str, value: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Refuses unknown and missing keys."""
    unknown, missing = sorted(set(value) - set(keys)), sorted(set(keys) - set(value))
    if unknown:
        raise FormatError(f"a {what} in its manifest has the unknown key {unknown[0]!a}")
    if missing:
        raise FormatError(f"a {what} in its manifest lacks the key {missing[0]!r}")


def take_list(what: str, value: object, most: int, parse: Callable[[Any], Any]) -> tuple[Any, ...]:
    """A list of at most ``most``, each item through ``parse``."""
    if not isinstance(value, list) or len(value) > most:
        raise FormatError(f"{what} in its manifest is not a list of at most {most}")
    return tuple(parse(item) for item in value)


def is_name(text: str) -> bool:
    """Whether a text may be part of the name of a bundle's member."""
    return _NAME.fullmatch(text) is not None


def take_name(value: object) -> str:
    """Checked before it names a member of the bundle."""
    name = take_text("name", value)
    if not is_name(name):
        raise FormatError(
            f"design name {name!a}: expected 1 to 64 of the letters A to Z, digits, - and _"
        )
    return name


def take_text(what: str, value: object) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise FormatError(f"{what} in its manifest is not text")
    return value


def take_float(what: str, value: object) -> float:
    """A number that is written with a fraction or an exponent."""
    if not isinstance(value, float):
        raise FormatError(f"{what} in its manifest is not a number with a fraction")
    return value


def take_whole(what: str, value: object) -> int:
    """A whole number from 0 that a float64 holds exactly."""
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise FormatError(f"{what} in its manifest is not a whole number")
    return value
