"""From a promise's numbers to odds and certainties for people; upper bounds are rounded up."""

import math
from decimal import ROUND_CEILING, Decimal

# Of odds: what is this little above even odds is shown by what it is above them.
SLIGHT = 0.01
TINY = 1e-6


def epsilon_at_distance(rho: float, delta: float, times_radius: float) -> float:
    """epsilon for hypotheses ``times_radius`` times the radius apart: rho grows with its square.

    epsilon = rho' + 2 sqrt(rho' log(1/delta)) with rho' = rho * times_radius^2, the optimal
    conversion from Renyi loss of order lambda, lambda * rho', to (epsilon, delta).
    """
    scaled = rho * times_radius**2
    return scaled + 2.0 * math.sqrt(scaled * math.log(1.0 / delta))


def odds_factor(epsilon: float) -> float | None:
    """e^epsilon: how many times the odds may change; None where float64 cannot hold it."""
    try:
        return math.exp(epsilon)
    except OverflowError:
        return None


def odds_in_words(epsilon: float) -> str:
    """The factor for people, rounded up, because it is an upper bound.

    Of one just above 1, three significant digits of what is above 1: 1.00502, or 1 + 4.71e-10.
    """
    factor = odds_factor(epsilon)
    if factor is None:
        return "more than 10^308: nothing is promised"
    above = math.expm1(epsilon)
    if 0.0 < above < TINY:
        return f"1 + {rounded_up(above):.3g}"
    if 0.0 < above < SLIGHT:
        return f"{1 + Decimal(repr(rounded_up(above))):f}"
    rounded = rounded_up(factor)
    return f"{rounded:,.0f}" if 1000.0 <= rounded < 1e9 else f"{rounded:.3g}"


def certainty_in_words(epsilon: float) -> str:
    """How sure an observer can become who held two hypotheses for equally likely, rounded up.

    In per cent, to three decimals above 99 %: e^epsilon / (1 + e^epsilon). Just above 50 %, three
    significant digits of what is above it: 50.126 %, or 50 % + 1.25e-08 %.
    """
    percent = 100.0 / (1.0 + math.exp(-epsilon))
    above = 50.0 * math.tanh(epsilon / 2)
    if 0.0 < above < 100 * TINY:
        return f"50 % + {rounded_up(above):.3g} %"
    if 0.0 < above < 100 * SLIGHT / 2:
        return f"{50 + Decimal(repr(rounded_up(above))):f} %"
    decimals = 0 if percent <= 99.0 else 3
    return f"{_ceiling(percent, decimals):g} %"


def rounded_up(value: float, digits: int = 3) -> float:
    """To significant digits, away from zero; ``value`` is finite and above zero."""
    return _ceiling(value, digits - 1 - math.floor(math.log10(value)))


def _ceiling(value: float, decimals: int) -> float:
    # Less a part in 10^12, so that 2.62 computed as 2.6200000000000001 stays 2.62.
    scaled = Decimal(value * (1.0 - 1e-12)).scaleb(decimals)
    return float(scaled.to_integral_value(ROUND_CEILING).scaleb(-decimals))
