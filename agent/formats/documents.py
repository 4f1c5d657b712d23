"""YAML documents read strictly: every key is known, typed and used, or the document is refused.

A message names the place as a path (``design.yaml: designs[0].protect.epsilon``). Unknown and
repeated keys are refused, with the nearest known key suggested.
"""

import difflib
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import yaml

from agent.formats.errors import FormatError, shown
from agent.formats.quantities import require_sane

T = TypeVar("T")
MAX_DOCUMENT_BYTES = 1 << 20


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader that refuses repeated keys, which YAML otherwise lets the last one win."""


def _mapping_without_repeats(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, bool):
            key = key_node.value  # YAML 1.1 takes the key `on` for true
        if not isinstance(key, (str, int, float, bool)):
            raise FormatError(f"line {key_node.start_mark.line + 1}: a key must be plain text")
        if key in mapping:
            raise FormatError(
                f"line {key_node.start_mark.line + 1}: the key {shown(key)} stands twice"
            )
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_StrictLoader.add_constructor(
    yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_repeats
)
# YAML 1.1 reads 1.0e-3 as a number but 1e-3 as text, which no user expects.
_StrictLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


class Section:
    """One mapping of a document; each key is taken once and :meth:`close` refuses the rest."""

    def __init__(self, content: object, where: str) -> None:
        if not isinstance(content, dict):
            raise FormatError(f"{where}: found {_kind(content)}; expected keys with values")
        self.where = where
        self._content: dict[str, Any] = content
        self._known: list[str] = []

    def has(self, key: str) -> bool:
        """Whether the key is written; also makes it known, for suggestions."""
        self._known.append(key)
        return key in self._content

    def raw(self, key: str) -> object:
        """The value as YAML gave it.

        Raises:
            FormatError: the key is missing.
        """
        if not self.has(key):
            raise FormatError(f"{self.where}: the key {shown(key)} is missing{self._misspelt(key)}")
        return self._content[key]

    def take(self, key: str, parse: Callable[[Any], T]) -> T:
        """The value of a required key, through ``parse``, whose FormatError gets the place."""
        value = self.raw(key)
        try:
            return parse(value)
        except FormatError as error:
            raise FormatError(f"{self.where}.{key}: {error}") from None

    def take_or(self, key: str, parse: Callable[[Any], T], default: T) -> T:
        """The value of an optional key, or the default."""
        return self.take(key, parse) if self.has(key) else default

    def section(self, key: str) -> "Section":
        """The required mapping under a key."""
        return Section(self.raw(key), f"{self.where}.{key}")

    def sections(self, key: str) -> list["Section"]:
        """The required, non-empty list of mappings under a key."""
        value = self.raw(key)
        if not isinstance(value, list) or not value:
            raise FormatError(
                f"{self.where}.{key}: found {_kind(value)}; expected a list of one or more"
            )
        return [Section(item, f"{self.where}.{key}[{i}]") for i, item in enumerate(value)]

    def fail(self, key: str, message: str) -> FormatError:
        """An error at a key of this section, to be raised by the caller."""
        return FormatError(f"{self.where}.{key}: {message}")

    def close(self) -> None:
        """Refuse every key that nobody took.

        Raises:
            FormatError: the first unknown key, with the nearest known one.
        """
        for key in self._content:
            if key not in self._known:
                near = difflib.get_close_matches(str(key), self._known, n=1)
                hint = (
                    f"did you mean {shown(near[0])}?"
                    if near
                    else f"known here: {', '.join(sorted(set(self._known)))}"
                )
                raise FormatError(f"{self.where}: unknown key {shown(key)}; {hint}")

    def _misspelt(self, key: str) -> str:
        near = difflib.get_close_matches(key, [str(k) for k in self._content], n=1)
        return f"; found {shown(near[0])} instead" if near else ""


def load_yaml(path: Path) -> Section:
    """The document's top mapping.

    Raises:
        FormatError: the file cannot be read, is too large, is not YAML, or is not a mapping.
    """
    content = read_limited(path, MAX_DOCUMENT_BYTES)
    return parse_yaml(content, path.name)


def parse_yaml(content: bytes, where: str) -> Section:
    """As :func:`load_yaml`, from bytes; ``where`` names the document in messages."""
    try:
        document = yaml.load(content.decode("utf-8"), Loader=_StrictLoader)  # noqa: S506 - a SafeLoader
    except UnicodeDecodeError:
        raise FormatError(f"{where}: not UTF-8 text; expected a YAML document") from None
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark is not None else ""
        raise FormatError(
            f"{where}: not YAML{line}; check indentation, colons and quotes"
        ) from None
    if document is None:
        raise FormatError(f"{where}: the document is empty; expected keys with values")
    return Section(document, where)


def read_limited(path: Path, limit: int) -> bytes:
    """A file's bytes, the size checked before they are read.

    Raises:
        FormatError: missing, not a file, unreadable, or larger than ``limit`` bytes.
    """
    try:
        if not path.exists():
            raise FormatError(f"{path}: no such file; check the path")
        if not path.is_file():
            raise FormatError(f"{path}: is not a file; give the path of a file")
        with path.open("rb") as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror})") from None
    if len(content) > limit:
        raise FormatError(f"{path}: larger than the {limit} bytes allowed for such a file")
    return content


def text(value: object) -> str:
    """Non-empty text."""
    if not isinstance(value, str) or not value.strip():
        raise FormatError(f"found {_kind(value)}; expected text")
    return value


def flag(value: object) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise FormatError(f"found {_kind(value)}; expected true or false")
    return value


def number(value: object) -> float:
    """A finite number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            amount = float(value)
        except OverflowError:  # YAML's integers know no limit
            amount = math.inf
        if math.isfinite(amount):
            return amount
    raise FormatError(f"found {_kind(value)}; expected a finite number")


def positive(value: object) -> float:
    """A number above zero, of a size whose square float64 can still hold."""
    amount = number(value)
    if amount <= 0:
        raise FormatError(f"found {amount:g}; expected a number above zero")
    require_sane(amount)
    return amount


def count(value: object) -> int:
    """A whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise FormatError(f"found {shown(value)}; expected a whole number of at least 1")
    return value


def one_of(*choices: str) -> Callable[[object], str]:
    """A parser that accepts just these words."""

    def parse(value: object) -> str:
        if value not in choices:
            raise FormatError(f"found {shown(value)}; expected one of {', '.join(choices)}")
        return str(value)

    return parse


def list_of(parse: Callable[[Any], T]) -> Callable[[object], list[T]]:
    """A parser for a non-empty list whose items go through ``parse``."""

    def parse_list(value: object) -> list[T]:
        if not isinstance(value, list) or not value:
            raise FormatError(f"found {_kind(value)}; expected a list of one or more")
        return [parse(item) for item in value]

    return parse_list


def _kind(value: object) -> str:
    if value == []:
        return "an empty list"
    names = {dict: "keys with values", list: "a list", type(None): "nothing"}
    return names.get(type(value)) or shown(value)
