"""Exact random decisions from uniform bits, with integers and fractions only.

Nothing here rounds: every probability is exactly the one stated, for a budget that is a rational
number (and every float is one). Only the number of bits drawn is random. Bernoulli(e^-g) is
Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), Algorithm 1.
"""

import secrets
from fractions import Fraction
from typing import Protocol

from agent.formats.errors import FormatError


class RandomBits(Protocol):
    """A source of uniform random bits."""

    def bits(self, number: int) -> int:
        """A uniform integer of this many bits, 0 <= result < 2^number."""
        ...


class SystemBits:
    """Bits from the operating system; the device's source."""

    def bits(self, number: int) -> int:
        """See :class:`RandomBits`."""
        return secrets.randbits(number)


def budget(epsilon: float | Fraction) -> Fraction:
    """The exact value of a budget.

    Raises:
        FormatError: not finite or not above zero.
    """
    try:
        exact = Fraction(epsilon)
    except (ValueError, OverflowError):
        raise FormatError("budget: found no finite number; expected one above zero") from None
    if exact <= 0:
        raise FormatError(f"budget: found {float(exact):g}; expected a number above zero")
    return exact


def uniform_below(limit: int, source: RandomBits) -> int:
    """A uniform integer in [0, limit), limit >= 1, by rejection."""
    size = (limit - 1).bit_length()
    while True:
        drawn = source.bits(size) if size else 0
        if drawn < limit:
            return drawn


def bernoulli(probability: Fraction, source: RandomBits) -> bool:
    """True with exactly this probability, 0 <= probability <= 1."""
    return uniform_below(probability.denominator, source) < probability.numerator


def bernoulli_exp(exponent: Fraction, source: RandomBits) -> bool:
    """True with probability exactly e^-exponent, exponent >= 0."""
    whole, rest = divmod(exponent, 1)
    # e^-(w + r) = (e^-1)^w e^-r; the first failure decides.
    return all(_bernoulli_exp_below_one(Fraction(1), source) for _ in range(whole)) and (
        _bernoulli_exp_below_one(rest, source)
    )


def _bernoulli_exp_below_one(exponent: Fraction, source: RandomBits) -> bool:
    """The first k with Bernoulli(exponent/k) = 0 is odd with e^-exponent, 0 <= exponent <= 1."""
    k = 1
    while bernoulli(exponent / k, source):
        k += 1
    return k % 2 == 1


def discrete_laplace(rate: Fraction, source: RandomBits) -> int:
    """An integer x with probability proportional to exp(-rate |x|), exactly; rate > 0.

    The magnitude is geometric, built as CKS Algorithm 2 does: with rate = s/t, u uniform below t
    is kept with e^-(u/t), v counts the successes of Bernoulli(e^-1), and (u + t v) // s is the
    magnitude; a negative zero is drawn again.
    """
    s, t = rate.numerator, rate.denominator
    while True:
        u = uniform_below(t, source)
        if not bernoulli_exp(Fraction(u, t), source):
            continue
        v = 0
        while _bernoulli_exp_below_one(Fraction(1), source):
            v += 1
        magnitude = (u + t * v) // s
        negative = source.bits(1) == 1
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude
