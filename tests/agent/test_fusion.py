"""The fusion centre's core: what it decides, when, and what it does not use."""

import itertools
import random

import numpy as np
import pytest
from fakes.mapping_designs import STEP_MS, room_mapping

from agent import fusion
from agent.decision_score import Score
from agent.formats.errors import FormatError
from agent.formats.mapping_entry import mapping_design_digest
from agent.formats.mapping_json import MappingMessage
from agent.formats.state_files import StateFile
from agent.fusion import Fusion

DESIGN = room_mapping()
NAMES = ("light-1", "co2", "sound")
SIZES = (2, 2, 3)
DIGITS = mapping_design_digest(DESIGN).hex()[:16]


def message(step, node, symbol, *, design=DIGITS, offset=0):
    return MappingMessage(f"d/{node}/{step}", step * STEP_MS + offset, design, node, symbol)


def oracle(heard):
    """p(h | heard) by adding up every outcome that agrees with what was heard."""
    totals = [0.0, 0.0]
    for h in range(2):
        for z in itertools.product(*map(range, SIZES)):
            if all(heard.get(name, said) == said for name, said in zip(NAMES, z, strict=True)):
                totals[h] += DESIGN.outcomes[(h, *z)]
    return [total / sum(totals) for total in totals]


@pytest.mark.parametrize(
    "present", [c for n in (1, 2, 3) for c in itertools.combinations(NAMES, n)]
)
def test_decisions_are_the_most_likely_value_given_what_was_heard(present):
    for z in itertools.product(*map(range, SIZES)):
        heard = {name: said for name, said in zip(NAMES, z, strict=True) if name in present}
        subject = Fusion(DESIGN, wait_seconds=1)
        made = [d for name, said in heard.items() for d in subject.take(message(5, name, said), 0)]
        assert bool(made) == (len(present) == 3)
        (decision,) = made or subject.close()
        expected = oracle(heard)
        assert decision.posterior == pytest.approx(expected)
        assert decision.value == expected.index(max(expected))
        assert decision.time_ms == 5 * STEP_MS
        assert decision.missing == tuple(name for name in NAMES if name not in present)


def test_messages_belong_together_by_their_step_in_any_order():
    everything = [message(s, n, 1, offset=s) for s in range(20) for n in NAMES]
    random.Random(4).shuffle(everything)
    subject = Fusion(DESIGN, wait_seconds=1e9)
    made = [d for one in everything for d in subject.take(one, 0)] + subject.close()
    assert sorted(d.time_ms // STEP_MS for d in made) == list(range(20))


def test_a_complete_step_ends_the_waiting_for_earlier_ones_only():
    subject = Fusion(DESIGN, wait_seconds=1e9)
    for step in (1, 2, 4):
        assert subject.take(message(step, "co2", 0), 0) == []
    assert subject.take(message(3, "co2", 0), 0) == subject.take(message(3, "sound", 0), 0) == []
    made = subject.take(message(3, "light-1", 0), 0)
    assert [(d.time_ms // STEP_MS, len(d.missing)) for d in made] == [(1, 2), (2, 2), (3, 0)]
    assert [d.time_ms // STEP_MS for d in subject.close()] == [4]


def test_a_step_waits_for_so_long_after_its_first_message():
    subject = Fusion(DESIGN, wait_seconds=10)
    assert subject.next_due() is None
    subject.take(message(2, "co2", 0), 100.0)
    subject.take(message(1, "co2", 0), 103.0)
    subject.take(message(2, "sound", 0), 105.0)
    assert subject.next_due() == 110.0
    assert subject.pass_time(109.9) == []
    assert [d.time_ms // STEP_MS for d in subject.pass_time(110.0)] == [2]
    assert subject.next_due() == 113.0
    assert subject.pass_time(200.0)[0].missing == ("light-1", "sound")


def test_what_cannot_be_used_is_counted_and_decides_nothing():
    subject = Fusion(DESIGN, wait_seconds=10)
    for wrong in (
        message(1, "co2", 0, design="0" * 16),
        message(1, "attic", 0),
        message(1, "co2", 2),
        MappingMessage("d/co2/1", STEP_MS, DIGITS, "co2", -1),
    ):
        assert subject.take(wrong, 0) == []
    assert subject.close() == []
    assert subject.counts == {
        fusion.OTHER_DESIGN: 1,
        fusion.UNKNOWN_NODE: 1,
        fusion.OUT_OF_RANGE: 2,
    }


def test_nodes_that_speak_by_another_design_are_told_of_with_what_to_do():
    subject = Fusion(DESIGN, wait_seconds=10)
    subject.take(message(1, "co2", 0), 0)
    assert subject.other_design() is None
    for digit in "12":
        subject.take(message(1, "sound", 0, design=digit * 16), 0)
    said = subject.other_design()
    assert said.startswith(f"2 symbols were of another design, the last of {'2' * 16}; expected ")
    assert f"{DIGITS}: give the nodes and the listener the same bundle" in said


def test_repeats_and_late_ones_never_decide_twice():
    subject = Fusion(DESIGN, wait_seconds=10)
    for one in (message(1, "co2", 0), message(1, "co2", 0), message(1, "co2", 1)):
        assert subject.take(one, 0) == []
    (decision,) = subject.pass_time(10)
    assert decision.posterior == pytest.approx(oracle({"co2": 0}))  # the first word holds
    for one in (message(1, "co2", 0), message(1, "co2", 1), message(1, "sound", 0)):
        assert subject.take(one, 11) == []
    assert subject.close() == []
    counts = subject.counts
    assert (counts[fusion.REPEATED], counts[fusion.CONTRADICTING], counts[fusion.LATE]) == (2, 2, 1)
    assert "late 1" in subject.summary()
    assert "decisions 1, with nodes missing 1, symbols missing 2" in subject.summary()


def test_open_steps_do_not_grow_without_bound():
    subject = Fusion(DESIGN, wait_seconds=1e9, open_steps=8)
    made = [d for step in range(100) for d in subject.take(message(step, "co2", 0), 0)]
    assert [d.time_ms // STEP_MS for d in made] == list(range(92))
    assert subject.counts[fusion.PUSHED_OUT] == 92
    assert len(subject.close()) == 8


def test_decided_steps_are_forgotten_from_the_earliest_and_stay_decided(monkeypatch):
    monkeypatch.setattr(fusion, "MAX_DECIDED_STEPS", 4)
    subject = Fusion(DESIGN, wait_seconds=0)
    steps = [10**9, *range(1, 20)]  # a clock that was far ahead, once
    for step in steps:
        subject.take(message(step, "co2", 0), 0)
        assert len(subject.pass_time(0)) == 1
    for step in steps:
        assert subject.take(message(step, "sound", 0), 0) == []
    assert subject.counts[fusion.LATE] == 20


def test_what_the_model_holds_for_impossible_is_decided_by_the_prior():
    outcomes = np.array(DESIGN.outcomes)
    outcomes[:, :, 0, :] = 0.0
    outcomes /= outcomes.sum()
    design = room_mapping(outcomes=outcomes)
    digits = mapping_design_digest(design).hex()[:16]
    subject = Fusion(design, wait_seconds=1)
    subject.take(message(1, "co2", 0, design=digits), 0)
    (decision,) = subject.close()
    assert decision.posterior == pytest.approx(outcomes.reshape(2, -1).sum(axis=1))
    assert subject.counts[fusion.IMPOSSIBLE] == 1


def truth(*rows):
    times, states = zip(*rows, strict=True)
    return StateFile(np.array(times, dtype=float), states, ())


def test_the_error_counts_only_decisions_with_a_row_within_a_step_before():
    score = Score(DESIGN, truth((60, "fine"), (120, "stale"), (130, "fine"), (300, "stale")))
    for time, value in ((60, 0), (119, 1), (125, 1), (189.999, 0), (190, 0), (0, 1), (310, 1)):
        score.take(round(time * 1000), value)
    # 119: fine, said stale; 190 and 0 have no row within a step.
    assert (score.compared, score.error) == (5, 0.2)
    assert score.guessing_error == pytest.approx(2 / 5)
    assert "5 decisions compared, 20.0 % wrong" in score.summary()


def test_a_truth_of_other_names_is_refused_without_showing_them():
    with pytest.raises(FormatError, match="1 rows have a state") as refusal:
        Score(DESIGN, truth((60, "fine"), (120, "at the clinic")))
    assert "clinic" not in str(refusal.value)
    assert "no decision" in Score(DESIGN, truth((60, "fine"))).summary()
