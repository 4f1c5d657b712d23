"""The made-up week is regular, believable, and the same for the same seed."""

from pathlib import Path

import numpy as np
import pytest

from agent.formats.trace_files import read_traces
from agent.formats.traces import FloatArray, Trace
from precompute.demo.made_up_week import ORIGIN, PLACES, UTC_OFFSET_SECONDS, made_up_week
from precompute.demo.trace_csv import write_csv


@pytest.fixture(scope="module")
def week() -> Trace:
    return made_up_week()


def _distance(week: Trace, place: str) -> FloatArray:
    east, north = ORIGIN.forward(week.latitude, week.longitude)
    return np.hypot(east - PLACES[place].east, north - PLACES[place].north)


def _hour(week: Trace) -> FloatArray:
    return (week.times_seconds + UTC_OFFSET_SECONDS) % 86_400 / 3_600


def test_seven_days_of_fixes_five_seconds_apart(week: Trace) -> None:
    assert len(week) == 7 * 86_400 // 5
    assert np.array_equal(np.unique(np.diff(week.times_seconds)), [5])
    assert _hour(week)[0] == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nobody_flies(seed: int) -> None:
    week = made_up_week(seed)
    east, north = ORIGIN.forward(week.latitude, week.longitude)
    assert np.max(np.hypot(np.diff(east), np.diff(north))) / 5 < 40


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nights_are_at_home_and_working_hours_at_the_office(seed: int) -> None:
    week = made_up_week(seed)
    hour = _hour(week)
    night = (hour >= 1) & (hour < 5)
    assert np.mean(_distance(week, "home")[night] < 50) > 0.99
    morning = (hour >= 9.5) & (hour < 11.5) & (np.arange(len(week)) < 5 * 86_400 // 5)
    assert np.mean(_distance(week, "office")[morning] < 60) > 0.95


def test_every_place_is_visited(week: Trace) -> None:
    for place in PLACES:
        assert np.sum(_distance(week, place) < 60) > 100, place


def test_the_receiver_wanders_slowly_besides_its_white_error(week: Trace) -> None:
    hour = _hour(week)
    east, _ = ORIGIN.forward(week.latitude, week.longitude)
    asleep = east[(hour >= 2) & (hour < 5)][: 3 * 720]
    step, minute = np.diff(asleep), asleep[12:] - asleep[:-12]
    # White 3 m alone would give sqrt(2) * 3 = 4.2 m at any lag.
    assert 3.8 < np.std(step) < 5.2
    assert np.std(minute) > np.std(step) + 0.5


def test_the_seed_decides() -> None:
    first, again, other = made_up_week(7), made_up_week(7), made_up_week(8)
    assert np.array_equal(first.latitude, again.latitude)
    assert not np.array_equal(first.latitude, other.latitude)


def test_the_csv_reads_back(week: Trace, tmp_path: Path) -> None:
    path = tmp_path / "week.csv"
    write_csv(week, path)
    (back,) = read_traces(path).traces
    assert np.array_equal(back.times_seconds, week.times_seconds)
    assert np.max(np.abs(back.latitude - week.latitude)) < 1e-7
    assert np.max(np.abs(back.longitude - week.longitude)) < 1e-7
