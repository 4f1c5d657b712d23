"""OwnTracks: golden bytes, what a subscriber accepts, and the Recorder's files."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.formats.errors import FormatError
from agent.formats.owntracks import decode_location, encode_location
from agent.formats.trace_files import read_traces

GOOD: dict[str, Any] = {
    "latitude": 52.5,
    "longitude": -0.00000001,
    "accuracy_m": 511.2,
    "time_seconds": 1_772_434_800.9,
    "identity": "phone/location/7",
}


def test_the_golden_bytes() -> None:
    assert encode_location(**GOOD) == (
        b'{"_id":"phone/location/7","_type":"location","acc":512,"lat":52.5000000,'
        b'"lon":0.0000000,"tst":1772434800}'
    )
    assert encode_location(**GOOD | {"tracker_id": "ab", "identity": 'é"'}) == (
        b'{"_id":"\\u00e9\\"","_type":"location","acc":512,"lat":52.5000000,'
        b'"lon":0.0000000,"tid":"ab","tst":1772434800}'
    )


@given(
    st.floats(-90, 90), st.floats(-180, 180), st.floats(0, 1e6), st.floats(1, 4e9),
    st.from_regex(r"[\w/-]{1,40}", fullmatch=True),
)  # fmt: skip
def test_what_is_encoded_is_decoded(
    lat: float, lon: float, acc: float, time: float, identity: str
) -> None:
    content = encode_location(
        latitude=lat, longitude=lon, accuracy_m=acc, time_seconds=time, identity=identity
    )
    assert list(json.loads(content)) == ["_id", "_type", "acc", "lat", "lon", "tst"]
    location = decode_location(content)
    assert abs(location.latitude - lat) <= 0.51e-7
    assert abs(location.longitude - lon) <= 0.51e-7
    assert location.accuracy_m == math.ceil(acc)
    assert location.time_seconds == math.floor(time)
    assert location.identity == identity


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("latitude", 90.1), ("latitude", math.nan), ("longitude", 181.0), ("accuracy_m", -1.0),
        ("accuracy_m", math.inf), ("time_seconds", math.nan), ("time_seconds", 1.7e12),
        ("time_seconds", 0.5), ("identity", ""), ("identity", "a\nb"), ("identity", "x" * 513),
        ("tracker_id", ""), ("tracker_id", "abc"),
    ],
)  # fmt: skip
def test_what_must_not_be_published_is_refused(field: str, value: object) -> None:
    with pytest.raises(FormatError):
        encode_location(**GOOD | {field: value})


def test_a_subscriber_accepts_what_apps_write() -> None:
    quirky = decode_location(
        b'{"_type":"location","tst":"1772434800","lat":1,"lon":2.5,"acc":-1,"vel":-1,"tid":7,'
        b'"SSID":"home","alt":0.0}'
    )
    assert (quirky.latitude, quirky.longitude, quirky.time_seconds) == (1, 2.5, 1772434800)
    assert quirky.accuracy_m is quirky.identity is quirky.tracker_id is None
    assert repr(quirky) == "Location(…)"


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"null", b"{", b"\xff", b"[" * 50_000, b'{"_type":"lwt","tst":1}',
        b'{"_type":"location","lat":400.17,"lon":2,"tst":1772434800}',
        b'{"_type":"location","lat":NaN,"lon":2,"tst":1772434800}',
        b'{"_type":"location","lat":true,"lon":2,"tst":1772434800}',
        b'{"_type":"location","lat":"1","lon":2,"tst":1772434800}',
        b'{"_type":"location","lat":1,"lon":2}',
        b'{"_type":"location","lat":1,"lon":2,"tst":1e999}',
        b'{"_type":"location","lat":1,"lon":2,"tst":"soon"}',
        b'{"_type":"location","lat":1' + b"0" * 400 + b',"lon":2,"tst":1772434800}',
        b'{"_type":"location","lat":1' + b"0" * 5000 + b',"lon":2,"tst":1772434800}',
        b'{"_type":"location","lat":1,"lon":2,"tst":1772434800,"x":"' + b"y" * 70_000 + b'"}',
    ],
)  # fmt: skip
def test_a_message_that_is_no_location_is_refused_without_its_values(content: bytes) -> None:
    with pytest.raises(FormatError) as refused:
        decode_location(content)
    assert "400.17" not in str(refused.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_location_or_refused(content: bytes) -> None:
    with pytest.raises(FormatError):
        decode_location(content)


members = st.dictionaries(
    st.sampled_from(["lat", "lon", "tst", "acc", "tid", "_id"]),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just([1]),
)


@given(members)
def test_any_members_are_a_location_on_earth_or_refused(fields: dict[str, Any]) -> None:
    try:
        location = decode_location(json.dumps({"_type": "location", **fields}).encode())
    except FormatError:
        return
    assert abs(location.latitude) <= 90
    assert abs(location.longitude) <= 180


REC = (
    '2026-03-02T08:00:00Z\t*                 \t{"_type":"location","lat":1.5,"lon":2.5,"tst":100}\n'
    '2026-03-02T08:00:01Z\tlwt               \t{"_type":"lwt","tst":"90"}\n'
    '2026-03-02T08:00:02Z  *   {"_type":"location","lat":1.6,"lon":2.6,"tst":"105","acc":3}\n'
    '2026-03-02T08:00:03Z\twaypoint\t{"_type":"waypoint","lat":9,"lon":9,"tst":99,"desc":"Home"}\n'
)


def test_a_recorder_file_is_read_past_its_other_records(tmp_path: Path) -> None:
    path = tmp_path / "2026-03.rec"
    path.write_text(REC)
    read = read_traces(path)
    (trace,) = read.traces
    assert trace.times_seconds.tolist() == [100, 105]
    assert trace.longitude.tolist() == [2.5, 2.6]
    assert "passed over 2 records that are no location" in read.notes


def test_a_late_burst_and_a_torn_line_need_repair(tmp_path: Path) -> None:
    path = tmp_path / "x.rec"
    late = '2026-03-02T08:00:04Z\t*\t{"_type":"location","lat":1.4,"lon":2.4,"tst":95}\n'
    path.write_text(REC + late)
    with pytest.raises(FormatError, match="line 5: earlier than"):
        read_traces(path)
    assert read_traces(path, repair=True).traces[0].times_seconds.tolist() == [95, 100, 105]
    path.write_text(REC + late[:40])
    with pytest.raises(FormatError, match="line 5: not a record"):
        read_traces(path)
    assert len(read_traces(path, repair=True).traces[0]) == 2


def test_a_recorder_file_without_locations_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.rec"
    path.write_text(REC.splitlines()[1])
    with pytest.raises(FormatError, match="no location among its 1 records"):
        read_traces(path)
