"""Axes of a chart: where a value lies between the ends, and which values are written beside it."""

import math
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray
from agent.formats.quantities import format_duration

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
NICE_TIMES = (
    *(1e-3, 1e-2, 0.1, 1.0, 10.0, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY),
    *(30 * DAY, 365 * DAY, 3650 * DAY),
)
MOST_TICKS = 8


@dataclass(frozen=True, slots=True)
class Scale:
    """From ``low`` to ``high``, even in the logarithm if ``log``; ``ticks`` are (value, text)."""

    low: float
    high: float
    log: bool
    ticks: tuple[tuple[float, str], ...]

    def share(self, values: FloatArray) -> FloatArray:
        """0 at the low end, 1 at the high one; beyond them outside 0 to 1."""
        if not self.log:
            return np.asarray((values - self.low) / (self.high - self.low))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(values / self.low) / math.log(self.high / self.low)
        return np.asarray(ratio)


def log_times(low: float, high: float) -> Scale:
    """Seconds, with ticks at times that people name."""
    inside = [time for time in NICE_TIMES if low <= time * (1 + 1e-9) and time <= high * (1 + 1e-9)]
    return Scale(low, high, True, tuple((time, format_duration(time)) for time in _thinned(inside)))


def times(low: float, high: float) -> Scale:
    """Seconds, even."""
    step = min(
        (time * k for time in NICE_TIMES for k in (1, 2, 5) if (high - low) / (time * k) <= 5),
        default=high - low,
    )
    ticks = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step
    return Scale(low, high, False, tuple((float(t), format_duration(float(t))) for t in ticks))


def logarithmic(low: float, high: float) -> Scale:
    """Numbers, with ticks at powers of ten, or at 1, 2, 5 where there are few of those."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if high < 100 * low else (1,)
    values = [k * 10.0**decade for decade in decades for k in factors]
    inside = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
    return Scale(low, high, True, tuple((value, _short(value)) for value in _thinned(inside)))


def linear(low: float, high: float) -> Scale:
    """Numbers, even, with about five round ticks."""
    rough = (high - low) / 5
    decade = 10.0 ** math.floor(math.log10(rough))
    step = next(k * decade for k in (1, 2, 5, 10) if k * decade >= rough * (1 - 1e-9))
    ticks = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step
    return Scale(low, high, False, tuple((float(t), f"{t:g}") for t in np.round(ticks, 12)))


def _short(value: float) -> str:
    return f"{value:g}" if 1e-3 <= value < 1e5 else f"{value:.0e}".replace("e-0", "e-")


def _thinned(values: list[float]) -> list[float]:
    stride = math.ceil(len(values) / MOST_TICKS)
    return values[::stride] if stride > 1 else values
