"""The keys of ``kind: mapping``, as values; nothing is read or worked out here but the keys.

    kind: mapping
    name: room
    step: 1 min                        # nodes speak once in each
    architecture: direct               # local, information, ill, lip, epic
    protect: {information: 0.2, local: 1.0}     # nats
    public: {column: ventilate}        # H: a column of names …
    private: {column: count, above: 0, names: [empty, in use]}    # … or a number and a threshold
    log: {path: room.csv, columns: {time: [Date, Time]}, utc_offset: 1 h, repair: true,
          holdout: 0.3}                # the last share of the rows: not seen by the design
    nodes:
      - {name: light, columns: [Light], cells: 16, quantiser: tree}    # quantile, kmeans
      - {name: air, columns: [CO2], cuts: [600, 1000]}
    symbols: 2                         # that a node can say
    middle: 2                          # between the two stages of ill and lip
    memoise: 1 d                       # or account: {alpha: 2}
    margin: {confidence: 0.95, block: 1 h}      # the log has to show that the budget is kept
    smoothing: {weight: 0.1, count: 0.5}        # default: chosen by the log
    starts: 20
    seed: 0
    refine: true                       # false: ill and lip stage by stage, as published
    horizon: 144
    segments: 16

or with ``joint: joint.csv`` in place of ``log`` (:mod:`precompute.mapping.joint_files`); nodes then
have ``cuts``, and ``public`` and ``private`` at most ``names``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agent.formats.columns import Column
from agent.formats.documents import Section, count, flag, list_of, number, one_of, positive, text
from agent.formats.errors import FormatError
from agent.formats.quantities import parse_duration
from precompute.design_kinds import mapping_values as values
from precompute.mapping.learning import Smoothing
from precompute.mapping.quantiser_fitting import METHODS, Method
from precompute.mapping.sensor_logs import Label, LogFiles
from precompute.mapping.solution import Architecture, Budgets, Options

ARCHITECTURES: tuple[Architecture, ...] = ("direct", "ill", "lip", "local", "information", "epic")
DEFAULT_CELLS = 16
DEFAULT_HOLDOUT = 0.3
DEFAULT_BLOCK_SECONDS = 3600.0
DEFAULT_CONFIDENCE = 0.95
DEFAULT_CHAIN_SMOOTHING = 0.05
DEFAULT_HORIZON = 144
DEFAULT_SEGMENTS = 16


@dataclass(frozen=True, slots=True)
class NodeKeys:
    """One node as asked for; ``cuts`` or a method with a number of cells."""

    name: str
    columns: tuple[Column, ...]
    method: Method
    cells: int
    cuts: tuple[float, ...] | None
    low_high: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Repeats:
    """``memoise_seconds``, or alpha of the account and the smoothing of its chains."""

    memoise_seconds: float | None
    alpha: float | None
    smoothing: float


@dataclass(frozen=True, slots=True)
class MarginKeys:
    """How the log bounds what the maps tell; ``enforced`` when the user asked for it."""

    confidence: float
    block_seconds: float
    enforced: bool


@dataclass(frozen=True, slots=True)
class MappingKeys:
    """A mapping as asked for. Exactly one of ``files`` and ``joint`` is given."""

    name: str
    step_seconds: float
    architecture: Architecture
    budgets: Budgets
    public: Label
    private: Label
    files: LogFiles | None
    holdout: float
    joint: Path | None
    nodes: tuple[NodeKeys, ...]
    options: Options
    repeats: Repeats
    smoothing: Smoothing
    margin: MarginKeys
    horizon: int
    segments: int


def read_keys(section: Section, folder: Path) -> MappingKeys:
    """All keys of a mapping; ``kind`` has been taken already.

    Raises:
        FormatError: anything unknown, missing, of the wrong type, or that does not fit the rest.
        MappingError: a budget or smoothing out of range.
    """
    by_joint = section.has("joint")
    if by_joint == section.has("log"):
        found = "both" if by_joint else "neither"
        raise FormatError(f"{section.where}: found {found} of log and joint; expected one of them")
    files, holdout = (None, 0.0) if by_joint else _log(section.section("log"), folder)
    architecture = cast(
        Architecture, section.take_or("architecture", one_of(*ARCHITECTURES), "direct")
    )
    step_seconds = section.take("step", parse_duration)
    repeats = _repeats(section, step_seconds, by_joint=by_joint, architecture=architecture)
    keys = MappingKeys(
        name=section.take("name", values.name),
        step_seconds=step_seconds,
        architecture=architecture,
        budgets=_budgets(section.section("protect"), architecture, repeats),
        public=_label(section, "public", by_joint=by_joint),
        private=_label(section, "private", by_joint=by_joint),
        files=files,
        holdout=holdout,
        joint=folder / section.take("joint", text) if by_joint else None,
        nodes=tuple(_node(node, by_joint=by_joint) for node in section.sections("nodes")),
        options=_options(section),
        repeats=repeats,
        smoothing=_smoothing(section, by_joint=by_joint),
        margin=_margin(section, holdout),
        horizon=section.take_or("horizon", count, DEFAULT_HORIZON),
        segments=section.take_or("segments", count, DEFAULT_SEGMENTS),
    )
    names = [node.name for node in keys.nodes]
    if len(set(names)) != len(names):
        raise section.fail("nodes", "two nodes have the same name; rename one")
    section.close()
    return keys


def _log(section: Section, folder: Path) -> tuple[LogFiles, float]:
    paths = section.take("path", values.texts)
    columns = section.section("columns")
    time = columns.take("time", values.columns)
    columns.close()
    if len(time) > 2:
        raise columns.fail("time", "expected one column, or two: date and time")
    holdout = section.take_or("holdout", values.share, DEFAULT_HOLDOUT)
    files = LogFiles(
        tuple(folder / path for path in paths),
        time,
        section.take_or("time_format", text, "") or None,
        section.take_or("utc_offset", values.signed_duration, 0.0),
        section.take_or("repair", flag, False),
    )
    section.close()
    return files, holdout


def _budgets(section: Section, architecture: Architecture, repeats: Repeats) -> Budgets:
    found = {}
    for key in ("information", "local"):
        needed = architecture not in ("local", "information") or architecture == key
        if key == "local" and repeats.alpha is not None:
            needed = False  # the account gives one
        if section.has(key):
            found[key] = section.take(key, values.nats)
        elif needed:
            raise FormatError(
                f"{section.where}: the key {key!r} is missing; architecture {architecture} needs "
                "it, in nats, for example {information: 0.2, local: 1.0}"
            )
    section.close()
    return Budgets(**found)


def _repeats(
    section: Section, step_seconds: float, *, by_joint: bool, architecture: Architecture
) -> Repeats:
    if section.has("memoise") == section.has("account"):
        found = "both" if section.has("memoise") else "neither"
        raise FormatError(
            f"{section.where}: found {found} of memoise and account; expected one: memoise: 1 d "
            "(the same symbol for a cell all day) or account: {alpha: 2} (fresh ones, counted)"
        )
    if section.has("memoise"):
        period = section.take("memoise", parse_duration)
        steps = period / step_seconds
        if steps < 1 or abs(steps - round(steps)) > 1e-9 * steps:
            raise section.fail("memoise", f"found {steps:g} steps; expected a whole number of them")
        return Repeats(period, None, 0.0)
    account = section.section("account")
    if by_joint:
        raise section.fail(
            "account", "a stated joint says nothing about repeats; use memoise, or a log"
        )
    if architecture == "information":
        raise section.fail(
            "account",
            "architecture information bounds nothing about single readings, so that no account "
            "can be kept; use memoise, or direct",
        )
    repeats = Repeats(
        None,
        account.take("alpha", positive),
        account.take_or("smoothing", positive, DEFAULT_CHAIN_SMOOTHING),
    )
    account.close()
    return repeats


def _label(section: Section, key: str, *, by_joint: bool) -> Label:
    if by_joint and not section.has(key):
        return Label("")
    label = section.section(key)
    names = tuple(label.take("names", list_of(values.plain))) if label.has("names") else ()
    if len(set(names)) != len(names):
        raise label.fail("names", "a name stands twice")
    column: Column = "" if by_joint else label.take("column", values.column)
    above = None if by_joint or not label.has("above") else label.take("above", values.threshold)
    if above is not None and names and len(names) != 2:
        raise label.fail("names", f"found {len(names)}; a threshold makes two values")
    label.close()
    return Label(column, above, names)  # type: ignore[arg-type] # threshold gives median or a number


def _node(section: Section, *, by_joint: bool) -> NodeKeys:
    name = section.take("name", values.name)
    cuts = tuple(section.take("cuts", list_of(number))) if section.has("cuts") else None
    if by_joint and cuts is None:
        raise FormatError(
            f"{section.where}: the key 'cuts' is missing; a stated joint does not say which "
            "readings its cells hold, for example cuts: [600, 1000] for the cells 0, 1 and 2"
        )
    for key in ("cells", "quantiser"):
        if cuts is not None and section.has(key):
            raise section.fail(key, "the cuts say it already; leave one of the two out")
    if by_joint and not section.has("columns"):
        columns: tuple[Column, ...] = (name,)
    else:
        columns = section.take("columns", values.columns)
    if cuts is not None and len(columns) != 1:
        raise section.fail("columns", f"found {len(columns)}; cuts take one column")
    method = cast(Method, section.take_or("quantiser", one_of(*METHODS), "tree"))
    if method == "quantile" and len(columns) != 1:
        raise section.fail("quantiser", "quantile takes one column; use tree or kmeans")
    low_high = None
    if section.has("range"):
        low, *rest = section.take("range", list_of(number))
        if len(rest) != 1 or rest[0] < low or cuts is None:
            raise section.fail("range", "expected [least, largest], beside cuts")
        low_high = (low, rest[0])
    cells = section.take_or("cells", count, DEFAULT_CELLS)
    section.close()
    return NodeKeys(name, columns, method, cells, cuts, low_high)


def _options(section: Section) -> Options:
    default = Options()
    return Options(
        symbols=section.take_or("symbols", values.at_least_two, default.symbols),
        middle=section.take_or("middle", values.at_least_two, default.middle),
        starts=section.take_or("starts", count, default.starts),
        seed=section.take_or("seed", values.whole, default.seed),
        refine=section.take_or("refine", flag, default.refine),
    )


def _smoothing(section: Section, *, by_joint: bool) -> Smoothing:
    if not section.has("smoothing"):
        return Smoothing()
    if by_joint:
        raise section.fail("smoothing", "a stated joint is taken as it is; leave it out")
    smoothing = section.section("smoothing")
    found = Smoothing(
        smoothing.take("weight", positive) if smoothing.has("weight") else None,
        smoothing.take("count", positive) if smoothing.has("count") else None,
    )
    smoothing.close()
    return found


def _margin(section: Section, holdout: float) -> MarginKeys:
    if not section.has("margin"):
        return MarginKeys(DEFAULT_CONFIDENCE, DEFAULT_BLOCK_SECONDS, enforced=False)
    if holdout == 0:
        raise section.fail(
            "margin", "needs rows that the design does not see; use a log with holdout: 0.3"
        )
    margin = section.section("margin")
    found = MarginKeys(
        margin.take_or("confidence", values.confidence, DEFAULT_CONFIDENCE),
        margin.take_or("block", parse_duration, DEFAULT_BLOCK_SECONDS),
        enforced=True,
    )
    margin.close()
    return found
