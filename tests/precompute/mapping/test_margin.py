"""The upper confidence bound of information privacy, by simulation from known distributions."""

import math

import numpy as np
import pytest

from precompute.mapping.errors import MappingError
from precompute.mapping.learning import Rows
from precompute.mapping.margin import implied_by_local, information_upper, mean_interval

# (H, G, X_1, X_2): G is rare and moves both sensors.
PRIOR = np.array([0.35, 0.65])
SENSORS = (
    np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]),
    np.array([[0.7, 0.3], [0.4, 0.6]]),
)
NARROW = (np.array([[0.55, 0.45], [0.5, 0.5], [0.45, 0.55]]), np.array([[0.6, 0.4], [0.5, 0.5]]))
WIDE = (np.array([[1.0, 0.0], [0.5, 0.5], [0.1, 0.9]]), np.array([[0.9, 0.1], [0.2, 0.8]]))
BLOCK = 3600.0
RUNS = 120
RISK = 0.2


def exact(maps):
    """epsilon_I by the definition."""
    said = [np.array(table) @ one for table, one in zip(SENSORS, maps, strict=True)]
    both = np.einsum("g,gy,gz->gyz", PRIOR, *said)
    posterior = both / both.sum(axis=0)
    return float(np.abs(np.log(posterior / PRIOR[:, None, None])).max())


def draw(blocks, chance, repeats=4):
    """Each block says one row again and again: rows within it are not independent at all."""
    private = (chance.random(blocks) < PRIOR[1]).astype(np.intp)
    cells = []
    for table in SENSORS:
        edges = np.cumsum(table, axis=1)[private]
        cells.append((chance.random(blocks)[:, None] > edges).sum(axis=1))
    times = np.arange(blocks * repeats) * (BLOCK / repeats)
    again = np.repeat(np.arange(blocks), repeats)
    return Rows(
        times,
        np.zeros(times.size, np.intp),
        private[again],
        tuple(column[again] for column in cells),
        (3, 2),
        2,
        2,
    )


def plug_in(maps, rows):
    """What the log itself says: no bound at all."""
    said = np.einsum("ny,nz->nyz", *(one[x] for one, x in zip(maps, rows.cells, strict=True)))
    worst = 0.0
    for value in (0, 1):
        ratio = said[rows.private == value].mean(axis=0) / said.mean(axis=0)
        with np.errstate(divide="ignore"):
            worst = max(worst, float(np.abs(np.log(ratio)).max()))
    return worst


def failures(bound, maps, blocks=40):
    chance = np.random.default_rng(11)
    truth = exact(maps)
    return sum(bound(maps, draw(blocks, chance)) < truth for _ in range(RUNS))


def allowed():
    return RISK * RUNS + 3 * math.sqrt(RUNS * RISK * (1 - RISK))


def ours(maps, rows):
    return information_upper(maps, rows, block_seconds=BLOCK, confidence=1 - RISK).upper


@pytest.mark.parametrize("maps", [NARROW, WIDE])
def test_the_bound_holds_as_often_as_it_says(maps):
    assert failures(ours, maps) <= allowed()


@pytest.mark.parametrize("maps", [NARROW, WIDE])
def test_the_same_count_rejects_what_the_log_itself_says(maps):
    assert failures(plug_in, maps) > allowed()


def test_an_interval_of_a_mean_holds_as_often_as_it_says_and_a_narrower_one_does_not():
    chance = np.random.default_rng(3)
    missed = narrower = 0
    for _ in range(400):
        values = (chance.random(30) < 0.2).astype(float)
        low, high = mean_interval(values, RISK)
        missed += not low <= 0.2 <= high
        middle = values.mean()
        narrower += not abs(middle - 0.2) <= (high - low) / 8
    assert missed <= RISK * 400
    assert narrower > RISK * 400 + 3 * math.sqrt(400 * RISK * (1 - RISK))


def test_the_bound_comes_down_to_the_truth_with_more_blocks():
    chance = np.random.default_rng(5)
    uppers = [ours(WIDE, draw(blocks, chance, repeats=1)) for blocks in (50, 500, 20_000)]
    truth = exact(WIDE)
    assert uppers[0] > uppers[1] > uppers[2] > truth
    assert uppers[2] < truth + 0.15


def test_small_local_budgets_make_the_bound_tight_on_few_rows():
    found = information_upper(
        NARROW, draw(60, np.random.default_rng(1)), block_seconds=BLOCK, confidence=0.95
    )
    assert (
        found.upper
        <= implied_by_local(NARROW)
        == pytest.approx(math.log(0.55 / 0.45) + math.log(0.5 / 0.4))
    )
    assert (found.blocks, found.rows) == (60, 240)


def test_constant_maps_tell_nothing_whatever_the_log_says():
    constant = (np.full((3, 2), 0.5), np.full((2, 1), 1.0))
    found = information_upper(
        constant, draw(5, np.random.default_rng(1)), block_seconds=BLOCK, confidence=0.95
    )
    assert found.upper == 0


def test_without_rows_only_the_local_budgets_bound():
    rows = draw(1, np.random.default_rng(1)).slice(0, 0)
    found = information_upper(NARROW, rows, block_seconds=BLOCK, confidence=0.95)
    assert (found.upper, found.by_local, found.blocks) == (implied_by_local(NARROW), True, 0)
    assert information_upper(WIDE, rows, block_seconds=BLOCK, confidence=0.95).upper == math.inf


def test_a_value_of_g_that_the_rows_never_show_leaves_no_bound_of_their_own():
    rows = draw(40, np.random.default_rng(2))
    only = Rows(
        rows.times_seconds,
        rows.public,
        np.zeros(len(rows), np.intp),
        rows.cells,
        rows.sizes,
        2,
        2,
    )
    found = information_upper(WIDE, only, block_seconds=BLOCK, confidence=0.95)
    assert found.upper == math.inf


def test_what_is_no_confidence_is_refused():
    rows = draw(4, np.random.default_rng(2))
    with pytest.raises(MappingError, match="confidence"):
        information_upper(WIDE, rows, block_seconds=BLOCK, confidence=1.0)
    with pytest.raises(MappingError, match="block"):
        information_upper(WIDE, rows, block_seconds=0.0, confidence=0.9)
