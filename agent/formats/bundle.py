"""The bundle: designs on their way from the workstation to the device.

This docstring is the specification of format version 1. A bundle is an uncompressed ZIP file in
the canonical form of stored_zip.py, of arrays in the canonical form of npy_array.py, so
``numpy.load(path, allow_pickle=False)`` opens it. Its members:

``manifest.npy``
    (n,) uint8: JSON in ASCII, keys sorted, indented by one blank, with a newline at its end. The
    keys of the top level are

    - ``format``: ``"sfumato-bundle"``
    - ``version``: ``1``
    - ``designs``: a list of 1 to 64 objects with different names, each of
      ``name`` and ``kind``. For a ``stream`` and a ``window`` there are also ``axes``, ``unit``,
      ``grid``, ``guarantee`` and
      for a stream ``components``, a list of ``{family, variance, timescale_seconds,
      period_seconds}``, the last being null but for oscillators;
      for a window ``step_ms`` and ``shape``, [rows, columns] of its factor.
      For ``leakage`` there is every field of LeakageDesign but its tables; ``regions`` is null or
      ``{cell_metres, latitude, longitude}``. For ``mapping`` see mapping_entry.py.

    The fields' meanings and units are those of the classes in designs.py, leakage_design.py and
    mapping_design.py. Numbers that may be
    fractional are written in the shortest form that reads back to the same float64 and always
    with a point or an exponent; others are whole numbers.

``<name>.factor.npy``
    for each window: (rows, columns) float64, row-major.

``<name>.backward.npy``, ``<name>.forward.npy``
    for each leakage design: (n,) uint8, the bytes that leakage_table.py specifies.

``<name>.outcomes.npy``, ``<name>.<node>.backward.npy``, ``<name>.<node>.forward.npy``
    for each mapping: (|H|, Z) float64; the latter, as above, where it keeps accounts.

**One design, one file.** Reading writes the bundle again and refuses it unless that gives the very
bytes that were read. So a bundle has no slack: any changed byte is refused even without a pinned
digest, and equal designs have equal digests on every platform. **The digest** is the SHA-256 of
the file's bytes, as ``sha256sum`` prints it.

**Caps**, all checked before anything of that size is allocated: file 128 MiB, 256 members,
manifest 1 MiB, 64 designs, and those of designs.py for components and factors, of
leakage_table.py for tables, of mapping_design.py and mapping_node.py for mappings.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from agent.formats.design_json import (
    Layout,
    NewerFormatError,
    decode_manifest,
    encode_manifest,
    encode_one_design,
)
from agent.formats.designs import (
    MAX_FACTOR_ENTRIES,
    Design,
    WindowDesign,
)
from agent.formats.documents import read_limited
from agent.formats.errors import FormatError, about
from agent.formats.leakage_design import LeakageDesign, leakage_design_digest
from agent.formats.leakage_table import (
    MAX_TABLE_BYTES,
    LeakageTable,
    decode_leakage_table,
    encode_leakage_table,
)
from agent.formats.mapping_design import MAX_OUTCOMES, MappingDesign
from agent.formats.mapping_entry import mapping_design_digest, outcomes_of
from agent.formats.npy_array import Code, decode_array, encode_array
from agent.formats.stored_zip import decode_stored_zip, encode_stored_zip

MAX_BUNDLE_BYTES = 128 << 20
MAX_MANIFEST_BYTES = 1 << 20

_MANIFEST = "manifest.npy"


@dataclass(frozen=True, slots=True)
class Bundle:
    """The designs by name, in the bundle's order, and the SHA-256 of its bytes in hexadecimal."""

    designs: Mapping[str, Design]
    sha256: str

    def design(self, name: str) -> Design:
        """The design of that name.

        Raises:
            FormatError: there is none; the message lists those that there are.
        """
        if name not in self.designs:
            raise FormatError(
                f"no design {name!r} in the bundle; it holds {', '.join(self.designs)}; "
                "correct the name, or make a bundle with that design"
            )
        return self.designs[name]


def write_bundle(designs: Iterable[Design]) -> bytes:
    """The bundle's bytes; the same designs in the same order always give the same bytes.

    Raises:
        FormatError: no design, two of one name, a text that cannot be shown, or too large.
    """
    listed = tuple(designs)
    manifest = encode_manifest(listed)
    if len(manifest) > MAX_MANIFEST_BYTES:
        raise FormatError(f"a manifest of over {MAX_MANIFEST_BYTES} bytes; use fewer designs")
    members = {_MANIFEST: encode_array(np.frombuffer(manifest, dtype=np.uint8), "|u1")}
    for design in listed:
        if isinstance(design, WindowDesign):
            members[f"{design.name}.factor.npy"] = encode_array(design.factor, "<f8")
        elif isinstance(design, LeakageDesign):
            members |= _table_members(design.name, design.backward, design.forward)
        elif isinstance(design, MappingDesign):
            members[f"{design.name}.outcomes.npy"] = encode_array(outcomes_of(design), "<f8")
            for node in design.nodes if design.repeats == "accounted" else ():
                members |= _table_members(f"{design.name}.{node.name}", node.backward, node.forward)
    content = encode_stored_zip(members)
    if len(content) > MAX_BUNDLE_BYTES:
        raise FormatError(
            f"a bundle of {len(content)} bytes; at most {MAX_BUNDLE_BYTES} are allowed; "
            "split the designs over several bundles"
        )
    return content


def read_bundle(content: bytes) -> Bundle:
    """The bundle's designs, everything checked.

    Raises:
        FormatError: damaged, not canonical, too large, of a newer format, or a value in it is not
            allowed.
    """
    try:
        if len(content) > MAX_BUNDLE_BYTES:
            raise FormatError(f"larger than the {MAX_BUNDLE_BYTES} bytes allowed")
        members = decode_stored_zip(content)
        if _MANIFEST not in members:
            raise FormatError(f"has no member {_MANIFEST}")
        manifest = decode_array(members.pop(_MANIFEST), "|u1", max_entries=MAX_MANIFEST_BYTES)
        layouts = decode_manifest(manifest.tobytes())
        designs = tuple(_named(layout, members) for layout in layouts)
        if members:
            raise FormatError(f"holds the member {min(members)!r}, which no design uses")
        if write_bundle(designs) != content:
            raise FormatError("its manifest is not in canonical form")
    except NewerFormatError as error:
        raise FormatError(f"bundle refused: {error}") from None
    except FormatError as error:
        raise FormatError(
            f"bundle refused: {error}; expected a file made by `sfumato design`; copy it again "
            "from where it was made"
        ) from None
    named = MappingProxyType({design.name: design for design in designs})
    return Bundle(named, hashlib.sha256(content).hexdigest())


def load_bundle(path: Path, expected_sha256: str | None = None) -> Bundle:
    """Read a bundle file; with a pinned digest, nothing is parsed unless the digest matches.

    Raises:
        FormatError: unreadable, too large, another digest, or see :func:`read_bundle`.
    """
    content = read_limited(path, MAX_BUNDLE_BYTES)
    if expected_sha256 is not None:
        found = hashlib.sha256(content).hexdigest()
        if found != expected_sha256.strip().lower():
            raise FormatError(
                f"{path}: bundle refused: its SHA-256 is {found}; expected {expected_sha256}; put "
                "the pinned file back, or, if you changed it yourself, read `sfumato inspect "
                f"{path}` and pin its digest"
            )
    try:
        return read_bundle(content)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def design_digest(design: Design) -> bytes:
    """SHA-256 (32 bytes) over a design's canonical JSON, a zero byte and its factor, if any.

    For a leakage design see :func:`agent.formats.leakage_design.leakage_design_digest`, for a
    mapping :func:`agent.formats.mapping_entry.mapping_design_digest`.
    The noise state carries it, so that a state is never continued under another design.
    """
    if isinstance(design, LeakageDesign):
        return leakage_design_digest(design)
    if isinstance(design, MappingDesign):
        return mapping_design_digest(design)
    digest = hashlib.sha256(encode_one_design(design) + b"\x00")
    if isinstance(design, WindowDesign):
        digest.update(encode_array(design.factor, "<f8"))
    return digest.digest()


def _named(layout: Layout, members: dict[str, bytes]) -> Design:
    with about(f"design {layout.name!r}"):
        return _complete(layout, members)


def _complete(layout: Layout, members: dict[str, bytes]) -> Design:
    """A design from its manifest entry, taking what belongs to it out of the members."""
    if layout.kind == "stream":
        return layout.stream()
    if layout.kind == "leakage":
        return layout.leakage(*_take_tables(layout.name, layout, members))
    if layout.kind == "mapping":
        outcomes = _take_array(f"{layout.name}.outcomes.npy", layout, members, "<f8", MAX_OUTCOMES)
        return layout.mapping(
            outcomes.astype(np.float64),
            lambda node: _take_tables(f"{layout.name}.{node}", layout, members),
        )
    member = f"{layout.name}.factor.npy"
    array = _take_array(member, layout, members, "<f8", MAX_FACTOR_ENTRIES)
    if array.shape != layout.factor_shape:
        raise FormatError(
            f"member {member!r} has the shape {array.shape}; its manifest says "
            f"{layout.factor_shape}"
        )
    return layout.window(array.astype(np.float64))


def _table_members(prefix: str, backward: LeakageTable, forward: LeakageTable) -> dict[str, bytes]:
    members = {}
    for side, table in (("backward", backward), ("forward", forward)):
        pieces = np.frombuffer(encode_leakage_table(table), dtype=np.uint8)
        members[f"{prefix}.{side}.npy"] = encode_array(pieces, "|u1")
    return members


def _take_tables(
    prefix: str, layout: Layout, members: dict[str, bytes]
) -> tuple[LeakageTable, LeakageTable]:
    """L_B and L_F."""
    backward = _take_table(f"{prefix}.backward.npy", layout, members)
    return backward, _take_table(f"{prefix}.forward.npy", layout, members)


def _take_table(member: str, layout: Layout, members: dict[str, bytes]) -> LeakageTable:
    content = _take_array(member, layout, members, "|u1", MAX_TABLE_BYTES)
    try:
        return decode_leakage_table(content.tobytes())
    except FormatError as error:
        raise FormatError(f"member {member!r}: {error}") from None


def _take_array(
    member: str, layout: Layout, members: dict[str, bytes], kind: Code, most: int
) -> npt.NDArray[np.generic]:
    if member not in members:
        raise FormatError(f"has no member {member!r}, which design {layout.name!r} needs")
    try:
        return decode_array(members.pop(member), kind, max_entries=most)
    except FormatError as error:
        raise FormatError(f"member {member!r} {error}") from None
