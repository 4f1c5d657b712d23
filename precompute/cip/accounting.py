"""From information K to promises: rho, Rényi loss, (epsilon, delta), words.

The noise is Gaussian, so the Rényi loss of a secret is linear in the order: ``loss(order) = order *
rho`` with ``rho = K radius^2 / 2`` (docs/theory.md, "One number for every order"). Everything here
is arithmetic on that one number. Logarithms are natural.
"""

import math

from agent.formats.odds import epsilon_at_distance, odds_in_words
from precompute.errors import DesignError


def rho_from_information(information: float, radius: float) -> float:
    """Loss per order when two hypotheses lie up to ``radius`` apart: K r^2 / 2."""
    _require_nonnegative("information", information)
    _require_positive("radius", radius)
    return 0.5 * information * radius * radius


def information_for(rho: float, radius: float) -> float:
    """The information K (1/unit^2) that costs exactly ``rho`` at ``radius``."""
    _require_positive("rho", rho)
    _require_positive("radius", radius)
    return 2.0 * rho / (radius * radius)


def epsilon_at(rho: float, delta: float) -> float:
    """The least epsilon with ``P(log likelihood ratio > epsilon) <= delta``, over every order.

    ``order rho + log(1/delta) / (order - 1)`` (Meehan & Chaudhuri 2021, Theorem 3.1) is least at
    ``optimal_order``, where it is ``rho + 2 sqrt(rho log(1/delta))``.
    """
    _require_nonnegative("rho", rho)
    _require_probability(delta)
    return epsilon_at_distance(rho, delta, 1.0)


def rho_for(epsilon: float, delta: float) -> float:
    """Inverse of `epsilon_at`: the rho that a promise (epsilon, delta) allows."""
    _require_positive("epsilon", epsilon)
    _require_probability(delta)
    log_inverse_delta = math.log(1.0 / delta)
    # sqrt(L + epsilon) - sqrt(L), written so that a small epsilon does not cancel.
    root = epsilon / (math.sqrt(log_inverse_delta + epsilon) + math.sqrt(log_inverse_delta))
    return root * root


def optimal_order(rho: float, delta: float) -> float:
    """The order at which the conversion to (epsilon, delta) is tightest."""
    _require_positive("rho", rho)
    _require_probability(delta)
    return 1.0 + math.sqrt(math.log(1.0 / delta) / rho)


def epsilon_at_order(rho: float, order: float, delta: float) -> float:
    """The conversion at one order, as published; never below `epsilon_at`."""
    _require_nonnegative("rho", rho)
    require_order(order)
    _require_probability(delta)
    return order * rho + math.log(1.0 / delta) / (order - 1.0)


def rho_over_segments(rho: float, segments: int) -> float:
    """Loss per order when the trace is cut into pieces with independent noise.

    Pinching, ``blockdiag(noise) >= noise / segments``, multiplies the information by at most the
    number of pieces (docs/theory.md, "Lost noise state").
    """
    _require_nonnegative("rho", rho)
    if segments < 1:
        raise DesignError(f"refused segments: found {segments}, expected 1 or more")
    return rho * segments


def radius_on_grid(radius: float, grid: float, axes: int = 1) -> float:
    """The radius to account for when values are rounded to ``grid`` before noise is added.

    Each axis moves by at most half a step, so two values up to ``radius`` apart are at most
    ``radius + grid sqrt(axes)`` apart once rounded (docs/theory.md, "Rounding").
    """
    _require_positive("radius", radius)
    _require_nonnegative("grid", grid)
    return radius + grid * math.sqrt(axes)


def odds_statement(radius: float, unit: str, epsilon: float, delta: float) -> str:
    """The promise in one sentence."""
    _require_positive("radius", radius)
    _require_nonnegative("epsilon", epsilon)
    _require_probability(delta)
    return (
        f"Whatever an observer believed before, the odds between the secret's true value and any "
        f"other up to {radius:g} {unit} from it change by at most a factor of "
        f"{odds_in_words(epsilon)} "
        f"(epsilon {epsilon:.3g}), except with probability {delta:g}."
    )


def require_order(order: float) -> None:
    """Rényi orders lie in (1, infinity)."""
    if not (math.isfinite(order) and order > 1.0):
        raise DesignError(f"refused order: found {order:g}, expected a finite number above 1")


def _require_positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise DesignError(f"refused {name}: found {value:g}, expected a finite number above 0")


def _require_nonnegative(name: str, value: float) -> None:
    if not value >= 0:
        raise DesignError(f"refused {name}: found {value:g}, expected 0 or more")


def _require_probability(delta: float) -> None:
    if not 0 < delta < 1:
        raise DesignError(f"refused delta: found {delta:g}, expected a number between 0 and 1")
