"""Which releases a steady cadence makes of a recording, and which fix each one stands for.

The rule is the agent's: a release at every whole multiple of ``every`` since 1970, for the last
fix at or before it that no earlier release stood for; none after the last fix. Written again here,
over whole arrays, because a report needs the true position behind each published one and the
agent tells nobody.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agent.formats.designs import FloatArray


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Slots:
    """(n,) times in whole milliseconds, ascending, and (n,) indices of the fixes behind them."""

    times_ms: npt.NDArray[np.int64]
    fixes: npt.NDArray[np.intp]


def steady_slots(times_seconds: FloatArray, every_ms: int) -> Slots:
    """The releases for (m,) ascending times of fixes."""
    slots = _slots(times_seconds, every_ms)
    last_before_its_slot = np.append(
        np.diff(slots) > 0, slots[-1] * every_ms == _ms(times_seconds[-1])
    )
    fixes = np.flatnonzero(last_before_its_slot)
    return Slots(slots[fixes] * every_ms, fixes)


def count_steady_slots(times_seconds: FloatArray, every_ms: int) -> int:
    """How many releases :func:`steady_slots` would give, without making them."""
    return steady_slots(times_seconds, every_ms).fixes.size


def _slots(times_seconds: FloatArray, every_ms: int) -> npt.NDArray[np.int64]:
    """Each fix's first slot, as a multiple of ``every_ms``."""
    slots: npt.NDArray[np.int64] = -(-_ms(times_seconds) // every_ms)
    return slots


def _ms(times_seconds: FloatArray) -> npt.NDArray[np.int64]:
    """Whole milliseconds."""
    return np.asarray(np.round(np.asarray(times_seconds) * 1000.0), dtype=np.int64)
