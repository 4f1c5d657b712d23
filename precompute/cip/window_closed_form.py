"""Window designs that need no iteration (docs/theory.md proves each).

* Every reading a secret: noise shaped like the prior, ``G = kappa S``.
* One reading a secret: ``G = P v v^T / |v|^2`` with ``v = (C + P I)^-1 a``, where a is how the
  trace follows the secret and C what the secret leaves open.
* The same with the noise on the secret kept independent of the rest: one scalar search.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize

from agent.formats.designs import FloatArray
from precompute.cip import posterior
from precompute.cip.certificates import Witness
from precompute.cip.window_problem import WindowProblem

EQUAL_VARIANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Candidate:
    """A noise covariance and the witnesses that prove how good it is."""

    noise_cov: FloatArray
    witnesses: tuple[Witness, ...]
    half: FloatArray | None = None


def shaped_like_the_prior_is_optimal(problem: WindowProblem) -> bool:
    """One prior of constant variance, every reading a secret with the same limit, no blocks."""
    variance = np.diagonal(problem.priors[0])
    return (
        len(problem.priors) == 1
        and problem.every_reading_equally
        and problem.blocks is None
        and bool(np.ptp(variance) <= EQUAL_VARIANCE * np.max(variance))
    )


def all_secrets(problem: WindowProblem, total_power: float) -> Candidate:
    """``G = kappa S``: every K is ``1 / (kappa variance)``, and no noise of that power does better.

    The proof is the witness: an observer who looks only at the reading itself, ``h = e_i``.
    """
    prior = problem.priors[0]
    count = problem.count
    return Candidate(
        prior * (total_power / float(np.trace(prior))),
        (
            Witness(
                prior,
                problem.secrets,
                (np.ones(1),) * count,
                np.ones(count),
                np.full(count, 1.0 / count),
                np.eye(count),
            ),
        ),
    )


class OneSecret:
    """The optimum for one basic secret and one prior, at any power, from one eigendecomposition."""

    def __init__(self, problem: WindowProblem) -> None:
        self._problem = problem
        self._prior = problem.priors[0]
        self._secret = problem.secrets[0]
        directions, self._open = posterior.regression(self._prior, self._secret)
        self._follow = directions[:, 0]
        base = self._open if problem.floor is None else self._open + problem.floor
        self._values, self._vectors = np.linalg.eigh(base)
        self._values = np.maximum(self._values, 0.0)
        self._pull = self._vectors.T @ self._follow

    def information(self, total_power: float) -> float:
        """``a^T (C + P I)^-1 a``, P being the power above the floor."""
        spare = total_power - self._problem.floor_power
        return float(np.sum(self._pull**2 / (self._values + spare)))

    def design(self, total_power: float) -> Candidate:
        """The rank-one noise (above the floor) that attains it."""
        spare = total_power - self._problem.floor_power
        shape = self._vectors @ (self._pull / (self._values + spare))
        column = shape * np.sqrt(spare) / np.linalg.norm(shape)
        noise = np.outer(column, column)
        half = column[:, None] if self._problem.floor is None else None
        if self._problem.floor is not None:
            noise += self._problem.floor
        return Candidate(noise, (self._witness(shape),), half)

    def _witness(self, estimator: FloatArray) -> Witness:
        one = np.ones(1)
        return Witness(
            self._prior, (self._secret,), (one,), one, one, np.ascontiguousarray(estimator)[:, None]
        )


class OneSecretInBlocks:
    """As `OneSecret` with no covariance between the noise on the secret and on the rest.

    K splits into ``1/x + phi(P - x)`` with x the variance on the secret and ``phi(y) = a^T (C + y
    I)^-1 a`` over the rest: convex in x, so a bracketed search on its derivative is exact.
    """

    def __init__(self, problem: WindowProblem) -> None:
        self._prior = problem.priors[0]
        self._secret = problem.secrets[0]
        directions, conditional = posterior.regression(self._prior, self._secret)
        self._rest = np.array([i for i in range(problem.count) if i != self._secret[0]])
        values, self._vectors = np.linalg.eigh(conditional[np.ix_(self._rest, self._rest)])
        self._values = np.maximum(values, 0.0)
        self._pull = self._vectors.T @ directions[self._rest, 0]

    def split(self, total_power: float) -> float:
        """Variance on the secret itself."""

        def slope(x: float) -> float:
            return float(np.sum((self._pull / (self._values + total_power - x)) ** 2)) - 1.0 / x**2

        low, high = total_power * 1e-12, total_power * (1 - 1e-12)
        if slope(high) <= 0:
            return high
        return float(scipy.optimize.brentq(slope, low, high, xtol=1e-300, rtol=1e-14))

    def information(self, total_power: float) -> float:
        """K at the best split."""
        x = self.split(total_power)
        phi = float(np.sum(self._pull**2 / (self._values + total_power - x)))
        return 1.0 / x + phi

    def design(self, total_power: float) -> Candidate:
        """Rank two: the secret's own noise, and one shape over the rest."""
        x = self.split(total_power)
        shape = self._vectors @ (self._pull / (self._values + total_power - x))
        half = np.zeros((len(self._prior), 2))
        half[self._secret[0], 0] = np.sqrt(x)
        length = float(np.linalg.norm(shape))
        if length > 0:
            half[self._rest, 1] = shape * np.sqrt(total_power - x) / length
        estimator = np.zeros((len(self._prior), 1))
        estimator[self._secret[0], 0] = 1.0 / x
        estimator[self._rest, 0] = shape
        one = np.ones(1)
        witness = Witness(self._prior, (self._secret,), (one,), one, one, estimator)
        return Candidate(half @ half.T, (witness,), half)


def power_for(limit: float, one: OneSecret | OneSecretInBlocks, floor_power: float) -> float:
    """Least total power at which K is at most ``limit``; the floor's if that is enough already."""
    above = floor_power * 1e-12
    if floor_power > 0 and one.information(floor_power + above) <= limit:
        return floor_power + above
    high = floor_power + 1.0 / limit
    while one.information(high) > limit:
        high = floor_power + 2.0 * (high - floor_power)
    low = floor_power
    span = high - low
    while one.information(low + span) <= limit and span > 1e-14 * high:
        span *= 0.5

    def excess(log_power: float) -> float:
        return float(np.log(one.information(low + np.exp(log_power)) / limit))

    found = scipy.optimize.brentq(excess, np.log(span), np.log(2.0 * span), xtol=1e-14)
    return low + math.exp(found)
