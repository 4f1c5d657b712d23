"""The ``leakage`` design: releases of one state out of few, with the observer's knowledge.

The value that the bundle carries, and its parts: ``leakage_entry`` gives the manifest's object
(JSON values only) and the two tables' bytes are the members ``<name>.backward.npy`` and
``<name>.forward.npy`` (uint8 arrays of what agent.formats.leakage_table specifies).
``read_leakage_entry`` takes just what ``leakage_entry`` gives.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from agent.formats.errors import FormatError
from agent.formats.leakage_table import LeakageTable, encode_leakage_table

MechanismName = Literal["randomised_response", "unary_encoding", "grid_laplace", "planar_laplace"]
Policy = Literal["adaptive", "steady", "memoised"]
MAX_STATES = 2000
MAX_STATE_NAME = 100
MAX_SENTENCES = 20
MAX_SENTENCE = 2000


@dataclass(frozen=True, slots=True)
class Regions:
    """How a position becomes a state: cells of a grid of local metres about a public origin.

    The state's name is ``e<east>n<north>``, the numbers of the cell's south-west corner.
    """

    latitude: float
    longitude: float
    cell_metres: float

    def __post_init__(self) -> None:
        if not (abs(self.latitude) <= 85 and abs(self.longitude) <= 180):
            raise FormatError("regions: the origin is not on the map")
        if not (math.isfinite(self.cell_metres) and self.cell_metres > 0):
            raise FormatError("regions: the cell is not above zero metres")


@dataclass(frozen=True, slots=True)
class LeakageDesign:
    """A channel of states whose temporal leakage stays within a limit.

    Attributes:
        name: of the design.
        states: names, in the order of the rows of the matrices; grid_laplace takes the order as
            that of the values, planar_laplace as rows of cells from the south-west.
        width: cells in a row, for planar_laplace only.
        mechanism: what draws a release.
        policy: ``adaptive``: each release gets what the account offers; ``steady``: always
            ``epsilon``; ``memoised``: one release for a state and period, no temporal bound.
        step_ms: the chain's step; at most one release in each.
        limit: alpha, the TPL that no state may pass (nats); for memoised releases, the bound about
            which state it was, for each different state of a period.
        epsilon: the steady budget; for memoised releases, that of each draw.
        steady_backward: BPL that the account keeps below.
        steady_forward: ceiling of FPL that the account keeps above.
        horizon: releases whose leakage is updated and shown.
        segments: how often the account may be lost and begun again from the worst case, plus one.
        memoise_steps: the period, for memoised releases only.
        elsewhere: the state that an unknown one counts as; None refuses it.
        regions: for positions; None when the source gives the state's name or number.
        knowledge: what the observer is assumed to know, a sentence each.
        backward: L_B.
        forward: L_F.
    """

    name: str
    states: tuple[str, ...]
    width: int | None
    mechanism: MechanismName
    policy: Policy
    step_ms: int
    limit: float
    epsilon: float
    steady_backward: float
    steady_forward: float
    horizon: int
    segments: int
    memoise_steps: int | None
    elsewhere: str | None
    regions: Regions | None
    knowledge: tuple[str, ...]
    backward: LeakageTable
    forward: LeakageTable
    kind: Literal["leakage"] = "leakage"

    def __post_init__(self) -> None:
        if self.mechanism not in get_args(MechanismName) or self.policy not in get_args(Policy):
            raise self._wrong(f"{self.mechanism!r} with {self.policy!r} is not known")
        if not 2 <= len(self.states) <= MAX_STATES or len(set(self.states)) != len(self.states):
            raise self._wrong(f"expected 2 to {MAX_STATES} different states")
        for text, most in (
            *((state, MAX_STATE_NAME) for state in self.states),
            *((line, MAX_SENTENCE) for line in self.knowledge),
        ):
            if not text or not text.isprintable() or len(text) > most:
                raise self._wrong("a state or sentence is empty, too long or not printable")
        if (self.mechanism == "planar_laplace") != (self.width is not None):
            raise self._wrong("a width belongs to planar_laplace, and only to it")
        if self.width is not None and (self.width < 1 or len(self.states) % self.width):
            raise self._wrong("the states do not fill rows of that width")
        if (self.policy == "memoised") != (self.memoise_steps is not None):
            raise self._wrong("a period belongs to memoised releases, and only to them")
        if self.elsewhere is not None and self.elsewhere not in self.states:
            raise self._wrong("the state for unknown ones is not among the states")
        counts = (self.step_ms, self.horizon, self.segments, self.memoise_steps or 1)
        if min(counts) < 1 or self.horizon > 4096 or len(self.knowledge) > MAX_SENTENCES:
            raise self._wrong("a step, horizon, number of segments or period is out of range")
        amounts = (self.limit, self.epsilon, self.steady_backward, self.steady_forward)
        if not all(math.isfinite(amount) and 0 < amount <= self.limit for amount in amounts):
            raise self._wrong("a budget is not above zero and at most the limit")

    def _wrong(self, what: str) -> FormatError:
        return FormatError(f"design {self.name!r}: {what}")


_OWN = {"backward", "forward", "regions"}
_REGION_KEYS = tuple(sorted(field.name for field in fields(Regions)))
ENTRY_KEYS = tuple(
    sorted({field.name for field in fields(LeakageDesign)} - {"backward", "forward"})
)


def leakage_entry(design: LeakageDesign) -> dict[str, Any]:
    """The manifest's object: every field but the tables; tuples as lists, amounts as floats."""
    entry: dict[str, Any] = {}
    for field in fields(design):
        if field.name in _OWN:
            continue
        value = getattr(design, field.name)
        if isinstance(value, tuple):
            value = list(value)
        entry[field.name] = float(value) if field.type is float else value
    regions = design.regions
    entry["regions"] = regions and {key: float(getattr(regions, key)) for key in _REGION_KEYS}
    return entry


def read_leakage_entry(
    entry: Mapping[str, Any], backward: LeakageTable, forward: LeakageTable
) -> LeakageDesign:
    """The inverse of :func:`leakage_entry`, with the two tables.

    Raises:
        FormatError: other keys, a value of another type, or one that a design may not have.
    """
    _require_keys("design", entry, ENTRY_KEYS)
    values = dict(entry)
    if values["kind"] != "leakage":
        raise FormatError("a design of another kind than leakage")
    for field in fields(LeakageDesign):
        if field.name in _OWN:
            continue
        value = values[field.name]
        if not _fits(str(field.type), value):
            raise FormatError(f"design: {field.name} in its manifest has another type")
        if isinstance(value, list):
            values[field.name] = tuple(value)
    regions = values.pop("regions")
    if regions is not None:
        if not isinstance(regions, dict):
            raise FormatError("design: regions in its manifest are not an object")
        _require_keys("regions", regions, _REGION_KEYS)
        if not all(isinstance(value, float) for value in regions.values()):
            raise FormatError("design: regions in its manifest have another type")
        regions = Regions(**regions)
    return LeakageDesign(**values, regions=regions, backward=backward, forward=forward)


def leakage_design_digest(design: LeakageDesign) -> bytes:
    """SHA-256 over the entry as canonical JSON and both tables; the account carries it."""
    text = json.dumps(leakage_entry(design), sort_keys=True, indent=1, allow_nan=False) + "\n"
    tables = (encode_leakage_table(design.backward), encode_leakage_table(design.forward))
    return hashlib.sha256(b"\x00".join((text.encode("ascii"), *tables))).digest()


def _fits(declared: str, value: object) -> bool:
    """Whether a JSON value has the type that the field declares."""
    if value is None:
        return "None" in declared
    if "tuple" in declared:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if "float" in declared:
        return isinstance(value, float)
    if "int" in declared:
        return type(value) is int and 0 <= value < 1 << 53
    return isinstance(value, str)


def _require_keys(what: str, value: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    different = sorted(set(value) ^ set(keys))
    if different:
        raise FormatError(f"{what} in its manifest: the key {different[0]!a} is unknown or missing")
