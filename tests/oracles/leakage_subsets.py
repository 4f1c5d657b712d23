"""The loss over all pairs of rows by trying every subset of columns, in exact fractions of Q and D.

Exponential in the number of states; right by construction, because the optimum of the
linear-fractional program is at a vertex, where each x_j is either 1 or e^alpha.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations

import numpy as np

DIGITS = 60


def subset_points(matrix: np.ndarray) -> set[tuple[Fraction, Fraction]]:
    """(Q, D) of every subset of columns of every ordered pair of rows, exactly."""
    rows = [[Fraction(float(x)) for x in row] for row in matrix]
    points = set()
    for first, second in permutations(range(len(rows)), 2):
        sums = [(Fraction(0), Fraction(0))]
        for q, d in zip(rows[first], rows[second], strict=True):
            sums += [(gain + q, loss + d) for gain, loss in sums]
        points.update(sums)
    return points


def subset_loss(points: set[tuple[Fraction, Fraction]], alpha: float) -> float:
    """max log[(Q u + 1)/(D u + 1)] over the points, to 60 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        u = Decimal(alpha).exp() - 1

        def ratio(gain: Fraction, loss: Fraction) -> Decimal:
            return (_decimal(gain) * u + 1) / (_decimal(loss) * u + 1)

        return float(max(ratio(gain, loss) for gain, loss in points).ln())


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
