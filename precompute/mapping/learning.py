"""The joint distribution of hypotheses and cells, and the chain of each node's cells, from a log.

Two models, mixed with a weight w:

* *independent*: sensors independent of each other given (h, g), every count with ``pseudo_count``
  added (Laplace), so that no cell is impossible;
* *empirical*: the rows as they are.

The mixture ``(1 - w) empirical + w independent`` keeps what sensors say together and gives no
outcome the probability zero; w = 1 is the independent model alone. Where the user states neither
number, both are chosen by the likelihood of held-out stretches of the log. Stretches, not single
rows, because a row that is left out is nearly repeated by its neighbours in time: leaving out
single rows would always choose the empirical model.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agent.formats.leakage_table import LeakageTable
from precompute.leakage.allocation import SteadyState, steady_state
from precompute.leakage.learning import join_steps, learn
from precompute.leakage.quantification import Adversary
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import (
    FloatArray,
    IntArray,
    Joint,
    joint_of_independent_sensors,
    joint_of_rows,
)
from precompute.mapping.regimes import Regimes

WEIGHTS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)
PSEUDO_COUNTS = (0.1, 0.5, 2.0)
FOLDS = 5
# The designer's work grows with the different rows; beyond this the mixture is not offered.
MAX_DIFFERENT_ROWS = 20_000


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rows:
    """A log after quantising, rows in the order of time.

    Attributes:
        times_seconds: (n,) strictly ascending Unix seconds.
        public: (n,) values of H from 0.
        private: (n,) values of G from 0.
        cells: for each node (n,) cells.
        sizes: number of cells of each node.
        publics: |H|.
        privates: |G|.
        value_of: of :class:`Joint`, where ``private`` numbers regimes.
    """

    times_seconds: FloatArray
    public: IntArray
    private: IntArray
    cells: tuple[IntArray, ...]
    sizes: tuple[int, ...]
    publics: int
    privates: int
    value_of: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return int(self.public.size)

    def slice(self, first: int, last: int) -> "Rows":
        """Rows from ``first`` up to, not including, ``last``."""
        return self._of(np.arange(len(self))[first:last])

    def without(self, first: int, last: int) -> "Rows":
        """All rows but those of :meth:`slice`."""
        keep = np.ones(len(self), dtype=bool)
        keep[first:last] = False
        return self._of(np.flatnonzero(keep))

    def by_regime(self, told_apart: Regimes) -> "Rows":
        """The rows with pairs of G and regime in place of G."""
        return replace(
            self,
            private=told_apart.number,
            privates=len(told_apart.value_of),
            value_of=told_apart.value_of,
        )

    def _of(self, part: IntArray) -> "Rows":
        return replace(
            self,
            times_seconds=self.times_seconds[part],
            public=self.public[part],
            private=self.private[part],
            cells=tuple(column[part] for column in self.cells),
        )


@dataclass(frozen=True, slots=True)
class Smoothing:
    """``weight`` of the independent model, and what is added to its counts; None to choose."""

    weight: float | None = None
    pseudo_count: float | None = None

    def __post_init__(self) -> None:
        if self.weight is not None and not 0 < self.weight <= 1:
            raise MappingError(
                f"smoothing: the weight is {self.weight:g}; expected above 0 to 1, where 1 is "
                "the independent model alone"
            )
        if self.pseudo_count is not None and not (
            math.isfinite(self.pseudo_count) and self.pseudo_count > 0
        ):
            raise MappingError("smoothing: the count is not a finite number above zero")


@dataclass(frozen=True, slots=True, eq=False)
class LearnedJoint:
    """A joint, the numbers it was smoothed with, and how they were found."""

    joint: Joint
    weight: float
    pseudo_count: float
    notes: tuple[str, ...]


def learn_joint(
    rows: Rows, smoothing: Smoothing = Smoothing(), told_apart: Regimes | None = None
) -> LearnedJoint:
    """The mixture described above; with regimes, of H, pairs of G and regime, and cells.

    Smoothing is chosen without regimes: a held-out stretch of time has regimes of its own.

    Raises:
        MappingError: no rows; or more than ``MAX_DIFFERENT_ROWS`` different ones where a weight
            below 1 is asked for.
    """
    if not len(rows):
        raise MappingError("learning: found no rows; expected at least one")
    notes: list[str] = []
    weights = WEIGHTS if smoothing.weight is None else (smoothing.weight,)
    counts = PSEUDO_COUNTS if smoothing.pseudo_count is None else (smoothing.pseudo_count,)
    different = np.unique(np.column_stack([rows.public, rows.private, *rows.cells]), axis=0)
    if different.shape[0] > MAX_DIFFERENT_ROWS and weights[0] < 1:
        if smoothing.weight is not None:
            raise MappingError(
                f"learning: found {different.shape[0]:,} different rows; expected at most "
                f"{MAX_DIFFERENT_ROWS:,}; use fewer cells, or smoothing: {{weight: 1}}"
            )
        weights = (1.0,)
        notes.append(
            f"{different.shape[0]:,} different rows: nodes are taken as independent given both "
            "hypotheses; fewer cells would keep more of what they say together"
        )
    weight, count = weights[0], counts[0]
    if len(weights) * len(counts) > 1:
        weight, count, score = _choose(rows, weights, counts)
        notes.append(
            f"smoothing chosen by the likelihood of {FOLDS} held-out stretches of the log: "
            f"weight {weight:g}, count {count:g} ({score:.4g} nats a row)"
        )
    if told_apart is not None:
        rows = rows.by_regime(told_apart)
    return LearnedJoint(mixed_joint(rows, weight, count), weight, count, tuple(notes))


def independent_joint(rows: Rows, pseudo_count: float) -> Joint:
    """Sensors independent given (h, g), with Laplace smoothing."""
    prior, tables = _independent(rows, pseudo_count)
    shape = (rows.publics, rows.privates)
    joint = joint_of_independent_sensors(
        prior.reshape(shape), [table.reshape(*shape, -1) for table in tables]
    )
    return replace(joint, value_of=rows.value_of)


def rows_alone(rows: Rows) -> Joint:
    """The rows as they are, a class for each different one."""
    return joint_of_rows(
        rows.public,
        rows.private,
        rows.cells,
        rows.sizes,
        publics=rows.publics,
        privates=rows.privates,
        value_of=rows.value_of,
    )


def mixed_joint(rows: Rows, weight: float, pseudo_count: float) -> Joint:
    """The mixture described in the module's words."""
    smooth = independent_joint(rows, pseudo_count)
    if weight == 1:
        return smooth
    rough = rows_alone(rows)
    return Joint(
        np.concatenate([(1 - weight) * rough.weights, weight * smooth.weights]),
        np.concatenate([rough.public, smooth.public]),
        np.concatenate([rough.private, smooth.private]),
        tuple(np.vstack(pair) for pair in zip(rough.tables, smooth.tables, strict=True)),
        rows.publics,
        rows.privates,
        rows.value_of,
    )


def held_out_score(
    train: Rows, test: Rows, weights: Sequence[float], pseudo_counts: Sequence[float]
) -> FloatArray:
    """(weights, pseudo_counts) summed log likelihood (nats) of the test rows."""
    rough = _empirical_likelihood(train, test)
    scores = np.empty((len(weights), len(pseudo_counts)))
    for column, count in enumerate(pseudo_counts):
        prior, tables = _independent(train, count)
        label = test.public * test.privates + test.private
        smooth = prior[label]
        for table, cells in zip(tables, test.cells, strict=True):
            smooth = smooth * table[label, cells]
        for line, weight in enumerate(weights):
            scores[line, column] = float(np.log((1 - weight) * rough + weight * smooth).sum())
    return scores


def _choose(
    rows: Rows, weights: Sequence[float], counts: Sequence[float]
) -> tuple[float, float, float]:
    """The best weight and count, and their score a row; the middle ones for a very short log."""
    if len(rows) < 2 * FOLDS:
        return weights[len(weights) // 2], counts[len(counts) // 2], math.nan
    edges = np.linspace(0, len(rows), FOLDS + 1).astype(int).tolist()
    total = np.zeros((len(weights), len(counts)))
    for first, last in itertools.pairwise(edges):
        total += held_out_score(rows.without(first, last), rows.slice(first, last), weights, counts)
    line, column = divmod(int(np.argmax(total)), len(counts))
    return weights[line], counts[column], float(total.max()) / len(rows)


def _independent(rows: Rows, pseudo_count: float) -> tuple[FloatArray, list[FloatArray]]:
    """(|H||G|,) p(h, g) and for each node (|H||G|, cells) p(x|h, g)."""
    labels = rows.publics * rows.privates
    label = rows.public * rows.privates + rows.private
    prior = np.bincount(label, minlength=labels) + pseudo_count
    tables = []
    for cells, size in zip(rows.cells, rows.sizes, strict=True):
        counts = np.bincount(label * size + cells, minlength=labels * size).reshape(labels, size)
        smoothed = counts + pseudo_count
        tables.append(smoothed / smoothed.sum(axis=1, keepdims=True))
    return prior / prior.sum(), tables


def _empirical_likelihood(train: Rows, test: Rows) -> FloatArray:
    """(m,) share of the training rows that are just like each test row."""
    both = np.vstack(
        [np.column_stack([part.public, part.private, *part.cells]) for part in (train, test)]
    )
    _, number = np.unique(both, axis=0, return_inverse=True)
    number = number.ravel()
    counts = np.bincount(number[: len(train)], minlength=int(number.max()) + 1)
    return np.asarray(counts[number[len(train) :]] / max(1, len(train)))


@dataclass(frozen=True, slots=True)
class CellChain:
    """What an observer may know of how a node's cells follow each other, and what alpha leaves."""

    backward: LeakageTable
    forward: LeakageTable
    steady: SteadyState


def learn_chain(
    times_seconds: FloatArray,
    cells: IntArray,
    size: int,
    *,
    step_seconds: float,
    alpha: float,
    smoothing: float,
) -> CellChain:
    """The chain of one node's cells, one a step (the first reading in it), and its account.

    Raises:
        LeakageError: too short a log, or no constant budget keeps alpha.
    """
    steps = np.floor(times_seconds / step_seconds).astype(np.int64)
    first = np.concatenate([[True], np.diff(steps) > 0])[: steps.size]
    names = tuple(str(cell) for cell in range(max(2, size)))
    runs = join_steps(steps[first], [names[cell] for cell in cells[first].tolist()], 0)
    learned = learn(runs, smoothing, names)
    adversary = Adversary.knowing(learned.backward, learned.forward)
    return CellChain(adversary.backward, adversary.forward, steady_state(adversary, alpha))
