"""The joint learnt from a log, and the chain of a node's cells."""

import itertools
import math

import numpy as np
import pytest

from precompute.leakage.allocation import steady_state
from precompute.leakage.learning import learn
from precompute.leakage.quantification import Adversary
from precompute.mapping import learning
from precompute.mapping.errors import MappingError
from precompute.mapping.learning import (
    Rows,
    Smoothing,
    held_out_score,
    independent_joint,
    learn_chain,
    learn_joint,
    mixed_joint,
)

SIZES = (3, 2)


def draw(n, seed=0, *, alike=False):
    """Rows whose sensors depend on G; with ``alike`` also on each other."""
    chance = np.random.default_rng(seed)
    public = chance.integers(0, 2, n)
    private = chance.integers(0, 2, n)
    first = np.minimum(2, private + chance.integers(0, 2, n))
    second = (first > 0).astype(np.intp) if alike else (chance.random(n) < 0.3).astype(np.intp)
    return Rows(np.arange(n) * 60.0, public, private, (first, second), SIZES, 2, 2)


def by_hand(rows, weight, count):
    """p(h, g, x) by counting, cell by cell."""
    n = len(rows)
    data = list(zip(rows.public, rows.private, *rows.cells, strict=True))
    found = np.zeros((2, 2, *SIZES))
    for h, g in itertools.product(range(2), range(2)):
        mine = [row for row in data if row[:2] == (h, g)]
        prior = (len(mine) + count) / (n + 4 * count)
        for cell in itertools.product(*map(range, SIZES)):
            smooth = prior
            for t, (x, size) in enumerate(zip(cell, SIZES, strict=True)):
                seen = sum(row[2 + t] == x for row in mine)
                smooth *= (seen + count) / (len(mine) + size * count)
            rough = sum(row == (h, g, *cell) for row in data) / n
            found[(h, g, *cell)] = (1 - weight) * rough + weight * smooth
    return found


@pytest.mark.parametrize("weight", [0.1, 0.5, 1.0])
def test_the_joint_is_what_counting_by_hand_gives(weight):
    rows = draw(40)
    outcomes = mixed_joint(rows, weight, 0.5).outcomes()
    assert np.allclose(outcomes, by_hand(rows, weight, 0.5), atol=1e-15)
    assert outcomes.min() > 0


def test_held_out_likelihood_is_that_of_the_joint():
    rows = draw(60)
    train, test = rows.slice(0, 40), rows.slice(40, 60)
    scores = held_out_score(train, test, (0.2, 1.0), (0.5,))
    for weight, score in zip((0.2, 1.0), scores[:, 0], strict=True):
        outcomes = mixed_joint(train, weight, 0.5).outcomes()
        wanted = np.log(outcomes[(test.public, test.private, *test.cells)]).sum()
        assert score == pytest.approx(wanted)


def test_the_log_chooses_independence_where_it_holds_and_the_rows_where_it_does_not():
    apart = learn_joint(draw(1500, alike=False))
    together = learn_joint(draw(1500, alike=True))
    assert apart.weight >= 0.7
    assert together.weight <= 0.05
    assert "held-out stretches" in together.notes[0]


def test_the_choice_is_the_best_sum_over_five_stretches_and_says_its_score_a_row():
    rows = draw(60, seed=3)
    weights, counts = learning.WEIGHTS, learning.PSEUDO_COUNTS
    total = np.zeros((len(weights), len(counts)))
    for first in range(0, 60, 12):
        train, test = rows.without(first, first + 12), rows.slice(first, first + 12)
        total += held_out_score(train, test, weights, counts)
    learned = learn_joint(rows)
    best = np.unravel_index(np.argmax(total), total.shape)
    assert best[1] != best[0] % len(counts)  # else a mix-up of the two would not show
    assert (learned.weight, learned.pseudo_count) == (weights[best[0]], counts[best[1]])
    assert f"({total.max() / 60:.4g} nats a row)" in learned.notes[0]


def test_what_is_stated_is_taken():
    learned = learn_joint(draw(50), Smoothing(0.3, 1.0))
    assert (learned.weight, learned.pseudo_count, learned.notes) == (0.3, 1.0, ())


def test_a_log_of_few_rows_learns_without_choosing():
    learned = learn_joint(draw(5))
    assert learned.weight == learning.WEIGHTS[len(learning.WEIGHTS) // 2]


def test_too_many_different_rows_fall_back_on_independence(monkeypatch):
    monkeypatch.setattr(learning, "MAX_DIFFERENT_ROWS", 3)
    rows = draw(200)
    learned = learn_joint(rows)
    assert learned.weight == 1
    assert "independent given both" in learned.notes[0]
    assert np.allclose(
        learned.joint.outcomes(), independent_joint(rows, learned.pseudo_count).outcomes()
    )
    with pytest.raises(MappingError, match="use fewer cells"):
        learn_joint(rows, Smoothing(weight=0.2))


@pytest.mark.parametrize(
    "wrong", [{"weight": 0.0}, {"weight": 1.5}, {"pseudo_count": 0.0}, {"pseudo_count": math.inf}]
)
def test_smoothing_that_would_leave_impossible_outcomes_is_refused(wrong):
    with pytest.raises(MappingError, match="smoothing"):
        Smoothing(**wrong)


def test_no_rows_teach_nothing():
    with pytest.raises(MappingError, match="no rows"):
        learn_joint(draw(0))


def test_the_chain_of_cells_is_that_of_the_first_reading_in_each_step():
    times = np.array([0, 20, 60, 120, 130, 180, 240, 420, 480], dtype=float)
    cells = np.array([0, 1, 0, 1, 0, 1, 0, 0, 1])
    found = learn_chain(times, cells, 2, step_seconds=60, alpha=1.0, smoothing=0.5)
    names = [["0", "0", "1", "1", "0"], ["0", "1"]]  # the gap from 300 to 420 breaks it
    wanted = learn(names, 0.5, ("0", "1"))
    adversary = Adversary.knowing(wanted.backward, wanted.forward)
    assert (found.backward, found.forward) == (adversary.backward, adversary.forward)
    assert found.steady == steady_state(adversary, 1.0)
