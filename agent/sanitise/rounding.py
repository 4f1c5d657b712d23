"""Values as whole numbers of grid steps."""

import math

from agent.errors import RefusedError

# Values and noise each stay within this, so their sum is always exact in float64 and in SQLite.
MAX_STEPS = 1 << 52


def to_steps(value: float, grid: float) -> int:
    """The nearest whole number of grid steps, ties to even.

    Raises:
        RefusedError: not finite, or beyond 2^52 steps. The message does not give the value.
    """
    steps = value / grid
    if not math.isfinite(steps) or abs(steps) > MAX_STEPS:
        raise RefusedError(
            "a reading is not finite or is beyond 2^52 grid steps; expected a plausible one; "
            "check the sensor and the channel's unit"
        )
    return round(steps)
