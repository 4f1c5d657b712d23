"""The metrics by plain enumeration in fractions: one logarithm, at the very end.

A joint is a list of rows of Fractions p(a, z), a map a list of rows p(z|x).
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 50


def log(value):
    """Of a fraction, to 50 digits before it becomes a float; None stands for no bound."""
    if value is None:
        return math.inf
    with localcontext() as context:
        context.prec = DIGITS
        return float((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def fractions(rows):
    """The floats as they are, rows rescaled by nothing."""
    return [[Fraction(float(value)) for value in row] for row in rows]


def marginals(joint):
    return [sum(row) for row in joint], [sum(column) for column in zip(*joint, strict=True)]


def largest(ratios):
    """The largest of a/b over pairs; None where a b is 0 and its a is not."""
    worst = Fraction(1)
    for over, under in ratios:
        if over == 0:
            continue
        if under == 0:
            return None
        worst = max(worst, over / under)
    return worst


def information_privacy(joint):
    values, outcomes = marginals(joint)
    pairs = []
    for a, p_a in enumerate(values):
        for z, p_z in enumerate(outcomes):
            if p_a > 0 and p_z > 0:
                total = sum(values)
                pairs += [(joint[a][z] * total, p_a * p_z), (p_a * p_z, joint[a][z] * total)]
    return log(largest(pairs))


def local_privacy(table):
    return log(
        largest(
            (one[z], other[z]) for one in table for other in table for z in range(len(table[0]))
        )
    )


def inference_privacy(joint):
    return local_privacy([[value / sum(row) for value in row] for row in joint if sum(row) > 0])


def identifiability(joint):
    rows = [row for row in joint if sum(row) > 0]
    return log(
        largest((one[z], other[z]) for one in rows for other in rows for z in range(len(rows[0])))
    )


def maximal_leakage(table, possible=None):
    rows = [row for x, row in enumerate(table) if possible is None or possible[x]]
    return log(sum(max(column) for column in zip(*rows, strict=True)))


def mutual_information(joint):
    values, outcomes = marginals(joint)
    with localcontext() as context:
        context.prec = DIGITS
        total = Decimal(0)
        for a, row in enumerate(joint):
            for z, value in enumerate(row):
                if value > 0:
                    ratio = value / (values[a] * outcomes[z])
                    total += decimal(value) * decimal(ratio).ln()
        return float(total)


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)
