"""Figures over windows: mean, median, quartiles and a bootstrap interval of the mean."""

from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray

BOOTSTRAP_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Summary:
    """Of one number per window; ``low`` and ``high`` are a 95 % bootstrap interval of the mean."""

    mean: float
    low: float
    high: float
    lower_quartile: float
    median: float
    upper_quartile: float
    count: int


def summarise(values: FloatArray, *, seed: int = 0) -> Summary:
    """Summarise (w,) values, NaNs left out; windows are resampled as wholes.

    Raises:
        ValueError: nothing is left to summarise.
    """
    kept = values[np.isfinite(values)]
    if kept.size == 0:
        raise ValueError("no window to summarise")
    rng = np.random.default_rng(seed)
    draws = np.mean(kept[rng.integers(0, kept.size, (BOOTSTRAP_DRAWS, kept.size))], axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    lower, median, upper = np.quantile(kept, [0.25, 0.5, 0.75])
    return Summary(
        float(np.mean(kept)),
        float(low),
        float(high),
        float(lower),
        float(median),
        float(upper),
        int(kept.size),
    )
