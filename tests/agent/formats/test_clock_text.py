"""Times as text, against Python's own calendar."""

import math
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.formats.clock_text import ClockReader, iso_seconds
from agent.formats.errors import FormatError

moments = st.datetimes(datetime(1970, 1, 2), datetime(2099, 12, 31))
offsets = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))


@given(moments, offsets, st.sampled_from("T "))
def test_iso_times_mean_what_python_says(moment: datetime, zone: timezone, sign: str) -> None:
    aware = moment.replace(tzinfo=zone)
    assert iso_seconds(aware.isoformat(sep=sign)) == pytest.approx(aware.timestamp(), abs=1e-5)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02T00:00:00Z", 86400),
        ("1970-01-02T01:00:00+01:00", 86400),
        ("1970-01-02T00:00:00.8Z", 86400.8),
        ("1970-01-01 19:30:00.000-0430", 86400),
        ("1970/1/2 0:00", 86400),
        ("2016-12-31T23:59:60Z", 1483228800),  # a leap second
        ("2000-02-29T00:00:00Z", 951782400),
    ],
)
def test_the_writings_that_loggers_use(text: str, seconds: float) -> None:
    assert iso_seconds(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "2001-02-29T00:00:00Z", "2001-01-01", "2001-01-01T24:00:00", "2001-01-01T00:60:00",
     "2001-13-01T00:00:00", "0000-01-01T00:00:00", "2001-01-01T00:00:00Zulu", "12345"],
)  # fmt: skip
def test_what_is_no_time_is_nan(text: str) -> None:
    assert math.isnan(iso_seconds(text))


def test_a_pattern_and_an_offset_are_used_and_remembered() -> None:
    clock = ClockReader("%d/%m/%Y %H:%M", utc_offset_seconds=3600)
    assert clock.seconds(["02/01/1970 01:00", "31/02/1970 01:00"])[0] == 86400
    assert clock.saw_local
    assert math.isnan(clock.seconds(["1970-01-02T00:00:00Z"])[0])


@pytest.mark.parametrize("pattern", ["%H:%M", "", "%Q %Y", "text", "%Y %Y", "%"])
def test_a_pattern_that_reads_no_date_is_refused(pattern: str) -> None:
    with pytest.raises(FormatError, match="time_format"):
        ClockReader(pattern)


@given(st.text(max_size=40))
def test_any_text_is_a_number_or_nan(text: str) -> None:
    assert isinstance(ClockReader().seconds([text])[0], float)
    assert isinstance(ClockReader("%d/%m/%Y %H:%M").seconds([text])[0], float)
