"""The effective lengthscales that the authors fitted to data: the grey band of Figure 2."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from precompute.errors import PrecomputeError

# Measured once on the files that the authors publish: location in steps, temperature relative.
BUILT_IN = {"rbf": (2.66601, 6.10348, 8.0), "periodic": (1.04004, 1.09682, 1.14498)}
FILES = {"rbf": ("l_eff_x.npy", "l_eff_y.npy"), "periodic": ("l_eff_temp.npy",)}


@dataclass(frozen=True, slots=True)
class Quartiles:
    """First quartile, median, third quartile for each kernel, and where they are from."""

    values: dict[str, tuple[float, float, float]]
    source: str


def quartiles() -> Quartiles:
    """From ``$SFUMATO_DATA/cip`` where the files are there, else built in.

    Raises:
        PrecomputeError: a file that is there is not a list of positive numbers.
    """
    folder = Path(os.environ.get("SFUMATO_DATA", "")) / "cip"
    paths = {kernel: [folder / name for name in names] for kernel, names in FILES.items()}
    if "SFUMATO_DATA" not in os.environ or not all(
        path.is_file() for group in paths.values() for path in group
    ):
        return Quartiles(dict(BUILT_IN), "built in")
    return Quartiles({kernel: _of(group) for kernel, group in paths.items()}, str(folder))


def _of(paths: list[Path]) -> tuple[float, float, float]:
    samples = []
    for path in paths:
        try:
            found = np.asarray(np.load(path, allow_pickle=False), dtype=np.float64).ravel()
        except (OSError, ValueError) as error:
            raise PrecomputeError(f"{path}: not an array of numbers ({error})") from None
        if found.size == 0 or not bool(np.all(np.isfinite(found) & (found > 0))):
            raise PrecomputeError(f"{path}: expected lengthscales above 0")
        samples.append(found)
    low, middle, high = np.percentile(np.concatenate(samples), [25, 50, 75])
    return float(low), float(middle), float(high)
