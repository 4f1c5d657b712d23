"""The shipped table's bytes and its look-up."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.formats.errors import FormatError
from agent.formats.leakage_table import (
    LeakageTable,
    decode_leakage_table,
    encode_leakage_table,
)

TABLE = LeakageTable((0.0, 1.5), (0.75, 0.5), (0.25, 0.0))
GOLDEN = (
    "53464c45414b010a 02000000"
    "0000000000000000 000000000000e83f 000000000000d03f"
    "000000000000f83f 000000000000e03f 0000000000000000"
)


def test_golden_bytes() -> None:
    assert encode_leakage_table(TABLE) == bytes.fromhex(GOLDEN)
    assert decode_leakage_table(bytes.fromhex(GOLDEN)) == TABLE


def test_the_empty_table_is_a_head_only() -> None:
    empty = LeakageTable((), (), ())
    assert encode_leakage_table(empty) == bytes.fromhex("53464c45414b010a 00000000")
    assert decode_leakage_table(encode_leakage_table(empty)) == empty


def test_every_truncation_and_trailing_data_are_refused() -> None:
    content = bytes.fromhex(GOLDEN)
    for size in range(len(content)):
        with pytest.raises(FormatError):
            decode_leakage_table(content[:size])
    with pytest.raises(FormatError, match="61 bytes for 2 pieces"):
        decode_leakage_table(content + b"\0")


def test_every_changed_byte_is_refused_or_another_table() -> None:
    content = bytes.fromhex(GOLDEN)
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        try:
            table = decode_leakage_table(bytes(changed))
        except FormatError:
            continue
        assert table != TABLE
        assert encode_leakage_table(table) == bytes(changed)


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        ((0.0, 0.5, 0.5), "0 <= D < Q <= 1"),
        ((0.0, 1.5, 0.5), "0 <= D < Q <= 1"),
        ((0.0, math.nan, 0.5), "0 <= D < Q <= 1"),
        ((math.inf, 0.5, 0.1), "does not start at 0"),
        ((0.1, 0.5, 0.1), "does not start at 0"),
        ((0.0, 0.5, -0.0), "negative zero"),
    ],
)
def test_pieces_that_are_no_envelope_are_refused(
    piece: tuple[float, float, float], message: str
) -> None:
    content = b"SFLEAK\x01\n" + struct.pack("<I3d", 1, *piece)
    with pytest.raises(FormatError, match=message):
        decode_leakage_table(content)


def test_pieces_out_of_order_are_refused() -> None:
    with pytest.raises(FormatError, match="piece 1 is out of order"):
        LeakageTable((0.0, 1.0), (0.5, 0.6), (0.2, 0.1))
    with pytest.raises(FormatError, match="piece 1 is out of order"):
        LeakageTable((0.0, 0.0), (0.6, 0.5), (0.2, 0.1))


def test_a_huge_count_is_refused_before_anything_is_allocated() -> None:
    with pytest.raises(FormatError, match="at most 65535 pieces"):
        decode_leakage_table(b"SFLEAK\x01\n\xff\xff\xff\xff")


def test_values_worked_by_hand() -> None:
    table = LeakageTable((0.0,), (0.75,), (0.25,))
    # e^alpha = 3, u = 2: log(2.5 / 1.5).
    assert table.look_up(math.log(3)) == pytest.approx(math.log(5 / 3), abs=1e-14)
    assert table.invert(math.log(5 / 3)) == pytest.approx(math.log(3), abs=1e-14)
    assert table.look_up(5000.0) == pytest.approx(math.log(3), abs=1e-14)
    assert table.limit == pytest.approx(math.log(3), abs=1e-15)
    assert table.invert(math.log(3.01)) == math.inf
    assert table.largest_bounded_epsilon == math.inf
    assert TABLE.limit == math.inf
    assert TABLE.largest_bounded_epsilon == pytest.approx(math.log(2), abs=1e-15)
    assert TABLE.look_up(5000.0) == pytest.approx(5000 - math.log(2), abs=1e-10)


def test_each_piece_is_inverted_where_it_holds() -> None:
    # Both pieces give 6.6/3.4 at u = 8: they lie on one line through (-1/8, -1/8).
    second = 0.425 * 3.4 / 6.6 - 0.125
    table = LeakageTable((0.0, math.log(9)), (0.7, 0.3), (0.3, second))
    meeting = math.log(6.6 / 3.4)
    assert table.look_up(math.log(3)) == pytest.approx(math.log(2.4 / 1.6), abs=1e-14)
    assert table.invert(math.log(2.4 / 1.6)) == pytest.approx(math.log(3), abs=1e-14)
    assert table.invert(meeting) <= math.log(9) + 1e-12


def test_nothing_leaks_from_nothing() -> None:
    assert TABLE.look_up(0.0) == 0.0
    assert TABLE.look_up(1e-300) <= 1e-300
    assert LeakageTable((), (), ()).invert(0.0) == math.inf


@given(st.floats(0, 1e4), st.floats(0, 1e4))
def test_the_look_up_rises_and_stays_below_its_argument(one: float, two: float) -> None:
    table = LeakageTable((0.0,), (0.9,), (0.01,))
    low, high = sorted((one, two))
    # Both forms of the formula meet at 1 within the rounding that is added.
    assert table.look_up(low) <= table.look_up(high) + 1e-14
    assert table.look_up(high) <= high
