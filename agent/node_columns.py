"""Which column of a device's table feeds which column of its node; names only, no readings.

A node with its columns exchanged runs, and is wrong in every cell. Names that the design has too,
in another order, can only be a mistake; other names (each building calls its columns otherwise) are
said once, for somebody to look at.
"""

from collections.abc import Sequence

from agent.errors import ConfigError
from agent.formats.columns import ColumnNames
from agent.formats.errors import shown
from agent.formats.mapping_node import MAX_TEXT, Node


def check_node_columns(where: str, columns: ColumnNames | None, node: Node) -> list[str]:
    """What to tell the user about the columns, a line at most.

    Args:
        where: the channel, for messages.
        columns: of the source, as configured.
        node: that they feed.

    Raises:
        ConfigError: another number of columns than the node takes, or its own in another order.
    """
    given = (columns or {}).get("values", (columns or {}).get("value", ()))
    listed = [given] if isinstance(given, (str, int)) else list(given)
    if len(listed) != len(node.columns):
        raise ConfigError(
            f"{where}: source.columns has {len(listed)} value columns; node {node.name!r} takes "
            f"{len(node.columns)}: {', '.join(node.columns)}; name them in that order, as "
            "columns: {time: …, values: […]}"
        )
    # Headers are found whatever their case, so here too; a number says nothing of what it holds.
    ours = [_folded(column) if isinstance(column, str) else None for column in listed]
    theirs = [_folded(column) for column in node.columns]
    if ours == theirs:
        return []
    if None not in ours and sorted(map(str, ours)) == sorted(theirs):
        raise ConfigError(
            f"{where}: source.columns has {_names(listed)}; node {node.name!r} takes the same in "
            f"another order; write values: [{', '.join(node.columns)}]"
        )
    feeds = ", ".join(
        f"{_name(column)} feeds {shown(taken)}"
        for column, taken in zip(listed, node.columns, strict=True)
    )
    return [f"of node {node.name!r}, {feeds}: check that each is the same quantity and unit"]


def _folded(column: str) -> str:
    return column[:MAX_TEXT].casefold()  # a design keeps so much of a name


def _names(columns: Sequence[str | int]) -> str:
    return ", ".join(map(_name, columns))


def _name(column: str | int) -> str:
    return f"column {column}" if isinstance(column, int) else shown(column)
