"""What a window design is, as values."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from agent.formats.designs import FloatArray
from precompute.cip.certificates import Proof
from precompute.cip.factors import factor_residual


@dataclass(frozen=True, slots=True)
class WindowSolution:
    """Noise for a window of n readings on one axis, with what is proven about it.

    Informations are relative to a secret's limit where limits differ: K divided by its limit over
    the tightest limit. A compound secret counts ``max d^T K d`` over moves of at most 1 a time.

    Attributes:
        noise_cov: (n, n), covariance of the noise, unit^2; equals ``factor @ factor.T``.
        factor: (n, m), lower trapezoidal: row i uses columns 0 to i; m < n when rank is lower.
        worst_information: largest K over secrets and priors, evaluated by `precompute.cip.loss`.
        information_lower_bound: no noise of this power does better than this (certificates).
        noise_power: average variance a reading, unit^2.
        power_lower_bound: no noise that attains ``worst_information`` (or keeps the limit that it
            was scaled to afterwards) has less power.
        gap: relative distance to the proven bound, for what was minimised.
        rank: columns of ``factor``.
        seconds: time the design took.
        proof: what the bounds follow from; it holds for every noise, whatever its scale.
        notes: what the user should know; warnings first.
        fragile: the same as a clause, where the noise hides a wrong prior badly; else empty.
    """

    noise_cov: FloatArray
    factor: FloatArray
    worst_information: float
    information_lower_bound: float
    noise_power: float
    power_lower_bound: float
    gap: float
    seconds: float
    proof: Proof
    notes: tuple[str, ...] = field(default=())
    fragile: str = ""

    def __post_init__(self) -> None:
        for name in ("noise_cov", "factor"):
            frozen = np.ascontiguousarray(getattr(self, name), dtype=np.float64).copy()
            frozen.setflags(write=False)
            object.__setattr__(self, name, frozen)

    def restated(self, factor: float, worst: float, limit: float | None) -> "WindowSolution":
        """The noise times ``factor``, with its bounds and gap for ``worst`` information of it.

        ``worst`` may cover more priors than the design did: what is proven for a part of a class
        holds for all of it. With a ``limit`` (1/unit^2) the power was minimised, else information.
        """
        count = len(self.factor)
        power = factor * self.noise_power
        information_lower = self.proof.ratio_lower(power * count)
        power_lower = self.proof.power_lower(worst if limit is None else limit) / count
        gap = 1.0 - (information_lower / worst if limit is None else power_lower / power)
        scaled = factor != 1.0
        return replace(
            self,
            noise_cov=factor * self.noise_cov if scaled else self.noise_cov,
            factor=math.sqrt(factor) * self.factor if scaled else self.factor,
            worst_information=worst,
            information_lower_bound=information_lower,
            noise_power=power,
            power_lower_bound=power_lower,
            gap=max(gap, 0.0),
        )

    @property
    def rank(self) -> int:
        """Number of independent normals a window needs."""
        return int(self.factor.shape[1])

    @property
    def factor_error(self) -> float:
        """``max |F F^T - noise_cov|`` relative to the largest entry."""
        return factor_residual(self.factor, self.noise_cov)
