"""A design whose budget the log itself confirms: the model's budget is lowered until it does.

Each try is a design of its own, and the held-out rows judge several. Which budget is tried next
depends on their earlier verdicts, so that it is not enough to divide the risk by the number of
tries: a later design is picked by the very rows that judge it. But budgets are halves of halves
of the one asked for, and a design depends on its budget and on the rows for the design only. So
the designs that *may* be tried, whatever the verdicts, are ``DESIGNS`` fixed ones. The risk is
divided by their number: with the confidence asked for the bounds of all of them hold at once, and
so does that of whichever ships (union bound).
"""

from collections.abc import Callable
from dataclasses import dataclass

from precompute.mapping.margin import Margin
from precompute.mapping.shipped_maps import ShippedMaps

TRIES = 4
# The budget asked for, then j/2, j/4, … of it with j odd: 1 + 1 + 2 + 4 + … possible designs.
DESIGNS = 2 ** (TRIES - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Confirmed:
    """A design and what the log says of it.

    Attributes:
        shipped: the maps.
        margin: the bound, at the whole confidence.
        model_budget: epsilon_I that the model was held to.
        kept: whether the bound is within what was asked for.
        tried: budgets and bounds of all tries, in their order.
    """

    shipped: ShippedMaps
    margin: Margin
    model_budget: float
    kept: bool
    tried: tuple[tuple[float, float], ...]


def confirmed_design(
    asked: float,
    design: Callable[[float], ShippedMaps],
    bound: Callable[[ShippedMaps, float], Margin],
    confidence: float,
) -> Confirmed:
    """The design with the largest budget tried whose bound keeps ``asked``.

    Args:
        asked: epsilon_I, nats.
        design: maps for a model's budget; must not look at the rows that judge.
        bound: of maps, with a confidence.
        confidence: of the result.

    Returns:
        Where no budget that is tried succeeds, the design at ``asked``, with ``kept`` false.
    """
    each = 1 - (1 - confidence) / DESIGNS
    tried: list[tuple[float, float]] = []

    def attempt(budget: float) -> Confirmed:
        shipped = design(budget)
        found = bound(shipped, each)
        tried.append((budget, found.upper))
        whole = Margin(found.upper, confidence, found.blocks, found.rows, found.by_local)
        return Confirmed(shipped, whole, budget, found.upper <= asked, ())

    best = attempt(asked)
    low, high = 0.0, asked
    while not (best.kept and best.model_budget == asked) and len(tried) < TRIES and asked > 0:
        middle = (low + high) / 2
        one = attempt(middle)
        if one.kept:
            best, low = one, middle
        else:
            high = middle
    return Confirmed(best.shipped, best.margin, best.model_budget, best.kept, tuple(tried))
