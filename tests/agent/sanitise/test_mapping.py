"""A node's symbols: their law, their repeats, their account, and what is refused."""

import random
from dataclasses import replace

import numpy as np
import pytest
from fakes.mapping_designs import (
    STEP_MS,
    accounted_mapping,
    matrix,
    node,
    room_mapping,
    three_nodes,
    weights,
)
from scipy import stats

from agent.errors import RefusedError
from agent.formats.errors import FormatError
from agent.formats.mapping_node import WHOLE
from agent.sanitise.mapping import MappingSanitiser, SymbolSampler

DRAWS = 40_000
# A right sampler is called wrong once in a million tests.
SURPRISING = 1e-6


class SeededBits:
    def __init__(self, seed):
        self._random = random.Random(seed)

    def bits(self, number):
        return self._random.getrandbits(number)


class GivenBits:
    """Answers that a test chose, each once."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def bits(self, number):
        answer = self.answers.pop(0)
        assert 0 <= answer < 1 << number
        return answer


class OffByOne(SymbolSampler):
    """Deliberately wrong: says the next symbol for one number in 32."""

    def draw(self, cell, source):
        symbol = super().draw(cell, source)
        return (symbol + 1) % 2 if source.bits(5) == 0 else symbol


def p_value(sampler, one, cell):
    source = SeededBits(20 + cell)
    found = np.bincount([sampler.draw(cell, source) for _ in range(DRAWS)], minlength=one.symbols)
    return float(stats.chisquare(found, DRAWS * matrix(one)[cell]).pvalue)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_symbols_have_the_law_of_the_tables_product(place):
    one = three_nodes()[place]
    assert min(p_value(SymbolSampler(one), one, cell) for cell in range(one.cells)) > SURPRISING


def test_the_same_test_rejects_a_wrong_sampler():
    one = three_nodes()[1]
    assert p_value(OffByOne(one), one, 0) < SURPRISING


def test_thresholds_are_exact_at_their_edges():
    one = node("n", ("c",), three_nodes()[1].quantiser, ((1, WHOLE - 1), (WHOLE, 0)))
    sampler = SymbolSampler(one)
    said = [sampler.draw(0, GivenBits(number)) for number in (0, 1, WHOLE - 1)]
    assert said == [0, 1, 1]
    assert sampler.draw(1, GivenBits(WHOLE - 1)) == 0


def test_a_symbol_of_weight_zero_is_never_said():
    one = node("n", ("c",), three_nodes()[1].quantiser, weights((0.5, 0.0, 0.5), (0.0, 0.5, 0.5)))
    sampler = SymbolSampler(one)
    assert [sampler.draw(0, GivenBits(n)) for n in (0, WHOLE // 2 - 1, WHOLE // 2)] == [0, 0, 2]
    assert [sampler.draw(1, GivenBits(n)) for n in (0, WHOLE // 2 - 1, WHOLE // 2)] == [1, 1, 2]


def run(subject, cells, state=None, first_step=1):
    state = subject.cold_start(0) if state is None else state
    said = []
    for number, cell in enumerate(cells, first_step):
        symbols, state = subject.sanitise(state, number * STEP_MS, (cell,))
        said += symbols
    return said, state


def memoised(seed=1, **changes):
    design = room_mapping(**changes)
    return MappingSanitiser(design, design.nodes[2], SeededBits(seed))


def accounted(seed=1, **changes):
    design = accounted_mapping(**changes)
    return MappingSanitiser(design, design.nodes[1], SeededBits(seed))


def test_a_cell_says_one_symbol_for_the_period_also_after_a_restart():
    for seed in range(20):
        said, state = run(memoised(seed), [0, 1, 0, 0, 1, 0])
        assert len({said[0], said[2], said[3], said[5]}) == len({said[1], said[4]}) == 1
        again, _ = run(memoised(seed + 1000), [1, 0], state, first_step=7)
        assert again == [said[1], said[0]]


def test_a_new_period_draws_anew():
    subject = memoised(memoise_steps=1)
    said, _ = run(subject, [0] * 200)
    assert set(said) == {0, 1, 2}


def test_a_period_that_is_over_does_not_come_back():
    subject = memoised(memoise_steps=10)
    _, state = run(subject, [0], first_step=25)
    with pytest.raises(RefusedError, match="period that is over"):
        subject.sanitise(state, 19 * STEP_MS, (0,))


def test_memoised_symbols_have_the_law_over_fresh_memories():
    one = three_nodes()[2]
    found = np.bincount([run(memoised(seed), [0])[0][0] for seed in range(4000)], minlength=3)
    assert stats.chisquare(found, 4000 * matrix(one)[0]).pvalue > SURPRISING


def test_each_fresh_symbol_is_charged_with_the_nodes_epsilon():
    subject = accounted()
    said, state = run(subject, [0] * 300)
    account = subject.account(state)
    assert set(said) == {0, 1}  # drawn afresh
    assert account is not None
    assert accounted_mapping().nodes[1].local < account.worst <= account.limit == 3.0
    assert memoised().account(memoised().cold_start(0)) is None


def test_the_first_symbol_after_a_loss_is_not_drawn_by_the_cell():
    """That of a uniform cell, whatever the reading."""
    one = accounted_mapping().nodes[1]
    for cell in (0, 1):
        found = np.bincount(
            [run(accounted(seed), [cell])[0][0] for seed in range(4000)], minlength=2
        )
        assert stats.chisquare(found, 4000 * matrix(one).mean(axis=0)).pvalue > SURPRISING
    _, state = run(accounted(), [0])
    account = accounted().account(state)
    assert account is not None
    assert account.worst == 0.0


def test_what_the_account_does_not_admit_is_refused_and_costs_nothing():
    design = accounted_mapping()
    subject = accounted()
    _, state = run(subject, [0] * 5)
    with pytest.raises(RefusedError, match="already accounted for"):
        subject.sanitise(state, 5 * STEP_MS, (1,))
    greedy = replace(design.nodes[1], local=1.4)  # x - L_B(x) for x = 2 is just above
    eager = replace(design, nodes=(design.nodes[0], greedy, design.nodes[2]))
    subject = MappingSanitiser(eager, greedy, SeededBits(1))
    _, state = run(subject, [0] * 500)
    account = subject.account(state)
    assert account is not None
    assert account.worst <= account.limit


def test_a_node_that_says_nothing_costs_nothing():
    quiet = replace(
        accounted_mapping().nodes[1], tables=(weights((0.5, 0.5), (0.5, 0.5)),), local=0.0
    )
    design = accounted_mapping(nodes=(quiet,))
    subject = MappingSanitiser(design, quiet, SeededBits(3))
    _, state = run(subject, [0, 1] * 20)
    account = subject.account(state)
    assert account is not None
    assert account.worst == 0.0
    with pytest.raises(RefusedError, match="already accounted for"):
        subject.sanitise(state, 40 * STEP_MS, (1,))


def test_lost_states_are_counted_and_refused_beyond_the_designs_segments():
    for subject in (memoised(), accounted()):
        for segment in range(3):
            assert subject.segment(subject.cold_start(segment)) == segment
        with pytest.raises(RefusedError, match="lost 3 times; at most 2"):
            subject.cold_start(3)


def test_a_state_of_another_node_or_design_is_refused():
    design = room_mapping()
    _, state = run(memoised(), [0])
    for other in (
        MappingSanitiser(design, design.nodes[1], SeededBits(1)),
        memoised(segments=9),
        accounted(),
    ):
        with pytest.raises(FormatError, match="another design"):
            other.segment(state)


def test_every_truncation_and_no_cell_is_refused():
    subject = memoised()
    _, state = run(subject, [0, 1])
    for length in range(len(state)):
        with pytest.raises(FormatError):
            subject.segment(state[:length])
    for cells in ((2,), (-1,), (), (0, 1)):
        with pytest.raises(RefusedError, match="does not have"):
            subject.sanitise(state, 5 * STEP_MS, cells)
