"""A prior class: the family of kernels against which a design must hold, as values.

A class is a union of members. A :class:`KernelRange` is one kernel family whose lengthscale (and
damping) may lie anywhere in a range; a :class:`CombinedRange` is a sum or product of members, a
constant or white noise. A variance left out means: any variance.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from agent.formats.quantities import format_duration
from precompute.errors import PriorError
from precompute.priors.kernels import (
    ENVELOPES,
    Constant,
    DampedPeriodic,
    Envelope,
    Kernel,
    Periodic,
    Product,
    Sum,
    White,
    smooth_kernel,
)

Family: TypeAlias = Literal[
    "rbf", "matern12", "matern32", "matern52", "periodic", "damped_periodic"
]
FAMILIES: tuple[Family, ...] = get_args(Family)
PERIODIC_FAMILIES: tuple[Family, ...] = ("periodic", "damped_periodic")
Operation: TypeAlias = Literal["sum", "product", "constant", "white"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)

_TITLES: dict[Family, str] = {
    "rbf": "RBF",
    "matern12": "Matérn-1/2",
    "matern32": "Matérn-3/2",
    "matern52": "Matérn-5/2",
    "periodic": "periodic",
    "damped_periodic": "damped periodic",
}


@dataclass(frozen=True, slots=True)
class Range:
    """A closed range of positive numbers; ``low == high`` is one point."""

    low: float
    high: float

    def __post_init__(self) -> None:
        for value in (self.low, self.high):
            if not (math.isfinite(value) and value > 0):
                raise PriorError(f"found {value!r} in a range; expected finite numbers above zero")
        if self.low > self.high:
            raise PriorError(
                f"the range runs from {self.low:g} down to {self.high:g}; write the smaller first"
            )

    @classmethod
    def point(cls, value: float) -> "Range":
        """The range that holds this value only."""
        return cls(value, value)

    @property
    def is_point(self) -> bool:
        """Whether there is just one value."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class KernelRange:
    """One kernel family over a range of its parameters.

    Attributes:
        lengthscale: seconds; for the two periodic families relative to the period, no unit.
        period: seconds; the periodic families have one, the others none.
        damping: seconds, the lengthscale of the envelope; damped_periodic only.
        variance: unit^2; None means any variance.
        envelope: family of the damping; read by damped_periodic only.
    """

    family: Family
    lengthscale: Range
    period: float | None = None
    damping: Range | None = None
    variance: float | None = None
    envelope: Envelope = "rbf"

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise PriorError(
                f"kernel family {self.family!r}: expected one of {', '.join(FAMILIES)}"
            )
        if (self.period is not None) != (self.family in PERIODIC_FAMILIES):
            raise PriorError("a period belongs to periodic and damped_periodic, and only to them")
        if (self.damping is not None) != (self.family == "damped_periodic"):
            raise PriorError("damping belongs to damped_periodic, and only to it")
        if self.envelope not in ENVELOPES:
            raise PriorError(f"envelope {self.envelope!r}: expected one of {', '.join(ENVELOPES)}")
        for name, value in (("period", self.period), ("variance", self.variance)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise PriorError(f"{name} is {value!r}; expected a finite number above zero")

    @property
    def is_point(self) -> bool:
        """Whether it holds just one kernel (up to its variance)."""
        return self.lengthscale.is_point and (self.damping is None or self.damping.is_point)

    def kernel(self) -> Kernel:
        """The one kernel of a range that is a point; variance 1 where none is written.

        Raises:
            PriorError: a proper range; see :meth:`kernel_at`.
        """
        if not self.is_point:
            raise PriorError(
                f"the prior is a range ({self.describe()}); expected a single kernel: "
                "write one lengthscale and one damping"
            )
        return self.kernel_at(self.lengthscale.low)

    def kernel_at(
        self, lengthscale: float, damping: float | None = None, variance: float | None = None
    ) -> Kernel:
        """The family's kernel with these parameters, whether inside the range or outside.

        ``damping`` defaults to the range's low end, ``variance`` to the written one, else 1.
        """
        if variance is None:
            variance = 1.0 if self.variance is None else self.variance
        if self.family == "periodic":
            assert self.period is not None
            return Periodic(lengthscale, self.period, variance)
        if self.family == "damped_periodic":
            assert self.period is not None
            assert self.damping is not None
            fades = self.damping.low if damping is None else damping
            return DampedPeriodic(lengthscale, self.period, fades, variance, self.envelope)
        return smooth_kernel(self.family, lengthscale, variance)

    def describe(self) -> str:
        """One sentence for a guarantee, without a full stop."""
        title = _TITLES[self.family]
        if self.family in PERIODIC_FAMILIES:
            assert self.period is not None
            title += f" of period {format_duration(self.period)}"
            title += f", relative lengthscale {_numbers(self.lengthscale)}"
            if self.damping is not None:
                title += f", damped ({_TITLES[self.envelope]}) over {_durations(self.damping)}"
        else:
            title += f" of lengthscale {_durations(self.lengthscale)}"
        return title + _variance(self.variance)


@dataclass(frozen=True, slots=True)
class CombinedRange:
    """A sum or product of members, or a constant or white noise, which have no lengthscale."""

    family: Operation
    parts: "tuple[Member, ...]" = ()
    variance: float | None = None

    def __post_init__(self) -> None:
        if self.family not in OPERATIONS:
            raise PriorError(
                f"kernel family {self.family!r}: expected one of {', '.join(OPERATIONS)}"
            )
        if (len(self.parts) >= 2) != (self.family in ("sum", "product")) or len(self.parts) == 1:
            raise PriorError("a sum or product has two or more parts; another kernel has none")
        if self.parts and self.variance is not None:
            raise PriorError(f"a {self.family} has no variance of its own; give it to the parts")
        if self.variance is not None and not (math.isfinite(self.variance) and self.variance > 0):
            raise PriorError(f"variance is {self.variance!r}; expected a finite number above zero")

    @property
    def is_point(self) -> bool:
        """Whether it holds just one kernel (up to variances)."""
        return all(part.is_point for part in self.parts)

    def kernel(self) -> Kernel:
        """The one kernel; variances default to 1.

        Raises:
            PriorError: a part is a proper range.
        """
        match self.family:
            case "sum":
                return Sum(tuple(part.kernel() for part in self.parts))
            case "product":
                return Product(tuple(part.kernel() for part in self.parts))
            case "constant":
                return Constant(1.0 if self.variance is None else self.variance)
            case "white":
                return White(1.0 if self.variance is None else self.variance)

    def describe(self) -> str:
        """One sentence for a guarantee, without a full stop."""
        if self.parts:
            return f"{self.family} of ({'; '.join(part.describe() for part in self.parts)})"
        return self.family + _variance(self.variance)


Member: TypeAlias = KernelRange | CombinedRange


@dataclass(frozen=True, slots=True)
class PriorClass:
    """What the adversary may believe: any member, any mean.

    Attributes:
        kernels: the members, one or more.
        between_axes: coregionalisation matrix, row by row; None means independent axes.
    """

    kernels: tuple[Member, ...]
    between_axes: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        if not self.kernels:
            raise PriorError("a prior without kernels; expected one or more")

    @property
    def is_point(self) -> bool:
        """Whether it is a single kernel (up to its variance)."""
        return len(self.kernels) == 1 and self.kernels[0].is_point

    def kernel(self) -> Kernel:
        """The single kernel.

        Raises:
            PriorError: the class has more than one.
        """
        if len(self.kernels) != 1:
            raise PriorError(f"the prior has {len(self.kernels)} kernels; expected a single one")
        return self.kernels[0].kernel()

    def ranges(self) -> Iterator[KernelRange]:
        """The members, for a reader that can use plain families only.

        Raises:
            PriorError: a member is a sum, product, constant or white noise.
        """
        for member in self.kernels:
            if not isinstance(member, KernelRange):
                raise PriorError(
                    f"the prior holds a kernel of the family {member.family!r}, which this design "
                    f"cannot use; expected {', '.join(FAMILIES)}, or a window design"
                )
            yield member

    def describe(self) -> tuple[str, ...]:
        """One sentence for each member."""
        return tuple(member.describe() for member in self.kernels)


def _durations(span: Range) -> str:
    low, high = format_duration(span.low), format_duration(span.high)
    return low if span.is_point else f"{low} to {high}"


def _numbers(span: Range) -> str:
    return f"{span.low:g}" if span.is_point else f"{span.low:g} to {span.high:g}"


def _variance(variance: float | None) -> str:
    return ", any variance" if variance is None else f", variance {variance:g}"
