"""What happens when the prior is wrong.

Three answers, from the most to the least general: the published bound for any true prior (Meehan &
Chaudhuri 2021, Theorem 3.3), the exact loss when the true prior is Gaussian too, and a look at how
fast a design's loss grows when the lengthscale was guessed wrong.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agent.formats.designs import FloatArray
from precompute.cip.accounting import require_order
from precompute.cip.covariance import checked_covariance, checked_secret
from precompute.cip.loss import basic_informations, loss
from precompute.cip.posterior import regression
from precompute.errors import DesignError


def gaussian_renyi(
    mean_difference: npt.ArrayLike,
    covariance: npt.ArrayLike,
    other_covariance: npt.ArrayLike,
    order: float,
) -> float:
    """Rényi divergence D_order(N(m, P) || N(m', Q)); infinite where ``order Q + (1 - order) P`` is
    not positive definite.

    Gil, Alajaji & Linder 2013: ``order/2 d^T R^-1 d - log(|R| / (|P|^(1-order) |Q|^order)) / (2
    (order - 1))`` with ``R = order Q + (1 - order) P``.
    """
    require_order(order)
    first = checked_covariance(covariance, "covariance").matrix
    second = checked_covariance(other_covariance, "other covariance").matrix
    difference = np.asarray(mean_difference, dtype=np.float64)
    return _divergence(difference[:, None], 1.0, (first, second), order)


def _divergence(
    shift: FloatArray, length: float, covariances: tuple[FloatArray, FloatArray], order: float
) -> float:
    """The divergence for the worst mean difference ``shift y`` with ``|y| <= length``."""
    first, second = covariances
    try:
        mixed = np.linalg.cholesky(order * second + (1.0 - order) * first)
        halves = np.linalg.cholesky(first), np.linalg.cholesky(second)
    except np.linalg.LinAlgError:
        return math.inf
    whitened = np.linalg.norm(np.linalg.solve(mixed, shift), ord=2)
    log_mixed, log_first, log_second = (
        2.0 * float(np.sum(np.log(np.diagonal(half)))) for half in (mixed, *halves)
    )
    volume = log_mixed - (1.0 - order) * log_first - order * log_second
    return 0.5 * order * float(length * whitened) ** 2 - 0.5 * volume / (order - 1.0)


@dataclass(frozen=True, slots=True)
class MisspecifiedLoss:
    """Loss of one secret when the data follow another prior than the design's.

    Attributes:
        designed: loss under the prior of the design.
        exact: loss under the true, Gaussian prior.
        published: the bound of Theorem 3.3; infinite where its divergences are.
    """

    designed: float
    exact: float
    published: float


def misspecified_loss(
    prior_cov: npt.ArrayLike,
    true_cov: npt.ArrayLike,
    secret: int | Sequence[int],
    noise_cov: npt.ArrayLike,
    *,
    radius: float,
    order: float,
    deviation: float = 0.0,
) -> MisspecifiedLoss:
    """Both numbers for a Gaussian true prior.

    Args:
        prior_cov, true_cov, noise_cov: (n, n).
        secret: one index or several.
        radius, order: as for `precompute.cip.loss`.
        deviation: how far from its mean each reading of the secret may lie. The two priors
            continue a deviation differently, so Theorem 3.3 depends on it; 0 compares spreads
            only. For a compound secret the worst signs are bounded by the Euclidean length.
    """
    designed = loss(prior_cov, secret, noise_cov, radius, order)
    exact = loss(true_cov, secret, noise_cov, radius, order)
    prior = checked_covariance(prior_cov).matrix
    true = checked_covariance(true_cov, "true covariance").matrix
    index = checked_secret(secret, len(prior))
    rest = [i for i in range(len(prior)) if i not in index]
    if not rest:
        return MisspecifiedLoss(designed, exact, designed)
    follow, spread = regression(prior, index)
    true_follow, true_spread = regression(true, index)
    shift = (follow - true_follow)[rest]
    length = deviation * math.sqrt(len(index))
    spreads = spread[np.ix_(rest, rest)], true_spread[np.ix_(rest, rest)]

    def divergence(at: float) -> float:
        forward = _divergence(shift, length, spreads, at)
        return max(forward, _divergence(shift, length, spreads[::-1], at))

    stretched = loss(prior_cov, secret, noise_cov, radius, 4.0 * order - 2.0)
    published = (
        (order - 0.5) / (order - 1.0) * divergence(2.0 * order)
        + divergence(4.0 * order - 3.0)
        + (2.0 * order - 1.5) / (2.0 * order - 2.0) * stretched
    )
    return MisspecifiedLoss(designed, exact, published)


def lengthscale_sensitivity(
    covariance_at: Callable[[float], npt.ArrayLike],
    secrets: Sequence[int | Sequence[int]],
    noise_cov: npt.ArrayLike,
    factors: Sequence[float] = (0.5, 1.5),
) -> dict[float, float]:
    """How many times larger the worst loss is when the true lengthscale is off by each factor.

    For smooth priors read the numbers as "at least": they are exact for a prior known to working
    precision, while in exact arithmetic noise of low rank hides nothing from a smoother prior.

    Args:
        covariance_at: the prior covariance (n, n), or several (priors, n, n), for lengthscales
            of ``factor`` times the assumed ones; the worst of several counts.
        secrets: those of the design.
        noise_cov: (n, n).
    """
    if not factors or any(not factor > 0 for factor in factors):
        raise DesignError("refused lengthscale factors: expected numbers above 0")

    single = [
        s if isinstance(s, int) else s[0] for s in secrets if isinstance(s, int) or len(s) < 2
    ]
    compound = [s for s in secrets if not isinstance(s, int) and len(s) > 1]

    def worst(factor: float) -> float:
        given = np.asarray(covariance_at(factor), dtype=np.float64)
        found = 0.0
        for prior in given[None] if given.ndim == 2 else given:
            if single:
                found = max(found, float(np.max(basic_informations(prior, noise_cov)[single])))
            for secret in compound:
                found = max(found, loss(prior, secret, noise_cov, 1.0, 2.0, "tight"))
        return found

    assumed = worst(1.0)
    return {factor: worst(factor) / assumed for factor in factors}


def fragility_warning(growth: dict[float, float] | None, *, several: bool = False) -> str:
    """A line for the user about noise of low rank; ``growth`` as `lengthscale_sensitivity`."""
    if several:
        fits, mend = "its few priors only", "give wider ranges"
    elif growth is None:
        fits, mend = "one prior only", "give several kernels or a range"
    else:
        fits, mend = "one lengthscale only", "give several kernels or a range"
    if growth is None:
        return (
            f"warning: this noise fits {fits} and its loss may grow many times if the prior is "
            f"wrong; {mend}, or a floor"
        )
    listed = ", ".join(
        f"{factor:g}x the lengthscale: {_times(value)} the loss"
        for factor, value in sorted(growth.items())
    )
    return f"warning: this noise fits {fits} ({listed}); {mend}, or a floor"


def fragility_clause(growth: dict[float, float] | None) -> str:
    """The same for the end of a prior's sentence in a guarantee."""
    if growth is None:
        return "fragile: with another prior the information may be many times as much"
    listed = ", ".join(
        f"at {factor:g} times the lengthscale "
        + (
            f"the information is {'at least ' if value > 1 else ''}{value:.3g} times as much"
            if math.isfinite(value)
            else "nothing limits the information"
        )
        for factor, value in sorted(growth.items())
    )
    return f"fragile: {listed}"


def _times(value: float) -> str:
    if not math.isfinite(value):
        return "unboundedly many times"
    return f"at least {value:.3g}x" if value > 1 else f"{value:.3g}x"
