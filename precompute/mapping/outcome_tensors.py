"""p(h, g, z) of a mapped joint, whole or as a linear function of one sensor's map.

With the other sensors fixed, p(h, g, z) = sum_x tensor[h, g, o, x] map[x, z_t], where o numbers
what the others say, in C order of their axes. Everything is a sum of products of probabilities,
so that no cancellation spoils small numbers.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from precompute.mapping.joint import FloatArray, Joint

# Numbers held at a time while outcomes are added up over the classes (8 bytes each).
CHUNK = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """A joint's classes, ordered so that those of one (h, g) stand together.

    Attributes:
        weights: (K,) of the classes.
        bounds: (|H| |G| + 1,) where the classes of each (h, g) begin and end, g fastest.
        tables: for each sensor (K, |X_t|).
        publics: |H|.
        privates: |G|.
        value_of: of :class:`Joint`.
    """

    weights: FloatArray
    bounds: tuple[int, ...]
    tables: tuple[FloatArray, ...]
    publics: int
    privates: int
    value_of: tuple[int, ...] | None = None


def group(joint: Joint) -> Grouped:
    """The joint with like classes merged and ordered by (h, g); classes of no weight go."""
    one = joint.merged()
    number = one.public * one.privates + one.private
    order = np.argsort(number, kind="stable")
    order = order[one.weights[order] > 0]
    bounds = np.searchsorted(number[order], np.arange(one.publics * one.privates + 1))
    return Grouped(
        one.weights[order],
        tuple(int(bound) for bound in bounds),
        tuple(np.ascontiguousarray(table[order]) for table in one.tables),
        one.publics,
        one.privates,
        one.value_of,
    )


def products(tables: Sequence[FloatArray], classes: slice) -> FloatArray:
    """(product of sizes, k) what several independent tables say together, class by class."""
    # Classes are the last axis: there are few symbols and perhaps thousands of classes.
    flat = np.ones((1, classes.stop - classes.start))
    for table in tables:
        part = np.ascontiguousarray(table[classes.start : classes.stop].T)
        flat = (flat[:, None, :] * part[None, :, :]).reshape(-1, flat.shape[1])
    return flat


def of_public(grouped: Grouped, table: FloatArray) -> FloatArray:
    """(|H|, k) p(h, what one sensor reads or says), from (K, k) of the classes."""
    found = np.zeros((grouped.publics, table.shape[1]))
    for cell, (begin, end) in enumerate(itertools.pairwise(grouped.bounds)):
        found[cell // grouped.privates] += grouped.weights[begin:end] @ table[begin:end]
    return found


def tensor(
    grouped: Grouped, said: Sequence[FloatArray], sensor: int, own: FloatArray
) -> FloatArray:
    """(|H|, |G|, o, |X_t|) p(h, g, what the others say, x_t).

    Args:
        grouped: the classes.
        said: for each sensor (K, |Z_u|); the one of ``sensor`` is not looked at.
        sensor: t.
        own: (K, |X_t|) what sensor t's map is given.
    """
    others = [table for number, table in enumerate(said) if number != sensor]
    width = math.prod(table.shape[1] for table in others)
    found = np.zeros((grouped.publics * grouped.privates, width, own.shape[1]))
    step = max(1, CHUNK // width)
    weighed = grouped.weights[:, None] * own
    for start in range(0, grouped.weights.size, step):
        part = slice(start, min(start + step, grouped.weights.size))
        flat = products(others, part)
        for cell, here in _cells(grouped, part):
            found[cell] += flat[:, here.start - start : here.stop - start] @ weighed[here]
    return found.reshape(grouped.publics, grouped.privates, width, own.shape[1])


def outcomes(grouped: Grouped, said: Sequence[FloatArray]) -> FloatArray:
    """(|H|, |G|, N) p(h, g, z), z in C order of the sensors' axes."""
    half = len(said) // 2
    head, tail = said[:half], said[half:]
    wide = math.prod(table.shape[1] for table in head)
    high = math.prod(table.shape[1] for table in tail)
    found = np.zeros((grouped.publics * grouped.privates, wide, high))
    step = max(1, CHUNK // max(wide, high))
    for start in range(0, grouped.weights.size, step):
        part = slice(start, min(start + step, grouped.weights.size))
        left = grouped.weights[part] * products(head, part)
        right = products(tail, part).T
        for cell, here in _cells(grouped, part):
            place = slice(here.start - start, here.stop - start)
            found[cell] += left[:, place] @ right[place]
    return found.reshape(grouped.publics, grouped.privates, wide * high)


def _cells(grouped: Grouped, part: slice) -> Iterator[tuple[int, slice]]:
    """Each (h, g) that has classes among these, and which."""
    for cell, (begin, end) in enumerate(zip(grouped.bounds, grouped.bounds[1:], strict=False)):
        here = slice(max(begin, part.start), min(end, part.stop))
        if here.start < here.stop:
            yield cell, here
