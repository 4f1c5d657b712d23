"""A leakage design in the bundle: written, read, pinned, and refused when touched."""

import json
from typing import Any

import numpy as np
import pytest

from agent.formats.bundle import design_digest, read_bundle, write_bundle
from agent.formats.errors import FormatError
from agent.formats.leakage_design import Regions, leakage_design_digest
from agent.formats.leakage_table import LeakageTable
from agent.formats.npy_array import decode_array, encode_array
from agent.formats.stored_zip import decode_stored_zip, encode_stored_zip
from tests.agent.example_designs import rooms, stream, window

GOLDEN_SHA256 = "05671c9e0527a157b3dbbeae25f7658c3b96702a931e1a066a8c35382dd3e004"
SOUND = write_bundle([rooms()])
MEMBERS = decode_stored_zip(SOUND)


def with_entry(**changes: Any) -> bytes:
    content = decode_array(MEMBERS["manifest.npy"], "|u1", max_entries=1 << 20)
    manifest = json.loads(content.tobytes())
    (entry,) = manifest["designs"]
    for key, value in changes.items():
        if value is ...:
            del entry[key]
        else:
            entry[key] = value
    text = json.dumps(manifest, sort_keys=True, indent=1) + "\n"
    array = np.frombuffer(text.encode(), dtype=np.uint8)
    return encode_stored_zip({**MEMBERS, "manifest.npy": encode_array(array, "|u1")})


def refused(content: bytes, match: str) -> None:
    with pytest.raises(FormatError, match=match) as refusal:
        read_bundle(content)
    assert "\n" not in str(refusal.value)


def test_the_bytes_of_a_fixed_bundle_never_change() -> None:
    assert read_bundle(SOUND).sha256 == GOLDEN_SHA256
    assert with_entry() == SOUND
    assert sorted(MEMBERS) == ["manifest.npy", "rooms.backward.npy", "rooms.forward.npy"]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"regions": Regions(40.0, 116.5, 1000.0), "elsewhere": "hall"},
        {"policy": "memoised", "memoise_steps": 144},
        {"mechanism": "planar_laplace", "width": 3},
        {"backward": LeakageTable((), (), ())},
        {"epsilon": 1, "limit": 2},
    ],
    ids=str,
)
def test_what_is_written_is_read_beside_other_kinds(changes: dict[str, Any]) -> None:
    design = rooms(**changes)
    content = write_bundle([stream(), design, window()])
    bundle = read_bundle(content)
    assert list(bundle.designs) == ["location", "rooms", "trip"]
    assert bundle.design("rooms") == design
    assert design_digest(bundle.design("rooms")) == leakage_design_digest(design)
    assert write_bundle(bundle.designs.values()) == content


def test_every_changed_byte_and_every_truncation_is_refused() -> None:
    for offset in range(len(SOUND)):
        changed = bytearray(SOUND)
        changed[offset] ^= 0x01
        with pytest.raises(FormatError):
            read_bundle(bytes(changed))
        with pytest.raises(FormatError):
            read_bundle(SOUND[:offset])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"surprise": 1}, "'surprise' is unknown"),
        ({"limit": ...}, "'limit' is unknown or missing"),
        ({"limit": 1}, "another type"),
        ({"limit": 0.0625}, "at most the limit"),
        ({"name": "../rooms"}, "design name"),
        ({"name": ...}, "not text"),
        ({"name": "room"}, "no member 'room.backward"),
        ({"states": ["bed"]}, "2 to 2000"),
        ({"states": ["bed", "\x1b[2J"]}, "not printable"),
        ({"kind": "leek"}, "nor leakage"),
    ],
    ids=range(10),
)
def test_each_wrong_entry_is_refused(changes: dict[str, Any], message: str) -> None:
    refused(with_entry(**changes), message)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"", "1.0"),
        (encode_array(np.zeros(3), "<f8"), "rooms.forward"),
        (encode_array(np.zeros(12, dtype=np.uint8), "|u1"), "does not begin"),
        (MEMBERS["rooms.backward.npy"][:-1], "rooms.forward"),
    ],
    ids=range(4),
)
def test_each_wrong_table_is_refused(table: bytes, message: str) -> None:
    refused(encode_stored_zip({**MEMBERS, "rooms.forward.npy": table}), message)


def test_a_missing_or_spare_table_is_refused() -> None:
    fewer = {name: content for name, content in MEMBERS.items() if "forward" not in name}
    refused(encode_stored_zip(fewer), "no member 'rooms.forward")
    refused(encode_stored_zip({**MEMBERS, "rooms.factor.npy": b""}), "no design uses")


def test_digests_tell_designs_apart() -> None:
    several = [
        rooms(),
        rooms(segments=5),
        rooms(states=("bed", "hall", "attic")),
        rooms(forward=rooms().backward),
    ]
    assert len({design_digest(design) for design in several}) == len(several)
