"""Symbols on the wire: golden bytes, strict both ways."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.formats.decision_json import encode_decision
from agent.formats.errors import FormatError
from agent.formats.mapping_json import (
    MappingMessage,
    decode_mapping_message,
    encode_mapping_message,
)
from agent.subscriber import decode_message

MESSAGE = MappingMessage("hub/light/17", 1_700_000_040_000, "00112233aabbccdd", "light-1", 3)
GOLDEN = b'{"design":"00112233aabbccdd","id":"hub/light/17","node":"light-1","t":1700000040,"z":3}'


def test_golden_bytes():
    assert encode_mapping_message(MESSAGE) == GOLDEN
    assert decode_mapping_message(GOLDEN) == MESSAGE


# No deadline: a busy machine may stop for longer anywhere.
@settings(deadline=None)
@given(
    identity=st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=80),
    time_ms=st.integers(0, 4_102_444_800_000),
    design=st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
    node=st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True),
    symbol=st.integers(0, 63),
)
def test_what_is_written_is_read(identity, time_ms, design, node, symbol):
    message = MappingMessage(identity, time_ms, design, node, symbol)
    assert decode_mapping_message(encode_mapping_message(message)) == message


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(json.loads(GOLDEN)),
        json.dumps(json.loads(GOLDEN), indent=4) + "\n",
        json.dumps(dict(reversed(json.loads(GOLDEN).items())), separators=(" ,\t", " :\r\n")),
        GOLDEN.decode().replace("light", "l\\u0069ght").replace('"node"', '"n\\u006fde"'),
        GOLDEN.decode().replace("1700000040", "1700000040.0"),
        GOLDEN.decode().replace("1700000040", "1.70000004e9"),
    ],
    ids=range(6),
)
def test_any_json_text_of_the_same_meaning_is_the_same_message(content):
    assert decode_mapping_message(content.encode()) == MESSAGE
    assert decode_message("t", content.encode()) == decode_message("t", GOLDEN)


def test_a_name_may_be_utf_8():
    content = GOLDEN.replace(b"hub", "café".encode())
    assert decode_mapping_message(content).identity == "café/light/17"


def test_every_truncation_and_trailing_data_is_refused():
    for length in range(len(GOLDEN)):
        with pytest.raises(FormatError):
            decode_mapping_message(GOLDEN[:length])
    for more in (b"{}", b"\0", b",", GOLDEN):
        with pytest.raises(FormatError):
            decode_mapping_message(GOLDEN + more)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("design", "00112233AABBCCDD"),
        ("design", "0011"),
        ("design", None),
        ("id", ""),
        ("id", "x" * 257),
        ("id", "\x1b[2J"),
        ("id", 5),
        ("node", "a.b"),
        ("node", "n" * 41),
        ("node", ["light-1"]),
        ("t", -1),
        ("t", 1e12),
        ("t", True),
        ("t", "1700000040"),
        ("z", -1),
        ("z", 64),
        ("z", 1.0),
        ("z", True),
        ("z", None),
        ("value", 21.5),
    ],
)
def test_each_wrong_value_and_each_more_is_refused(key, value):
    content = {**json.loads(GOLDEN), key: value}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    with pytest.raises(FormatError, match="mapping message") as refusal:
        decode_mapping_message(text.encode())
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("key", json.loads(GOLDEN))
def test_each_key_is_needed(key):
    content = {name: value for name, value in json.loads(GOLDEN).items() if name != key}
    with pytest.raises(FormatError, match="exactly the keys"):
        decode_mapping_message(json.dumps(content, separators=(",", ":")).encode())


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"null",
        b"\xff",
        b"[" * 5000,
        GOLDEN.replace(b'"z":3', b'"z":3,"z":3'),
        GOLDEN.replace(b'"z":3', b'"z":3,"\\u007a":3'),
        b"[" * 4000,
        GOLDEN.replace(b"3}", b'{"a":' * 600 + b"1" + b"}" * 601),
        b"\xef\xbb\xbf" + GOLDEN,
        GOLDEN.decode().encode("utf-16"),
        GOLDEN.replace(b'"', b"'"),
        GOLDEN.replace(b"}", b",}"),
        GOLDEN.replace(b"1700000040", b"Infinity"),
        GOLDEN.replace(b"1700000040", b"NaN"),
        GOLDEN.replace(b"1700000040", b"9" * 400),
        GOLDEN.replace(b"17\"", b"17" + b"x" * 5000 + b"\""),
    ],
    ids=range(16),
)  # fmt: skip
def test_what_is_no_message_is_refused(content):
    with pytest.raises(FormatError, match="mapping message"):
        decode_mapping_message(content)


def test_a_decisions_golden_bytes():
    content = encode_decision(
        decision="stale", missing=("co2",), posterior=(1 / 3, 2 / 3), time_ms=1_500
    )
    assert content == b'{"decision":"stale","missing":["co2"],"p":[0.3333,0.6667],"t":1.5}'
