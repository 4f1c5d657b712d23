"""A channel of states: what it takes, what it refuses, what it sends and what it counts."""

import json
import math
import random
from dataclasses import replace

import pytest

from agent.cadence import CadenceSettings
from agent.category_kind import NO_CELL, NO_STATE, UNKNOWN_STATE, CategoryKind
from agent.channels import NOT_COVERED, Channel
from agent.errors import RefusedError
from agent.formats.leakage_design import Regions
from agent.formats.state_json import decode_state_message
from agent.health import decode_report, encode_report
from agent.readings import Reading
from agent.sanitise.category import CategorySanitiser
from agent.store import ChannelPosition
from tests.agent.example_designs import rooms

STEP = 600_000
START = 1_700_000_400_000  # a multiple of the step
FRESH = ChannelPosition(None, 0, 0, 1, None)


class SeededBits:
    def __init__(self, seed):
        self._random = random.Random(seed)

    def bits(self, number):
        return self._random.getrandbits(number)


def channel(design, position=FRESH, hold_steps=3, seed=1):
    sanitiser = CategorySanitiser(design, SeededBits(seed))
    return Channel(
        name="rooms",
        device="phone",
        topic="t",
        kind=CategoryKind(design, sanitiser),
        cadence=CadenceSettings(design.step_ms, hold_steps * design.step_ms),
        design=design,
        sanitiser=sanitiser,
        position=position,
    )


def state(step, label):
    return Reading(START + step * STEP, (), label=label)


def messages(subject):
    return [decode_state_message(one.payload) for one in subject.take_batch()[0]]


def test_one_state_a_step_with_the_budget_it_was_drawn_with():
    subject = channel(rooms())
    for step in range(6):
        subject.take(state(step, "bed"))
    sent = messages(subject)
    assert [message.time_ms for message in sent] == [START + step * STEP for step in range(6)]
    assert {message.state for message in sent} <= set(rooms().states)
    assert sent[0].epsilon == 0.0  # drawn without looking
    assert all(0 < message.epsilon <= rooms().steady_backward for message in sent[1:])
    assert sent[0].identity == "phone/rooms/1"


def test_only_listed_fields_leave_the_device():
    subject = channel(rooms(mechanism="unary_encoding"))
    subject.take(state(0, "bed"))
    subject.take(state(1, "bed"))
    for one in subject.take_batch()[0]:
        content = json.loads(one.payload)
        assert set(content) == {"epsilon", "id", "state", "t"}
        assert isinstance(content["state"], list)


def test_a_memoised_state_repeats_with_its_design_budget():
    subject = channel(rooms(policy="memoised", memoise_steps=144, limit=1.0, epsilon=1.0))
    for step in range(50):
        subject.take(state(step, "bed"))
    sent = messages(subject)
    assert len({message.state for message in sent}) == 1
    assert {message.epsilon for message in sent} == {1.0}
    assert subject.take_report().account is None


def test_an_unknown_state_is_refused_counted_and_never_named():
    subject = channel(rooms(), hold_steps=1)
    subject.take(state(0, "secret-clinic"))
    subject.take(state(1, "bed"))
    subject.take(Reading(START + 2 * STEP, ()))
    assert subject.counts[f"refused: {UNKNOWN_STATE}"] == 1
    assert subject.counts[f"refused: {NO_STATE}"] == 1
    assert subject.counts["releases"] == 1
    said = encode_report(subject.take_report()) + repr(subject.counts)
    assert "clinic" not in said
    assert subject.take_complaint() is None


def test_an_unknown_state_can_count_as_elsewhere():
    subject = channel(rooms(elsewhere="hall"))
    subject.take(state(0, "secret-clinic"))
    assert subject.counts["releases"] == 1
    assert "clinic" not in str(messages(subject))


@pytest.mark.parametrize(
    ("latitude", "longitude", "name"),
    [
        (40.0001, 116.5001, "e0n0"),
        (39.9999, 116.5001, "e0n-1"),
        (40.0001, 116.4999, "e-1n0"),
        (40.0095, 116.5001, "e0n1"),  # 1,055 m north
    ],
)
def test_a_position_becomes_its_cell(latitude, longitude, name):
    design = rooms(states=("e0n0", "e0n-1", "e-1n0", "e0n1"), regions=Regions(40.0, 116.5, 1000.0))
    kind = CategoryKind(design, CategorySanitiser(design, SeededBits(1)))
    reading = Reading(1, (latitude, longitude))
    assert kind.flaw(reading) is None
    assert kind.to_steps(reading) == (design.states.index(name),)


@pytest.mark.parametrize(
    ("values", "flaw"),
    [
        ((), NO_CELL),
        ((math.nan, 1.0), NO_CELL),
        ((400.0, 1.0), NO_CELL),
        ((41.0, 116.5), UNKNOWN_STATE),
        ((-90.0, -180.0), UNKNOWN_STATE),
    ],
)
def test_a_position_without_a_known_cell_is_refused(values, flaw):
    design = rooms(states=("e0n0", "e0n1"), regions=Regions(40.0, 116.5, 1000.0))
    kind = CategoryKind(design, CategorySanitiser(design, SeededBits(1)))
    assert kind.flaw(Reading(1, values)) == flaw


def test_the_account_is_reported_and_outlives_restarts_and_losses():
    design = rooms(segments=2)
    first = channel(design)
    for step in range(20):
        first.take(state(step, "bed"))
    _, advance = first.take_batch()
    report = first.take_report()
    assert report.account is not None
    assert 0 < report.account.recent <= report.account.worst <= design.limit
    assert (report.counts["releases"], report.segments_used) == (20, 1)
    stored = decode_report(encode_report(report))
    assert stored == report

    position = ChannelPosition(advance.state, 1, 0, advance.next_sequence, advance.last_time_ms)
    again = channel(design, replace(position, report=stored))
    again.take(state(20, "bed"))
    again.take_batch()
    assert again.take_report().counts["releases"] == 21

    lost = channel(design, ChannelPosition(None, 1, 0, 21, advance.last_time_ms, stored))
    lost.take(state(20, "bed"))
    (blank,) = messages(lost)
    assert blank.epsilon == 0.0
    assert lost.take_report().account.worst == report.account.worst
    with pytest.raises(RefusedError, match="lost 2 times"):
        channel(design, ChannelPosition(None, 2, 0, 21, None, stored))


def test_stored_state_goes_on_with_the_same_account():
    design = rooms()
    whole, first = channel(design), channel(design)
    for step in range(4):
        whole.take(state(step, "bed"))
    for step in range(2):
        first.take(state(step, "bed"))
    _, advance = first.take_batch()
    second = channel(
        design, ChannelPosition(advance.state, 1, 0, advance.next_sequence, advance.last_time_ms)
    )
    for step in range(1, 4):  # the second step had its turn
        second.take(state(step, "bed"))
    budgets = [message.epsilon for message in messages(whole)]
    assert [message.epsilon for message in messages(second)] == budgets[2:]


class Refusing(CategorySanitiser):
    def sanitise(self, state, time_ms, value_steps):
        if time_ms == START + STEP:
            raise RefusedError("nothing is left")
        return super().sanitise(state, time_ms, value_steps)


def test_a_design_that_refuses_shows_until_it_releases_again(monkeypatch):
    monkeypatch.setattr(f"{__name__}.CategorySanitiser", Refusing)
    subject = channel(rooms(), hold_steps=1)
    subject.take(state(0, "bed"))
    subject.take(state(1, "bed"))
    assert subject.take_complaint() == "nothing is left"
    report = subject.take_report()
    assert (report.standing, report.last_refusal) == ("nothing is left", NOT_COVERED)
    subject.take(state(2, "bed"))
    report = subject.take_report()
    assert (report.standing, report.last_refusal) == (None, NOT_COVERED)
    assert report.counts[f"refused: {NOT_COVERED}"] == 1
