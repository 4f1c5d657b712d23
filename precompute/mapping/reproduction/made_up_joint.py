"""The joint of six sensors that stands in for the paper's, whose numbers are only a picture.

Fixed by the paper's text: H and G binary, correlation 0.2, six sensors, |X| = 16. Ours: both
hypotheses even, so that p(h = g) = 0.6; sensors independent given (h, g); a reading is a pair
(a, b), cell 4 a + b, of independent binomial counts of three trials given (h, g):

    a ~ Binomial(3, 1/2 + s (2h-1) + w (2g-1)),    b ~ Binomial(3, 1/2 + w (2h-1) + u (2g-1))

so that a is mostly about H and b mostly about G. Sensors differ in s and u; w is common.

For the third experiment sensor 1 is independent of G. A hidden bit that is 1 with probability
1/2 + s ((2h-1) - r (2g-1)), r the correlation, is: E[2h-1 | g] = r (2g-1), so that the bit is even
given either g. Its a is Binomial(3, 0.2 or 0.8) by the bit and its b Binomial(3, 1/2).
"""

import math

import numpy as np

from precompute.mapping.joint import FloatArray, Joint, joint_of_independent_sensors

CORRELATION = 0.2
TRIALS = 3
CELLS = (TRIALS + 1) ** 2
ABOUT_PUBLIC = (0.30, 0.27, 0.24, 0.21, 0.18, 0.15)
ABOUT_PRIVATE = (0.15, 0.18, 0.21, 0.24, 0.27, 0.30)
CROSSED = 0.04
SENSORS = len(ABOUT_PUBLIC)


def paper_like_joint(*, first_is_public: bool = False, sensors: int = SENSORS) -> Joint:
    """The experiment's joint.

    Args:
        first_is_public: sensor 1 is independent of G: the third experiment.
        sensors: how many; beyond six they begin anew.
    """
    same, other = (1 + CORRELATION) / 4, (1 - CORRELATION) / 4
    prior = np.array([[same, other], [other, same]])
    tables = []
    for number in range(sensors):
        public, private = ABOUT_PUBLIC[number % SENSORS], ABOUT_PRIVATE[number % SENSORS]
        if first_is_public and number == 0:
            tables.append(_table_apart_from_private(public))
        else:
            tables.append(_table(public, CROSSED, CROSSED, private))
    return joint_of_independent_sensors(prior, tables)


def _table(a_public: float, a_private: float, b_public: float, b_private: float) -> FloatArray:
    """(2, 2, CELLS) p(x|h, g)."""
    table = np.zeros((2, 2, CELLS))
    for h in range(2):
        for g in range(2):
            a = _binomial(0.5 + a_public * (2 * h - 1) + a_private * (2 * g - 1))
            b = _binomial(0.5 + b_public * (2 * h - 1) + b_private * (2 * g - 1))
            table[h, g] = np.outer(a, b).ravel()
    return table


def _table_apart_from_private(public: float) -> FloatArray:
    """(2, 2, CELLS) p(x|h, g) with sum_h p(h|g) p(x|h, g) the same for both g."""
    table = np.zeros((2, 2, CELLS))
    by_bit = (_binomial(0.2), _binomial(0.8))
    for h in range(2):
        for g in range(2):
            chance = 0.5 + public * ((2 * h - 1) - CORRELATION * (2 * g - 1))
            a = (1 - chance) * by_bit[0] + chance * by_bit[1]
            table[h, g] = np.outer(a, _binomial(0.5)).ravel()
    return table


def _binomial(chance: float) -> FloatArray:
    return np.array(
        [math.comb(TRIALS, k) * chance**k * (1 - chance) ** (TRIALS - k) for k in range(TRIALS + 1)]
    )
