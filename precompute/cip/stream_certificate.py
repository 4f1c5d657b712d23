"""Lower bounds of the power that a class demands, from multipliers of any origin.

This module does not know the solver. ``rows`` is (m, N) with ``rows @ (1/S) = K`` of m shapes of
the class, for limits of 1 (K is homogeneous of degree -1: divide a power by the limit).

**Any stationary noise.** For w >= 0 and every spectrum S with ``K_i <= 1``, Cauchy-Schwarz gives
``((1/2pi) integral sqrt(sum w_i phi_i^2))^2 <= (1/2pi) integral S * sum w_i K_i``, which is at most
``power * sum w_i``. So no stationary Gaussian noise, of whatever components, has less power than
``(integral sqrt(sum w_i phi_i^2) / 2pi)^2 / sum w_i``.

**Noise made of given components.** K_i is convex and homogeneous of degree -1, so for any c' > 0
and feasible c: ``1 >= K_i(c) >= K_i(c') + K_i'(c') (c - c') = 2 K_i(c') + K_i'(c') c``. Weighted
with w >= 0 such that ``1 + sum_i w_i dK_i/dc_j (c') >= 0`` for every component j:
``sum c >= 2 sum w_i K_i(c') - sum w_i``. Weights are shrunk until the condition holds.
"""

import numpy as np

from agent.formats.designs import FloatArray

IMPROVEMENTS = 400


def power_lower_any(rows: FloatArray, weights: FloatArray, measure: FloatArray) -> float:
    """Least power of any stationary noise, per axis, that keeps every K at most 1.

    Args:
        rows: (m, N) ``measure * phi_i^2``.
        weights: (m,) non-negative, any; good multipliers give a good bound.
        measure: (N,) quadrature weights, 1/2pi included.
    """
    w = np.maximum(weights, 0.0) + 1e-9 * float(np.max(weights))
    squares = rows / measure
    best = 0.0
    for _ in range(IMPROVEMENTS):
        ideal = np.sqrt(w @ squares)
        total = float(measure @ ideal)
        best = max(best, total * total / float(w.sum()))
        # At the optimum K_i of the noise ``ideal`` is the same for all i with w_i > 0.
        inverse = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0)
        w = w * (rows @ inverse) * (float(w.sum()) / total)
    return best


def power_lower_within(
    rows: FloatArray, spectra: FloatArray, reference: FloatArray, weights: FloatArray
) -> float:
    """Least power of noise made of the components whose spectra are given.

    Args:
        rows: (m, N), see the module's text.
        spectra: (N, J) unit-variance spectra of the components allowed.
        reference: (N,) spectrum of some noise, best a near-optimal one made of them.
        weights: (m,) non-negative.
    """
    w = np.maximum(weights, 0.0)
    inverse = 1 / reference
    K = rows @ inverse
    pull = ((w @ rows) * inverse**2) @ spectra
    # Both the shrinking and the size are free: t w is allowed for t <= 1/max pull.
    scale = 1 / float(np.max(pull))
    return max(0.0, scale * float(2 * (w @ K) - w.sum()))
