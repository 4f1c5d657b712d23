"""What a channel refuses, and what it says about a release."""

import json
import math

import pytest
from fakes.designs import guarantee, location_stream, temperature_window

from agent.cadence import STALE, CadenceSettings
from agent.channels import NOT_COVERED, Channel
from agent.entropy import SeededNormals
from agent.errors import RefusedError
from agent.formats.designs import Component, StreamDesign
from agent.formats.sensor_json import decode_sensor
from agent.kinds import (
    NOT_FINITE,
    NOT_ON_EARTH,
    OFF_GRID,
    OUT_OF_RANGE,
    LocationKind,
    LocationSettings,
    ScalarKind,
    ScalarSettings,
)
from agent.readings import Reading
from agent.sanitise.sanitiser import Sanitiser
from agent.store import ChannelPosition

FRESH = ChannelPosition(None, 0, 0, 1, None)
TEMPERATURE = StreamDesign(
    "t", ("value",), "Cel", 0.01, (Component("matern12", 4.0, 60.0),), guarantee()
)


def location_kind(**more):
    return LocationKind(LocationSettings(40.0, 116.5, **more), location_stream())


def channel(kind, design, cadence=CadenceSettings(None), position=FRESH, seed=1):  # noqa: B008 - frozen
    return Channel(
        name="c",
        device="d",
        topic="t",
        kind=kind,
        cadence=cadence,
        design=design,
        sanitiser=Sanitiser(design, SeededNormals(seed)),
        position=position,
    )


@pytest.mark.parametrize(
    ("latitude", "longitude", "flaw"),
    [
        (40.01, 116.51, None),
        (math.nan, 116.5, NOT_FINITE),
        (40.0, math.inf, NOT_FINITE),
        (400.17, 116.5, NOT_ON_EARTH),
        (40.0, -180.1, NOT_ON_EARTH),
        (50.0, 116.5, OUT_OF_RANGE),
        (0.0, 0.0, OUT_OF_RANGE),
    ],
)
def test_a_location_that_cannot_be_is_refused_in_words_without_it(latitude, longitude, flaw):
    assert location_kind().flaw(Reading(1, (latitude, longitude))) == flaw


def test_the_range_is_the_users():
    near = Reading(1, (40.05, 116.5))
    assert location_kind(range_metres=1000.0).flaw(near) == OUT_OF_RANGE
    assert location_kind(range_metres=6000.0).flaw(near) is None


@pytest.mark.parametrize(
    ("value", "flaw"),
    [(20.6, None), (math.nan, NOT_FINITE), (-math.inf, NOT_FINITE), (1e300, OFF_GRID)],
)
def test_a_scalar_that_cannot_be_is_refused(value, flaw):
    assert ScalarKind(ScalarSettings("Cel"), TEMPERATURE).flaw(Reading(1, (value,))) == flaw


def test_accuracy_is_the_radius_that_holds_68_percent_of_the_noise():
    subject = channel(location_kind(range_metres=10.0), location_stream())
    for number in range(1, 2000):
        # Three days apart: independent draws of the slower component.
        subject.take(Reading(number * 3 * 86_400_000, (40.0, 116.5), accuracy=3.0))
    messages = [json.loads(one.payload) for one in subject.take_batch()[0]]
    assert {message["acc"] for message in messages} == {302}  # 1.5096 * 200 m, rounded up
    inside = sum(
        math.hypot((message["lat"] - 40.0) * 111_035.0, (message["lon"] - 116.5) * 85_394.0) < 302
        for message in messages
    )
    # Binomial(1999, 0.68): 5 standard deviations are 0.052.
    assert inside / len(messages) == pytest.approx(0.68, abs=0.055)


def test_accuracy_includes_what_the_range_adds_to_the_noise_at_the_origin():
    subject = channel(location_kind(), location_stream())
    subject.take(Reading(1000, (40.0, 116.5)))
    (message,) = subject.take_batch()[0]
    # cos 40 / cos (40 + 300 / 110.574) = 1.0421.
    assert json.loads(message.payload)["acc"] == math.ceil(1.5096 * 200 * 1.0421)


def positions(outgoing):
    return [
        (message["tst"], message["lat"], message["lon"])
        for message in (json.loads(one.payload) for one in outgoing)
    ]


def test_a_held_reading_repeats_its_release_and_draws_no_second_noise():
    subject = channel(location_kind(), location_stream(), CadenceSettings(10_000, 30_000))
    subject.take(Reading(9_000, (40.0, 116.5)))
    subject.take(Reading(35_000, (40.0, 116.5)))
    subject.take(Reading(40_000, (40.0, 116.5)))
    outgoing, advance = subject.take_batch()
    (t0, *first), (t1, *second), (t2, *third), (t3, *fourth) = positions(outgoing)
    assert (t0, t1, t2, t3) == (10, 20, 30, 40)
    assert first == second == third != fourth
    assert [one.sequence for one in outgoing] == [1, 2, 3, 4]
    assert len(advance.last_steps) == 2


def test_a_held_release_goes_on_after_a_restart():
    cadence = CadenceSettings(10_000, 60_000)
    before = channel(location_kind(), location_stream(), cadence)
    before.take(Reading(9_000, (40.0, 116.5)))
    before.take(Reading(12_000, (40.0, 116.5)))
    outgoing, advance = before.take_batch()
    position = ChannelPosition(
        advance.state,
        1,
        0,
        advance.next_sequence,
        advance.last_time_ms,
        last_steps=advance.last_steps,
    )
    after = channel(location_kind(), location_stream(), cadence, position=position, seed=2)
    after.take(Reading(9_000, (40.0, 116.5)))
    after.take(Reading(31_000, (40.0, 116.5)))
    repeated = positions(after.take_batch()[0])
    assert [t for t, *_ in repeated] == [20, 30]
    assert {tuple(place) for _, *place in repeated} == {positions(outgoing)[0][1:]}


def test_stream_noise_is_drawn_at_the_readings_own_time():
    design = location_stream()
    subject = channel(location_kind(), design, CadenceSettings(10_000), seed=7)
    for time_ms in (8_500, 11_000, 19_000, 30_000):
        subject.take(Reading(time_ms, (40.0, 116.5)))
    _, advance = subject.take_batch()
    sanitiser = Sanitiser(design, SeededNormals(7))
    state = sanitiser.cold_start(0)
    for time_ms in (8_500, 19_000, 30_000):
        steps, state = sanitiser.sanitise(state, time_ms, (0, 0))
    assert (advance.state, advance.last_steps) == (state, steps)


def test_only_listed_fields_leave_the_device():
    subject = channel(location_kind(), location_stream())
    subject.take(Reading(1_700_000_000_000, (40.0, 116.5), accuracy=3.0))
    (message,) = subject.take_batch()[0]
    assert set(json.loads(message.payload)) == {"_id", "_type", "acc", "lat", "lon", "tst"}
    subject = channel(ScalarKind(ScalarSettings("Cel"), TEMPERATURE), TEMPERATURE)
    subject.take(Reading(1_700_000_000_000, (20.6,)))
    (message,) = subject.take_batch()[0]
    decoded = decode_sensor(message.payload)
    assert (decoded.unit, decoded.std, decoded.identity) == ("Cel", 2.0, "d/c/1")


def test_identities_count_up_and_a_batch_is_handed_out_once():
    subject = channel(location_kind(), location_stream())
    for number in range(3):
        subject.take(Reading(1000 + number, (40.0, 116.5)))
    outgoing, advance = subject.take_batch()
    assert [one.sequence for one in outgoing] == [1, 2, 3]
    assert (advance.next_sequence, advance.last_time_ms, advance.segments_used) == (4, 1002, 1)
    assert subject.take_batch() == ([], None)


def test_a_bad_reading_does_not_stand_in_for_later_slots():
    subject = channel(location_kind(), location_stream(), CadenceSettings(10_000, 100_000))
    subject.take(Reading(10_000, (40.0, 116.5)))
    subject.take(Reading(15_000, (400.0, 116.5)))
    subject.take(Reading(20_500, (40.0, 116.5)))
    assert subject.counts == {
        "readings": 3,
        "releases": 2,
        f"refused: {NOT_ON_EARTH}": 1,
    }


def test_slots_are_counted_apart_from_refused_readings():
    subject = channel(location_kind(), location_stream(), CadenceSettings(10_000, 10_000))
    subject.take(Reading(10_000, (40.0, 116.5)))
    subject.take(Reading(60_000, (40.0, 116.5)))
    assert subject.counts[STALE] == 3


def test_a_window_runs_into_its_next_segments_and_stops_when_they_are_spent():
    design = temperature_window(rows=4, segments=2)
    subject = channel(
        ScalarKind(ScalarSettings("Cel"), design), design, CadenceSettings(900_000, 900_000)
    )
    for number in range(1, 12):
        subject.take(Reading(number * 900_000, (20.0,)))
    outgoing, advance = subject.take_batch()
    assert (len(outgoing), advance.segments_used) == (8, 2)
    assert subject.counts[f"refused: {NOT_COVERED}"] == 3
    assert "allowance is spent" in subject.take_complaint()
    assert subject.take_complaint() is None  # said once


def test_a_cold_start_beyond_the_allowance_is_refused():
    design = location_stream(segments=2)
    channel(location_kind(), design, position=ChannelPosition(None, 1, 0, 1, None))
    with pytest.raises(RefusedError, match="covers 2"):
        channel(location_kind(), design, position=ChannelPosition(None, 2, 0, 1, None))


def test_stored_state_goes_on_where_it_was():
    design = location_stream()
    whole = channel(location_kind(), design)
    for number in (1, 2, 3):
        whole.take(Reading(number * 1000, (40.0, 116.5)))
    first = channel(location_kind(), design)
    first.take(Reading(1000, (40.0, 116.5)))
    _, advance = first.take_batch()
    assert advance is not None
    second = channel(
        location_kind(),
        design,
        position=ChannelPosition(advance.state, 1, 0, advance.next_sequence, advance.last_time_ms),
    )
    second.take(Reading(1000, (40.0, 116.5)))  # had its turn
    second.take(Reading(2000, (40.0, 116.5)))
    (again,) = second.take_batch()[0]
    assert again.sequence == whole.take_batch()[0][1].sequence
