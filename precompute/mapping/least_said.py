"""Of designs that decide H equally well, the one that says less.

A search ends on a plateau where H's error is flat: a sensor whose symbols change no decision may
say anything that the budgets allow, and each of these words tells something of G and of the
reading for nothing. So each sensor's last map is mixed with its own mean row, as far as the error
stays: all the way (the sensor is silent) where nothing hangs on it, and partly elsewhere. Mixing
keeps every budget: a ratio of p(z|x) moves towards 1, and p(g|z)/p(g) becomes a mean of what it
was and of what it is without this sensor.
"""

from collections.abc import Sequence

import numpy as np

from precompute.mapping.joint import FloatArray, Joint, Maps
from precompute.mapping.outcome_tensors import group, of_public, outcomes, tensor

# What the chance of a right decision may lose: rounding only.
LOSS = 1e-12
BISECTIONS = 40
# Shares below are not worth a new map.
LEAST = 1e-6


def least_said(joint: Joint, stages: Sequence[Maps]) -> tuple[Maps, ...]:
    """The stages with as much of the last one's mean rows as costs no decision.

    Sensors are looked at in turn, those that tell least of H first, each with what was done to
    those before it.

    Args:
        joint: that the maps were designed for.
        stages: one, p(z|x) of each sensor, or two, p(y|x) and p(z|y).
    """
    before = group(joint) if len(stages) == 1 else group(joint.after(stages[0]))
    last = list(stages[-1])
    said = [table @ one for table, one in zip(before.tables, last, strict=True)]
    best = float(outcomes(before, said).sum(axis=1).max(axis=0).sum())
    alone = [float(of_public(before, table).max(axis=0).sum()) for table in said]
    for sensor in sorted(range(len(last)), key=alone.__getitem__):
        given = tensor(before, said, sensor, before.tables[sensor]).sum(axis=1)
        last[sensor] = _quieter(given, last[sensor], best)
        said[sensor] = before.tables[sensor] @ last[sensor]
    return (*stages[:-1], tuple(last))


def _quieter(given: FloatArray, one: FloatArray, best: float) -> FloatArray:
    """The sensor's map with the largest share of its mean row at which H is decided as well.

    Args:
        given: (|H|, o, |X|) p(h, what the others say, x).
        one: (|X|, |Z|).
        best: the chance of a right decision.
    """
    mean = np.tile(one.mean(axis=0), (one.shape[0], 1))

    def kept(share: float) -> bool:
        mixed = (1.0 - share) * one + share * mean
        return bool((given @ mixed).max(axis=0).sum() >= best - LOSS)

    if kept(1.0):
        return mean
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    return one if low < LEAST else np.asarray((1.0 - low) * one + low * mean)
