"""Lower bounds that no noise can beat, from any solver's leftovers, or from none.

Written so that a reader can check a design without trusting how it was found. Nothing here knows a
solver, and no input can make a bound wrong: the weights and the estimators are free choices of
the prover, good ones merely make the bound high.

For a secret that follows ``A``, leaves ``C`` open and moves by ``d``, write ``a = A d``. For every
estimator h and every noise G::

    a^T (C+G)^-1 a  >=  2 h^T a - h^T (C+G) h

because the right side is concave in h with its maximum, the left side, at ``h = (C+G)^-1 a``.
Weigh these by ``u >= 0`` and set ``H = sum u h h^T``, ``alpha = sum u h^T a``, ``beta = sum u h^T C
h``. What G contributes is ``<G, H>``, and for G above a floor ``G0``, with trace at most P and zero
between the blocks, it is at most ``<G0, H> + (P - tr G0) top(H)``, ``top`` being the largest
eigenvalue of a diagonal block of H. Choosing the scale of h best gives both bounds below.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from agent.formats.designs import FloatArray

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Witness:
    """One prior's share of a proof: k weighted estimators.

    Attributes:
        prior_cov: (n, n).
        secrets: k index tuples.
        moves: k arrays, one entry for each time of the secret; the move the secret makes.
        limits: (k,), what ``d^T K d`` is compared with.
        weights: (k,), not negative.
        estimators: (n, k).
    """

    prior_cov: FloatArray
    secrets: tuple[tuple[int, ...], ...]
    moves: tuple[FloatArray, ...]
    limits: FloatArray
    weights: FloatArray
    estimators: FloatArray


@dataclass(frozen=True, slots=True)
class Proof:
    """The few numbers a certificate comes down to, as in the module's docstring.

    Attributes:
        alpha, beta: with weights scaled to sum 1.
        at_floor: ``<G0, H>``.
        spread: upper bound on ``top(H)``.
        floor_power: ``tr G0``.
    """

    alpha: float
    beta: float
    at_floor: float
    spread: float
    floor_power: float

    def ratio_lower(self, total_power: float) -> float:
        """No admissible noise of this trace brings every ``d^T K d / limit`` below this.

        ``alpha^2 / (beta + max <G, H>)``.
        """
        spare = max(total_power - self.floor_power, 0.0)
        denominator = self.beta + self.at_floor + spare * self.spread
        return self.alpha * self.alpha / denominator if self.alpha > 0 else 0.0

    def power_lower(self, ratio: float) -> float:
        """No admissible noise with every ``d^T K d / limit`` at most ``ratio`` has a lower trace.

        The limits say ``sum u d^T K d <= ratio``, hence ``<G, H> >= alpha^2 / ratio - beta`` at the
        best scale of h, while ``<G - G0, H> <= top(H) tr(G - G0)``.
        """
        if self.spread <= 0 or self.alpha <= 0:
            return self.floor_power
        needed = self.alpha * self.alpha / ratio - self.beta - self.at_floor
        return self.floor_power + max(needed / self.spread, 0.0)


def prove(
    witnesses: Sequence[Witness],
    floor: FloatArray | None = None,
    blocks: Sequence[Sequence[int]] | None = None,
) -> Proof:
    """Condense witnesses into a proof, for noise above ``floor`` and zero between ``blocks``."""
    total = sum(float(np.sum(w.weights)) for w in witnesses)
    alpha, beta, halves = _collect(witnesses, total)
    rows = [np.arange(len(halves))] if blocks is None else [np.array(block) for block in blocks]
    spread = max(_largest_eigenvalue(halves[block]) for block in rows)
    if floor is None:
        return Proof(alpha, beta, 0.0, spread, 0.0)
    at_floor = float(np.sum(halves * (floor @ halves)))
    return Proof(alpha, beta, at_floor, spread, float(np.trace(floor)))


def _collect(witnesses: Sequence[Witness], total: float) -> tuple[float, float, FloatArray]:
    """alpha, beta and a half of H = half half^T."""
    alpha = beta = 0.0
    scaled = []
    for w in witnesses:
        if bool(np.any(w.weights < 0)):
            raise ValueError("a certificate's weights must not be negative")
        u = w.weights / (w.limits * total)
        image = w.prior_cov @ w.estimators
        squares = np.einsum("ij,ij->j", w.estimators, image)
        for k, (secret, move) in enumerate(zip(w.secrets, w.moves, strict=True)):
            if u[k] == 0:
                continue
            index = list(secret)
            block = w.prior_cov[np.ix_(index, index)]
            seen = np.linalg.solve(block, image[index, k])
            alpha += float(u[k] * (move @ seen))
            beta += float(u[k] * max(squares[k] - image[index, k] @ seen, 0.0))
        scaled.append(w.estimators * np.sqrt(u))
    return alpha, beta, np.hstack(scaled)


def _largest_eigenvalue(half: FloatArray) -> float:
    """Upper bound on the largest eigenvalue of ``half half^T``."""
    product = half @ half.T
    # The largest row sum bounds it for nothing, and is exact for the diagonal H of 'all secrets'.
    row_sum = float(np.max(np.sum(np.abs(product), axis=1)))
    if row_sum <= float(np.max(np.diagonal(product))) * (1 + _ROUNDING):
        return row_sum
    size = len(product)
    top = scipy.linalg.eigh(product, eigvals_only=True, subset_by_index=[size - 1, size - 1])
    return min(float(top[0]) * (1 + _ROUNDING * size), row_sum)
