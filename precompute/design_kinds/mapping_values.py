"""Single values of a mapping design's keys, each refused in words that say what was expected.

Every function raises FormatError.
"""

from collections.abc import Callable

from agent.formats.columns import Column
from agent.formats.documents import count, list_of, number, text
from agent.formats.errors import FormatError, shown
from agent.formats.manifest_values import is_name
from agent.formats.mapping_design import MAX_HORIZON
from agent.formats.mapping_node import MAX_NODE_NAME
from agent.formats.quantities import parse_duration

# Tables of multiples of 2^-32 cannot hold ratios of over e^22.18.
MOST_NATS = 20.0


def name(value: object) -> str:
    """A design's name."""
    name = text(value)
    if not is_name(name):
        raise FormatError(f"found {shown(name)}; expected letters A to Z, digits, - and _")
    return name


def node_name(value: object) -> str:
    """A node's name, which is part of names in the bundle beside the design's."""
    found = name(value)
    if len(found) > MAX_NODE_NAME:
        raise FormatError(f"found {len(found)} letters; expected at most {MAX_NODE_NAME}")
    return found


def plain(value: object) -> str:
    """The name of a value."""
    # YAML reads an unquoted yes or no as true or false.
    if isinstance(value, bool):
        raise FormatError(f"found {shown(value)}; write names in quotes, such as ['no', 'yes']")
    return str(value) if isinstance(value, int) else text(value)


def texts(value: object) -> list[str]:
    """One text or several."""
    return list_of(text)(value if isinstance(value, list) else [value])


def column(value: object) -> Column:
    """A header's name or a number from 1."""
    return count(value) if isinstance(value, int) else text(value)


def columns(value: object) -> tuple[Column, ...]:
    """One column or several."""
    return tuple(list_of(column)(value if isinstance(value, list) else [value]))


def threshold(value: object) -> object:
    """``median``, or a number."""
    return "median" if value == "median" else number(value)


def nats(value: object) -> float:
    """A budget."""
    amount = number(value)
    if not 0 <= amount <= MOST_NATS:
        raise FormatError(
            f"found {amount:g}; expected nats from 0, where 0 tells nothing at all, to "
            f"{MOST_NATS:g}, which hides nothing; choose the architecture local or information to "
            "ask for one budget only"
        )
    return amount


def share(value: object) -> float:
    """A share of the log."""
    amount = number(value)
    if not 0 <= amount <= 0.9:
        raise FormatError(f"found {amount:g}; expected a share from 0 to 0.9")
    return amount


def confidence(value: object) -> float:
    """Between 0 and 1."""
    amount = number(value)
    if not 0 < amount < 1:
        raise FormatError(f"found {amount:g}; expected a number between 0 and 1, such as 0.95")
    return amount


def whole(value: object) -> int:
    """A seed."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FormatError(f"found {shown(value)}; expected a whole number from 0")
    return value


def signed_duration(value: object) -> float:
    """Seconds east of Greenwich."""
    words = value.strip() if isinstance(value, str) else value
    if words == "0 h":
        return 0.0
    negative = isinstance(words, str) and words.startswith("-")
    seconds = parse_duration(words[1:] if isinstance(words, str) and negative else words)
    return -seconds if negative else seconds


def symbols(most: int) -> Callable[[object], int]:
    """How many symbols there are; one alone could say nothing."""

    def parse(value: object) -> int:
        found = count(value)
        if not 2 <= found <= most:
            raise FormatError(
                f"found {found}; expected 2 to {most}: a single symbol says nothing, and tables "
                "hold no more"
            )
        return found

    return parse


def horizon(value: object) -> int:
    """So many releases are followed."""
    found = count(value)
    if found > MAX_HORIZON:
        raise FormatError(f"found {found}; expected at most {MAX_HORIZON} releases")
    return found
