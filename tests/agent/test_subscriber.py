"""The receiving end: strict, idempotent, and never stopped by what arrives."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import subscriber
from agent.errors import UnavailableError
from agent.formats.errors import FormatError
from agent.formats.geojson import ReceivedPlace, encode_geojson
from agent.formats.mapping_json import MappingMessage, encode_mapping_message
from agent.formats.owntracks import encode_location
from agent.formats.sensor_json import SensorMessage, decode_sensor, encode_sensor, value_on_grid
from agent.formats.state_json import StateMessage, encode_state_message
from agent.subscriber import (
    FORMER_HEADER,
    HEADER,
    CsvFile,
    Receiver,
    count_missing,
    decode_message,
)

SENSOR = SensorMessage("d/c/7", 1_700_000_000_000, 20.66, "Cel", 2.0)
GOLDEN = b'{"id":"d/c/7","std":2.0,"t":1700000000,"unit":"Cel","value":20.66}'


def place(number, latitude=40.0):
    return encode_location(
        latitude=latitude,
        longitude=116.5,
        accuracy_m=302,
        time_seconds=1_700_000_000 + number,
        identity=f"d/c/{number}",
    )


def test_sensor_json_is_these_bytes():
    assert encode_sensor(SENSOR) == GOLDEN
    assert decode_sensor(GOLDEN) == SENSOR


@given(st.integers(0, 4_000_000_000_000), st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_sensor_json_round_trip(time_ms, value, std):
    message = SensorMessage("d/c/1", time_ms, value, "1", std)
    assert decode_sensor(encode_sensor(message)) == message


@pytest.mark.parametrize("cut", range(len(GOLDEN)))
def test_sensor_json_cut_short_is_refused(cut):
    with pytest.raises(FormatError):
        decode_sensor(GOLDEN[:cut])


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"id": "a\nb"},
        {"id": 7},
        {"t": "1700000000"},
        {"t": 1e300},
        {"value": True},
        {"value": None},
        {"value": 10**400},
        {"std": [1]},
        {"unit": "x" * 300},
        {"extra": 1},
    ],
)
def test_sensor_json_with_one_field_wrong_is_refused(change):
    with pytest.raises(FormatError):
        decode_sensor(json.dumps(json.loads(GOLDEN) | change).encode())
    with pytest.raises(FormatError):
        decode_sensor(GOLDEN.replace(b"20.66", b"NaN"))


def test_values_have_the_decimals_of_the_grid():
    assert value_on_grid(2066, 0.01) == 20.66
    assert value_on_grid(-3, 0.1) == -0.3
    assert value_on_grid(7, 5.0) == 35.0


def test_rows_say_what_the_messages_said():
    row = decode_message("t", place(3))
    assert (row.id, row.time, row.latitude, row.accuracy_m, row.value) == (
        "d/c/3",
        "2023-11-14T22:13:23Z",
        "40.0000000",
        "302",
        "",
    )
    row = decode_message("t", GOLDEN)
    assert (row.id, row.value, row.unit, row.std, row.latitude) == (
        "d/c/7",
        "20.66",
        "Cel",
        "2.0",
        "",
    )


@given(st.binary(max_size=200))
def test_nothing_that_arrives_stops_the_receiver(content):
    receiver = Receiver(None, keep_places=True)
    assert not receiver.take("t", content)
    assert receiver.counts["malformed"] == 1


def test_why_messages_were_refused_is_counted_by_reason_and_without_their_content():
    receiver = Receiver(None, keep_places=False)
    for content in (b"secret-4711", b"[]", b'{"secret-4711":1}', GOLDEN[:-1] + b',"std":2}'):
        assert not receiver.take("t", content)
    assert receiver.reasons() == [
        "malformed 2: not a JSON object; expected what `sfumato run` sends",
        "malformed 1: sensor message: expected exactly the keys id, std, t, unit, value",
        "malformed 1: sensor message: a key stands twice in an object",
    ]
    assert Receiver(None, keep_places=False).reasons() == []


def test_reasons_without_end_fill_no_memory(monkeypatch):
    receiver = Receiver(None, keep_places=False)
    numbers = iter(range(1000))

    def refuse(_topic, _content):
        raise FormatError(f"reason {next(numbers)}")

    monkeypatch.setattr(subscriber, "decode_message", refuse)
    for _ in range(100):
        receiver.take("t", b"")
    assert len(receiver.reasons()) == subscriber.MAX_REASONS + 1
    assert receiver.reasons()[0] == f"malformed {100 - subscriber.MAX_REASONS}: other reasons"


def test_repeats_are_dropped_also_across_restarts(tmp_path):
    path = tmp_path / "out.csv"
    first = CsvFile(path)
    receiver = Receiver(first, keep_places=True)
    assert [receiver.take("t", place(n)) for n in (1, 2, 1)] == [True, True, False]
    first.close()
    second = CsvFile(path)
    receiver = Receiver(second, keep_places=True)
    assert [receiver.take("t", place(n)) for n in (2, 3)] == [False, True]
    second.close()
    assert len(path.read_text().splitlines()) == 4
    assert len(json.loads(receiver.geojson())["features"]) == 4  # three points and their line


def test_a_line_torn_by_a_crash_is_cut_off_and_its_release_taken_again(tmp_path):
    path = tmp_path / "out.csv"
    file = CsvFile(path)
    receiver = Receiver(file, keep_places=False)
    receiver.take("t", place(1))
    receiver.take("t", place(2))
    file.close()
    whole = path.read_bytes()
    for cut in range(whole.rfind(b"\n", 0, -1) + 2, len(whole)):
        path.write_bytes(whole[:cut])
        file = CsvFile(path)
        assert Receiver(file, keep_places=False).take("t", place(2))
        file.close()
        assert path.read_bytes() == whole


def test_a_file_of_someone_else_is_not_touched(tmp_path):
    path = tmp_path / "diary.csv"
    path.write_text("date,thought\n")
    with pytest.raises(FormatError, match="not a file that"):
        CsvFile(path)
    assert path.read_text() == "date,thought\n"
    with pytest.raises(UnavailableError):
        CsvFile(tmp_path / "no" / "folder.csv")


def test_the_csv_header_is_the_promised_one():
    assert ",".join(HEADER) == (
        "topic,id,time,latitude,longitude,accuracy_m,value,unit,std,state,epsilon,"
        "design,node,symbol"
    )


SYMBOL = encode_mapping_message(MappingMessage("d/c/9", 1_700_000_000_000, "0" * 16, "co2", 2))


def test_a_nodes_symbol_is_kept(tmp_path):
    row = decode_message("t", SYMBOL)
    assert (row.design, row.node, row.symbol, row.value) == ("0" * 16, "co2", "2", "")
    for once_and_again in range(2):
        file = CsvFile(tmp_path / "out.csv")
        assert Receiver(file, keep_places=False).take("t", SYMBOL) == (once_and_again == 0)
        file.close()


def test_a_file_of_an_earlier_version_goes_on_and_refuses_symbols(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text(",".join(FORMER_HEADER) + "\nt,d/c/7,2023-11-14T22:13:20Z,,,,1.0,Cel,2.0,,\n")
    file = CsvFile(path)
    receiver = Receiver(file, keep_places=False)
    assert not receiver.take("t", GOLDEN)  # d/c/7 is on file
    assert receiver.take("t", encode_sensor(SensorMessage("d/c/8", 1_700_000_060_000, 1, "1", 2)))
    with pytest.raises(FormatError, match=r"begun by an earlier sfumato.*give a new file"):
        receiver.take("t", SYMBOL)
    file.close()
    lines = path.read_text().splitlines()
    assert lines[0] == ",".join(FORMER_HEADER)
    assert [line.count(",") for line in lines] == [10, 10, 10]


def test_a_state_and_a_set_of_states_are_kept():
    one = StateMessage("d/rooms/1", 1_700_000_000_000, '"_type"', 0.25)
    row = decode_message("home/rooms", encode_state_message(one))
    assert (row.id, row.time, row.state, row.epsilon) == (
        "d/rooms/1",
        "2023-11-14T22:13:20Z",
        '"_type"',
        "0.25",
    )
    assert (row.value, row.latitude) == ("", "")
    several = StateMessage("d/rooms/2", 1_700_000_000_000, ("bed", "küche"), 0.0)
    row = decode_message("home/rooms", encode_state_message(several))
    assert (row.state, row.epsilon) == ('["bed", "küche"]', "0.0")


def test_a_scalar_in_units_of_state_is_still_a_scalar():
    content = encode_sensor(SensorMessage("d/c/1", 1_700_000_000_000, 2.0, "state", 1.0))
    assert decode_message("t", content).unit == "state"


def test_geojson_is_deterministic_and_in_the_order_of_time():
    places = [
        ReceivedPlace("b", "2", "2023-01-01T00:00:30Z", 40.0, 116.0, 5.0),
        ReceivedPlace("b", "1", "2023-01-01T00:00:00Z", 41.0, 117.0, 5.0),
        ReceivedPlace("a", "9", "2023-01-01T00:00:00Z", 1.0, 2.0, 5.0),
    ]
    text = encode_geojson(places)
    assert text == encode_geojson(reversed(places))
    features = json.loads(text)["features"]
    assert [feature["geometry"]["type"] for feature in features] == [
        "Point",
        "LineString",
        "Point",
        "Point",
    ]
    assert features[1]["geometry"]["coordinates"] == [[117.0, 41.0], [116.0, 40.0]]


def sensor(sequence, channel="c"):
    return encode_sensor(
        SensorMessage(f"d/{channel}/{sequence}", 1_700_000_000_000, 20.0, "Cel", 2.0)
    )


def test_missing_sequence_numbers_are_counted_for_each_device_and_channel():
    receiver = Receiver(None, keep_places=False)
    for content in (sensor(14), sensor(10), sensor(11), sensor(11), sensor(3, "other")):
        receiver.take("t", content)
    assert receiver.summary() == (
        "messages 5, kept 4, repeats 1, malformed 0, missing 2 (the broker dropped them, or they "
        "are still on their way)"
    )
    for content in (sensor(12), sensor(13)):
        receiver.take("t", content)
    assert receiver.summary().endswith("malformed 0, missing 0")


def test_a_device_that_starts_anew_has_not_lost_what_lies_between():
    assert count_missing([f"d/c/{n}" for n in (5, 6, 9, 700_000_000_000_000)]) == 2
    assert count_missing(["no number", "d/c/x", "d/c/\u00b2"]) == 0


def test_what_was_sent_while_nobody_listened_is_said_to_be_that(tmp_path):
    for sequence in (1, 4):
        file = CsvFile(tmp_path / "out.csv")
        receiver = Receiver(file, keep_places=False)
        receiver.take("t", sensor(sequence))
        file.close()
    assert "missing 2 (nobody listened, " in receiver.summary()
