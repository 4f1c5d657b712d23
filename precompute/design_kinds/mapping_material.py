"""What a mapping is designed from: quantisers, the joint, and the rows that judge the result."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.formats.errors import about
from agent.formats.quantisers import Cuts
from precompute.design_kinds.mapping_keys import MappingKeys
from precompute.design_kinds.mapping_node_keys import NodeKeys
from precompute.mapping.joint import FloatArray, IntArray, Joint
from precompute.mapping.joint_files import read_joint
from precompute.mapping.learning import CellChain, Rows, learn_chain, learn_joint, rows_alone
from precompute.mapping.outward_ranges import outward_range
from precompute.mapping.quantiser_fitting import FittedQuantiser, fit_quantiser
from precompute.mapping.quantising import cells_of
from precompute.mapping.regimes import LEAST_ROWS, Regimes, periods, regimes
from precompute.mapping.sensor_logs import SensorLog, read_sensor_log

# The range of a node of which nothing but its cuts is known: no reading lies outside.
EVERYTHING = 1.7976931348623157e308
MAX_NAME = 64


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """See the module's words.

    Attributes:
        joint: p(h, g, x) that the maps are designed for.
        quantisers: of each node.
        columns: of each node, in words.
        chains: of each node's cells; empty for memoised repeats.
        held_out: rows that the design has not seen; None where the joint was stated.
        public_names: H's values.
        private: in words, what G is.
        knowledge: sentences that ship with the design.
        regimes: of the design's rows that G is guarded in, how many; None where their average is.
        regime_rows: with regimes, the joint of the design's rows as they are, and that of the
            held-out rows (None where these do not hold two values of G).
        notes: for whoever designs.
    """

    joint: Joint
    quantisers: tuple[FittedQuantiser, ...]
    columns: tuple[tuple[str, ...], ...]
    chains: tuple[CellChain, ...]
    held_out: Rows | None
    public_names: tuple[str, ...]
    private: str
    knowledge: tuple[str, ...]
    notes: tuple[str, ...]
    regimes: int | None = None
    regime_rows: tuple[Joint, Joint | None] | None = None


def read_material(keys: MappingKeys) -> Material:
    """The files that a mapping names, read and learnt from.

    Raises:
        FormatError: a file that cannot be read.
        MappingError: a log or joint that cannot be used.
        LeakageError: no budget keeps the account.
    """
    return _stated(keys) if keys.files is None else _learnt(keys)


def _stated(keys: MappingKeys) -> Material:
    assert keys.joint is not None
    quantisers = []
    for node in keys.nodes:
        assert node.cuts is not None
        low, high = node.low_high or (-EVERYTHING, EVERYTHING)
        with about(f"node {node.name!r}"):
            quantisers.append(FittedQuantiser(Cuts(node.cuts), (low,), (high,), ()))
    sizes = [
        (node.name, one.quantiser.cells) for node, one in zip(keys.nodes, quantisers, strict=True)
    ]
    stated = read_joint(
        keys.joint,
        sizes,
        public_names=keys.public.names,
        private_names=keys.private.names,
    )
    return Material(
        joint=stated.joint,
        quantisers=tuple(quantisers),
        columns=tuple(_words(node) for node in keys.nodes),
        chains=(),
        held_out=None,
        public_names=stated.public_names,
        private=f"g: {', '.join(stated.private_names)}",
        knowledge=(f"stated in {keys.joint.name[:MAX_NAME]}, not learnt",),
        notes=(),
    )


def _learnt(keys: MappingKeys) -> Material:
    assert keys.files is not None
    log = read_sensor_log(
        keys.files,
        _roles(keys.nodes),
        keys.public,
        keys.private,
        held_out=keys.holdout,
        regime=None if keys.regimes is None else keys.regimes.column,
    )
    quantisers, cells = _quantised(keys, log)
    rows = Rows(
        log.times_seconds,
        log.public,
        log.private,
        cells,
        tuple(one.quantiser.cells for one in quantisers),
        len(log.public_names),
        len(log.private_names),
    )
    design = rows.slice(0, log.design_rows)
    days = (design.times_seconds[-1] - design.times_seconds[0]) / 86400
    learnt = f"learnt from {len(design):,} rows of a log over {days:.3g} days"
    told_apart = _told_apart(keys, log)
    if keys.architecture == "epic":
        joint = rows_alone(design if told_apart is None else design.by_regime(told_apart))
        notes: tuple[str, ...] = ("EPIC takes the rows as they are, without smoothing",)
    else:
        learned = learn_joint(design, keys.smoothing, told_apart)
        joint, notes = learned.joint, learned.notes
        learnt += (
            ", nodes independent given both hypotheses"
            if learned.weight == 1
            else f", mixed with independence given both hypotheses (weight {learned.weight:g})"
        )
    quantiser_notes = [
        f"node {node.name}: {note}"
        for node, one in zip(keys.nodes, quantisers, strict=True)
        for note in one.notes
    ]
    return Material(
        joint=joint,
        quantisers=quantisers,
        columns=tuple(_words(node) for node in keys.nodes),
        chains=_chains(keys, design),
        held_out=rows.slice(log.design_rows, len(rows)),
        public_names=log.public_names,
        private=f"{keys.private.column}: {', '.join(log.private_names)}"[:2000],
        knowledge=(learnt,),
        notes=(*log.notes, *quantiser_notes, *notes, *_regime_notes(told_apart)),
        regimes=None if told_apart is None else told_apart.periods,
        regime_rows=_regime_rows(keys, log, rows, told_apart),
    )


def _told_apart(keys: MappingKeys, log: SensorLog, *, held_out: bool = False) -> Regimes | None:
    """The rows for the design, or those held out, by G and regime."""
    if keys.regimes is None:
        return None
    assert keys.files is not None
    part = slice(log.design_rows, None) if held_out else slice(0, log.design_rows)
    if keys.regimes.every_seconds is None:
        return regimes(log.private[part], log.regime[part])
    times = log.times_seconds[part]
    return regimes(
        log.private[part],
        periods(times, keys.regimes.every_seconds, keys.files.utc_offset_seconds),
    )


def _regime_rows(
    keys: MappingKeys, log: SensorLog, rows: Rows, told_apart: Regimes | None
) -> tuple[Joint, Joint | None] | None:
    """The rows themselves with regimes: what the design guards is smoothed."""
    if told_apart is None:
        return None
    design = rows_alone(rows.slice(0, log.design_rows).by_regime(told_apart))
    if len(set(log.private[log.design_rows :].tolist())) < 2:
        return design, None
    later = _told_apart(keys, log, held_out=True)
    assert later is not None
    held_out = rows.slice(log.design_rows, len(rows)).by_regime(later)
    return design, rows_alone(held_out)


def _regime_notes(told_apart: Regimes | None) -> tuple[str, ...]:
    if told_apart is None:
        return ()
    joined = (
        f"; {told_apart.joined} had fewer than {LEAST_ROWS} rows and joined their neighbours"
        if told_apart.joined
        else ""
    )
    return (
        f"G is guarded in {told_apart.periods} regimes of the design's rows, "
        f"{len(told_apart.value_of)} pairs of a value of G and a regime{joined}",
    )


def _quantised(
    keys: MappingKeys, log: SensorLog
) -> tuple[tuple[FittedQuantiser, ...], tuple[IntArray, ...]]:
    """The nodes' quantisers, from the rows for the design, and all rows' cells."""
    quantisers, cells = [], []
    first = 0
    for node in keys.nodes:
        readings = log.readings[:, first : first + len(node.columns)]
        first += len(node.columns)
        with about(f"node {node.name!r}"):
            one = _quantiser(
                node, readings[: log.design_rows], log.public[: log.design_rows], keys.options.seed
            )
        quantisers.append(one)
        cells.append(cells_of(one.quantiser, readings))
    return tuple(quantisers), tuple(cells)


def _quantiser(node: NodeKeys, values: FloatArray, public: IntArray, seed: int) -> FittedQuantiser:
    if node.cuts is None:
        return fit_quantiser(node.method, values, public, node.cells, seed=seed)
    low, high = node.low_high or outward_range(values[:, 0])
    return FittedQuantiser(Cuts(node.cuts), (low,), (high,), ())


def _chains(keys: MappingKeys, rows: Rows) -> tuple[CellChain, ...]:
    if keys.repeats.alpha is None:
        return ()
    return tuple(
        learn_chain(
            rows.times_seconds,
            cells,
            size,
            step_seconds=keys.step_seconds,
            alpha=keys.repeats.alpha,
            smoothing=keys.repeats.smoothing,
        )
        for cells, size in zip(rows.cells, rows.sizes, strict=True)
    )


def _roles(nodes: Sequence[NodeKeys]) -> list[tuple[str, str | int]]:
    """What messages call each column, and where it stands."""
    roles: list[tuple[str, str | int]] = []
    for node in nodes:
        many = len(node.columns) > 1
        for number, column in enumerate(node.columns):
            roles.append((f"nodes.{node.name}" + (f"[{number}]" if many else ""), column))
    return roles


def _words(node: NodeKeys) -> tuple[str, ...]:
    return tuple(
        column[:MAX_NAME] if isinstance(column, str) else f"column {column}"
        for column in node.columns
    )
