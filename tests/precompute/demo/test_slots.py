import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles.slot_by_slot import slots

from agent.cadence import CadenceSettings, resume, take_reading
from agent.readings import Reading
from precompute.demo.slots import count_steady_slots, steady_slots

TIMES = st.lists(st.integers(1, 400_000), min_size=1, max_size=30, unique=True).map(sorted)
EVERY = st.integers(1_000, 60_000)


@given(TIMES, EVERY)
def test_slots_are_those_of_the_rule_taken_one_by_one(times_ms, every):
    found = steady_slots(np.array(times_ms) / 1000.0, every)
    assert list(zip(found.times_ms, found.fixes, strict=True)) == slots(times_ms, every)
    assert count_steady_slots(np.array(times_ms) / 1000.0, every) == len(found.fixes)


@given(TIMES, EVERY)
def test_slots_are_those_that_the_agent_releases(times_ms, every):
    settings = CadenceSettings(every)
    state, due = resume(None), []
    for time_ms in times_ms:
        decision = take_reading(settings, state, Reading(time_ms, (0.0, 0.0)))
        state = decision.state
        due += [(one.time_ms, one.reading.time_ms) for one in decision.due]
    found = steady_slots(np.array(times_ms) / 1000.0, every)
    assert [(int(t), times_ms[i]) for t, i in zip(found.times_ms, found.fixes, strict=True)] == due


def test_slots_by_hand():
    # Fixes at 1, 4, 11 and 70 s, every 10 s: 10 s has the second, 20 s the third; then silence
    # until 70 s itself.
    found = steady_slots(np.array([1.0, 4.0, 11.0, 70.0]), 10_000)
    assert found.times_ms.tolist() == [10_000, 20_000, 70_000]
    assert found.fixes.tolist() == [1, 2, 3]


def test_a_silence_of_a_century_takes_no_memory():
    assert count_steady_slots(np.array([0.0, 4e9]), 10_000) == 2
