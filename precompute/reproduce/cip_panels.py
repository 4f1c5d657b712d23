"""The eight panels of Meehan & Chaudhuri 2021, Figure 2: what each shows, and its numbers.

a-d: an RBF prior on 50 readings; e-h: a periodic one on 48, period 24. One secret, two, all, and a
wrong prior. Which secrets, grids and budgets these are was read off the authors' public script;
docs/reproduce-cip.md says what that leaves open.

The *interval* is ``2 sqrt(v)`` with v the smallest eigenvalue of what the release leaves unknown
about the secret, ``Var[x_s | z]``; for all secrets, v is the mean of the single variances.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agent.formats.designs import FloatArray
from precompute.cip import posterior
from precompute.cip.paper import independent_concentrated, independent_uniform
from precompute.cip.paper_formulas import published_noise_for_all, scaled_published_noise
from precompute.cip.window_design import design_window
from precompute.priors.kernels import RBF, Periodic

POWER_PER_READING = 0.02
WRONG_LENGTHSCALES = (0.5, 1.5)
GRID_POINTS = 20
PERIOD = 24.0

Kernel = Literal["rbf", "periodic"]


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        kernel, count: the prior's family and the number of readings, one step apart.
        secret: indices; None for every single reading.
        scaling: the published program is solved for this times the budget and divided by it
            afterwards; matters for two readings only.
        wrong: whether the true lengthscale is another than the one designed for.
    """

    title: str
    kernel: Kernel
    count: int
    secret: tuple[int, ...] | None
    scaling: float = 1.0
    wrong: bool = False

    def prior(self, lengthscale: float) -> FloatArray:
        """Covariance (count, count), variance 1."""
        times = np.arange(self.count, dtype=np.float64)
        kernel = RBF(lengthscale) if self.kernel == "rbf" else Periodic(lengthscale, period=PERIOD)
        return kernel.covariance(times, times)

    @property
    def squares(self) -> FloatArray:
        """The grid of squared effective lengthscales."""
        low, high = (1.0, 100.0) if self.kernel == "rbf" else (0.25, 2.25)
        return np.linspace(low, high, GRID_POINTS)


PANELS: Mapping[str, Panel] = {
    "a": Panel("RBF, one secret", "rbf", 50, (24,)),
    "b": Panel("RBF, two adjacent secrets", "rbf", 50, (24, 25), scaling=1e6),
    "c": Panel("RBF, every reading a secret", "rbf", 50, None),
    "d": Panel("RBF, one secret, wrong lengthscale", "rbf", 50, (24,), wrong=True),
    "e": Panel("Periodic, one secret", "periodic", 48, (24,)),
    "f": Panel("Periodic, two distant secrets", "periodic", 48, (16, 32), scaling=10.0),
    "g": Panel("Periodic, every reading a secret", "periodic", 48, None),
    "h": Panel("Periodic, one secret, wrong lengthscale", "periodic", 48, (24,), wrong=True),
}

Noises = dict[str, FloatArray]


def rows(panel: Panel, median: float, tick: Callable[[], None]) -> list[dict[str, Any]]:
    """A row for every lengthscale of the grid, and one for the data's median."""
    found = []
    for square in sorted({*panel.squares.tolist(), median * median}):
        found.append(row(panel, float(square)))
        tick()
    return found


def row(panel: Panel, square: float) -> dict[str, Any]:
    """All lines of the panel at one squared lengthscale, every noise at the same power."""
    lengthscale = float(np.sqrt(square))
    prior = panel.prior(lengthscale)
    noises = noises_of_one_power(panel, lengthscale)
    result: dict[str, Any] = {"lengthscale_sq": square, "trace": float(np.trace(noises["sdp"]))}
    result |= {name: interval(prior, noise, panel.secret) for name, noise in noises.items()}
    if panel.wrong:
        result["true_lengthscale"] = {
            f"{factor:g}": {
                name: interval(panel.prior(factor * lengthscale), noise, panel.secret)
                for name, noise in noises.items()
            }
            for factor in WRONG_LENGTHSCALES
        }
    if panel.scaling != 1.0:
        result["sdp_by_scaling"] = dict(_by_scaling(panel, prior))
    return result


def noises_of_one_power(panel: Panel, lengthscale: float) -> Noises:
    """The published noise, both baselines and ours; ours covers the wrong priors if it must."""
    prior = panel.prior(lengthscale)
    power = POWER_PER_READING * panel.count
    if panel.secret is None:
        published = published_noise_for_all(prior, power).noise_cov
    else:
        published = scaled_published_noise(prior, panel.secret, power, panel.scaling)
    power = float(np.trace(published))
    priors = [prior]
    if panel.wrong:
        priors += [panel.prior(factor * lengthscale) for factor in WRONG_LENGTHSCALES]
    ours = design_window(
        priors, "all" if panel.secret is None else [panel.secret], mse=power / panel.count
    )
    uniform = independent_uniform(panel.count, power)
    return {
        "sdp": published,
        "uniform": uniform,
        # Concentrated on every reading is uniform.
        "concentrated": uniform
        if panel.secret is None
        else independent_concentrated(panel.count, panel.secret, power),
        "ours": ours.noise_cov,
    }


def interval(prior: FloatArray, noise: FloatArray, secret: tuple[int, ...] | None) -> float:
    """The module's ``2 sqrt(v)``."""
    if secret is None:
        return float(2 * np.sqrt(np.mean(posterior.posterior_variances(prior, noise).posterior)))
    block = posterior.posterior_covariance(prior, noise)[np.ix_(secret, secret)]
    return float(2 * np.sqrt(max(float(np.linalg.eigvalsh(block)[0]), 0.0)))


def _by_scaling(panel: Panel, prior: FloatArray) -> Iterator[tuple[str, float]]:
    """What the published program gives under other scalings: it should not matter, and does."""
    assert panel.secret is not None
    for scaling in (1.0, 10.0, 1e3, 1e6):
        noise = scaled_published_noise(
            prior, panel.secret, POWER_PER_READING * panel.count, scaling
        )
        yield f"{scaling:g}", interval(prior, noise, panel.secret)
