"""Designs as canonical JSON: the manifest of a bundle (its specification is in bundle.py)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

from agent.formats.designs import (
    MAX_COMPONENTS,
    Component,
    ComponentFamily,
    Design,
    FloatArray,
    Guarantee,
    NoiseDesign,
    StreamDesign,
    WindowDesign,
)
from agent.formats.errors import FormatError
from agent.formats.leakage_design import LeakageDesign, leakage_entry, read_leakage_entry
from agent.formats.leakage_table import LeakageTable
from agent.formats.manifest_values import (
    object_without_repeats,
    refuse_constant,
    require_keys,
    take_float,
    take_list,
    take_name,
    take_object,
    take_text,
    take_whole,
)
from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_entry import Tables, mapping_entry, read_mapping_entry

FORMAT = "sfumato-bundle"
VERSION = 1
MAX_DESIGNS = 64
MAX_TEXT = 2000
MAX_SENTENCES = 1000

_COMMON = ("axes", "grid", "guarantee", "kind", "name", "unit")


class NewerFormatError(FormatError):
    """Sound as far as one can tell, but of a format version that is not known here."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A manifest entry, checked but for what lies in other members: a factor, tables, outcomes."""

    entry: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Of the design."""
        return str(self.entry["name"])

    @property
    def kind(self) -> str:
        """``stream``, ``window``, ``leakage`` or ``mapping``."""
        return str(self.entry["kind"])

    @property
    def factor_shape(self) -> tuple[int, int]:
        """(rows, columns) of a window's factor."""
        rows, columns = self.entry["shape"]
        return rows, columns

    def stream(self) -> StreamDesign:
        """The stream design.

        Raises:
            FormatError: a value that a design may not have.
        """
        design = StreamDesign(**self._common(), components=self.entry["components"])
        _require_showable(design)
        return design

    def window(self, factor: FloatArray) -> WindowDesign:
        """The window design with its factor.

        Raises:
            FormatError: a value that a design may not have.
        """
        design = WindowDesign(**self._common(), step_ms=self.entry["step_ms"], factor=factor)
        _require_showable(design)
        return design

    def leakage(self, backward: LeakageTable, forward: LeakageTable) -> LeakageDesign:
        """The leakage design with its tables.

        Raises:
            FormatError: a key, or a value, that a design may not have.
        """
        return read_leakage_entry(self.entry, backward, forward)

    def mapping(self, outcomes: FloatArray, tables: Tables) -> MappingDesign:
        """The mapping with its outcomes, and its nodes' tables where they keep an account.

        Raises:
            FormatError: a key, or a value, that a design may not have.
        """
        return read_mapping_entry(self.entry, outcomes, tables)

    def _common(self) -> dict[str, Any]:
        return {key: self.entry[key] for key in _COMMON if key != "kind"}


def encode_manifest(designs: Iterable[Design]) -> bytes:
    """The manifest's bytes.

    Raises:
        FormatError: none or too many designs, two of one name, or a text that cannot be shown.
    """
    listed = tuple(designs)
    names = {design.name for design in listed}
    if not 1 <= len(listed) <= MAX_DESIGNS or len(names) != len(listed):
        raise FormatError(f"a bundle needs 1 to {MAX_DESIGNS} designs with different names")
    for design in listed:
        _require_showable(design)
    return _dump(
        {
            "format": FORMAT,
            "version": VERSION,
            "designs": [_design_entry(design) for design in listed],
        }
    )


def encode_one_design(design: Design) -> bytes:
    """One design's entry in the same canonical JSON."""
    return _dump(_design_entry(design))


def decode_manifest(content: bytes) -> tuple[Layout, ...]:
    """The manifest's designs.

    Raises:
        FormatError: not strict JSON, a newer format, or a key or value that is not allowed.
    """
    try:
        manifest = json.loads(
            content.decode("ascii"),
            object_pairs_hook=object_without_repeats,
            parse_constant=refuse_constant,
        )
    except (ValueError, RecursionError):
        raise FormatError("its manifest is not JSON in ASCII") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FormatError(f"its manifest does not say that it is a {FORMAT}")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise FormatError("its manifest has no format version")
    if version > VERSION:
        raise NewerFormatError(
            f"made by a newer sfumato: bundle format {version}, and this one reads {VERSION}; "
            "upgrade sfumato here, or make the bundle with this version"
        )
    require_keys("manifest", manifest, ("designs", "format", "version"))
    entries = take_list("designs", manifest["designs"], MAX_DESIGNS, _design_layout)
    if not entries or len({entry.name for entry in entries}) != len(entries):
        raise FormatError("its manifest has no design, or two of one name")
    return entries


def _design_entry(design: Design) -> dict[str, Any]:
    if isinstance(design, LeakageDesign):
        return leakage_entry(design)
    if isinstance(design, MappingDesign):
        return mapping_entry(design)
    entry: dict[str, Any] = {
        "name": design.name,
        "kind": design.kind,
        "axes": list(design.axes),
        "unit": design.unit,
        "grid": float(design.grid),
        "guarantee": _floats_as_declared(design.guarantee),
    }
    if isinstance(design, StreamDesign):
        entry["components"] = [_floats_as_declared(c) for c in design.components]
    else:
        entry |= {"step_ms": design.step_ms, "shape": list(design.factor.shape)}
    return entry


def _floats_as_declared(value: Guarantee | Component) -> dict[str, Any]:
    """The fields; where a float is declared, an int (or a NumPy number) becomes one."""
    entry = asdict(value)
    for field in fields(value):
        if entry[field.name] is not None and "float" in str(field.type):
            entry[field.name] = float(entry[field.name])
    return entry


def _dump(value: object) -> bytes:
    return (json.dumps(value, sort_keys=True, indent=1, allow_nan=False) + "\n").encode("ascii")


def _design_layout(value: object) -> Layout:
    if not isinstance(value, dict):
        raise FormatError("a design in its manifest is not an object")
    kind = value.get("kind")
    if kind in ("leakage", "mapping"):
        return Layout({**value, "name": take_name(value.get("name"))})
    if kind not in ("stream", "window"):
        raise FormatError(
            "a design in its manifest is neither a stream, nor a window, nor leakage, nor a mapping"
        )
    own = ("components",) if kind == "stream" else ("shape", "step_ms")
    require_keys("design", value, _COMMON + own)
    entry: dict[str, Any] = {
        "kind": kind,
        "name": take_name(value["name"]),
        "axes": take_list("axes", value["axes"], 8, lambda axis: take_text("axes", axis)),
        "unit": take_text("unit", value["unit"]),
        "grid": take_float("grid", value["grid"]),
        "guarantee": _guarantee(value["guarantee"]),
    }
    if kind == "stream":
        entry["components"] = take_list(
            "components", value["components"], MAX_COMPONENTS, _component
        )
    else:
        shape = take_list("shape", value["shape"], 2, lambda length: take_whole("shape", length))
        if len(shape) != 2:
            raise FormatError("a design's shape is not two whole numbers")
        entry |= {"shape": shape, "step_ms": take_whole("step_ms", value["step_ms"])}
    return Layout(entry)


def _guarantee(value: object) -> Guarantee:
    entry = take_object("guarantee", value, tuple(field.name for field in fields(Guarantee)))
    prior = take_list("prior", entry["prior"], MAX_SENTENCES, lambda line: take_text("prior", line))
    if not isinstance(entry["variance_free"], bool):
        raise FormatError("variance_free is neither true nor false")
    numbers = ("radius", "information_limit", "worst_information", "rho", "epsilon", "delta")
    return Guarantee(
        prior=prior,
        secrets=take_text("secrets", entry["secrets"]),
        segments=take_whole("segments", entry["segments"]),
        variance_free=entry["variance_free"],
        **{name: take_float(name, entry[name]) for name in numbers},
    )


def _component(value: object) -> Component:
    entry = take_object("component", value, tuple(field.name for field in fields(Component)))
    period = entry["period_seconds"]
    return Component(
        family=cast(ComponentFamily, take_text("family", entry["family"])),
        variance=take_float("variance", entry["variance"]),
        timescale_seconds=take_float("timescale_seconds", entry["timescale_seconds"]),
        period_seconds=None if period is None else take_float("period_seconds", period),
    )


def _require_showable(design: Design) -> None:
    """Text that a terminal shows as it is, and numbers whose sums stay finite."""
    take_name(design.name)
    if not isinstance(design, (LeakageDesign, MappingDesign)):  # which look after their own texts
        _require_showable_noise(design)


def _require_showable_noise(design: NoiseDesign) -> None:
    texts = (design.unit, *design.axes, design.guarantee.secrets, *design.guarantee.prior)
    if not all(text and text.isprintable() and len(text) <= MAX_TEXT for text in texts):
        raise FormatError(
            f"design {design.name!r}: a text is empty, over {MAX_TEXT} characters, or not printable"
        )
    try:
        variance = design.noise_variance
    except OverflowError:
        variance = 0.0
    if not 0 < variance < float("inf"):
        raise FormatError(f"design {design.name!r}: its noise is zero or not finite")
