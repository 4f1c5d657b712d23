"""A joint distribution stated in a table: columns h, g, one for each node, and p.

    h,g,light,air,p
    no,no,0,0,0.3
    no,yes,0,1,0.05
    …

h and g hold names, a node's column the number of its cell (from 0), p the probability. Cells that
are not listed have the probability 0. The header says what separates the columns: commas,
semicolons or tabs; with the latter two a decimal comma is understood, as in logs. Messages name a
line; a joint that was learnt from people is personal data, so that what stands in it is not shown.
"""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.formats.documents import read_limited
from agent.formats.errors import shown
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import Joint

MAX_JOINT_BYTES = 64 << 20
_SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True, slots=True, eq=False)
class StatedJoint:
    """The joint and the names of both hypotheses' values."""

    joint: Joint
    public_names: tuple[str, ...]
    private_names: tuple[str, ...]


def read_joint(
    path: Path,
    nodes: Sequence[tuple[str, int]],
    *,
    public_names: tuple[str, ...] = (),
    private_names: tuple[str, ...] = (),
) -> StatedJoint:
    """The joint that a table states.

    Args:
        path: of the table.
        nodes: name and number of cells of each node.
        public_names: H's values in order; those that occur, sorted, when empty.
        private_names: G's.

    Raises:
        FormatError: the file cannot be read.
        MappingError: columns or cells that are not as above, or probabilities that do not sum to 1.
    """
    try:
        lines = read_limited(path, MAX_JOINT_BYTES).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise MappingError(f"{path}: not UTF-8 text; expected a table of probabilities") from None
    rows = [
        (number, line)
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    expected = ["h", "g", *(name for name, _ in nodes), "p"]
    if len(rows) < 2:
        raise MappingError(f"{path}: no rows; expected the columns {', '.join(expected)}")
    headers = {separator: _cells(rows[0][1], separator) for separator in _SEPARATORS}
    fitting = [one for one, header in headers.items() if sorted(header) == sorted(expected)]
    if not fitting:
        raise MappingError(
            f"{path}: line {rows[0][0]} is not the header {', '.join(expected)}; write these "
            "columns, in any order, separated by commas, semicolons or tabs"
        )
    separator, header = fitting[0], headers[fitting[0]]
    place = {name: header.index(name) for name in expected}
    hypotheses: list[list[str]] = [[], []]
    cells: list[list[int]] = [[] for _ in nodes]
    chances = []
    seen: set[tuple[str, ...]] = set()
    for number, line in rows[1:]:
        where = f"{path}: line {number}"
        words = _cells(line, separator)
        if len(words) != len(header):
            raise MappingError(
                f"{where}: {len(words)} cells; expected {len(header)}, one for each column"
            )
        key = tuple(words[place[name]] for name in expected[:-1])
        if key in seen:
            raise MappingError(f"{where}: the same h, g and cells as a line above; add them up")
        seen.add(key)
        for found, column in zip(hypotheses, ("h", "g"), strict=True):
            found.append(_name(words[place[column]], column, where))
        for numbers, (name, size) in zip(cells, nodes, strict=True):
            numbers.append(_cell(words[place[name]], name, size, where))
        chances.append(_chance(words[place["p"]], where, decimal_comma=separator != ","))
    total = math.fsum(chances)
    if abs(total - 1) > 1e-9:
        raise MappingError(
            f"{path}: the probabilities sum to {total:.12g}; expected 1 (off by at most 1e-9); "
            "complete or scale them"
        )
    h_names = _names(path, "h", public_names, hypotheses[0])
    g_names = _names(path, "g", private_names, hypotheses[1])
    if len(set(hypotheses[0])) < 2:
        raise MappingError(f"{path}: h has one value only; expected two or more to decide between")
    joint = Joint(
        np.array(chances) / total,
        np.array([h_names.index(name) for name in hypotheses[0]]),
        np.array([g_names.index(name) for name in hypotheses[1]]),
        tuple(np.eye(size)[numbers] for numbers, (_, size) in zip(cells, nodes, strict=True)),
        len(h_names),
        len(g_names),
    )
    return StatedJoint(joint, h_names, g_names)


def _names(path: Path, which: str, given: tuple[str, ...], found: Sequence[str]) -> tuple[str, ...]:
    others = sorted(set(found) - set(given)) if given else []
    if others:
        raise MappingError(
            f"{path}: {which} has {len(others)} values that are not among its names, the first is "
            f"{shown(others[0])}; expected {', '.join(given)}; complete the names or leave them out"
        )
    return given or tuple(sorted(set(found)))


def _name(word: str, column: str, where: str) -> str:
    if not word:
        raise MappingError(f"{where}: {column} is empty; expected a name")
    return word


def _cell(word: str, node: str, size: int, where: str) -> int:
    if not word.isdecimal() or not 0 <= int(word) < size:
        raise MappingError(
            f"{where}: {node} is {shown(word)}; expected a cell, a number from 0 to {size - 1}, as "
            "its cuts have it"
        )
    return int(word)


def _cells(line: str, separator: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return []


def _chance(word: str, where: str, *, decimal_comma: bool) -> float:
    if decimal_comma and "." not in word:
        word = word.replace(",", ".", 1)
    try:
        chance = float(word)
    except ValueError:
        chance = math.nan
    if not 0 <= chance <= 1:
        raise MappingError(f"{where}: p is {shown(word)}; expected a probability, from 0 to 1")
    return chance
