import struct
import zlib

import numpy as np
import pytest

from agent.formats.errors import FormatError
from agent.sanitise.mechanisms import mechanism_for
from agent.sanitise.state_bytes import STREAM, StateFields, decode_fields, encode_fields
from tests.agent.example_designs import stream, window

DESIGN = bytes(range(16))
FIELDS = StateFields(
    kind=STREAM,
    fingerprint=DESIGN,
    segment=3,
    started=True,
    first_ms=1_700_000_000_000,
    last_ms=1_700_000_030_000,
    payload=np.array([1.0, -2.5]),
)
# Written out by hand from the specification; the CRC is zlib's of what precedes it.
GOLDEN = bytes.fromhex(
    "53464e53"  # "SFNS"
    "01010100"  # version 1, stream, started, zero
    "000102030405060708090a0b0c0d0e0f"
    "03000000"
    "0068e5cf8b010000"
    "30dde5cf8b010000"
    "02000000"
    "000000000000f03f"
    "00000000000004c0"
)
GOLDEN += struct.pack("<I", zlib.crc32(GOLDEN))


def resealed(content: bytes, offset: int, replacement: bytes) -> bytes:
    """The content with one field replaced and the checksum made right again."""
    body = content[:offset] + replacement + content[offset + len(replacement) : -4]
    return body + struct.pack("<I", zlib.crc32(body))


def test_the_bytes_are_the_specified_ones() -> None:
    assert encode_fields(FIELDS) == GOLDEN
    found = decode_fields(GOLDEN, kind=STREAM, fingerprint=DESIGN)
    assert found.payload.tolist() == [1.0, -2.5]
    assert (found.segment, found.started) == (3, True)
    assert (found.first_ms, found.last_ms) == (1_700_000_000_000, 1_700_000_030_000)
    assert encode_fields(found) == GOLDEN


def test_every_truncation_is_refused() -> None:
    for length in range(len(GOLDEN)):
        with pytest.raises(FormatError):
            decode_fields(GOLDEN[:length], kind=STREAM, fingerprint=DESIGN)


def test_every_changed_byte_is_refused() -> None:
    for offset in range(len(GOLDEN)):
        for flip in (0x01, 0x80, 0xFF):
            changed = bytearray(GOLDEN)
            changed[offset] ^= flip
            with pytest.raises(FormatError):
                decode_fields(bytes(changed), kind=STREAM, fingerprint=DESIGN)


def test_trailing_bytes_are_refused() -> None:
    for extra in (b"\x00", GOLDEN, bytes(8)):
        with pytest.raises(FormatError):
            decode_fields(GOLDEN + extra, kind=STREAM, fingerprint=DESIGN)


@pytest.mark.parametrize(
    ("offset", "replacement", "message"),
    [
        (0, b"SFNT", "not a noise state"),
        (4, b"\x02", "format version 2"),
        (5, b"\x02", "another design"),
        (6, b"\x02", "disagree"),
        (6, b"\x00", "not started"),
        (7, b"\x01", "disagree"),
        (8, b"\xff", "another design"),
        (44, b"\x03", "disagree"),
        (44, b"\xff\xff\xff\xff", "disagree"),
        (48, struct.pack("<d", float("nan")), "not finite"),
        (56, struct.pack("<d", float("inf")), "not finite"),
    ],
)
def test_each_field_is_checked_even_under_a_right_checksum(
    offset: int, replacement: bytes, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        decode_fields(resealed(GOLDEN, offset, replacement), kind=STREAM, fingerprint=DESIGN)


def advanced(design: object) -> tuple[object, bytes]:
    mechanism = mechanism_for(design)  # type: ignore[arg-type]
    state = mechanism.initial_state(0)
    for time_ms in (5_000, 6_000):
        count = mechanism.normals_needed(state, time_ms)
        _, state = mechanism.step(state, time_ms, np.ones(count))
    return mechanism, mechanism.encode(state)


@pytest.mark.parametrize("design", [stream(), window()], ids=["stream", "window"])
@pytest.mark.parametrize(
    ("offset", "replacement"),
    [
        (24, b"\x01\x00\x00\x00"),  # a segment past the allowance
        (28, struct.pack("<q", 10**9)),  # first after last
        (44, b"\x00\x00\x00\x00"),  # fewer values than the design's state has
    ],
)
def test_a_mechanism_refuses_fields_that_do_not_fit_its_design(
    design: object, offset: int, replacement: bytes
) -> None:
    mechanism, content = advanced(design)
    with pytest.raises(FormatError, match="noise state"):
        mechanism.decode(resealed(content, offset, replacement))  # type: ignore[attr-defined]


def test_a_window_refuses_a_last_time_off_its_grid_or_past_its_end() -> None:
    mechanism, content = advanced(window())
    for last in (6_001, 5_000 + 5 * 1_000, 7_000):
        with pytest.raises(FormatError, match="does not fit"):
            mechanism.decode(resealed(content, 36, struct.pack("<q", last)))  # type: ignore[attr-defined]


def test_states_of_stream_and_window_are_told_apart() -> None:
    _, of_stream = advanced(stream())
    mechanism, _ = advanced(window())
    with pytest.raises(FormatError, match="another design"):
        mechanism.decode(of_stream)  # type: ignore[attr-defined]
