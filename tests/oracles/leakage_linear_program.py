"""The loss of one pair of rows as a linear program, by HiGHS, after Charnes and Cooper (1962).

Maximise (q.x)/(d.x) subject to x_j <= e^alpha x_k. With x = a (1 + z), 0 <= z <= u = e^alpha - 1,
scaled so that d.x = 1 and with b = a z, s = a u:

    maximise q.b + s/u   subject to   d.b + s/u = 1,   0 <= b_j <= s.

The solver's vertex says which b_j are at s; the value is computed again from that choice, because
the solver's own tolerance (1e-7) is coarser than what is to be checked.
"""

import math

import numpy as np
from scipy.optimize import linprog


def linear_program_loss(q: np.ndarray, d: np.ndarray, alpha: float) -> float:
    """log of the largest ratio for one ordered pair; entries of d above zero."""
    n = q.size
    u = math.expm1(alpha)
    objective = -np.append(q, 1 / u)
    equal = np.append(d, 1 / u)[None, :]
    upper = np.hstack([np.eye(n), -np.ones((n, 1))])
    solution = linprog(
        objective, A_ub=upper, b_ub=np.zeros(n), A_eq=equal, b_eq=[1.0], method="highs"
    )
    assert solution.status == 0, solution.message
    chosen = solution.x[:n] > solution.x[n] / 2
    gain, loss = math.fsum(q[chosen]), math.fsum(d[chosen])
    return math.log((gain * u + 1) / (loss * u + 1))


def linear_program_loss_of_matrix(matrix: np.ndarray, alpha: float) -> float:
    """The same, over all ordered pairs of rows."""
    n = matrix.shape[0]
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    return max(0.0, *(linear_program_loss(matrix[i], matrix[j], alpha) for i, j in pairs))
