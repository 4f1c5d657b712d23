"""The margin's wager written out for a single (theta, pi), row by row, and looked at over grids.

Another form of the wager than the code's: with m and M the least and largest f, the payoff of a
row is s * ((theta pi - 1{G=g}) f + m (1{G=g} - pi)), s = 1 for ratios above 1 and -1 below. Its
mean is s * (theta p(g) p(z) - p(g, z)) + s * m (p(g) - pi), zero at the truth. What can be lost at
most is found by trying the four corners (f in {m, M}, G = g or not).
"""

import itertools
import math

STAKES = [0.99, 0.9, *(2 ** (-k / 2) for k in range(1, 17))]


def capital(payoffs, most_lost):
    """The mean over stakes of prod_b (1 + stake * payoff_b / most_lost)."""
    return sum(
        math.prod(1 + stake * payoff / most_lost for payoff in payoffs) for stake in STAKES
    ) / len(STAKES)


def block_means(values, times, seconds):
    """Means of the rows whose time is in the same stretch, counted from the first row."""
    stretches = {}
    for value, time in zip(values, times, strict=True):
        stretches.setdefault(math.floor((time - times[0]) / seconds), []).append(value)
    return [sum(part) / len(part) for _, part in sorted(stretches.items())]


def prior_kept(means, risk, steps=4000):
    """The least and the largest pi of a grid that is not refused, each side at half the risk."""
    kept = []
    for number in range(1, steps):
        pi = number / steps
        above = capital([pi - mean for mean in means], 1 - pi) < 2 / risk
        below = capital([mean - pi for mean in means], pi) < 2 / risk
        if above and below:
            kept.append(pi)
    return min(kept), max(kept)


def likelihoods(maps, rows, z):
    """f of each row, and the least and largest f of any readings."""
    f = [
        math.prod(
            float(one[cells[i]][s]) for one, cells, s in zip(maps, rows.cells, z, strict=True)
        )
        for i in range(len(rows.private))
    ]
    least = math.prod(float(min(one[:, s])) for one, s in zip(maps, z, strict=True))
    most = math.prod(float(max(one[:, s])) for one, s in zip(maps, z, strict=True))
    return f, least, most


class _NoRows:
    def __init__(self, nodes):
        self.private, self.cells = [], [[] for _ in range(nodes)]


def kept(maps, rows, z, g, *, theta, pi, seconds, bar):
    """Whether this theta and pi are possible and not refused at ``bar`` (the capital allowed)."""
    f, m, most = likelihoods(maps, rows, z)
    # p(z|g) / p(z) is extreme where all of G = g says z with one end, and all else with the other.
    if not m / (pi * m + (1 - pi) * most) <= theta <= most / (pi * most + (1 - pi) * m):
        return False
    side = 1 if theta >= 1 else -1

    def payoff(here, value):
        return side * ((theta * pi - here) * value + m * (here - pi))

    lost = -min(payoff(here, value) for here in (0, 1) for value in (m, most))
    if lost <= 0:
        return False
    row = [payoff(int(label == g), value) for label, value in zip(rows.private, f, strict=True)]
    return capital(block_means(row, rows.times_seconds, seconds), lost) < bar


def statements(maps, privates):
    """The z whose f differs between readings; how many ratios that makes: two sides, every g."""
    varies = []
    for z in itertools.product(*(range(one.shape[1]) for one in maps)):
        _, least, most = likelihoods(maps, _NoRows(len(maps)), z)
        if most > least:
            varies.append(z)
    return varies, 2 * privates * len(varies)
