"""The ``prior:`` of a design, read strictly: written out, or in a file of its own.

    prior:
      kernels:
        - {family: rbf, lengthscale: [30 s, 14 d]}
        - {family: damped_periodic, lengthscale: 0.7, period: 1 d, damping: [3 d, 30 d]}

or ``prior: prior.yaml``, a file beside the design with that same ``prior:`` at its top.

====================  ==========================================================================
key of a kernel       meaning
====================  ==========================================================================
family                rbf, matern12 (or ou), matern32, matern52, periodic, damped_periodic,
                      constant, white, sum, product
lengthscale           a time or ``[low, high]``; a bare number for the two periodic families
period                a time; periodic families
damping               a time or ``[low, high]``; damped_periodic
envelope              rbf (default), matern12 (or ou), matern32, matern52; damped_periodic
variance              optional, in the channel's unit squared: ``1``, or ``1 m2`` with its unit;
                      left out: any variance
parts                 list of kernels; sum and product
====================  ==========================================================================

``coregionalisation: [[1, 0.4], [0.4, 1]]`` beside ``kernels`` correlates the axes.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from agent.formats.documents import Section, list_of, load_yaml, number, one_of, positive
from agent.formats.errors import FormatError, shown
from agent.formats.quantities import format_duration, parse_duration, parse_squared
from precompute.errors import PriorError
from precompute.priors.kernels import ENVELOPES, Coregionalised, Envelope, White
from precompute.priors.prior_values import (
    FAMILIES,
    OPERATIONS,
    PERIODIC_FAMILIES,
    CombinedRange,
    Family,
    KernelRange,
    Member,
    Operation,
    PriorClass,
    Range,
)

__all__ = [
    "CombinedRange",
    "Family",
    "KernelRange",
    "Member",
    "PriorClass",
    "Range",
    "load_prior",
    "parse_prior",
    "read_prior",
]

MAX_DEPTH = 5
_ALIASES = {"ou": "matern12"}


def parse_prior(
    owner: Section,
    folder: Path,
    key: str = "prior",
    *,
    unit: str | None = None,
    correlated_axes: bool = False,
) -> PriorClass:
    """The prior class under a key of a design.

    Args:
        owner: the section that holds the key.
        folder: where a named file is looked for: the folder of the design file.
        key: the key.
        unit: of the channel, in whose square a variance may be written; None: bare numbers only.
        correlated_axes: whether the caller honours ``coregionalisation``; refused otherwise.

    Raises:
        FormatError: anything unknown, missing, without its unit or out of order.
        PriorError: coregionalisation that the caller cannot use.
    """
    value = owner.raw(key)
    if isinstance(value, str):
        path = folder / value
        if not path.is_file():
            raise owner.fail(key, f"{path}: no such file; give kernels, or a file that fit wrote")
        prior = load_prior(path, unit)
    else:
        prior = read_prior(owner.section(key), unit)
    if prior.between_axes is not None and not correlated_axes:
        raise PriorError(
            f"{owner.where}.{key}: coregionalisation is for window designs of several axes; "
            "leave it out here (independent axes)"
        )
    return prior


def load_prior(path: Path, unit: str | None = None) -> PriorClass:
    """The prior class in a file such as ``sfumato fit`` writes.

    Raises:
        FormatError: unreadable, or not such a file.
    """
    document = load_yaml(path)
    prior = read_prior(document.section("prior"), unit)
    document.close()
    return prior


def read_prior(section: Section, unit: str | None = None) -> PriorClass:
    """The prior class from the mapping that holds ``kernels``.

    Raises:
        FormatError: anything unknown, missing, without its unit or out of order.
    """
    kernels = tuple(_member(item, 1, unit) for item in section.sections("kernels"))
    between_axes = section.take_or("coregionalisation", _matrix, None)
    section.close()
    return PriorClass(kernels, between_axes)


def _member(section: Section, depth: int, unit: str | None) -> Member:
    if depth > MAX_DEPTH:
        raise FormatError(f"{section.where}: nested deeper than {MAX_DEPTH}; write a simpler prior")
    family = section.take("family", one_of(*FAMILIES, "ou", *OPERATIONS))
    family = _ALIASES.get(family, family)
    variance = section.take_or("variance", lambda value: _variance(value, unit), None)
    member: Member
    try:
        if family in OPERATIONS:
            parts: tuple[Member, ...] = ()
            if family in ("sum", "product"):
                parts = tuple(_member(item, depth + 1, unit) for item in section.sections("parts"))
            member = CombinedRange(_operation(family), parts, variance)
        else:
            member = _kernel_range(section, _family(family), variance)
    except PriorError as error:
        raise FormatError(f"{section.where}: {error}") from None
    section.close()
    return member


def _kernel_range(section: Section, family: Family, variance: float | None) -> KernelRange:
    if family not in PERIODIC_FAMILIES:
        return KernelRange(family, section.take("lengthscale", _times), variance=variance)
    lengthscale = section.take("lengthscale", _numbers)
    period = section.take("period", parse_duration)
    if family == "periodic":
        return KernelRange(family, lengthscale, period=period, variance=variance)
    return KernelRange(
        family,
        lengthscale,
        period=period,
        damping=section.take("damping", _times),
        variance=variance,
        envelope=section.take_or("envelope", _envelope, "rbf"),
    )


def _variance(value: object, unit: str | None) -> float:
    if unit is None or not isinstance(value, str):
        return positive(value)
    return parse_squared(value, unit)


def _times(value: object) -> Range:
    return _range(value, parse_duration, format_duration, "[30 s, 14 d]")


def _numbers(value: object) -> Range:
    if isinstance(value, str):
        raise FormatError(
            f"{shown(value)} is text; the lengthscale of a periodic kernel is relative to its "
            "period: write a bare number, for example 0.7"
        )
    return _range(value, positive, "{:g}".format, "[0.5, 1.5]")


def _range(
    value: object, parse: Callable[[Any], float], show: Callable[[float], str], example: str
) -> Range:
    if not isinstance(value, list):
        return Range.point(parse(value))
    if len(value) != 2:
        raise FormatError(f"found {len(value)} values; expected two, for example {example}")
    low, high = (parse(item) for item in value)
    if low > high:
        raise FormatError(
            f"the range runs from {show(low)} down to {show(high)}; write the smaller first"
        )
    return Range(low, high)


def _matrix(value: object) -> tuple[tuple[float, ...], ...]:
    rows = tuple(tuple(row) for row in list_of(list_of(number))(value))
    if any(len(row) != len(rows) for row in rows):
        raise FormatError(f"found {len(rows)} rows of other lengths; expected a square matrix")
    try:
        Coregionalised(White(), np.array(rows))
    except PriorError as error:
        raise FormatError(str(error)) from None
    return rows


def _family(word: str) -> Family:
    return next(family for family in FAMILIES if family == word)


def _operation(word: str) -> Operation:
    return next(operation for operation in OPERATIONS if operation == word)


def _envelope(value: object) -> Envelope:
    word = one_of(*ENVELOPES, "ou")(value)
    word = _ALIASES.get(word, word)
    return next(envelope for envelope in ENVELOPES if envelope == word)
