"""What a mapping tells across regimes, by counting rows: no smoothing, and rows it has not seen.

The design guards the regimes of the joint that was learnt, which is smoothed. The rows themselves
may show more, those held out much more: their days are other days. Neither number is a bound;
both belong beside the one that is promised.
"""

from dataclasses import dataclass

from agent.formats.amounts import bound_in_words
from precompute.mapping.achieved import information_across
from precompute.mapping.joint import Joint, Maps

# A regime's figure may pass what was asked for by this share before it is a warning.
NEAR = 1.05


@dataclass(frozen=True, slots=True)
class AcrossRegimes:
    """epsilon_I over every mixture of some rows' regimes, nats.

    Attributes:
        rows: in the design's rows as they are; infinite where a symbol is impossible in some.
        held_out: in the held-out rows; None where they do not hold two values of G.
    """

    rows: float
    held_out: float | None


def across_regimes(maps: Maps, design: Joint, held_out: Joint | None) -> AcrossRegimes:
    """Both figures.

    Args:
        maps: p(z|x) of each node, as they ship.
        design: the empirical joint of the design's rows, with regimes.
        held_out: of the held-out rows, or None.
    """
    later = None if held_out is None else information_across(held_out, maps)
    return AcrossRegimes(information_across(design, maps), later)


def across_words(found: AcrossRegimes) -> str:
    """A sentence for the bundle."""
    later = (
        ""
        if found.held_out is None
        else f", and {bound_in_words(found.held_out)} in the later rows that the design has not "
        "seen"
    )
    return (
        "counted in the rows themselves, without smoothing, epsilon_I over their regimes is "
        f"{bound_in_words(found.rows)}{later}; these are counts, not bounds"
    )


def across_warnings(found: AcrossRegimes, asked: float) -> tuple[str, ...]:
    """Where the rows show clearly more than was asked for."""
    warnings = []
    if found.rows > NEAR * asked:
        warnings.append(
            f"the design's own rows show epsilon_I {bound_in_words(found.rows)} over their "
            f"regimes, asked for was {asked:g}: smoothing hides the rest; give it less weight, for "
            "example smoothing: {weight: 0.02}"
        )
    if found.held_out is not None and found.held_out > NEAR * asked:
        warnings.append(
            f"the later rows show epsilon_I {bound_in_words(found.held_out)} over their regimes, "
            f"asked for was {asked:g}: their days are unlike those of the design; use a longer log"
        )
    return tuple(warnings)
