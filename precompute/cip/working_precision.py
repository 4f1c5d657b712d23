"""A bound of the information that holds in exact arithmetic, from computed numbers.

Smooth priors have eigenvalues far below rounding, so "the noise as computed" and "the prior as
computed" are not quite those of the formulas, and in exact arithmetic an observer of infinitely
precise readings could live on the difference. No such reading exists: each carries an error of its
own, from the receiver and from rounding to the grid, and an error that is independent and has at
least the variance w counts as noise, ``G + w I``. With ``N = C + G + w I``, any h and ``r = a - N
h`` the identity ::

    a^T N^-1 a = h^T N h + 2 r^T h + r^T N^-1 r  <=  h^T N h + 2 r^T h + |r|^2 / w

bounds the information by numbers that do not suffer from the small eigenvalues at all: an error in
h enters squared. What rounding may have done to N and r is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray
from precompute.cip.compound import tight_square
from precompute.cip.posterior import regression
from precompute.cip.rounding import ROUNDING


def rounding_variance(grid: float) -> float:
    """Of a value that is rounded to a grid: ``grid^2 / 12``."""
    return grid * grid / 12.0


def information_upper(
    prior_cov: FloatArray,
    secrets: Sequence[tuple[int, ...]] | None,
    noise_cov: FloatArray,
    error_variance: float,
) -> float:
    """Largest ``max d^T K d`` over the secrets, in exact arithmetic, moves of at most 1 a reading.

    Args:
        prior_cov, noise_cov: (n, n); the kernel's and the shipped factor's true matrices may
            differ from them by rounding.
        secrets: index tuples; None for every reading by itself.
        error_variance: w, above 0: of the independent error that each reading carries.
    """
    total = prior_cov + noise_cov
    total[np.diag_indices_from(total)] += error_variance
    slack = ROUNDING * len(total) * float(np.max(np.abs(total)))
    singles = range(len(total)) if secrets is None else [s[0] for s in secrets if len(s) == 1]
    found = []
    if len(singles) > 0:
        found.append(_largest_basic(prior_cov, noise_cov, error_variance, slack, list(singles)))
    for secret in secrets or ():
        if len(secret) > 1:
            matrix = _compound(prior_cov, noise_cov, error_variance, slack, secret)
            found.append(tight_square(matrix).value)
    return max(found)


def _largest_basic(
    prior: FloatArray, noise: FloatArray, error: float, slack: float, singles: list[int]
) -> float:
    """First with the estimators ``e_i / G_ii``, which give 1 / G_ii for noise like the prior."""
    scale = 1.0 / np.maximum(np.diagonal(noise)[singles], error)
    plain = np.zeros((len(prior), len(singles)))
    plain[singles, range(len(singles))] = scale
    seen, noisy = prior[:, singles] * scale, noise[:, singles] * scale
    judge = _Judge(prior, error, slack)
    bound = judge.bounds(singles, plain, (seen, noisy))
    if bool(np.all(bound <= (1 + 1e-8) * scale)):
        return float(np.max(bound))
    total = prior + noise
    total[np.diag_indices_from(total)] += error
    try:
        weights = np.linalg.solve(total, prior[:, singles])
    except np.linalg.LinAlgError:
        return float(np.max(bound))
    left = np.diagonal(prior)[singles] - np.sum(weights * prior[:, singles], axis=0)
    better = weights / np.maximum(left, error * 1e-3)
    again = judge.bounds(singles, better, (prior @ better, noise @ better))
    return float(np.max(np.minimum(bound, again)))


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """The identity's right side for basic secrets; C_i is ``S - s_i s_i^T / S_ii``, never built."""

    prior: FloatArray
    error: float
    slack: float

    def bounds(
        self, singles: list[int], estimators: FloatArray, products: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """``products`` are prior and noise times the estimators, each (n, secrets)."""
        columns = self.prior[:, singles]
        follow = columns / np.diagonal(self.prior)[singles]
        own = np.sum(follow * estimators, axis=0)
        applied = products[0] - columns * own + products[1] + self.error * estimators
        residual = follow - applied
        size = np.sum(np.abs(estimators), axis=0)
        length = np.linalg.norm(residual, axis=0) + np.sqrt(len(columns)) * self.slack * size
        square = np.sum(estimators * (applied + 2.0 * residual), axis=0)
        return np.asarray(square + 3.0 * self.slack * size**2 + length**2 / self.error)


def _compound(
    prior: FloatArray, noise: FloatArray, error: float, slack: float, secret: tuple[int, ...]
) -> FloatArray:
    """A matrix at or above K."""
    follow, left_open = regression(prior, secret)
    matrix = left_open + noise
    matrix[np.diag_indices_from(matrix)] += error
    try:
        estimators = np.linalg.solve(matrix, follow)
    except np.linalg.LinAlgError:
        return np.full((len(secret), len(secret)), np.inf)
    residual = follow - matrix @ estimators
    crossed = residual.T @ estimators
    spread = slack * float(np.sum(np.abs(estimators)))
    length = float(np.linalg.norm(residual)) + np.sqrt(len(prior)) * spread
    upper = estimators.T @ matrix @ estimators + crossed + crossed.T
    extra = 3.0 * spread * float(np.sum(np.abs(estimators))) + length**2 / error
    whole: FloatArray = 0.5 * (upper + upper.T) + extra * np.eye(len(secret))
    return whole
