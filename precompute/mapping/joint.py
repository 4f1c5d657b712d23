"""The joint distribution p(h, g, x_1…x_s) of both hypotheses and all sensors.

A mixture of products: p(h, g, x) = Σ_k w_k [h = h_k] [g = g_k] Π_t P_t[k, x_t]. Every joint over
finite alphabets is one (a class for each cell with x_t certain); sensors that are independent
given (h, g) take one class for each (h, g); a labelled log takes one class for each different row.
Mapping sensor t by p(z|x) replaces P_t by P_t @ map_t, so that what is published has a joint of
the same form, and p(h, g, z) is linear in each sensor's map.

Conventions: maps are (|X_t|, |Z_t|), rows sum to 1. Hypotheses are numbered from 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from precompute.mapping.errors import MappingError

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
Maps: TypeAlias = tuple[FloatArray, ...]

# Sums further from 1 than this are a mistake; nearer ones are rounding, and are scaled.
SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """See the module's words. Arrays are read-only.

    Attributes:
        weights: (K,) of the classes, >= 0, summing to 1.
        public: (K,) each class's value of H.
        private: (K,) each class's value of G.
        tables: for each sensor (K, |X_t|), rows summing to 1.
        publics: |H|, at least 2.
        privates: |G|, at least 1 (a G that is constant needs no protection).
        value_of: where G is told apart by regimes (:mod:`precompute.mapping.regimes`), the value
            of G that each of the ``privates`` numbers belongs to; None where each is a value.

    Raises:
        MappingError: shapes that do not fit, or probabilities that are none.
    """

    weights: FloatArray
    public: IntArray
    private: IntArray
    tables: tuple[FloatArray, ...]
    publics: int
    privates: int
    value_of: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        weights = _probabilities("the weights of the classes", self.weights[None, :])[0]
        classes = weights.size
        if not self.tables:
            raise MappingError("joint: found no sensor; expected at least one")
        tables = []
        for number, table in enumerate(self.tables, start=1):
            if table.ndim != 2 or table.shape[0] != classes or table.shape[1] < 1:
                raise MappingError(
                    f"joint: the table of sensor {number} has the shape {table.shape}; expected "
                    f"({classes}, values)"
                )
            tables.append(_probabilities(f"the table of sensor {number}", table))
        if self.value_of is not None and (
            len(self.value_of) != self.privates or min(self.value_of) < 0
        ):
            raise MappingError(
                f"joint: found {len(self.value_of)} values of G for {self.privates} regimes of "
                "them; expected a number from 0 for each"
            )
        for name, labels, values in (
            ("public", self.public, self.publics),
            ("private", self.private, self.privates),
        ):
            if labels.shape != (classes,) or not bool(np.all((labels >= 0) & (labels < values))):
                raise MappingError(
                    f"joint: the {name} hypothesis of some class is not one of its {values} values"
                )
        for name, array in (
            ("weights", weights),
            ("public", np.array(self.public, dtype=np.intp)),
            ("private", np.array(self.private, dtype=np.intp)),
        ):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        for table in tables:
            table.setflags(write=False)
        object.__setattr__(self, "tables", tuple(tables))

    @property
    def sizes(self) -> tuple[int, ...]:
        """|X_t| of each sensor."""
        return tuple(table.shape[1] for table in self.tables)

    @property
    def prior(self) -> FloatArray:
        """(|H|, |G|) p(h, g)."""
        prior = np.zeros((self.publics, self.privates))
        np.add.at(prior, (self.public, self.private), self.weights)
        return prior

    def after(self, maps: Sequence[FloatArray]) -> "Joint":
        """The joint of H, G and what the sensors say through these maps."""
        if len(maps) != len(self.tables):
            raise MappingError(
                f"joint: found {len(maps)} maps; expected one for each of the "
                f"{len(self.tables)} sensors"
            )
        tables = tuple(table @ one for table, one in zip(self.tables, maps, strict=True))
        return replace(self, tables=tables)

    def without_regimes(self) -> "Joint":
        """The joint of H, the values of G, and the readings."""
        if self.value_of is None:
            return self
        return replace(
            self,
            private=np.array(self.value_of, dtype=np.intp)[self.private],
            privates=max(self.value_of) + 1,
            value_of=None,
        )

    def merged(self) -> "Joint":
        """The same joint with classes that are alike made one."""
        rows = np.hstack([self.public[:, None], self.private[:, None], *self.tables])
        _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        weights = _added(number, self.weights, first.size)
        return replace(
            self,
            weights=weights,
            public=self.public[first],
            private=self.private[first],
            tables=tuple(table[first] for table in self.tables),
        )

    def outcomes(self) -> FloatArray:
        """(|H|, |G|, |X_1|, …, |X_s|) p(h, g, x), every cell written out."""
        sizes = self.sizes
        flat = np.ones((self.weights.size, 1))
        for table in self.tables:
            flat = (flat[:, :, None] * table[:, None, :]).reshape(self.weights.size, -1)
        found = np.zeros((self.publics * self.privates, flat.shape[1]))
        np.add.at(found, self.public * self.privates + self.private, self.weights[:, None] * flat)
        return found.reshape(self.publics, self.privates, *sizes)


def joint_of_cells(cells: FloatArray) -> Joint:
    """From every cell: (|H|, |G|, |X_1|, …, |X_s|), summing to 1.

    Raises:
        MappingError: not a distribution.
    """
    if cells.ndim < 3:
        raise MappingError("joint: expected an array with an axis for H, for G and each sensor")
    _probabilities("the joint", cells.reshape(1, -1))
    places = np.nonzero(cells)
    tables = tuple(
        np.eye(size)[place] for size, place in zip(cells.shape[2:], places[2:], strict=True)
    )
    weights = cells[places] / cells.sum()
    return Joint(weights, places[0], places[1], tables, cells.shape[0], cells.shape[1])


def joint_of_independent_sensors(prior: FloatArray, tables: Sequence[FloatArray]) -> Joint:
    """Sensors that are independent of each other given both hypotheses.

    Args:
        prior: (|H|, |G|) p(h, g).
        tables: for each sensor (|H|, |G|, |X_t|) p(x|h, g).

    Raises:
        MappingError: not distributions.
    """
    publics, privates = prior.shape
    public, private = np.divmod(np.arange(publics * privates), privates)
    return Joint(
        prior.ravel(),
        public,
        private,
        tuple(table.reshape(publics * privates, -1) for table in tables),
        publics,
        privates,
    )


def joint_of_rows(
    public: IntArray,
    private: IntArray,
    cells: Sequence[IntArray],
    sizes: Sequence[int],
    *,
    publics: int,
    privates: int,
    value_of: tuple[int, ...] | None = None,
) -> Joint:
    """The empirical joint of a log: (n,) labels, and for each sensor (n,) numbers of cells."""
    weights = np.full(public.size, 1.0 / public.size)
    rows = np.column_stack([public, private, *cells])
    different, number = np.unique(rows, axis=0, return_inverse=True)
    weights = _added(number, weights, different.shape[0])
    tables = tuple(np.eye(size)[different[:, 2 + t]] for t, size in enumerate(sizes))
    return Joint(weights, different[:, 0], different[:, 1], tables, publics, privates, value_of)


def _probabilities(what: str, rows: FloatArray) -> FloatArray:
    """Rows scaled to sum to 1 exactly but for rounding, as new arrays."""
    rows = np.array(rows, dtype=np.float64)
    if not bool(np.all(np.isfinite(rows))) or bool(np.any(rows < 0)):
        raise MappingError(f"joint: {what} holds a number that is not a probability")
    sums = rows.sum(axis=1)
    worst = float(np.max(np.abs(sums - 1.0))) if sums.size else 1.0
    if worst > SUM_TOLERANCE:
        raise MappingError(
            f"joint: {what}: a sum is {worst:.3g} away from 1; expected probabilities that sum "
            "to 1; correct the numbers, or scale them"
        )
    return np.asarray(rows / sums[:, None])


def _added(numbers: IntArray, amounts: FloatArray, size: int) -> FloatArray:
    """(size,) the amounts of each number added up."""
    total = np.zeros(size)
    np.add.at(total, numbers.ravel(), amounts)
    return total
