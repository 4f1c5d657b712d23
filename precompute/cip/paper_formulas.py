"""What the published programs of :mod:`precompute.cip.paper` come to, without a conic solver.

**SDP_A.** With ``A+`` the left inverse, ``A+^T = Q R`` (QR) and ``E = A+ C A+^T`` the program asks
for a noise in the span of Q: maximise the smallest eigenvalue of ``R^T X R + E`` over ``X >= 0``,
``tr X <= P``. For one reading X is the number P. For two, let t be the value at which ``R^T X R + E
= t I`` spends P: if that X is positive semidefinite it is optimal (its multiplier ``R^-1 R^-T`` is
positive definite), otherwise X has rank one and its direction is an angle.

**SDP_B** for noises ``F_k F_k^T``: ``G >= F F^T`` says ``F^T G^-1 F <= I``. The dual is to
maximise ``2 tr (sum F_k W_k F_k^T)^(1/2) - sum tr W_k`` over ``W_k >= 0``: smooth and concave,
with ``G`` the root. Whatever W the ascent ends with, it gives a lower bound, and G multiplied until
it dominates gives an upper one.

Tests hold both against the conic solvers. Times: a hundredth of a second for fifty secrets.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from agent.formats.designs import FloatArray
from precompute.cip.posterior import regression
from precompute.errors import DesignError

_ANGLES = 720
_ASCENT_STEPS = 400


def published_noise(prior_cov: FloatArray, secret: Sequence[int], total_power: float) -> FloatArray:
    """SDP_A's noise for a secret of one or two readings, as published: cross blocks dropped.

    Args:
        prior_cov: (n, n).
        secret: one or two indices.
        total_power: bound of the trace.

    Raises:
        DesignError: more than two readings; use `precompute.cip.paper.sdp_a`.
    """
    inside = tuple(secret)
    if len(inside) > 2:
        raise DesignError("the formula for SDP_A covers one or two readings; use paper.sdp_a")
    follow, left_open = regression(prior_cov, inside)
    left_inverse = np.linalg.pinv(follow)
    directions, upper = np.linalg.qr(left_inverse.T)
    residual = left_inverse @ left_open @ left_inverse.T
    spread = directions @ _best_within(upper, residual, total_power) @ directions.T
    rest = [index for index in range(len(prior_cov)) if index not in inside]
    noise = np.zeros_like(prior_cov)
    noise[inside, inside] = np.mean(spread[inside, inside])
    noise[np.ix_(rest, rest)] = spread[np.ix_(rest, rest)]
    return noise


def scaled_published_noise(
    prior_cov: FloatArray, secret: Sequence[int], total_power: float, scaling: float
) -> FloatArray:
    """The same solved for ``scaling`` times the power and divided by it afterwards.

    That changes nothing for one reading; for two it moves E out of the way.
    """
    return published_noise(prior_cov, secret, total_power * scaling) / scaling


@dataclass(frozen=True, slots=True)
class JoinedNoise:
    """SDP_B's noise; no noise that dominates the given ones has a trace below ``trace_lower``."""

    noise_cov: FloatArray
    trace_lower: float


def published_noise_for_all(prior_cov: FloatArray, power_each: float) -> JoinedNoise:
    """Algorithm 1 for every single reading: SDP_A for each, joined by SDP_B."""
    factors = []
    for index in range(len(prior_cov)):
        follow = prior_cov[:, index] / prior_cov[index, index]
        size = np.sqrt(power_each) / np.linalg.norm(follow)
        factor = np.zeros((len(prior_cov), 2))
        factor[:, 1] = size * follow
        factor[index] = size, 0.0
        factors.append(factor)
    return join(factors)


def join(factors: Sequence[FloatArray]) -> JoinedNoise:
    """The noise of least trace above ``F F^T`` for every F (n, m) given, all of one shape."""
    stacked = np.stack(factors)
    count, _, columns = stacked.shape

    def root(halves: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        weighted = stacked @ halves
        total = np.einsum("kij,klj->il", weighted, weighted)
        values, vectors = np.linalg.eigh(total)
        lengths = np.sqrt(np.maximum(values, 1e-18 * values[-1]))
        return (vectors * lengths) @ vectors.T, (vectors / lengths) @ vectors.T, lengths

    def descent(flat: FloatArray) -> tuple[float, FloatArray]:
        halves = flat.reshape(count, columns, columns)
        _, inverse, lengths = root(halves)
        seen = np.swapaxes(stacked, 1, 2) @ inverse @ stacked
        value = 2.0 * float(np.sum(lengths)) - float(np.sum(halves**2))
        slope = 2.0 * (seen - np.eye(columns)) @ halves
        return -value, -slope.ravel()

    start = np.tile(0.3 * np.eye(columns), (count, 1, 1)).ravel()
    found = scipy.optimize.minimize(
        descent,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _ASCENT_STEPS, "maxcor": 30, "ftol": 1e-14, "gtol": 1e-9},
    )
    noise, inverse, _ = root(found.x.reshape(count, columns, columns))
    seen = np.swapaxes(stacked, 1, 2) @ inverse @ stacked
    missing = max(float(np.linalg.eigvalsh(one)[-1]) for one in seen)
    return JoinedNoise(noise * missing, -float(found.fun))


def _best_within(upper: FloatArray, residual: FloatArray, power: float) -> FloatArray:
    """X of the module's text, for one or two readings."""
    if len(upper) == 1:
        return np.array([[power]])
    inverse = np.linalg.inv(upper)
    spent = float(np.trace(inverse.T @ residual @ inverse))
    level = (power + spent) / float(np.trace(inverse.T @ inverse))
    even: FloatArray = inverse.T @ (level * np.eye(2) - residual) @ inverse
    if np.linalg.eigvalsh(even)[0] >= 0:
        return even

    def smallest(angle: float) -> float:
        column = upper.T @ np.array([np.cos(angle), np.sin(angle)])
        return float(np.linalg.eigvalsh(power * np.outer(column, column) + residual)[0])

    step = np.pi / _ANGLES
    best = max((float(angle) for angle in step * np.arange(_ANGLES)), key=smallest)
    refined = scipy.optimize.minimize_scalar(
        lambda angle: -smallest(angle),
        bounds=(best - step, best + step),
        method="bounded",
        options={"xatol": 1e-12},
    )
    direction = np.array([np.cos(refined.x), np.sin(refined.x)])
    result: FloatArray = power * np.outer(direction, direction)
    return result
