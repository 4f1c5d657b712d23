"""Amounts in nats for people: upper bounds, rounded up, and never past a limit that they keep.

Four digits after the point; of amounts below 0.001 three significant ones. An amount below its
limit gets as many more digits as it takes not to be shown above it. A limit is shown as it was
asked for, up to twelve digits. One figure has one form, wherever it stands.
"""

import math
from decimal import ROUND_CEILING, Context, Decimal

DIGITS = 4
SIGNIFICANT = 3
SMALL = Decimal("0.001")
# More than any float64 has.
MORE_DIGITS = 18
# A part in 10^12 less at first, so that 0.4375 computed as 0.43750000000000006 stays 0.4375.
_SLACK = 1 - Decimal("1e-12")
_WIDE = Context(prec=800)


def limit_in_words(limit: float) -> str:
    """What was asked for."""
    return f"{limit:.12g}"


def bound_in_words(amount: float, limit: float | None = None) -> str:
    """As :func:`amount_in_words`; amount and limit may be infinite."""
    if math.isinf(amount):
        return "not bounded"
    return amount_in_words(amount, None if limit is None or math.isinf(limit) else limit)


def amount_in_words(amount: float, limit: float | None = None, *, reach: bool = True) -> str:
    """An upper bound; see the module's words.

    Args:
        amount: finite, 0 or more.
        limit: that the amount should keep; None where there is none.
        reach: whether an amount below the limit may be shown as just the limit.
    """
    exact = Decimal(repr(amount))
    small = 0 < exact < SMALL
    digits = SIGNIFICANT - 1 - exact.adjusted() if small else DIGITS
    shown = _ceiling(_WIDE.multiply(exact, _SLACK), digits)
    if limit is not None and amount > limit:
        shown = _ceiling(exact, digits)
    elif limit is not None:
        bound = Decimal(limit_in_words(limit))
        reach = reach or amount == limit
        tries = (_ceiling(exact, digits + more) for more in range(1, MORE_DIGITS))
        while not (shown < bound or (reach and shown == bound)):
            shown = next(tries, bound if reach else exact)
            if shown == exact:
                break
    return repr(float(shown)) if small else f"{shown:f}"


def _ceiling(amount: Decimal, digits: int) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-digits, _WIDE), ROUND_CEILING, _WIDE)
