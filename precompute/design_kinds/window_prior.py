"""The prior of a window as covariance matrices: some to design against, more to check against.

A kernel with a range of lengthscales (or dampings) is designed against at a few points of it, and
the noise is checked at eight times as many; those that turn out worst join the few
(:mod:`precompute.design_kinds.window_exchange`). What lies between is not proved, and the design
says so; a stream's is.
"""

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from agent.formats.designs import FloatArray
from agent.formats.quantities import format_duration
from precompute.errors import DesignError
from precompute.priors.kernels import Kernel
from precompute.priors.prior_class import CombinedRange, KernelRange, Member, PriorClass, Range

# Neighbouring design points differ by at most this factor, but for very wide ranges.
RATIO = 1.6
MOST_POINTS = 8
FINER = 8
MOST_ENTRIES = 60_000_000


@dataclass(frozen=True, slots=True)
class WindowPrior:
    """Covariances (n, n): of the kernels designed against, and of those checked besides.

    ``sentences`` describe the class, one for each member, with what was checked of it.
    """

    designed: tuple[FloatArray, ...]
    checked: tuple[FloatArray, ...]
    sentences: tuple[str, ...]


def window_prior(prior: PriorClass, times: FloatArray, *, variance_needed: bool) -> WindowPrior:
    """Every kernel of the class at these times (seconds, evenly spaced).

    Raises:
        DesignError: a period below two steps, a variance that is missing but needed, or a range
            inside a sum or product.
    """
    designed: list[FloatArray] = []
    checked: list[FloatArray] = []
    sentences: list[str] = []
    for member in prior.kernels:
        if times.size > 1:
            _require_sampled(member, float(times[1] - times[0]))
        if variance_needed:
            _require_variance(member)
        if isinstance(member, CombinedRange):
            # A range inside one is refused by kernel(), in its own words.
            designed.append(member.kernel().covariance(times, times))
            sentences.append(member.describe())
            continue
        before = len(checked)
        for fine in (False, True) if not member.is_point else (False,):
            (checked if fine else designed).extend(_covariances(member, times, fine=fine))
        sentences.append(member.describe() + _checked_at(member, len(checked) - before))
        if (len(designed) + len(checked)) * times.size**2 > MOST_ENTRIES:
            raise DesignError(
                f"{len(designed) + len(checked)} kernels for {times.size} readings are too much "
                "for a window; narrow the ranges of the prior, or use kind: stream"
            )
    return WindowPrior(tuple(designed), tuple(checked), tuple(sentences))


def scaled_priors(prior: PriorClass, times: FloatArray, factor: float) -> FloatArray | None:
    """Covariances (priors, n, n) at multiples of each lengthscale; None where none has any.

    A range is taken at its two ends; a damping stays as it is.
    """
    if not all(_has_lengthscale(member) for member in prior.kernels):
        return None
    kernels: list[Kernel] = []
    for member in prior.kernels:
        if isinstance(member, CombinedRange):
            kernels.append(_scaled(member, factor).kernel())
            continue
        ends = sorted({member.lengthscale.low, member.lengthscale.high})
        kernels += [member.kernel_at(factor * end) for end in ends]
    return np.array([kernel.covariance(times, times) for kernel in kernels])


def _has_lengthscale(member: Member) -> bool:
    return isinstance(member, KernelRange) or any(_has_lengthscale(part) for part in member.parts)


def _scaled(member: Member, factor: float) -> Member:
    if isinstance(member, CombinedRange):
        return replace(member, parts=tuple(_scaled(part, factor) for part in member.parts))
    low, high = member.lengthscale.low, member.lengthscale.high
    return replace(member, lengthscale=Range(factor * low, factor * high))


def _checked_at(member: KernelRange, count: int) -> str:
    if not count:
        return ""
    what = "lengthscales" if member.damping is None else "kernels"
    return f" (checked at {count} {what}; not proved between them)"


def _covariances(member: KernelRange, times: FloatArray, *, fine: bool) -> list[FloatArray]:
    lengthscales = _points(member.lengthscale, fine=fine)
    dampings = [None] if member.damping is None else _points(member.damping, fine=fine)
    return [
        member.kernel_at(lengthscale, damping).covariance(times, times)
        for lengthscale, damping in product(lengthscales, dampings)
    ]


def _points(span: Range, *, fine: bool) -> list[float]:
    if span.is_point:
        return [span.low]
    intervals = min(MOST_POINTS - 1, math.ceil(math.log(span.high / span.low) / math.log(RATIO)))
    count = intervals * (FINER if fine else 1) + 1
    return [float(value) for value in np.geomspace(span.low, span.high, count)]


def _require_sampled(member: Member, step: float) -> None:
    """A period below two steps looks like another, longer one (aliasing)."""
    if isinstance(member, CombinedRange):
        for part in member.parts:
            _require_sampled(part, step)
    elif member.period is not None and member.period < 2 * step:
        raise DesignError(
            f"a period of {format_duration(member.period)} with readings every "
            f"{format_duration(step)}; expected at least two steps a period: shorten the step"
        )


def _require_variance(member: Member) -> None:
    parts = member.parts if isinstance(member, CombinedRange) else ()
    for part in parts:
        _require_variance(part)
    if not parts and member.variance is None:
        raise DesignError(
            f"the prior '{member.describe()}' has no variance; these secrets need it: write "
            "variance: ... (unit squared), or secrets: all with one kernel of one lengthscale"
        )
