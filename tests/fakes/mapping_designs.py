"""Small mappings of three nodes, written by hand: no solver, weights of exact binary fractions."""

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from agent.formats.leakage_table import LeakageTable
from agent.formats.mapping_design import WHOLE, MappingDesign, Node, WeightTable, local_epsilon
from agent.formats.quantisers import Centres, Cuts, Quantiser, Tree

STEP_MS = 60_000
EMPTY = LeakageTable((), (), ())
# p(h), and p(cell | h) of each node: independent given H.
PRIOR = (0.625, 0.375)
CELLS = {
    "light-1": ((0.5, 0.25, 0.25), (0.125, 0.25, 0.625)),
    "co2": ((0.75, 0.25), (0.25, 0.75)),
    "sound": ((0.5, 0.5), (0.375, 0.625)),
}


def weights(*rows: tuple[float, ...]) -> WeightTable:
    """Probabilities that are binary fractions, as integers."""
    return tuple(tuple(int(probability * WHOLE) for probability in row) for row in rows)


def node(
    name: str,
    columns: tuple[str, ...],
    quantiser: Quantiser,
    *tables: WeightTable,
    high: float = 100.0,
) -> Node:
    """A node without an account, readings from 0 to ``high``."""
    return Node(
        name=name,
        columns=columns,
        low=(0.0,) * len(columns),
        high=(high,) * len(columns),
        quantiser=quantiser,
        tables=tables,
        local=local_epsilon(tables),
        backward=EMPTY,
        forward=EMPTY,
        steady_backward=0.0,
        steady_forward=0.0,
    )


def three_nodes() -> tuple[Node, Node, Node]:
    """A tree over two columns with two tables, cuts, and centres."""
    return (
        node(
            "light-1",
            ("S1_Light", "S1_Temp"),
            Tree(((0, 20.0), (1, 25.0)), ((-1, 1), (-2, -3)), 2),
            weights((0.75, 0.25), (0.5, 0.5), (0.25, 0.75)),
            weights((0.75, 0.25), (0.25, 0.75)),
        ),
        node("co2", ("S5_CO2",), Cuts((600.0,)), weights((0.75, 0.25), (0.25, 0.75)), high=2000.0),
        node("sound", ("S1_Sound",), Centres(((1.0,), (3.0,)), (0.5,)), weights((0.5, 0.25, 0.25),
                                                                              (0.25, 0.25, 0.5))),
    )  # fmt: skip


def matrix(one: Node) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """(cells, symbols) p(z | cell)."""
    tables = [np.array(table, dtype=np.float64) / WHOLE for table in one.tables]
    return np.asarray(reduce(np.matmul, tables))


def outcomes_for(nodes: tuple[Node, ...]) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """p(h, z) under PRIOR and CELLS."""
    parts = []
    for h, weight in enumerate(PRIOR):
        rows = [np.array(CELLS[one.name][h]) @ matrix(one) for one in nodes]
        parts.append(weight * reduce(np.multiply.outer, rows))
    return np.stack(parts)


def room_mapping(**changes: Any) -> MappingDesign:
    """Memoised repeats; whether a room needs air, from three nodes."""
    nodes = three_nodes()
    if "nodes" in changes and "outcomes" not in changes:
        changes["outcomes"] = outcomes_for(changes["nodes"])
    design = MappingDesign(
        name="room",
        architecture="lip",
        nodes=nodes,
        public=("fine", "stale"),
        private="whether somebody is at home",
        step_ms=STEP_MS,
        information_asked=0.5,
        information=0.4375,
        regimes=None,
        information_across=None,
        information_upper=0.625,
        confidence=0.95,
        local_asked=1.125,
        public_error=0.28125,
        public_chance=0.375,
        private_error=0.375,
        private_chance=0.40625,
        repeats="memoised",
        memoise_steps=1440,
        limit=None,
        horizon=16,
        segments=3,
        knowledge=("readings are independent given both hypotheses", "learnt from 512 rows"),
        outcomes=outcomes_for(nodes),
    )
    return replace(design, **changes)


def accounted_mapping(**changes: Any) -> MappingDesign:
    """The same with accounts: chains that forget half of a leakage, or more, from step to step."""
    table = LeakageTable((0.0,), (0.5,), (0.25,))
    nodes = tuple(
        replace(one, backward=table, forward=table, steady_backward=2.0, steady_forward=2.0)
        for one in three_nodes()
    )
    values = {"nodes": nodes, "repeats": "accounted", "memoise_steps": None, "limit": 3.0}
    return room_mapping(**(values | changes))
