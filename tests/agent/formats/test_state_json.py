"""The payload of a category channel: golden bytes, round trip, everything else refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.formats.errors import FormatError
from agent.formats.state_json import (
    MAX_BYTES,
    StateMessage,
    decode_state_message,
    encode_state_message,
)

ONE = StateMessage("phone/rooms/7", 1_700_000_400_000, "küche", 0.125)
GOLDEN_ONE = '{"epsilon":0.125,"id":"phone/rooms/7","state":"küche","t":1700000400}'.encode()
SET = StateMessage("phone/rooms/8", 1_700_000_400_500, ("bed", "hall"), 0.0)
GOLDEN_SET = b'{"epsilon":0.0,"id":"phone/rooms/8","state":["bed","hall"],"t":1700000400.5}'

names = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)


@pytest.mark.parametrize(("message", "golden"), [(ONE, GOLDEN_ONE), (SET, GOLDEN_SET)])
def test_golden_bytes(message: StateMessage, golden: bytes) -> None:
    assert encode_state_message(message) == golden
    assert decode_state_message(golden) == message
    for size in range(len(golden)):
        with pytest.raises(FormatError):
            decode_state_message(golden[:size])
    with pytest.raises(FormatError):
        decode_state_message(golden + b"}")


@given(
    names,
    st.one_of(names, st.lists(names, unique=True, max_size=5).map(tuple)),
    st.integers(0, 4_000_000_000_000),
    st.floats(0, 1e6),
)
def test_what_is_encoded_is_decoded(
    identity: str, state: str | tuple[str, ...], time_ms: int, epsilon: float
) -> None:
    message = StateMessage(identity, time_ms, state, epsilon)
    assert decode_state_message(encode_state_message(message)) == message


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"id": ...},
        {"id": ""},
        {"id": 7},
        {"state": ""},
        {"state": 3},
        {"state": None},
        {"state": "x" * 101},
        {"state": "\u001b[2J"},
        {"state": ["bed", "bed"]},
        {"state": ["bed", 1]},
        {"state": [str(number) for number in range(2001)]},
        {"t": "now"},
        {"t": True},
        {"t": -1},
        {"t": 1e12},
        {"epsilon": -0.1},
        {"epsilon": None},
        {"epsilon": float("inf")},
        {"epsilon": 10**400},
    ],
    ids=str,
)
def test_every_other_field_is_refused(change: dict[str, object]) -> None:
    content = json.loads(GOLDEN_ONE)
    for key, value in change.items():
        if value is ...:
            del content[key]
        else:
            content[key] = value
    with pytest.raises(FormatError, match="state message") as refusal:
        decode_state_message(json.dumps(content).encode())
    assert "\n" not in str(refusal.value)


def test_what_is_too_long_is_not_even_parsed() -> None:
    with pytest.raises(FormatError, match="at most"):
        decode_state_message(b"[" * (MAX_BYTES + 1))
