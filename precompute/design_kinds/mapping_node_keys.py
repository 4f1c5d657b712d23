"""The keys of one node: what it measures, and how that becomes cells."""

from dataclasses import dataclass
from typing import cast

from agent.formats.columns import Column
from agent.formats.documents import Section, count, list_of, number, one_of
from agent.formats.errors import FormatError
from precompute.design_kinds import mapping_values as values
from precompute.mapping.quantiser_fitting import METHODS, Method

DEFAULT_CELLS = 16


@dataclass(frozen=True, slots=True)
class NodeKeys:
    """One node as asked for; ``cuts`` or a method with a number of cells."""

    name: str
    columns: tuple[Column, ...]
    method: Method
    cells: int
    cuts: tuple[float, ...] | None
    low_high: tuple[float, float] | None


def read_node(section: Section, *, by_joint: bool) -> NodeKeys:
    """One entry of ``nodes``.

    Raises:
        FormatError: unknown, missing, of the wrong type, or that does not fit the rest.
    """
    name = section.take("name", values.node_name)
    cuts = tuple(section.take("cuts", list_of(number))) if section.has("cuts") else None
    if by_joint and cuts is None:
        raise FormatError(
            f"{section.where}: the key 'cuts' is missing; a stated joint does not say which "
            "readings its cells hold, for example cuts: [600, 1000] for the cells 0, 1 and 2"
        )
    for key in ("cells", "quantiser"):
        if cuts is not None and section.has(key):
            raise section.fail(key, "the cuts say it already; leave one of the two out")
    if by_joint and not section.has("columns"):
        columns: tuple[Column, ...] = (name,)
    else:
        columns = section.take("columns", values.columns)
    if cuts is not None and len(columns) != 1:
        raise section.fail("columns", f"found {len(columns)}; cuts take one column")
    method = cast(Method, section.take_or("quantiser", one_of(*METHODS), "tree"))
    if method == "quantile" and len(columns) != 1:
        raise section.fail("quantiser", "quantile takes one column; use tree or kmeans")
    low_high = None
    if section.has("range"):
        low, *rest = section.take("range", list_of(number))
        if len(rest) != 1 or rest[0] < low or cuts is None:
            raise section.fail("range", "expected [least, largest], beside cuts")
        low_high = (low, rest[0])
    cells = section.take_or("cells", count, DEFAULT_CELLS)
    section.close()
    return NodeKeys(name, columns, method, cells, cuts, low_high)
