"""Planar Laplace noise on a grid of cells, exactly: geo-indistinguishability without rounding.

The noise is an integer vector z with probability proportional to exp(-a |z|), |z| the Euclidean
length in steps. Two cells at a distance d then give any output with probabilities within e^(a d):
the promise of Andres et al. (CCS 2013), which for a continuous sampler is lost in the low bits of
floating-point numbers.

Exact sampling by rejection: x and y are drawn with rate b = (70/99) a, and kept with
e^-(a sqrt(x^2 + y^2) - b (|x| + |y|)); 70/99 is just below 1/sqrt(2), so the exponent is not
negative, and about 4 in 5 proposals are kept. The exponent is irrational; a uniform number is
compared with it bit by bit, through squares of fractions, until the answer is certain.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from agent.errors import RefusedError
from agent.formats.errors import FormatError
from agent.sanitise.discrete_bits import RandomBits, bernoulli_exp, budget, discrete_laplace

BELOW_ROOT_HALF = Fraction(70, 99)
BITS_AT_A_TIME = 32
MAX_SIDE = 1 << 20


@dataclass(frozen=True, slots=True)
class PlanarLaplace:
    """Planar Laplace on cells (x, y), 0 <= x < width and 0 <= y < height.

    With the budget epsilon any two cells of the rectangle are protected from each other: the rate
    per step is epsilon over the rectangle's diagonal, rounded up to a whole step. The sum is
    clamped to the rectangle afterwards, which costs no privacy.
    """

    width: int
    height: int

    def __post_init__(self) -> None:
        sides = (self.width, self.height)
        if not all(1 <= side <= MAX_SIDE for side in sides) or max(sides) < 2:
            raise FormatError(
                f"planar Laplace: found {self.width} by {self.height} cells; "
                f"expected at least two and at most {MAX_SIDE} on a side"
            )

    @property
    def diagonal(self) -> int:
        """No two cells are farther apart than this, in steps."""
        squared = (self.width - 1) ** 2 + (self.height - 1) ** 2
        return math.isqrt(squared - 1) + 1

    def sample(
        self, value: tuple[int, ...], epsilon: float | Fraction, source: RandomBits
    ) -> tuple[int, ...]:
        """One cell of the rectangle."""
        inside = len(value) == 2 and 0 <= value[0] < self.width and 0 <= value[1] < self.height
        if not inside:
            raise RefusedError("planar Laplace: the cell is outside the stated rectangle")
        x, y = planar_noise(budget(epsilon) / self.diagonal, source)
        return (_clamp(value[0] + x, self.width), _clamp(value[1] + y, self.height))


def planar_noise(rate: Fraction, source: RandomBits) -> tuple[int, int]:
    """An integer vector z with probability proportional to exp(-rate |z|), exactly; rate > 0."""
    while True:
        x = discrete_laplace(BELOW_ROOT_HALF * rate, source)
        y = discrete_laplace(BELOW_ROOT_HALF * rate, source)
        shorter = BELOW_ROOT_HALF * rate * (abs(x) + abs(y))
        if bernoulli_exp_difference(rate * rate * (x * x + y * y), shorter, source):
            return x, y


def bernoulli_exp_difference(square: Fraction, less: Fraction, source: RandomBits) -> bool:
    """True with probability exactly e^-(sqrt(square) - less), for sqrt(square) >= less >= 0."""
    # The largest integer at most sqrt(square) - less, from one that is at most 2 below it.
    whole = max(0, math.isqrt(math.floor(square)) - math.ceil(less))
    while (whole + 1 + less) ** 2 <= square:
        whole += 1
    if whole and not bernoulli_exp(Fraction(whole), source):
        return False
    k = 1
    while _uniform_is_below(square, less + whole, k, source):
        k += 1
    return k % 2 == 1


def _uniform_is_below(square: Fraction, less: Fraction, k: int, source: RandomBits) -> bool:
    """True with probability exactly (sqrt(square) - less) / k, which is in [0, 1]."""
    if less * less == square:
        return False
    drawn, size = 0, 0
    while True:
        drawn = (drawn << BITS_AT_A_TIME) | source.bits(BITS_AT_A_TIME)
        size += BITS_AT_A_TIME
        # The uniform number lies in [drawn, drawn + 1] / 2^size.
        if (k * Fraction(drawn + 1, 1 << size) + less) ** 2 <= square:
            return True
        if (k * Fraction(drawn, 1 << size) + less) ** 2 >= square:
            return False


def _clamp(position: int, side: int) -> int:
    return max(0, min(side - 1, position))
