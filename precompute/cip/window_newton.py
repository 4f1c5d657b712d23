"""One Newton step of the window design's barrier function, for thousands of unknowns.

With the noise above its floor written ``P = L L^T`` and a step ``P -> L (I + Y) L^T``, the barrier
``tr P - m sum log(limit_i - value_i) - m log det P`` has, in Y, the second derivative::

    m Y  +  sum_g (M_g Y D_g + D_g Y M_g)  +  sum_i d_i h_i (h_i^T Y h_i) h_i^T

where ``M_g`` is a group's ``L^T M^-1 L``, ``D_g = sum u_i h_i h_i^T`` over the group, h_i stands
for ``L^T h_i``, ``u_i = m / slack_i`` and ``d_i = u_i^2 / m + 2 u_i V_i``. With n(n+1)/2 unknowns
the system is solved by conjugate gradients. With ``L = U sqrt(w)`` from the eigenvectors of P the
first two terms are nearly diagonal, and the third is inverted exactly on top of that diagonal
(Woodbury, one row for each probe): a handful of iterations is enough.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.linalg import blas

from agent.formats.designs import FloatArray

_EXACT_WORK = 4e9
_MAX_ITERATIONS = 200
_ACTIVE = 1e-3
_TERM_SPACING = 2.5


@dataclass(frozen=True, slots=True)
class NewtonSystem:
    """The second derivative above, and the slope.

    Attributes:
        barrier: m.
        shared: M_g, each (n, n).
        slopes: D_g, each (n, n).
        estimators: h of all probes, (n, k).
        stiffness: d, (k,).
        gradient: (n, n), symmetric, zero outside ``mask``.
        mask: (n, n), 1 where the noise may be non-zero (in the coordinates of Y), or None.
    """

    barrier: float
    shared: list[FloatArray]
    slopes: list[FloatArray]
    estimators: FloatArray
    stiffness: FloatArray
    gradient: FloatArray
    mask: FloatArray | None

    def apply(self, y: FloatArray) -> FloatArray:
        """The second derivative times Y."""
        result = self.barrier * y
        for shared, slope in zip(self.shared, self.slopes, strict=True):
            product = shared @ y @ slope
            result += product + product.T
        h = self.estimators
        stretched = h * (self.stiffness * np.einsum("ij,ij->j", h, y @ h))
        result += stretched @ h.T
        return result if self.mask is None else result * self.mask


def newton_step(system: NewtonSystem, tolerance: float) -> FloatArray:
    """Y with ``apply(Y) = -gradient``, to a relative residual in the preconditioner's norm."""
    precondition = _Preconditioner(system)
    step = np.zeros_like(system.gradient)
    residual = -system.gradient
    shaped = precondition(residual)
    direction = shaped
    size = first = float(np.sum(residual * shaped))
    for _ in range(_MAX_ITERATIONS):
        if size <= tolerance * tolerance * first:
            break
        image = system.apply(direction)
        length = size / float(np.sum(direction * image))
        step += length * direction
        residual = residual - length * image
        shaped = precondition(residual)
        new_size = float(np.sum(residual * shaped))
        direction = shaped + (new_size / size) * direction
        size = new_size
    symmetric: FloatArray = 0.5 * (step + step.T)
    return symmetric


class _Preconditioner:
    """``(A + sum_i d_i (h_i h_i^T)(h_i h_i^T)^T)^-1`` with A diagonal, i.e. entrywise on Y."""

    def __init__(self, system: NewtonSystem) -> None:
        h, stiffness = system.estimators, system.stiffness
        importance = stiffness * np.sum(h * h, axis=0) ** 2
        active = importance > _ACTIVE * system.barrier
        self._active = np.ascontiguousarray(h[:, active])
        count = self._active.shape[1]
        if len(h) ** 2 * count**2 <= _EXACT_WORK or system.mask is not None:
            self._inverse, overlap = self._exact(system)
        else:
            self._inverse, overlap = self._separable(system)
        overlap[np.diag_indices(count)] += 1.0 / stiffness[active]
        self._core = scipy.linalg.cho_factor(overlap, check_finite=False) if count else None

    def __call__(self, residual: FloatArray) -> FloatArray:
        scaled = self._inverse * residual
        if self._core is None:
            return scaled
        h = self._active
        seen = np.einsum("ij,ij->j", h, scaled @ h)
        weights = scipy.linalg.cho_solve(self._core, seen, check_finite=False)
        corrected: FloatArray = scaled - self._inverse * ((h * weights) @ h.T)
        return corrected

    def _exact(self, system: NewtonSystem) -> tuple[FloatArray, FloatArray]:
        """A from the diagonals of M_g and D_g; overlaps by one product a row."""
        diagonal = np.full_like(system.gradient, system.barrier)
        for shared, slope in zip(system.shared, system.slopes, strict=True):
            outer = np.outer(np.diagonal(shared), np.diagonal(slope))
            diagonal += outer + outer.T
        inverse = 1.0 / diagonal if system.mask is None else system.mask / diagonal
        h = self._active
        overlap = np.zeros((h.shape[1], h.shape[1]))
        for row, weights in zip(h, inverse, strict=True):
            overlap += np.outer(row, row) * ((h.T * weights) @ h)
        return inverse, overlap

    def _separable(self, system: NewtonSystem) -> tuple[FloatArray, FloatArray]:
        """A replaced by ``q_j q_k (e_j + e_k)``, whose inverse is a short sum of products.

        ``1/x = integral of exp(-x e^s) e^s ds`` by the trapezoidal rule: each term is a product of
        a function of j and one of k, for which the overlaps are the squares of one matrix.
        """
        q = sum(np.diagonal(slope) for slope in system.slopes) + np.finfo(np.float64).tiny
        own = 0.5 * system.barrier + sum(
            np.diagonal(m) * np.diagonal(d)
            for m, d in zip(system.shared, system.slopes, strict=True)
        )
        e = own / (q * q)
        nodes = np.arange(
            np.log(0.015 / float(np.max(e))),
            np.log(2.5 / float(np.min(e))) + _TERM_SPACING,
            _TERM_SPACING,
        )
        inverse = np.zeros_like(system.gradient)
        h = self._active
        overlap = np.zeros((h.shape[1], h.shape[1]))
        for node in nodes:
            term = np.sqrt(_TERM_SPACING * np.exp(node)) * np.exp(-np.exp(node) * e) / q
            inverse += np.outer(term, term)
            lower = blas.dsyrk(1.0, (h * np.sqrt(term)[:, None]).T, lower=1)
            overlap += lower**2
        return inverse, np.tril(overlap) + np.tril(overlap, -1).T
