"""Regimes: days, seasons or any parts of a log in which readings may follow G in another way.

A joint learnt from a whole log is an average over its days, and information privacy that holds for
the average need not hold on any one of them: what a symbol tells of G where the sun shines differs
from what it tells at night. Here each value of G is told apart by regimes, and the guard is

    p(z | g, r) <= exp(epsilon) p(z | g', r')    for all g != g', all their regimes r and r', all z.

It is what information privacy needs for the whole class: let p(x|g) be *any* mixture of the
regimes of g, with shares of their own for each g, and let p(g) be anything. Then p(z|g)/p(z|g') is
between the least and the largest of these ratios (a ratio of means lies between the ratios of their
parts), and p(g|z)/p(g) = p(z|g) / sum_g' p(g') p(z|g') between exp(-epsilon) and exp(epsilon).
Conversely, a class that holds p(g) near 0 and 1 needs just these ratios. (Ours. The published
constraint fixes both p(g) and p(x|g).)

Numbers: ``number[i]`` of a row stands for the pair of its G and regime, ``value_of[number]`` is G.
"""

from dataclasses import dataclass

import numpy as np

from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, IntArray

# Pairs of a value of G and a regime; the comparisons, two for each two pairs, are rows of programs.
MOST_REGIMES = 64
# Fewer rows than this say too little of how readings follow G; they join those before them.
LEAST_ROWS = 30


@dataclass(frozen=True, slots=True, eq=False)
class Regimes:
    """A log's rows by G and regime.

    Attributes:
        number: (n,) of the pair of each row.
        value_of: the value of G of each pair.
        periods: how many regimes the log has, whatever G is in them.
        joined: pairs that had too few rows to stand alone.
    """

    number: IntArray
    value_of: tuple[int, ...]
    periods: int
    joined: int


def periods(times_seconds: FloatArray, every_seconds: float, offset_seconds: float) -> IntArray:
    """(n,) which period of local time each row is in, from 0."""
    number = np.floor((times_seconds + offset_seconds) / every_seconds)
    return np.asarray(np.unique(number, return_inverse=True)[1].ravel())


def regimes(private: IntArray, period: IntArray, *, least: int = LEAST_ROWS) -> Regimes:
    """Rows numbered by the pair of their value of G and their period.

    Args:
        private: (n,) values of G.
        period: (n,) numbers from 0, in an order in which neighbours are alike (time).
        least: pairs with fewer rows join the pair of the same G before them, or after the first.

    Raises:
        MappingError: more than ``MOST_REGIMES`` pairs.
    """
    number = np.empty(private.size, dtype=np.intp)
    value_of: list[int] = []
    joined = 0
    for value in np.unique(private).tolist():
        rows = np.flatnonzero(private == value)
        found, place, counts = np.unique(period[rows], return_inverse=True, return_counts=True)
        group = _grouped(counts, least)
        joined += found.size - (int(group[-1]) + 1)
        number[rows] = len(value_of) + group[place.ravel()]
        value_of += [value] * (int(group[-1]) + 1)
    if len(value_of) > MOST_REGIMES:
        raise MappingError(
            f"regimes: found {len(value_of)} pairs of a value of G and a regime; expected at most "
            f"{MOST_REGIMES}; take longer regimes"
        )
    return Regimes(number, tuple(value_of), int(np.unique(period).size), joined)


def comparisons(value_of: tuple[int, ...]) -> IntArray:
    """(P, 2) all ordered pairs of numbers whose values of G differ."""
    values = np.array(value_of)
    return np.asarray(np.argwhere(values[:, None] != values[None, :]))


def _grouped(counts: IntArray, least: int) -> IntArray:
    """(k,) group of each period, from 0: no group but perhaps the only one has too few rows."""
    group, held, here = np.zeros(counts.size, dtype=np.intp), 0, 0
    for place, count in enumerate(counts.tolist()):
        # The next group begins only if enough is left for it.
        if held >= least and int(counts[place:].sum()) >= least:
            here, held = here + 1, 0
        group[place] = here
        held += count
    return group
