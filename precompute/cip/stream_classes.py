"""From the prior class of a design to the families of shapes that a stream is designed against.

A stream protects for ever, so it can cover only priors that forget. A sum of kernels is covered by
its parts: K is convex in the prior's spectrum (a quadratic form of phi), so with shares that sum to
1 it is at most the largest K of the parts, whatever the shares.
"""

from precompute.cip.stream_shapes import RoutineShapes, ScaleShapes, ShapeFamily
from precompute.errors import DesignError
from precompute.priors.prior_class import CombinedRange, KernelRange, Member, PriorClass

# Sharper routines have hundreds of harmonics; the search over them would take very long.
SHARPEST_ROUTINE = 0.25
WIDEST_RANGE = 1e9


def shape_families(prior: PriorClass) -> tuple[ShapeFamily, ...]:
    """One family for each kernel of the class, the parts of sums counted one by one.

    Raises:
        DesignError: a kernel that never forgets, white noise, or one not supported.
    """
    if prior.between_axes is not None:
        raise DesignError(
            "stream noise is independent between axes; leave coregionalisation out of its prior"
        )
    return tuple(family for member in prior.kernels for family in _families(member))


def _families(member: Member) -> list[ShapeFamily]:
    if isinstance(member, CombinedRange):
        if member.family == "sum":
            return [family for part in member.parts for family in _families(part)]
        raise DesignError(
            f"a stream cannot cover a prior of the family {member.family!r}; "
            "expected rbf, matern12, matern32, matern52, damped_periodic or sums of them; "
            "a window design can"
        )
    return [_family(member)]


def _family(member: KernelRange) -> ShapeFamily:
    span = member.lengthscale
    if member.family == "periodic":
        raise DesignError(
            "an exactly periodic prior repeats for ever, and averaging over its periods defeats "
            "stream noise, which fades; give the routine a damping time (family damped_periodic), "
            "or design a window"
        )
    if member.family == "damped_periodic":
        assert member.period is not None
        assert member.damping is not None
        if span.low < SHARPEST_ROUTINE:
            raise DesignError(
                f"a damped_periodic lengthscale of {span.low:g} is too sharp for a stream; "
                f"expected {SHARPEST_ROUTINE:g} or more (relative to the period)"
            )
        if member.damping.high > 1000 * member.period or member.damping.low < member.period / 4:
            raise DesignError(
                "a routine must fade over a quarter of its period to 1000 periods; "
                "change the damping of damped_periodic"
            )
        return RoutineShapes(
            member.envelope,
            member.period,
            span.low,
            span.high,
            member.damping.low,
            member.damping.high,
        )
    if span.high > WIDEST_RANGE * span.low:
        raise DesignError(
            f"lengthscales over a factor of {span.high / span.low:.3g}; "
            f"expected at most {WIDEST_RANGE:g}"
        )
    return ScaleShapes(member.family, span.low, span.high)
