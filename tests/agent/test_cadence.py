"""Steady slots and event cadence, on hand-made times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cadence import COVERED, LATE, STALE, CadenceSettings, pass_time, resume, take_reading
from agent.formats.errors import FormatError
from agent.readings import Reading

EVERY_10 = CadenceSettings(10_000, 30_000)


def play(settings, times, last_release=None):
    """(slot, time of the reading used) for each release, and the counts."""
    state, due, counts = resume(last_release), [], {}
    for time_ms in times:
        decision = take_reading(settings, state, Reading(time_ms, (0.0,)))
        state = decision.state
        due += [(one.time_ms, one.reading.time_ms) for one in decision.due]
        for why, count in decision.passed_over:
            counts[why] = counts.get(why, 0) + count
    return due, counts


def test_a_slot_takes_the_last_reading_at_or_before_it():
    due, counts = play(EVERY_10, [101_000, 108_000, 115_000, 120_000, 131_000])
    assert due == [(110_000, 108_000), (120_000, 120_000), (130_000, 120_000)]
    assert counts == {}


def test_a_reading_older_than_hold_releases_nothing_and_the_slots_are_counted():
    due, counts = play(EVERY_10, [100_000, 175_000])
    assert due == [(100_000, 100_000), (110_000, 100_000), (120_000, 100_000), (130_000, 100_000)]
    assert counts == {STALE: 4}  # 140, 150, 160, 170


def test_without_hold_each_reading_has_one_slot():
    due, counts = play(CadenceSettings(10_000), [101_000, 108_000, 115_000, 120_000, 151_000])
    assert due == [(110_000, 108_000), (120_000, 120_000)]
    assert counts == {STALE: 3}  # 130, 140, 150


def test_a_reading_is_fresh_for_one_slot_only_also_after_a_restart():
    state, fresh = resume(100_000), []
    for time_ms in (99_000, 112_000, 131_000):
        decision = take_reading(EVERY_10, state, Reading(time_ms, (0.0,)))
        state = decision.state
        fresh += [(one.time_ms, one.fresh) for one in decision.due]
    assert fresh == [(110_000, False), (120_000, True), (130_000, False)]


def test_an_old_reading_that_arrives_late_is_not_where_somebody_is():
    every = CadenceSettings(10_000)
    state = pass_time(
        every, take_reading(every, resume(None), Reading(1_000, (0.0,))).state, 95_000
    ).state
    state = take_reading(every, state, Reading(60_000, (0.0,))).state
    assert pass_time(every, state, 105_000).due == ()
    state = take_reading(every, state, Reading(92_000, (0.0,))).state
    assert [one.fresh for one in pass_time(every, state, 115_000).due] == [True]


def test_a_gap_of_years_is_counted_without_being_walked():
    _, counts = play(CadenceSettings(1_000, 1_000), [0, 10**12])
    assert counts[STALE] == 10**9 - 2


def test_nothing_is_due_before_the_first_reading():
    due, counts = play(EVERY_10, [123_456])
    assert (due, counts) == ([], {})


def test_readings_out_of_order_or_of_equal_time_are_refused_and_counted():
    due, counts = play(EVERY_10, [100_000, 99_000, 100_000, 110_000])
    assert [slot for slot, _ in due] == [100_000, 110_000]
    assert counts == {LATE: 2}


def test_after_a_restart_slots_already_released_never_come_due_again():
    due, counts = play(EVERY_10, [100_000, 110_000, 121_000, 130_000], last_release=110_000)
    assert due == [(120_000, 110_000), (130_000, 130_000)]
    assert counts == {COVERED: 2}


def test_event_cadence_releases_each_reading_once_at_its_own_time():
    due, counts = play(CadenceSettings(None), [5, 7, 6, 9], last_release=5)
    assert due == [(7, 7), (9, 9)]
    assert counts == {COVERED: 1, LATE: 1}


def test_a_wall_clock_can_drive_the_same_slots():
    state = take_reading(EVERY_10, resume(None), Reading(101_000, (0.0,))).state
    decision = pass_time(EVERY_10, state, 121_000)
    assert [one.time_ms for one in decision.due] == [110_000, 120_000]
    again = pass_time(EVERY_10, decision.state, 121_000)
    assert again.due == ()
    later = take_reading(EVERY_10, decision.state, Reading(119_000, (0.0,)))
    assert later.due == ()  # its slots are decided; it serves the next one
    assert pass_time(EVERY_10, later.state, 130_000).due[0].reading.time_ms == 119_000


@given(
    st.lists(st.integers(0, 200_000), min_size=1, max_size=40),
    st.integers(1, 9_000),
    st.integers(1, 8),
)
def test_slots_ascend_lie_on_the_grid_and_use_fresh_readings(times, every, holds):
    settings = CadenceSettings(every, every * holds)
    due, _ = play(settings, times)
    slots = [slot for slot, _ in due]
    assert slots == sorted(set(slots))
    for slot, read in due:
        assert slot % every == 0
        assert 0 <= slot - read <= settings.hold_ms
        assert read == max(time for time in _accepted(times) if time <= slot)


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=30), st.integers(1, 9_000))
def test_cutting_a_run_in_two_loses_no_slot_but_the_ones_in_the_cut(times, every):
    settings = CadenceSettings(every, every * 3)
    whole, _ = play(settings, times)
    half = len(times) // 2
    first, _ = play(settings, times[:half])
    last = first[-1][0] if first else None
    second, _ = play(settings, times, last_release=last)
    assert [slot for slot, _ in first + second] == [slot for slot, _ in whole]


def _accepted(times):
    accepted = []
    for time in times:
        if not accepted or time > accepted[-1]:
            accepted.append(time)
    return accepted


@pytest.mark.parametrize(
    ("every", "hold"), [(0, 0), (1000, 999), (1000, -1), (1000, 1000 * 100_001)]
)
def test_settings_that_make_no_sense_are_refused(every, hold):
    with pytest.raises(FormatError):
        CadenceSettings(every, hold)
