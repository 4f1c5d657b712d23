"""The margin takes outcomes and rows in pieces: the same bound, whatever the pieces, in bounds."""

import math
import tracemalloc

import numpy as np
import pytest

from precompute.mapping import outcome_shares
from precompute.mapping.learning import Rows
from precompute.mapping.margin import information_upper
from precompute.mapping.outcome_shares import OutcomeShares

STEP = 60.0


def _log(rows, symbols, *, cells=3, privates=2, budget=0.5, seed=1):
    chance = np.random.default_rng(seed)
    maps = []
    for count in symbols:
        weights = np.exp(chance.uniform(-budget / 2, budget / 2, (cells, count)))
        maps.append(weights / weights.sum(axis=1, keepdims=True))
    private = chance.integers(0, privates, rows)
    found = tuple((chance.integers(0, cells, rows) + (private > 0)) % cells for _ in symbols)
    times = np.cumsum(chance.choice([STEP, 20 * STEP], rows, p=[0.95, 0.05]))
    nothing = np.zeros(rows, dtype=np.intp)
    return tuple(maps), Rows(times, nothing, private, found, (cells,) * len(maps), 2, privates)


def _every_share(maps, rows):
    """(n, outcomes) by the definition, all at once."""
    f = np.ones((len(rows), 1))
    for one, cells in zip(maps, rows.cells, strict=True):
        f = np.einsum("no,nz->noz", f, one[cells]).reshape(len(rows), -1)
    low, high = np.ones(1), np.ones(1)
    for one in maps:
        low = np.kron(low, one.min(axis=0))
        high = np.kron(high, one.max(axis=0))
    return (f - low) / (high - low)


@pytest.mark.parametrize("most", [1, 150, 1 << 20])
def test_every_piece_holds_what_the_definition_says(monkeypatch, most):
    monkeypatch.setattr(outcome_shares, "MOST_ENTRIES", most)
    maps, rows = _log(300, (2, 3, 2))
    blocks = np.arange(300) // 7
    shares = OutcomeShares(maps, rows, blocks)
    whole = _every_share(maps, rows)
    covered = []
    for said, part in shares.groups():
        covered.extend(range(part.start, part.stop))
        for value in (0, 1):
            for found, inside in zip(
                shares.averages(said, value), (rows.private == value, rows.private != value),
                strict=True,
            ):  # fmt: skip
                for block in range(43):
                    here = blocks == block
                    expected = (whole[here, part] * inside[here, None]).mean(axis=0)
                    assert found[:, block] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert covered == list(range(12))


@pytest.mark.parametrize("most", [1, 40, 2000])
@pytest.mark.parametrize("symbols", [(2, 2, 2), (4, 2), (3,)])
def test_the_bound_does_not_depend_on_the_pieces(monkeypatch, most, symbols):
    maps, rows = _log(900, symbols)
    asked = {"block_seconds": 600.0, "confidence": 0.9}
    whole = information_upper(maps, rows, **asked)
    monkeypatch.setattr(outcome_shares, "MOST_ENTRIES", most)
    assert information_upper(maps, rows, **asked).upper == pytest.approx(whole.upper, abs=1e-10)
    assert 0 < whole.upper < math.inf
    assert not whole.by_local


def test_a_symbol_that_never_varies_is_left_out_of_every_piece(monkeypatch):
    maps, rows = _log(400, (2, 2))
    still = np.full((3, 2), 0.5)
    with_still, rows = (still, *maps), Rows(
        rows.times_seconds, rows.public, rows.private, (rows.cells[0], *rows.cells), (3,) * 3, 2, 2
    )  # fmt: skip
    only = (still, still, still)
    assert OutcomeShares(only, rows, np.arange(400) // 10).ratio.size == 0
    monkeypatch.setattr(outcome_shares, "MOST_ENTRIES", 1)
    assert math.isfinite(
        information_upper(with_still, rows, block_seconds=600.0, confidence=0.9).upper
    )


def test_memory_is_bounded_where_all_shares_at_once_would_not_fit():
    maps, rows = _log(12_000, (2,) * 12, budget=0.2)
    at_once = 8 * 12_000 * 4096
    assert at_once > 350e6
    tracemalloc.start()
    try:
        information_upper(maps, rows, block_seconds=6 * 3600.0, confidence=0.9)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6
