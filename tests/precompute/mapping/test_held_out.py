"""Errors of the shipped rules on rows that the design has not seen."""

import itertools

import numpy as np
import pytest

from precompute.mapping import held_out
from precompute.mapping.held_out import held_out_errors
from precompute.mapping.learning import Rows

MAPS = (np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]), np.array([[0.7, 0.3], [0.4, 0.6]]))


def made_up(n=300):
    chance = np.random.default_rng(2)
    public, private = chance.integers(0, 2, (2, n))
    cells = (np.minimum(2, public + chance.integers(0, 2, n)), private)
    rows = Rows(np.arange(n) * 60.0, public, private, cells, (3, 2), 2, 2)
    of_public = chance.random((2, 2, 2))
    of_private = chance.random((2, 2, 2))
    return rows, of_public / of_public.sum(), of_private / of_private.sum()


def by_hand(rows, table, truth):
    wrong = 0.0
    for row, right in enumerate(truth):
        for y, z in itertools.product((0, 1), (0, 1)):
            if np.argmax(table[:, y, z]) != right:
                wrong += MAPS[0][rows.cells[0][row], y] * MAPS[1][rows.cells[1][row], z]
    return wrong / len(truth)


def test_errors_are_expectations_over_what_nodes_draw():
    rows, of_public, of_private = made_up()
    found = held_out_errors(MAPS, of_public, of_private, rows)
    assert found.rows == 300
    assert found.public_error == pytest.approx(by_hand(rows, of_public, rows.public))
    assert found.private_error == pytest.approx(by_hand(rows, of_private, rows.private))
    most = int(np.argmax(of_public.sum(axis=(1, 2))))
    assert found.public_guess == np.mean(rows.public != most)


def test_many_outcomes_are_drawn_and_rows_cut_into_pieces_without_a_difference(monkeypatch):
    rows, of_public, of_private = made_up()
    whole = held_out_errors(MAPS, of_public, of_private, rows)
    monkeypatch.setattr(held_out, "CHUNK", 40)
    assert held_out_errors(MAPS, of_public, of_private, rows).public_error == pytest.approx(
        whole.public_error
    )
    monkeypatch.setattr(held_out, "MOST_OUTCOMES", 1)
    many, *_ = made_up(40_000)
    monkeypatch.setattr(held_out, "CHUNK", 1 << 22)
    drawn = held_out_errors(MAPS, of_public, of_private, many)
    assert drawn.public_error == pytest.approx(by_hand(many, of_public, many.public), abs=0.01)


def test_without_rows_there_is_nothing_to_say():
    rows, of_public, of_private = made_up()
    assert held_out_errors(MAPS, of_public, of_private, rows.slice(0, 0)) is None
