"""A mapping as the bundle's manifest holds it; the specification stands here and in bundle.py.

``mapping_entry`` gives the manifest's object: every field of MappingDesign but ``outcomes``, and
``nodes`` as a list of every field of Node but ``backward`` and ``forward``. Tuples are lists;
amounts are numbers with a fraction, or the text ``"unbounded"`` for infinity. A quantiser is one of
``{kind: "cuts", cuts}``, ``{kind: "centres", centres, scales}``, ``{kind: "tree", columns,
questions: [[column, cut], …], children: [[low, high], …]}``.

The rest are members: ``<design>.outcomes.npy``, (|H|, Z) float64 with the nodes' symbols in
row-major order, and for accounted repeats ``<design>.<node>.backward.npy`` and ``.forward.npy``
(uint8; leakage_table.py). No name has a point in it, so no two members share a name.

``read_mapping_entry`` takes just what ``mapping_entry`` gives.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from agent.formats.errors import FormatError, about, shown
from agent.formats.leakage_table import LeakageTable, encode_leakage_table
from agent.formats.manifest_values import (
    require_keys,
    take_float,
    take_list,
    take_object,
    take_text,
    take_whole,
)
from agent.formats.mapping_design import (
    MAX_HYPOTHESES,
    MAX_NODES,
    MAX_SENTENCES,
    MappingDesign,
    Repeats,
)
from agent.formats.mapping_node import MAX_SYMBOLS, WHOLE, Node, WeightTable
from agent.formats.npy_array import encode_array
from agent.formats.quantisers import MAX_CELLS, MAX_COLUMNS, Centres, Cuts, Quantiser, Tree

UNBOUNDED = "unbounded"
_EMPTY = LeakageTable((), (), ())
_NODE_KEYS = tuple(sorted({f.name for f in fields(Node)} - {"backward", "forward"}))
ENTRY_KEYS = tuple(sorted({f.name for f in fields(MappingDesign)} - {"outcomes"}))

Tables = Callable[[str], tuple[LeakageTable, LeakageTable]]
"""From a node's name to its L_B and L_F."""


def mapping_entry(design: MappingDesign) -> dict[str, Any]:
    """The manifest's object; JSON values only."""
    return {
        "name": design.name,
        "kind": design.kind,
        "architecture": design.architecture,
        "nodes": [_node_entry(node) for node in design.nodes],
        "public": list(design.public),
        "private": design.private,
        "step_ms": design.step_ms,
        "information_asked": _amount(design.information_asked),
        "information": _amount(design.information),
        "regimes": design.regimes,
        "information_across": _amount(design.information_across),
        "information_upper": _amount(design.information_upper),
        "confidence": _amount(design.confidence),
        "local_asked": _amount(design.local_asked),
        "public_error": float(design.public_error),
        "public_chance": float(design.public_chance),
        "private_error": float(design.private_error),
        "private_chance": float(design.private_chance),
        "repeats": design.repeats,
        "memoise_steps": design.memoise_steps,
        "limit": _amount(design.limit),
        "horizon": design.horizon,
        "segments": design.segments,
        "knowledge": list(design.knowledge),
    }


def outcomes_of(design: MappingDesign) -> npt.NDArray[np.float64]:
    """(|H|, Z) as the member holds them."""
    return design.outcomes.reshape(len(design.public), -1)


def read_mapping_entry(
    entry: Mapping[str, Any], outcomes: npt.NDArray[np.float64], tables: Tables
) -> MappingDesign:
    """The inverse of :func:`mapping_entry`, with what lies in other members.

    Raises:
        FormatError: other keys, a value of another type, or one that a design may not have.
    """
    require_keys("design", entry, ENTRY_KEYS)
    if entry["kind"] != "mapping":
        raise FormatError("a design of another kind than mapping")
    repeats = cast(Repeats, take_text("repeats", entry["repeats"]))
    accounted = repeats == "accounted"
    nodes = take_list(
        "nodes",
        entry["nodes"],
        MAX_NODES,
        lambda value: _node(value, tables if accounted else None),
    )
    public = take_list(
        "public", entry["public"], MAX_HYPOTHESES, lambda value: take_text("public", value)
    )
    shape = (len(public), *(node.symbols for node in nodes))
    if outcomes.ndim != 2 or outcomes.shape != (shape[0], math.prod(shape[1:])):
        raise FormatError(
            f"the outcomes have the shape {outcomes.shape}; the manifest's nodes and values of H "
            f"need {(shape[0], math.prod(shape[1:]))}"
        )
    period = entry["memoise_steps"]
    return MappingDesign(
        name=take_text("name", entry["name"]),
        architecture=take_text("architecture", entry["architecture"]),
        nodes=nodes,
        public=public,
        private=take_text("private", entry["private"]),
        step_ms=take_whole("step_ms", entry["step_ms"]),
        information_asked=_take_or_none("information_asked", entry),
        information=_take_amount("information", entry["information"]),
        regimes=None if entry["regimes"] is None else take_whole("regimes", entry["regimes"]),
        information_across=_take_or_none("information_across", entry),
        information_upper=_take_or_none("information_upper", entry),
        confidence=_take_or_none("confidence", entry),
        local_asked=_take_or_none("local_asked", entry),
        public_error=take_float("public_error", entry["public_error"]),
        public_chance=take_float("public_chance", entry["public_chance"]),
        private_error=take_float("private_error", entry["private_error"]),
        private_chance=take_float("private_chance", entry["private_chance"]),
        repeats=repeats,
        memoise_steps=None if period is None else take_whole("memoise_steps", period),
        limit=_take_or_none("limit", entry),
        horizon=take_whole("horizon", entry["horizon"]),
        segments=take_whole("segments", entry["segments"]),
        knowledge=take_list(
            "knowledge",
            entry["knowledge"],
            MAX_SENTENCES,
            lambda line: take_text("knowledge", line),
        ),
        outcomes=outcomes.astype(np.float64).reshape(shape),
    )


def mapping_design_digest(design: MappingDesign) -> bytes:
    """SHA-256 over the entry as canonical JSON, the outcomes, and every account's tables."""
    text = json.dumps(mapping_entry(design), sort_keys=True, indent=1, allow_nan=False) + "\n"
    parts = [text.encode("ascii"), encode_array(outcomes_of(design), "<f8")]
    if design.repeats == "accounted":
        for node in design.nodes:
            parts += [encode_leakage_table(node.backward), encode_leakage_table(node.forward)]
    return hashlib.sha256(b"\x00".join(parts)).digest()


def _node_entry(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "columns": list(node.columns),
        "low": [float(value) for value in node.low],
        "high": [float(value) for value in node.high],
        "quantiser": _quantiser_entry(node.quantiser),
        "tables": [[list(row) for row in table] for table in node.tables],
        "local": _amount(node.local),
        "steady_backward": float(node.steady_backward),
        "steady_forward": float(node.steady_forward),
    }


def _node(value: object, tables: Tables | None) -> Node:
    name = value.get("name") if isinstance(value, dict) else None
    with about(f"node {shown(name)}"):
        return _whole_node(take_object("node", value, _NODE_KEYS), tables)


def _whole_node(entry: Mapping[str, Any], tables: Tables | None) -> Node:
    name = take_text("name", entry["name"])
    backward, forward = (_EMPTY, _EMPTY) if tables is None else tables(name)
    return Node(
        name=name,
        columns=take_list(
            "columns", entry["columns"], MAX_COLUMNS, lambda text: take_text("columns", text)
        ),
        low=_floats("low", entry["low"], MAX_COLUMNS),
        high=_floats("high", entry["high"], MAX_COLUMNS),
        quantiser=_quantiser(entry["quantiser"]),
        tables=take_list("tables", entry["tables"], 2, _table),
        local=_take_amount("local", entry["local"]),
        backward=backward,
        forward=forward,
        steady_backward=take_float("steady_backward", entry["steady_backward"]),
        steady_forward=take_float("steady_forward", entry["steady_forward"]),
    )


def _table(value: object) -> WeightTable:
    width = max(MAX_SYMBOLS, MAX_CELLS)

    def weight(number: object) -> int:
        found = take_whole("a weight", number)
        if found > WHOLE:
            raise FormatError("a weight in its manifest is above 2^32")
        return found

    return take_list("table", value, MAX_CELLS, lambda row: take_list("row", row, width, weight))


def _quantiser_entry(quantiser: Quantiser) -> dict[str, Any]:
    match quantiser:
        case Cuts(cuts):
            return {"kind": "cuts", "cuts": [float(cut) for cut in cuts]}
        case Centres(centres, scales):
            return {
                "kind": "centres",
                "centres": [[float(value) for value in centre] for centre in centres],
                "scales": [float(scale) for scale in scales],
            }
        case Tree(questions, children, columns):
            return {
                "kind": "tree",
                "questions": [[column, float(cut)] for column, cut in questions],
                "children": [list(pair) for pair in children],
                "columns": columns,
            }


def _quantiser(value: object) -> Quantiser:
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind == "cuts":
        entry = take_object("quantiser", value, ("cuts", "kind"))
        return Cuts(_floats("cuts", entry["cuts"], MAX_CELLS))
    if kind == "centres":
        entry = take_object("quantiser", value, ("centres", "kind", "scales"))
        centres = take_list(
            "centres",
            entry["centres"],
            MAX_CELLS,
            lambda centre: _floats("centres", centre, MAX_COLUMNS),
        )
        return Centres(centres, _floats("scales", entry["scales"], MAX_COLUMNS))
    if kind == "tree":
        entry = take_object("quantiser", value, ("children", "columns", "kind", "questions"))
        return Tree(
            take_list("questions", entry["questions"], MAX_CELLS, _question),
            take_list("children", entry["children"], MAX_CELLS, _pair),
            take_whole("columns", entry["columns"]),
        )
    raise FormatError("a quantiser in its manifest is neither cuts, nor centres, nor a tree")


def _question(value: object) -> tuple[int, float]:
    column, cut = _two("questions", value)
    return take_whole("questions", column), take_float("questions", cut)


def _pair(value: object) -> tuple[int, int]:
    low, high = _two("children", value)
    if not all(type(child) is int and abs(child) <= MAX_CELLS for child in (low, high)):
        raise FormatError("children in its manifest are not small whole numbers")
    return low, high


def _two(what: str, value: object) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise FormatError(f"{what} in its manifest are not pairs")
    return value[0], value[1]


def _floats(what: str, value: object, most: int) -> tuple[float, ...]:
    return take_list(what, value, most, lambda number: take_float(what, number))


def _amount(value: float | None) -> float | str | None:
    if value is None:
        return None
    return UNBOUNDED if value == math.inf else float(value)


def _take_amount(what: str, value: object) -> float:
    return math.inf if value == UNBOUNDED else take_float(what, value)


def _take_or_none(what: str, entry: Mapping[str, Any]) -> float | None:
    return None if entry[what] is None else _take_amount(what, entry[what])
