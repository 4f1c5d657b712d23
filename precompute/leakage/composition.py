"""What several releases together leak about the states at several times (TPL Theorem 2).

Given the states at times t to t+j, the releases between are independent of all others; earlier
releases speak only through the state at t and later ones only through the state at t+j:

    j = 0: TPL_t;   j >= 1: BPL_t + e_{t+1} + ... + e_{t+j-1} + FPL_{t+j}.

A window of one time is the event level, of w times the w-event level, of all times the user level,
where the sum is that of all budgets.
"""

import math
from itertools import accumulate

from precompute.leakage.errors import LeakageError
from precompute.leakage.quantification import Leakage


def leakage_of_window(leakage: Leakage, first: int, last: int) -> float:
    """Leakage (nats) about the states at releases first to last, counted from 0, both included.

    Raises:
        LeakageError: not 0 <= first <= last < number of releases.
    """
    size = len(leakage.tpl)
    if not 0 <= first <= last < size:
        raise LeakageError(
            f"window: found {first} to {last}; expected first <= last among 0 to {size - 1}"
        )
    if first == last:
        return leakage.tpl[first]
    between = math.fsum(leakage.epsilons[first + 1 : last])
    return leakage.bpl[first] + between + leakage.fpl[last]


def w_event_leakage(leakage: Leakage, width: int) -> float:
    """The largest leakage about any ``width`` successive states (fewer when there are fewer).

    Raises:
        LeakageError: width below 1.
    """
    if width < 1:
        raise LeakageError(f"w-event: found a width of {width}; expected at least 1")
    size = len(leakage.tpl)
    width = min(width, size)
    if width == 1:
        return max(leakage.tpl)
    spent = [0.0, *accumulate(leakage.epsilons)]
    return max(
        leakage.bpl[t] + (spent[t + width - 1] - spent[t + 1]) + leakage.fpl[t + width - 1]
        for t in range(size - width + 1)
    )


def user_level_leakage(leakage: Leakage) -> float:
    """Leakage about the whole sequence of states: the sum of the budgets, correlated or not."""
    return math.fsum(leakage.epsilons)
