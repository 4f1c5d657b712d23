"""Transition matrices, budgets and sequences of states as CSV files.

A matrix is plain numbers, comma, semicolon, tab or blank between them, one row a line. A header
row and a first column of state names may be there; each then has to list the same names. Lines
that begin with ``#`` are comments; those above the first row may be the head that ``learn`` writes
(precompute.leakage.matrix_heads). Values are never repeated in messages: row and column are.
"""

import csv
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np

from agent.formats.documents import read_limited
from agent.formats.output_files import text_kind
from precompute.leakage.errors import LeakageError
from precompute.leakage.matrix_heads import (
    BACKWARD_COMMENT,
    FORWARD_COMMENT,
    Direction,
    MatrixFile,
    MatrixHead,
    parse_head,
    require_direction,
)
from precompute.leakage.transition_matrices import MAX_STATES, TransitionMatrix

MAX_MATRIX_BYTES = 128 << 20
MAX_LIST_BYTES = 64 << 20
MATRIX_FILE = text_kind(
    "a matrix by `sfumato leakage learn`", f"# {FORWARD_COMMENT}", f"# {BACKWARD_COMMENT}"
)


def read_matrix(path: Path) -> TransitionMatrix:
    """The transition matrix of a CSV file.

    Raises:
        FormatError: the file cannot be read.
        LeakageError: not a row-stochastic matrix, with the file's name.
    """
    content = read_limited(path, MAX_MATRIX_BYTES)
    try:
        return parse_matrix(content)
    except LeakageError as error:
        raise LeakageError(f"{path}: {error}") from None


def read_matrix_file(path: Path, expected: Direction) -> MatrixFile:
    """The matrix with its head, for use in a stated direction.

    Raises:
        FormatError: the file cannot be read.
        LeakageError: not a row-stochastic matrix, or its head says the other direction.
    """
    content = read_limited(path, MAX_MATRIX_BYTES)
    try:
        file = MatrixFile(path, parse_matrix(content), _head(content))
    except LeakageError as error:
        raise LeakageError(f"{path}: {error}") from None
    require_direction(file, expected)
    return file


def parse_matrix(content: bytes) -> TransitionMatrix:
    """As :func:`read_matrix`, from bytes."""
    rows = _rows(content)
    if not rows:
        raise LeakageError("transition matrix: the file is empty; expected rows of numbers")
    if len(rows) > MAX_STATES + 1:
        raise LeakageError(f"transition matrix: over {MAX_STATES} rows; use larger cells")
    header: list[str] | None = None
    named = not rows[0][0].strip()  # an empty corner: names above and to the left
    if named or any(not _is_number(cell) for cell in rows[0][1:] or rows[0]):
        header, rows = rows[0], rows[1:]
    column: list[str] | None = None
    if rows and (named or any(not _is_number(row[0]) for row in rows)):
        column = [row[0].strip() for row in rows]
        rows = [row[1:] for row in rows]
        header = None if header is None else header[-len(rows) :]
    names = tuple(cell.strip() for cell in header) if header is not None else ()
    if column is not None:
        if header is not None and list(names) != column:
            raise LeakageError(
                "transition matrix: the names in the header row and in the first column differ; "
                "expected the same states in the same order"
            )
        names = tuple(column)
    width = len(rows)
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise LeakageError(
                f"transition matrix: row {number} has {len(row)} columns; expected {width}, "
                "as many as there are rows"
            )
        for place, cell in enumerate(row, start=1):
            if not _is_number(cell):
                raise LeakageError(
                    f"transition matrix: row {number}, column {place} is no number; "
                    "expected a probability"
                )
    return TransitionMatrix(np.array([[float(cell) for cell in row] for row in rows]), names)


def format_matrix(matrix: TransitionMatrix, comments: Sequence[str] = ()) -> str:
    """The CSV text: comments, a header row and a first column of names, shortest exact numbers."""
    lines = [f"# {comment}" for comment in comments]
    lines.append(",".join(["", *map(_quoted, matrix.names)]))
    for name, row in zip(matrix.names, matrix.probabilities.tolist(), strict=True):
        lines.append(",".join([_quoted(name), *(repr(number) for number in row)]))
    return "\n".join(lines) + "\n"


def read_budgets(path: Path) -> tuple[float, ...]:
    """Numbers separated by commas, blanks or line ends.

    Raises:
        FormatError: the file cannot be read.
        LeakageError: something in it is no number.
    """
    budgets: list[float] = []
    for row in _rows(read_limited(path, MAX_LIST_BYTES)):
        for cell in row:
            if not _is_number(cell):
                raise LeakageError(
                    f"{path}: entry {len(budgets) + 1} is no number; expected budgets above zero"
                )
            budgets.append(float(cell))
    if not budgets:
        raise LeakageError(f"{path}: no budget; expected numbers above zero")
    return tuple(budgets)


def _head(content: bytes) -> MatrixHead:
    """Of the comments above the first row."""
    lines = content.decode("utf-8-sig").splitlines()
    above = takewhile(lambda line: not line.strip() or line.lstrip()[0] == "#", lines)
    return parse_head(line.lstrip().removeprefix("#").strip() for line in above)


def _rows(content: bytes) -> list[list[str]]:
    """Cells of each line that is neither blank nor a comment."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LeakageError("not UTF-8 text; expected a table of numbers") from None
    lines = [line for line in text.splitlines() if line.strip() and line.lstrip()[0] != "#"]
    if not lines:
        return []
    for separator in (",", ";", "\t"):
        if separator in lines[0]:
            try:
                return [row for row in csv.reader(lines, delimiter=separator) if row]
            except csv.Error:
                raise LeakageError("not a table that can be read; check its quotes") from None
    return [line.split() for line in lines]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"\n') else name
