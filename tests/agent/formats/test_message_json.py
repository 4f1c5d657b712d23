"""What is common to the JSON messages is checked alike in all of them."""

import json

import pytest

from agent.formats.errors import FormatError
from agent.formats.mapping_json import decode_mapping_message
from agent.formats.message_json import MessageFields, encode_message, seconds_of
from agent.formats.sensor_json import SensorMessage, decode_sensor, encode_sensor
from agent.formats.state_json import decode_state_message

SENSOR = b'{"id":"d/air/1","std":0.5,"t":1.5,"unit":"\\u00b0C","value":-20.25}'
MESSAGES = {
    "sensor": (decode_sensor, json.loads(SENSOR)),
    "state": (decode_state_message, {"epsilon": 0.5, "id": "d/c/1", "state": "in", "t": 2}),
    "mapping": (
        decode_mapping_message,
        {"design": "0123456789abcdef", "id": "d/co2/1", "node": "co2", "t": 2, "z": 1},
    ),
}


def _refused(name, content):
    decode, _ = MESSAGES[name]
    with pytest.raises(FormatError, match=f"^{name} message: ") as refusal:
        decode(content)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def _bytes(content):
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def test_a_sensor_messages_golden_bytes():
    message = SensorMessage("d/air/1", 1500, -20.25, "°C", 0.5)
    assert encode_sensor(message) == SENSOR
    assert decode_sensor(SENSOR) == message


@pytest.mark.parametrize("name", MESSAGES)
def test_every_message_is_read(name):
    decode, content = MESSAGES[name]
    assert decode(_bytes(content)).identity == content["id"]


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("value", [True, None, "2", [], 10**400, 1e12, -1e12])
def test_a_time_that_is_none_is_refused_and_not_shown(name, value):
    content = MESSAGES[name][1] | {"t": value}
    said = _refused(name, _bytes(content))
    assert "t is " in said
    assert "1e+12" not in said
    assert "00000" not in said


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("value", ["", "x" * 257, "a\nb", 5, None])
def test_an_identity_that_is_none_is_refused(name, value):
    assert "id is not printable text" in _refused(name, _bytes(MESSAGES[name][1] | {"id": value}))


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 4000, b'{"t":NaN}', b"{}", b"7"])
def test_what_is_no_message_is_refused_by_name(name, content):
    _refused(name, content)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_that_is_too_long_is_refused_before_it_is_read(name):
    assert "too long; expected at most" in _refused(name, b" " * ((1 << 20) + 1))


@pytest.mark.parametrize("name", MESSAGES)
def test_each_key_is_needed_and_no_other_taken(name):
    content = MESSAGES[name][1]
    for changed in (content | {"more": 1}, *({k: v for k, v in content.items() if k != key}
                                             for key in content)):  # fmt: skip
        assert "expected exactly the keys" in _refused(name, _bytes(changed))


def test_numbers_have_bounds_that_are_told():
    fields = MessageFields("a message", b'{"n":-1}', {"n"}, 99)
    assert fields.number("n") == -1
    for bounds, words in (((0.0,), "at least 0$"), ((-9.0, -2.0), "at least -9, at most -2$")):
        with pytest.raises(FormatError, match=words):
            fields.number("n", *bounds)


def test_whole_seconds_are_whole_numbers_and_letters_are_escaped_or_not():
    assert encode_message({"t": seconds_of(2000), "a": "°"}) == b'{"a":"\\u00b0","t":2}'
    assert encode_message({"t": seconds_of(-1500), "a": "°"}, ascii_only=False) == (
        '{"a":"°","t":-1.5}'.encode()
    )
