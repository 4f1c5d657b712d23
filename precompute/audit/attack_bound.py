"""The error that no attacker can get below, from the guarantee of a design.

A design whose information is at most K on each axis leaves any attacker with a prior in its
class the posterior variance ``v ≥ 1/(K + 1/σ²)`` of a reading, σ² its prior variance
(docs/theory.md: K = Var[x|z]⁻¹ − Var[x]⁻¹). With two alike axes the posterior is a round
Gaussian, the mean distance of whose best estimate is ``√(π/2) √v``.

What it covers: the Bayes risk, that is the error on average over traces that follow the
attacker's prior, for a prior of the class. It is not a statement about one given trace, about a
prior outside the class, or about knowledge that no such prior holds (a road map).
"""

import math

MEAN_DISTANCE_PER_DEVIATION = math.sqrt(math.pi / 2.0)


def least_attacker_error(worst_information: float, prior_deviation: float | None = None) -> float:
    """Mean distance in the plane, in the channel's unit.

    Args:
        worst_information: K per axis, 1/unit².
        prior_deviation: σ of the attacker's prior on one axis; None for an attacker who knows
            nothing beforehand (σ → ∞), for whom the bound is largest.
    """
    prior_precision = 0.0 if prior_deviation is None else prior_deviation**-2
    return MEAN_DISTANCE_PER_DEVIATION / math.sqrt(worst_information + prior_precision)


def expected_release_error(noise_deviation: float) -> float:
    """Mean distance of a release from the truth for round Gaussian noise of that deviation."""
    return MEAN_DISTANCE_PER_DEVIATION * noise_deviation
