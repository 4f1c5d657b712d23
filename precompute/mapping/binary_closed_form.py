"""Two symbols, local differential privacy alone: the best map without a solver.

The maps p(1|x) with ratios of at most exp(epsilon) for both symbols have as extreme points the
two constants and randomised response on a partition of the cells, with p(1|x) either
1/(1+exp(epsilon)) or exp(epsilon)/(1+exp(epsilon)) (THEORY 4). A linear objective is therefore
best at a constant or at the partition by the sign of its coefficients.
"""

import math

import numpy as np

from precompute.mapping.joint import FloatArray


def best_binary_map(gain: FloatArray, local: float) -> FloatArray:
    """(|X|, 2) the map of the largest sum(gain * map).

    Args:
        gain: (|X|, 2).
        local: epsilon_LD in nats; inf gives the partition itself.
    """
    difference = gain[:, 1] - gain[:, 0]
    high = 1.0 / (1.0 + math.exp(-local))
    response = np.where(difference > 0, high, 1.0 - high)
    one = response
    for constant in (np.ones_like(response), np.zeros_like(response)):
        # Only where strictly better, and by more than rounding: a constant says nothing.
        scale = float(np.abs(difference).sum())
        if float(difference @ constant) > float(difference @ one) + 1e-14 * scale:
            one = constant
    return np.stack([1.0 - one, one], axis=1)
