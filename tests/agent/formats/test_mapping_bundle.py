"""A mapping in the bundle: written, read, pinned, and refused when touched."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fakes.mapping_designs import accounted_mapping, node, room_mapping, three_nodes, weights

from agent.formats.bundle import design_digest, read_bundle, write_bundle
from agent.formats.errors import FormatError
from agent.formats.mapping_design import MappingDesign, local_epsilon
from agent.formats.mapping_entry import mapping_entry
from agent.formats.npy_array import decode_array, encode_array
from agent.formats.stored_zip import decode_stored_zip, encode_stored_zip
from tests.agent.example_designs import rooms, stream, window

GOLDEN_SHA256 = "544c4a68d786858df6a1978348e258bfe77470b1babe8210a6fc962be1330843"
GOLDEN_ACCOUNTED_SHA256 = "f4ccf3104ba209f00804fe7c3ed57d37af63227dc2671ffdbc79fc66280e5cd6"
SOUND = write_bundle([room_mapping()])
MEMBERS = decode_stored_zip(SOUND)
ACCOUNTED = write_bundle([accounted_mapping()])
OUTCOMES = "room.outcomes.npy"


def manifest(members: dict[str, bytes] = MEMBERS) -> dict[str, Any]:
    content = decode_array(members["manifest.npy"], "|u1", max_entries=1 << 20)
    loaded: dict[str, Any] = json.loads(content.tobytes())
    return loaded


def with_entry(*path: Any, to: Any, members: dict[str, bytes] = MEMBERS) -> bytes:
    """The bundle whose only design has the value at a path replaced; ``...`` removes it."""
    content = manifest(members)
    place: Any = content["designs"][0]
    for step in path[:-1]:
        place = place[step]
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    text = json.dumps(content, sort_keys=True, indent=1) + "\n"
    array = np.frombuffer(text.encode(), dtype=np.uint8)
    return encode_stored_zip({**members, "manifest.npy": encode_array(array, "|u1")})


def refused(content: bytes, match: str) -> None:
    with pytest.raises(FormatError, match=match) as refusal:
        read_bundle(content)
    assert "\n" not in str(refusal.value)


def same(one: MappingDesign, other: object) -> bool:
    return (
        isinstance(other, MappingDesign)
        and mapping_entry(one) == mapping_entry(other)
        and one.nodes == other.nodes
        and np.array_equal(one.outcomes, other.outcomes)
    )


def test_the_bytes_of_fixed_bundles_never_change() -> None:
    assert read_bundle(SOUND).sha256 == GOLDEN_SHA256
    assert read_bundle(ACCOUNTED).sha256 == GOLDEN_ACCOUNTED_SHA256
    assert with_entry("kind", to="mapping") == SOUND
    assert sorted(MEMBERS) == ["manifest.npy", OUTCOMES]
    assert sorted(decode_stored_zip(ACCOUNTED)) == sorted(
        ["manifest.npy", OUTCOMES]
        + [f"room.{n}.{side}.npy" for n in ("co2", "light-1", "sound") for side in
           ("backward", "forward")]
    )  # fmt: skip


@pytest.mark.parametrize(
    "design",
    [
        room_mapping(),
        accounted_mapping(),
        room_mapping(information=float("inf"), information_asked=None, local_asked=None),
        room_mapping(information_upper=None, confidence=None, knowledge=()),
        room_mapping(information_upper=float("inf")),
        room_mapping(regimes=5, information_across=0.5),
        room_mapping(information=1, step_ms=1, public_error=0),
        accounted_mapping(nodes=(accounted_mapping().nodes[1],), outcomes=np.full((2, 2), 0.25)),
    ],
    ids=range(8),
)
def test_what_is_written_is_read_beside_other_kinds(design: MappingDesign) -> None:
    content = write_bundle([stream(), design, window(), rooms()])
    bundle = read_bundle(content)
    assert list(bundle.designs) == ["location", "room", "trip", "rooms"]
    assert same(design, bundle.design("room"))
    assert design_digest(bundle.design("room")) == design_digest(design)
    assert write_bundle(bundle.designs.values()) == content


def test_a_map_that_rules_cells_out_has_an_unbounded_epsilon() -> None:
    sure = node("co2", ("S5_CO2",), three_nodes()[1].quantiser, weights((1.0, 0.0), (0.0, 1.0)))
    design = room_mapping(nodes=(sure,), local_asked=None)
    assert manifest_of(design)["nodes"][0]["local"] == "unbounded"
    assert same(design, read_bundle(write_bundle([design])).design("room"))


def manifest_of(design: MappingDesign) -> dict[str, Any]:
    entry: dict[str, Any] = manifest(decode_stored_zip(write_bundle([design])))["designs"][0]
    return entry


def test_names_as_long_as_they_may_be_fit_into_members_names() -> None:
    long = replace(accounted_mapping().nodes[1], name="n" * 40)
    design = accounted_mapping(name="d" * 64, nodes=(long,), outcomes=np.full((2, 2), 0.25))
    assert same(design, read_bundle(write_bundle([design])).design("d" * 64))
    with pytest.raises(FormatError, match="1 to 40"):
        replace(long, name="n" * 41)


def test_a_zero_with_a_sign_makes_no_other_file() -> None:
    outcomes = np.array(room_mapping().outcomes)
    outcomes[0, 0, 0, 1] += outcomes[0, 0, 0, 0]
    outcomes[0, 0, 0, 0] = 0.0
    plain = write_bundle([room_mapping(outcomes=outcomes)])
    outcomes[0, 0, 0, 0] = -0.0
    assert write_bundle([room_mapping(outcomes=outcomes)]) == plain


@pytest.mark.parametrize("sound", [SOUND, ACCOUNTED], ids=["memoised", "accounted"])
def test_changed_bytes_and_truncations_are_refused(sound: bytes) -> None:
    for offset in range(0, len(sound), 7):
        changed = bytearray(sound)
        changed[offset] ^= 0x01
        with pytest.raises(FormatError):
            read_bundle(bytes(changed))
        with pytest.raises(FormatError):
            read_bundle(sound[:offset])


HALF = 1 << 31
NODE = ("nodes", 1)
LOG_3 = math.log(3)  # what the tables of that node have


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (("surprise",), 1, "unknown key 'surprise'"),
        (("limit",), ..., "lacks the key 'limit'"),
        (("limit",), 1.0, "belongs to accounted"),
        (("name",), "../room", "design name"),
        (("name",), "rom", "no member 'rom.outcomes"),
        (("kind",), "maping", "neither"),
        (("architecture",), "best", "not known"),
        (("repeats",), "fresh", "not known"),
        (("repeats",), "accounted", "no member 'room.light-1.backward"),
        (("memoise_steps",), None, "period"),
        (("memoise_steps",), 0, "out of range"),
        (("memoise_steps",), 1.0, "whole number"),
        (("nodes",), [], "need .2, 1"),
        (("nodes",), {}, "list"),
        (("public",), ["fine"], "outcomes have the shape"),
        (("public",), ["fine", "fine"], "different values"),
        (("public",), ["fine", "\x1b[2J"], "not printable"),
        (("private",), "", "empty"),
        (("step_ms",), 0, "out of range"),
        (("step_ms",), "1 min", "whole number"),
        (("information",), 1, "fraction"),
        (("information",), None, "fraction"),
        (("information",), -0.5, "below zero"),
        (("information",), "none", "fraction"),
        (("information_asked",), "unbounded", "not finite"),
        (("information_asked",), -1.0, "below zero"),
        (("information_upper",), None, "belong together"),
        (("regimes",), 5, "belong together"),
        (("information_across",), 0.5, "belong together"),
        (("confidence",), 1.0, "between 0 and 1"),
        (("local_asked",), "unbounded", "not finite"),
        (("local_asked",), 0.75, "'co2' has tables of epsilon 1.0986.*asked for, 0.75; design it"),
        (("public_error",), 1.5, "not a probability"),
        (("private_chance",), -0.5, "not a probability"),
        (("horizon",), 5000, "out of range"),
        (("segments",), 0, "out of range"),
        (("knowledge",), ["x"] * 21, "at most 20"),
        (("knowledge",), [1], "not text"),
        ((*NODE,), None, "not an object"),
        ((*NODE, "extra"), 1, "unknown key 'extra'"),
        ((*NODE, "name"), "light-1", "different names"),
        ((*NODE, "name"), "a.b", "expected a name"),
        ((*NODE, "name"), 5, "not text"),
        ((*NODE, "columns"), [], "its quantiser takes 1"),
        ((*NODE, "columns"), ["\x07"], "not printable"),
        ((*NODE, "low"), [3000.0], "in order"),
        ((*NODE, "high"), [1.0, 2.0], "its quantiser takes 1"),
        ((*NODE, "local"), 1.0, "its tables have"),
        ((*NODE, "local"), LOG_3 - 2e-9, "its tables have"),
        ((*NODE, "steady_backward"), 1.0, "belong to accounted"),
        ((*NODE, "steady_forward"), -1.0, "below zero"),
        ((*NODE, "tables"), [], "one or two"),
        ((*NODE, "tables", 0), [], "0 rows"),
        ((*NODE, "tables", 0, 0), [HALF], "1 whole numbers"),
        ((*NODE, "tables", 0, 0), [HALF, HALF + 1], "sum"),
        ((*NODE, "tables", 0, 0), [-HALF, 3 * HALF], "whole number"),
        ((*NODE, "tables", 0, 0), [0.5, 0.5], "whole number"),
        ((*NODE, "tables", 0, 0), [True, HALF], "whole number"),
        ((*NODE, "tables", 0), [[HALF, HALF]] * 257, "at most 256"),
        ((*NODE, "quantiser"), {"kind": "cuts"}, "lacks the key 'cuts'"),
        ((*NODE, "quantiser"), {"kind": "net", "cuts": []}, "neither cuts"),
        ((*NODE, "quantiser"), [], "neither cuts"),
        ((*NODE, "quantiser", "cuts"), [700.0, 600.0], "ascend"),
        ((*NODE, "quantiser", "cuts"), [600], "fraction"),
        ((*NODE, "quantiser", "cuts"), [1.0, 2.0], "expected 3 rows"),
        (("nodes", 2, "quantiser", "scales"), [0.0], "above zero"),
        (("nodes", 2, "quantiser", "centres"), [[1.0], [2.0, 3.0]], "another number"),
        (("nodes", 0, "quantiser", "children"), [[-1, 0], [-2, -3]], "downwards"),
        (("nodes", 0, "quantiser", "children"), [[-1, 1, 2], [-2, -3]], "pairs"),
        (("nodes", 0, "quantiser", "children"), [[-1, 1e9], [-2, -3]], "small whole"),
        (("nodes", 0, "quantiser", "questions"), [[0, 20.0], [7, 25.0]], "not there"),
        (("nodes", 0, "quantiser", "columns"), 1, "not there"),
    ],
    ids=range(72),
)
def test_each_wrong_entry_is_refused(path: tuple[Any, ...], to: Any, message: str) -> None:
    content = with_entry(*path, to=to)
    refused(content, message)
    if path[0] not in ("kind", "name"):
        refused(content, "design 'room'")  # which, where a bundle holds several
    if path[:2] == NODE and path[2:] not in ((), ("name",)):
        refused(content, "node 'co2'")


def test_infinities_that_are_not_spelled_out_are_refused() -> None:
    refused(with_entry("information", to=float("inf")), "not JSON")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "1.0"),
        (encode_array(np.full(12, 1 / 24), "<f8"), "have the shape"),
        (encode_array(np.full((2, 11), 1 / 22), "<f8"), "have the shape"),
        (encode_array(np.full((2, 12), 1 / 23), "<f8"), "sum to 1"),
        (encode_array(np.full((2, 12), np.nan), "<f8"), "probabilities"),
        (encode_array(np.array([[1.5] + [0.0] * 11, [-0.5] + [0.0] * 11]), "<f8"), "probabilities"),
        (encode_array(np.zeros((2, 12), dtype=np.uint8), "|u1"), "array of type"),
        (MEMBERS[OUTCOMES][:-1], "as many bytes"),
    ],
    ids=range(8),
)
def test_wrong_outcomes_are_refused(content: bytes, message: str) -> None:
    refused(encode_stored_zip({**MEMBERS, OUTCOMES: content}), message)


def test_missing_and_spare_members_are_refused() -> None:
    refused(encode_stored_zip({"manifest.npy": MEMBERS["manifest.npy"]}), "no member 'room.outc")
    spare = {**MEMBERS, "room.co2.backward.npy": b""}
    refused(encode_stored_zip(spare), "no design uses")
    members = decode_stored_zip(ACCOUNTED)
    fewer = {name: content for name, content in members.items() if "co2.forward" not in name}
    refused(encode_stored_zip(fewer), "no member 'room.co2.forward")


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (("limit",), 2.0, "for ever"),
        (("limit",), 0.0, "above zero"),
        (("limit",), 1.0, "steady leakage"),
        ((*NODE, "steady_backward"), 1.0, "for ever"),
        ((*NODE, "steady_forward"), 1.0, "for ever"),
        ((*NODE, "local"), 3.0, "for ever"),
        ((*NODE, "local"), "unbounded", "for ever"),
    ],
    ids=range(7),
)
def test_an_account_that_could_not_be_kept_for_ever_is_refused(
    path: tuple[Any, ...], to: Any, message: str
) -> None:
    refused(with_entry(*path, to=to, members=decode_stored_zip(ACCOUNTED)), message)


def test_too_many_outcomes_are_refused_before_they_are_made() -> None:
    one = three_nodes()[1]
    nodes = tuple(replace(one, name=f"n{i}") for i in range(20))
    with pytest.raises(FormatError, match="2097152 outcomes; at most 1048576"):
        room_mapping(nodes=nodes, outcomes=np.zeros(1))


def test_outcomes_cannot_be_changed_afterwards() -> None:
    outcomes = np.array(room_mapping().outcomes)
    design = room_mapping(outcomes=outcomes)
    outcomes[0, 0, 0, 0] = 5.0
    assert float(design.outcomes.sum()) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="read-only"):
        design.outcomes[0, 0, 0, 0] = 5.0


def test_digests_tell_designs_apart() -> None:
    swapped = room_mapping().outcomes[::-1]
    several = [
        room_mapping(),
        room_mapping(segments=4),
        room_mapping(outcomes=swapped),
        accounted_mapping(),
        accounted_mapping(limit=4.0),
    ]
    assert len({design_digest(design) for design in several}) == len(several)


@pytest.mark.parametrize(("regimes", "across"), [(0, 0.5), (5000, 0.5), (5, -0.5), (5, np.nan)])
def test_regimes_out_of_range_are_refused(regimes: int, across: float) -> None:
    with pytest.raises(FormatError, match="regimes or the budget across them is out of range"):
        room_mapping(regimes=regimes, information_across=across)


def test_a_logarithm_that_another_library_rounds_otherwise_is_no_contradiction() -> None:
    read = read_bundle(with_entry(*NODE, "local", to=LOG_3 - 5e-10))
    design = read.design("room")
    assert isinstance(design, MappingDesign)
    assert design.nodes[1].local < local_epsilon(design.nodes[1].tables)
