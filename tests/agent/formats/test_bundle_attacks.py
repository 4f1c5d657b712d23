"""Files made to hurt: each is refused with one message, none allocates what it declares."""

import io
import json
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agent.formats.bundle import MAX_BUNDLE_BYTES, load_bundle, read_bundle, write_bundle
from agent.formats.errors import FormatError
from agent.formats.npy_array import decode_array, encode_array
from agent.formats.stored_zip import decode_stored_zip, encode_stored_zip
from tests.agent.example_designs import lower_factor, stream, window

SOUND = write_bundle([window(lower_factor(2))])
MEMBERS = decode_stored_zip(SOUND)
FACTOR = "trip.factor.npy"


def manifest() -> dict[str, Any]:
    content = decode_array(MEMBERS["manifest.npy"], "|u1", max_entries=1 << 20)
    loaded: dict[str, Any] = json.loads(content.tobytes())
    return loaded


def with_manifest_text(text: str) -> bytes:
    array = np.frombuffer(text.encode(), dtype=np.uint8)
    return encode_stored_zip({**MEMBERS, "manifest.npy": encode_array(array, "|u1")})


def with_manifest(content: object) -> bytes:
    return with_manifest_text(json.dumps(content, sort_keys=True, indent=1) + "\n")


def with_factor(content: bytes) -> bytes:
    return encode_stored_zip({**MEMBERS, FACTOR: content})


def npy(array: Any, **options: Any) -> bytes:
    stream_ = io.BytesIO()
    np.save(stream_, array, **options)
    return stream_.getvalue()


def zipped(members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    stream_ = io.BytesIO()
    with zipfile.ZipFile(stream_, "w", compression) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return stream_.getvalue()


def refused(content: bytes, match: str = "bundle refused") -> None:
    with pytest.raises(FormatError, match=match) as refusal:
        read_bundle(content)
    assert "\n" not in str(refusal.value)


def test_the_helpers_make_a_sound_bundle() -> None:
    assert with_manifest(manifest()) == SOUND
    assert read_bundle(SOUND).design("trip").name == "trip"


def test_every_single_changed_byte_is_refused() -> None:
    for offset in range(len(SOUND)):
        for flip in (0x01, 0x20, 0xFF):
            changed = bytearray(SOUND)
            changed[offset] ^= flip
            with pytest.raises(FormatError):
                read_bundle(bytes(changed))


def test_damage_to_data_is_called_damage() -> None:
    at = SOUND.index(MEMBERS[FACTOR]) + len(MEMBERS[FACTOR]) - 1
    refused(SOUND[:at] + bytes([SOUND[at] ^ 1]) + SOUND[at + 1 :], "'trip.factor.npy'.*damaged")


def test_an_array_over_its_cap_is_refused() -> None:
    content = encode_array(np.zeros((3, 2)), "<f8")
    assert decode_array(content, "<f8", max_entries=6).shape == (3, 2)
    with pytest.raises(FormatError, match="6 entries; at most 5"):
        decode_array(content, "<f8", max_entries=5)


def test_every_truncation_is_refused() -> None:
    for length in range(len(SOUND)):
        with pytest.raises(FormatError):
            read_bundle(SOUND[:length])


def test_bytes_before_after_or_between_are_refused() -> None:
    at = SOUND.index(b"PK\x03\x04", 1)
    for changed in (SOUND + b"\0", b"\0" + SOUND, SOUND[:at] + b"\0" + SOUND[at:], SOUND + SOUND):
        refused(changed)


@pytest.mark.parametrize("size", [1 << 20, (1 << 31) - 1, (1 << 32) - 1])
def test_a_declared_size_is_never_believed(size: int) -> None:
    for offset in (18, 22):  # compressed and plain size in the first local header
        changed = bytearray(SOUND)
        changed[offset : offset + 4] = struct.pack("<I", size)
        tracemalloc.start()
        refused(bytes(changed))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1 << 20


@pytest.mark.parametrize("shape", ["(1000000000, 1)", "(999999999, 999999999)", "(2, 3)", "(1, 2)"])
def test_a_declared_shape_is_never_believed(shape: str) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(32)
    tracemalloc.start()
    refused(with_factor(content))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize(
    "content",
    [
        npy(np.array([[object()]], dtype=object), allow_pickle=True),
        npy(np.asfortranarray(np.array([[1.0, 0.0], [0.5, 1.0]]))),
        npy(np.eye(2, dtype=np.float32)),
        npy(np.eye(2, dtype=">f8")),
        npy(np.eye(2, dtype=np.complex128)),
        npy(np.zeros(2, dtype=[("a", "<f8")])),
        npy(np.eye(2)[None]),
        npy(np.float64(1.0)),
        encode_array(np.eye(3), "<f8"),
        encode_array(np.array([[1.0, 0.0], [np.nan, 1.0]]), "<f8"),
        encode_array(np.zeros((2, 2)), "<f8"),
        encode_array(np.ones(4), "<f8"),
        pickle.dumps(np.eye(2)),
        b"",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPY\x02\x00" + bytes(60),
    ],
    ids=lambda content: f"{len(content)} bytes",
)
def test_a_factor_of_another_kind_is_refused(content: bytes) -> None:
    refused(with_factor(content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped(sorted(MEMBERS.items())), "canonical form"),  # zipfile's own way of writing
        (zipped(sorted(MEMBERS.items()), zipfile.ZIP_DEFLATED), "compressed"),
        (b"", "canonical form"),
        (zipped([]), "canonical form|no member"),
        (zipped([(name, MEMBERS["manifest.npy"]) for name in ("../x", "/etc/x")]), "not allowed"),
        (zipped([("a\\b.npy", b"")]), "not allowed"),
        (zipped([(".hidden", b"")]), "not allowed"),
        (encode_stored_zip({**MEMBERS, "more.npy": b""}), "no design uses"),
        (encode_stored_zip({"manifest.npy": MEMBERS["manifest.npy"]}), "no member 'trip"),
        (encode_stored_zip({FACTOR: MEMBERS[FACTOR]}), "no member manifest"),
        (encode_stored_zip({}), "no member manifest"),
    ],
    ids=range(11),
)
def test_another_set_of_members_is_refused(content: bytes, message: str) -> None:
    refused(content, message)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_stands_twice_is_refused() -> None:
    twice = [("manifest.npy", MEMBERS["manifest.npy"])] * 2
    refused(zipped([*twice, (FACTOR, MEMBERS[FACTOR])]), "twice")


def test_more_members_than_allowed_are_refused() -> None:
    one = SOUND[: 30 + len("manifest.npy")]
    name = b"%07d.npy"
    header = bytearray(one[:30])
    header[14:28] = struct.pack("<IIIH", 0, 0, 0, 11)
    refused(b"".join(bytes(header) + name % i for i in range(100_000)), "over 256 members")


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """The manifest with the value at a path replaced; ``...`` removes it."""
    content = manifest()
    place: Any = content
    for step in path[:-1]:
        place = place[step]
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return content


DESIGN = ("designs", 0)
PROMISE = (*DESIGN, "guarantee")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed("format", to="other"), "sfumato-bundle"),
        (changed("version", to=0), "no format version"),
        (changed("version", to=True), "no format version"),
        (changed("version", to=1.0), "no format version"),
        (changed("designs", to=[]), "no design"),
        (changed("designs", to={}), "list"),
        (changed("designs", to=[manifest()["designs"][0]] * 2), "two of one name"),
        (changed("extra", to=1), "unknown key 'extra'"),
        (changed(*DESIGN, to=None), "not an object"),
        (changed(*DESIGN, "extra", to=1), "unknown key 'extra'"),
        (changed(*DESIGN, "components", to=[]), "unknown key 'components'"),
        (changed(*DESIGN, "unit", to=...), "lacks the key 'unit'"),
        (changed(*DESIGN, "kind", to="maping"), "neither"),
        (changed(*DESIGN, "kind", to=[]), "neither"),
        (changed(*DESIGN, "name", to="../trip"), "design name"),
        (changed(*DESIGN, "name", to="trop"), "no member 'trop"),
        (changed(*DESIGN, "name", to="tr\u00efp"), "no member|design name"),
        (changed(*DESIGN, "axes", to="value"), "list"),
        (changed(*DESIGN, "axes", to=[]), "axes"),
        (changed(*DESIGN, "axes", to=["a"] * 9), "at most 8"),
        (changed(*DESIGN, "unit", to="\u001b[2J"), "not printable"),
        (changed(*DESIGN, "grid", to=1), "fraction"),
        (changed(*DESIGN, "grid", to=0.0), "above zero"),
        (changed(*DESIGN, "grid", to=True), "fraction"),
        (changed(*DESIGN, "step_ms", to=0), "below 1"),
        (changed(*DESIGN, "step_ms", to=1.5), "whole number"),
        (changed(*DESIGN, "step_ms", to=1 << 70), "whole number"),
        (changed(*DESIGN, "shape", to=[2]), "two whole numbers"),
        (changed(*DESIGN, "shape", to=[2, 1]), "its manifest says"),
        (changed(*PROMISE, to=[]), "not an object"),
        (changed(*PROMISE, "delta", to=1.5), "delta"),
        (changed(*PROMISE, "segments", to=0), "segments"),
        (changed(*PROMISE, "variance_free", to=1), "true nor false"),
        (changed(*PROMISE, "prior", to=["x"] * 1001), "at most 1000"),
        (changed(*PROMISE, "prior", to=[1]), "not text"),
        (changed(*PROMISE, "rho", to=None), "fraction"),
        ([], "sfumato-bundle"),
        (None, "sfumato-bundle"),
    ],
    ids=range(38),
)
def test_each_field_of_the_manifest_is_checked(content: object, message: str) -> None:
    refused(with_manifest(content), message)


def test_a_newer_format_says_so_and_nothing_else() -> None:
    newer = {"format": "sfumato-bundle", "version": 2, "designs": "not as we know them"}
    with pytest.raises(FormatError, match=r"made by a newer sfumato.*upgrade") as refusal:
        read_bundle(with_manifest(newer))
    assert "copy it again" not in str(refusal.value)


def edited(edit: Callable[[str], str]) -> bytes:
    return with_manifest_text(edit(json.dumps(manifest(), sort_keys=True, indent=1) + "\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (edited(lambda text: text.replace("0.03125", "NaN")), "NaN"),
        (edited(lambda text: text.replace("0.03125", "Infinity")), "Infinity"),
        (edited(lambda text: text.replace("0.03125", "1e999")), "above zero"),
        (edited(lambda text: text.replace("0.03125", "3.125e-2")), "canonical"),
        (edited(lambda text: text.replace("0.03125", "0.031250")), "canonical"),
        (edited(lambda text: text.replace('"unit"', '"name": "x", "unit"')), "key twice"),
        (edited(lambda text: text + " "), "canonical"),
        (edited(lambda text: text.replace('"Cel"', '"C\\u0065l"')), "canonical"),
        (edited(lambda text: text.replace("Cel", "\u00b0C")), "JSON in ASCII"),
        (edited(lambda text: text.replace("1000", "9" * 5000)), "JSON in ASCII|whole number"),
        (edited(lambda text: "[" * 100_000), "JSON in ASCII"),
        (edited(lambda text: text[:-2]), "JSON in ASCII"),
        (edited(lambda text: ""), "JSON in ASCII|arrays?"),
    ],
    ids=range(13),
)
def test_loose_json_is_refused(content: bytes, message: str) -> None:
    refused(content, message)


def test_a_stream_whose_variances_overflow_is_refused() -> None:
    design = {**json.loads(_manifest_of_stream())}
    for component in design["designs"][0]["components"]:
        component["variance"] = 1.7e308
    array = np.frombuffer((json.dumps(design, sort_keys=True, indent=1) + "\n").encode(), np.uint8)
    refused(encode_stored_zip({"manifest.npy": encode_array(array, "|u1")}), "not finite")


def _manifest_of_stream() -> bytes:
    members = decode_stored_zip(write_bundle([stream()]))
    return decode_array(members["manifest.npy"], "|u1", max_entries=1 << 20).tobytes()


def test_a_file_over_the_cap_is_refused_unread(tmp_path: Any) -> None:
    path = tmp_path / "huge.bundle"
    with path.open("wb") as stream_:
        stream_.truncate(MAX_BUNDLE_BYTES + 1)  # sparse: takes no room
    with pytest.raises(FormatError, match="larger than"):
        load_bundle(path)
