"""Everything an observer may try against a window's noise, evaluated together with its slopes.

A probe is a prior, a secret and a move d; its value is ``d^T K d``. With a and C as elsewhere the
best linear estimator is ``h = (C + G)^-1 a``, the value is ``a^T h``, and for a change X of the
noise the value changes by ``-h^T X h + h^T X (C + G)^-1 X h``: one vector gives value, slope and
certificate. Basic secrets of one prior share a factorisation, because ``(C + G)^-1 = M^-1 + V h
h^T`` with ``M = S + G`` and V the posterior variance.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from agent.formats.designs import FloatArray
from precompute.cip import posterior
from precompute.cip.certificates import Witness
from precompute.cip.compound import EXACT_LIMIT, vertices
from precompute.cip.window_problem import WindowProblem

_ALL_MOVES_UP_TO = 8
_MOVES_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Evaluation:
    """k probes of one group against one noise.

    Attributes:
        values: (k,).
        estimators: (n, k).
        triangle: (n, n) lower, of the matrix M that the group shares.
        extra: (k,), V where ``(C + G)^-1 = M^-1 + V h h^T``; zero where M is C + G itself.
    """

    values: FloatArray
    estimators: FloatArray
    triangle: FloatArray
    extra: FloatArray


@dataclass(slots=True)
class ProbeGroup:
    """Probes that share a prior and a factorisation.

    ``followed`` is None for a group of basic secrets (``secrets`` holds them); for a compound
    secret it is (A, C), and ``moves`` holds the moves tried so far.
    """

    prior_cov: FloatArray
    secrets: list[tuple[int, ...]]
    moves: list[FloatArray]
    limits: list[float]
    followed: tuple[FloatArray, FloatArray] | None = None

    def evaluate(self, noise_cov: FloatArray) -> Evaluation:
        """Raises LinAlgError where M is not positive definite to working precision."""
        if self.followed is None:
            return self._evaluate_basic(noise_cov)
        directions, conditional = self.followed
        pull = directions @ np.array(self.moves).T
        triangle = _cholesky(conditional + noise_cov)
        estimators = scipy.linalg.cho_solve((triangle, True), pull, check_finite=False)
        values = np.einsum("ij,ij->j", pull, estimators)
        return Evaluation(values, estimators, triangle, np.zeros(len(values)))

    def _evaluate_basic(self, noise_cov: FloatArray) -> Evaluation:
        index = [secret[0] for secret in self.secrets]
        columns = self.prior_cov[:, index]
        triangle = _cholesky(self.prior_cov + noise_cov)
        solved = scipy.linalg.cho_solve((triangle, True), columns, check_finite=False)
        explained = np.einsum("ij,ij->j", columns, solved)
        # V = S - S M^-1 S = e^T G M^-1 S e: the second form does not cancel for little noise.
        left = np.einsum("ji,ji->i", noise_cov[:, index], solved)
        if bool(np.any(left <= 0)):
            raise np.linalg.LinAlgError("posterior variance lost to rounding")
        values = explained / (np.diagonal(self.prior_cov)[index] * left)
        return Evaluation(values, solved / left, triangle, left)

    def witness(self, weights: FloatArray, estimators: FloatArray) -> Witness:
        """This group's share of a certificate."""
        return Witness(
            self.prior_cov,
            tuple(self.secrets),
            tuple(self.moves),
            np.array(self.limits),
            weights,
            estimators,
        )

    def add_worst_moves(self, noise_cov: FloatArray, limit: float) -> bool:
        """Add a compound secret's worst moves that break the limit; False if there is none."""
        if self.followed is None:
            return False
        directions, conditional = self.followed
        triangle = _cholesky(conditional + noise_cov)
        half = scipy.linalg.solve_triangular(triangle, directions, lower=True)
        matrix = half.T @ half
        broken = [
            move
            for move in _worst_moves(matrix)
            if float(move @ matrix @ move) > limit * self.limits[0]
        ]
        for move in broken:
            self._add(move)
        return bool(broken)

    def _add(self, move: FloatArray) -> None:
        self.moves.append(move)
        self.secrets.append(self.secrets[0])
        self.limits.append(self.limits[0])


def probe_groups(problem: WindowProblem) -> list[ProbeGroup]:
    """The probes of a problem: all moves of short compound secrets, one of long ones to begin."""
    groups = []
    weights = [float(w) for w in problem.weights]
    basic = [(s, w) for s, w in zip(problem.secrets, weights, strict=True) if len(s) == 1]
    for prior in problem.priors:
        if basic:
            ones = [np.ones(1)] * len(basic)
            groups.append(ProbeGroup(prior, [s for s, _ in basic], ones, [w for _, w in basic]))
        for secret, weight in zip(problem.secrets, weights, strict=True):
            if len(secret) == 1:
                continue
            followed = posterior.regression(prior, secret)
            group = ProbeGroup(prior, [secret], [np.ones(len(secret))], [weight], followed)
            if len(secret) <= _ALL_MOVES_UP_TO:
                for move in vertices(len(secret))[1:]:
                    group._add(move)
            groups.append(group)
    return groups


def _worst_moves(matrix: FloatArray) -> list[FloatArray]:
    if len(matrix) <= EXACT_LIMIT:
        moves = vertices(len(matrix))
        values = np.einsum("ij,ij->i", moves @ matrix, moves)
        return list(moves[np.argsort(-values)[:_MOVES_AT_ONCE]])
    # Beyond enumeration: single sign flips from the top eigenvector. A missed move costs only
    # optimality, never the guarantee, which is evaluated with the certified bound.
    guess: FloatArray = np.where(np.linalg.eigh(matrix)[1][:, -1] >= 0, 1.0, -1.0)
    while True:
        gains = 4.0 * (np.diagonal(matrix) - guess * (matrix @ guess))
        best = int(np.argmax(gains))
        if gains[best] <= 1e-12 * float(np.trace(matrix)):
            return [guess * guess[0]]
        guess[best] = -guess[best]


def _cholesky(matrix: FloatArray) -> FloatArray:
    return np.linalg.cholesky(matrix).astype(np.float64, copy=False)
