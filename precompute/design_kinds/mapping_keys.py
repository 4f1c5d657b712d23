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
    regimes: {every: 1 d}              # G is hidden on each of the days; or {column: season}
    margin: {confidence: 0.95, block: 1 h}      # the log has to show that the budget is kept
    smoothing: {weight: 0.1, count: 0.5}        # default: chosen by the log
    starts: 20
    seed: 0
    refine: true                       # false: ill and lip stage by stage, as published
    horizon: 144
    segments: 16

or with ``joint: joint.csv`` in place of ``log`` (:mod:`precompute.mapping.joint_files`); nodes then
have ``cuts``, and ``public`` and ``private`` at most ``names``.

Nodes are read in mapping_node_keys.py, budgets and repeats in mapping_budget_keys.py, the log and
what is learnt from it in mapping_log_keys.py, regimes in mapping_regime_keys.py; single values are
those of mapping_values.py.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agent.formats.documents import Section, count, flag, one_of, text
from agent.formats.errors import FormatError
from agent.formats.mapping_node import MAX_SYMBOLS
from agent.formats.quantisers import MAX_CELLS
from agent.formats.quantities import parse_duration
from precompute.design_kinds import mapping_values as values
from precompute.design_kinds.mapping_budget_keys import Repeats, read_budgets, read_repeats
from precompute.design_kinds.mapping_log_keys import (
    MarginKeys,
    read_label,
    read_log,
    read_margin,
    read_smoothing,
)
from precompute.design_kinds.mapping_node_keys import NodeKeys, read_node
from precompute.design_kinds.mapping_regime_keys import RegimeKeys, read_regimes
from precompute.mapping.learning import Smoothing
from precompute.mapping.sensor_logs import Label, LogFiles
from precompute.mapping.solution import Architecture, Budgets, Options

ARCHITECTURES: tuple[Architecture, ...] = ("direct", "ill", "lip", "local", "information", "epic")
DEFAULT_HORIZON = 144
DEFAULT_SEGMENTS = 16


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
    regimes: RegimeKeys | None
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
    files, holdout = (None, 0.0) if by_joint else read_log(section.section("log"), folder)
    architecture = cast(
        Architecture, section.take_or("architecture", one_of(*ARCHITECTURES), "direct")
    )
    step_seconds = section.take("step", parse_duration)
    repeats = read_repeats(section, step_seconds, by_joint=by_joint, architecture=architecture)
    keys = MappingKeys(
        name=section.take("name", values.name),
        step_seconds=step_seconds,
        architecture=architecture,
        budgets=read_budgets(section.section("protect"), architecture, repeats),
        public=read_label(section, "public", by_joint=by_joint),
        private=read_label(section, "private", by_joint=by_joint),
        files=files,
        holdout=holdout,
        joint=folder / section.take("joint", text) if by_joint else None,
        nodes=tuple(read_node(node, by_joint=by_joint) for node in section.sections("nodes")),
        options=_options(section),
        repeats=repeats,
        smoothing=read_smoothing(section, by_joint=by_joint),
        regimes=read_regimes(section, by_joint=by_joint, architecture=architecture),
        margin=read_margin(section, holdout),
        horizon=section.take_or("horizon", values.horizon, DEFAULT_HORIZON),
        segments=section.take_or("segments", count, DEFAULT_SEGMENTS),
    )
    names = [node.name for node in keys.nodes]
    if len(set(names)) != len(names):
        raise section.fail("nodes", "two nodes have the same name; rename one")
    section.close()
    return keys


def _options(section: Section) -> Options:
    default = Options()
    return Options(
        symbols=section.take_or("symbols", values.symbols(MAX_SYMBOLS), default.symbols),
        middle=section.take_or("middle", values.symbols(MAX_CELLS), default.middle),
        starts=section.take_or("starts", count, default.starts),
        seed=section.take_or("seed", values.whole, default.seed),
        refine=section.take_or("refine", flag, default.refine),
    )
