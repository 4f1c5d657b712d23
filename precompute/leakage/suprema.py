"""Where the leakage ends when the same budget is spent for ever.

x = L(x) + epsilon. For one piece (Q, D), x - f(x) rises strictly (unless Q = 1, D = 0), and so
does x - L(x) = min over the pieces: there is at most one fixed point, it is the largest of the
pieces' own, and none exists just when the last piece has D = 0 and epsilon >= log(1/Q).
"""

import math

from agent.formats.leakage_table import LeakageTable
from precompute.leakage.errors import LeakageError

FIXED_POINT_TOLERANCE = 1e-9


def supremum_of_piece(gain: float, loss: float, epsilon: float) -> float | None:
    """The fixed point for one (Q, D), or None when the leakage grows without bound.

    TPL Theorem 5 as THEORY states it, with y = e^x e^-epsilon so that nothing overflows:
    D y^2 - (Q - (1 - D) w) y - (1 - Q) w = 0, w = e^-epsilon.
    """
    w = math.exp(-epsilon)
    half = gain - (1 - loss) * w
    root = math.sqrt(half * half + 4 * loss * (1 - gain) * w)
    if half <= 0:
        # The other form of the root: no difference of near-equal numbers, and D = 0 is included.
        return None if root == half else epsilon + math.log(2 * (1 - gain) * w / (root - half))
    return None if loss == 0 else epsilon + math.log((half + root) / (2 * loss))


def supremum(table: LeakageTable, epsilon: float) -> float | None:
    """The least upper bound of the leakage under a constant budget; None: no finite bound.

    Raises:
        LeakageError: epsilon is not finite and positive.
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise LeakageError(f"epsilon: found {epsilon:g}; expected a finite number above zero")
    if epsilon >= table.largest_bounded_epsilon:
        return None
    largest = epsilon
    for gain, loss in zip(table.gains, table.losses, strict=True):
        one = supremum_of_piece(gain, loss, epsilon)
        if one is None:
            return None
        largest = max(largest, one)
    missed = abs(largest - table.look_up(largest) - epsilon)
    # Where L is nearly the identity the fixed point is ill determined, but it still must be one.
    assert missed <= FIXED_POINT_TOLERANCE * max(1.0, largest), "the supremum is no fixed point"
    return largest
