"""The temporal-leakage papers' experiments, computed again: what ``sfumato reproduce tpl`` shows.

Three parts: the running example (ICDE 2017, Figure 3), the time to evaluate L against the number
of states and alpha beside the linear program it replaces, and the noise that Algorithms 2 and 3
need against the strength of correlation. The quoted leakage is the paper's; times are of this
machine and cannot be compared with the paper's.
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from agent.formats.leakage_table import LeakageTable
from precompute.leakage.allocation import allocate_known_horizon, allocate_unknown_horizon
from precompute.leakage.envelope import build_table
from precompute.leakage.loss_function import FloatArray, loss
from precompute.leakage.quantification import Adversary, Leakage, quantify
from precompute.leakage.reproduction_plots import plot_example, plot_noise, plot_times
from precompute.leakage.transition_matrices import (
    TransitionMatrix,
    smoothed,
    strongest_correlation,
)

QUOTED_BPL = (0.1, 0.1808, 0.2471, 0.3024, 0.3488, 0.3881, 0.4216, 0.4503, 0.475, 0.4964)
EXAMPLE = TransitionMatrix(np.array([[0.8, 0.2], [0.0, 1.0]]))
PAIRS_TIMED = 40
LOOK_UPS_TIMED = 1000
RUNS_TIMED = 5


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds for one L(alpha) over all pairs of ``states`` rows.

    ``seconds`` and ``look_up_seconds`` are the best of RUNS_TIMED runs, which is how long the work
    takes when nothing else disturbs it; ``table_seconds`` is for the table of every alpha at once,
    made once. ``program_seconds`` is the linear program's for all ``program_pairs`` ordered pairs,
    extrapolated from ``program_pairs_timed`` of them drawn at random.
    """

    states: int
    alpha: float
    seconds: float
    table_seconds: float
    look_up_seconds: float
    program_seconds: float
    program_pairs_timed: int
    program_pairs: int
    largest_difference: float


@dataclass(frozen=True, slots=True)
class Noise:
    """Mean absolute Laplace noise of a count, 1/epsilon averaged over the releases."""

    smoothing: float
    alpha: float
    steps: int
    algorithm_2: float
    algorithm_3: float
    time_ignored: float


def running_example() -> dict[str, Leakage]:
    """Ten releases of 0.1 under the strongest, a moderate and no correlation, both directions."""
    chains = {
        "strongest": TransitionMatrix(np.eye(2)),
        "moderate": EXAMPLE,
        "none": TransitionMatrix(np.full((2, 2), 0.5)),
    }
    return {
        name: quantify(Adversary.knowing(chain, chain), [0.1] * 10)
        for name, chain in chains.items()
    }


def time_against_states(
    states: Sequence[int] = (10, 20, 50, 100), alphas: Sequence[float] = (0.1, 1.0, 10.0)
) -> tuple[Timing, ...]:
    """L beside the linear program, on random matrices as in the paper."""
    from tqdm import tqdm

    rng = np.random.default_rng(17)
    timings = []
    sizes = tqdm(states, unit="size", disable=not sys.stderr.isatty(), leave=False)
    for number in sizes:
        raw = rng.random((number, number)) + 1e-6
        matrix = TransitionMatrix(raw / raw.sum(axis=1, keepdims=True))
        start = time.perf_counter()
        table = build_table(matrix)
        table_seconds = time.perf_counter() - start
        for alpha in alphas:
            seconds, value = _best(partial(loss, matrix.probabilities, alpha))
            looking_up, looked_up = _best(partial(_look_up_often, table, alpha))
            program = _program_seconds(matrix.probabilities, alpha, rng)
            timings.append(
                Timing(
                    number,
                    alpha,
                    seconds,
                    table_seconds,
                    looking_up / LOOK_UPS_TIMED,
                    program,
                    PAIRS_TIMED,
                    number * (number - 1),
                    abs(value - looked_up),
                )
            )
    return tuple(timings)


def noise_against_correlation(
    smoothings: Sequence[float] = (0.001, 0.005, 0.01, 0.05, 0.1, 1.0),
    alphas: Sequence[float] = (0.1, 1.0, 2.0),
    states: int = 50,
    steps: int = 10,
) -> tuple[Noise, ...]:
    """What Algorithms 2 and 3 cost beside releases that ignore time (epsilon = alpha each)."""
    rows = []
    for smoothing in smoothings:
        chain = smoothed(strongest_correlation(states, seed=2), smoothing)
        adversary = Adversary.knowing(chain, chain)
        for alpha in alphas:
            plan = allocate_known_horizon(adversary, alpha, steps)
            rows.append(
                Noise(
                    smoothing,
                    alpha,
                    steps,
                    1 / allocate_unknown_horizon(adversary, alpha),
                    math.fsum(1 / epsilon for epsilon in plan) / steps,
                    1 / alpha,
                )
            )
    return tuple(rows)


def reproduce(folder: Path | None = None) -> dict[str, Any]:
    """All three parts as JSON values; a picture of each goes into the folder.

    Raises:
        LeakageError: a picture cannot be written.
    """
    example = running_example()
    rounded = tuple(round(value, 4) for value in example["moderate"].bpl)
    results: dict[str, Any] = {
        "example": {name: asdict(leakage) for name, leakage in example.items()},
        "quoted_bpl": list(QUOTED_BPL),
        "bpl_as_quoted": rounded == QUOTED_BPL,
        "times": [asdict(timing) for timing in time_against_states()],
        "noise": [asdict(noise) for noise in noise_against_correlation()],
    }
    if folder is not None:
        plot_example(folder / "tpl-example.svg", results["example"])
        plot_times(folder / "tpl-times.svg", results["times"])
        plot_noise(folder / "tpl-noise.svg", results["noise"])
    return results


def describe(results: dict[str, Any]) -> str:
    """The results as text for a terminal."""
    moderate = results["example"]["moderate"]
    lines = [
        "Ten releases of 0.1, P = [[.8, .2], [0, 1]] known in both directions",
        "  BPL, paper  " + " ".join(f"{value:.4f}" for value in results["quoted_bpl"]),
        *(
            f"  {name.upper()}, ours   " + " ".join(f"{value:.4f}" for value in moderate[name])
            for name in ("bpl", "fpl", "tpl")
        ),
        "One L(alpha) over all pairs of rows",
        f"  (ours and look-up: the best of {RUNS_TIMED} runs; linear program: extrapolated to all "
        f"pairs from {PAIRS_TIMED} random ones)",
        "  states   alpha     ours  table of all  look-up  linear program (extrapolated)   ratio",
    ]
    lines += [
        f"  {row['states']:6d} {row['alpha']:7g} {row['seconds'] * 1e3:6.1f} ms"
        f" {row['table_seconds'] * 1e3:10.1f} ms {row['look_up_seconds'] * 1e6:5.1f} us"
        f" {row['program_seconds']:28.2f} s {row['program_seconds'] / row['seconds']:7.0f}"
        for row in results["times"]
    ]
    lines += [
        "Mean absolute noise of a count, by smoothing s (small s: strong correlation)",
        "       s   alpha  time ignored  Algorithm 2  Algorithm 3 (T = 10)",
    ]
    lines += [
        f"  {row['smoothing']:6g} {row['alpha']:7g} {row['time_ignored']:13.2f}"
        f" {row['algorithm_2']:12.2f} {row['algorithm_3']:12.2f}"
        for row in results["noise"]
    ]
    return "\n".join(lines)


def _best(work: Callable[[], float]) -> tuple[float, float]:
    """The shortest of RUNS_TIMED runs in seconds, and what the last one gave."""
    best, value = math.inf, math.nan
    for _ in range(RUNS_TIMED):
        start = time.perf_counter()
        value = work()
        best = min(best, time.perf_counter() - start)
    return best, value


def _look_up_often(table: LeakageTable, alpha: float) -> float:
    for _ in range(LOOK_UPS_TIMED):
        value = table.look_up(alpha)
    return value


def _program_seconds(matrix: FloatArray, alpha: float, rng: np.random.Generator) -> float:
    """The linear program over all ordered pairs, from a sample of them."""
    from scipy.optimize import linprog

    n = matrix.shape[0]
    u = math.expm1(alpha)
    # Charnes-Cooper: x = a (1 + z), 0 <= z <= u; b = a z, s = a u, d.x = 1.
    upper = np.hstack([np.eye(n), -np.ones((n, 1))])
    start = time.perf_counter()
    for _ in range(PAIRS_TIMED):
        first, second = rng.choice(n, size=2, replace=False)
        linprog(
            -np.append(matrix[first], 1 / u),
            A_ub=upper,
            b_ub=np.zeros(n),
            A_eq=np.append(matrix[second], 1 / u)[None, :],
            b_eq=[1.0],
            method="highs",
        )
    return float((time.perf_counter() - start) / PAIRS_TIMED * n * (n - 1))
