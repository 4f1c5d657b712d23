"""Window designs in figures: known optima, a general SDP solver, Algorithm 1, scale.

``python benchmarks/cip_windows.py [--json] [--quick]``, part of ``make bench-cip``. Everything is
measured in this one run, side by side; times are medians of three, except for the published
designs and the general solver, which run once. ``--quick`` leaves out what takes minutes.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Many small products: more threads get in each other's way, ten times slower on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from precompute.cip.loss import basic_informations, information
from precompute.cip.paper import multiple_secrets, sdp_a
from precompute.cip.window_design import design_window
from precompute.cip.window_solution import WindowSolution
from tests.oracles.random_windows import random_window
from tests.oracles.window_sdp import least_power

RUNS = 3
EXPECTED_FREE = {1: 1.5305, 9: 4.1099, 36: 7.6086, 100: 11.9411}
EXPECTED_BLOCK = {1: 2.6182, 9: 7.3025, 36: 12.3475, 100: 18.0849}


def rbf(count: int, lengthscale: float) -> np.ndarray:
    times = np.arange(count, dtype=float)
    return np.exp(-((times[:, None] - times) ** 2) / (2.0 * lengthscale**2))


def timed(design: Callable[[], WindowSolution], runs: int = RUNS) -> tuple[WindowSolution, float]:
    """The solution and the median time of ``runs``."""
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        solution = design()
        seconds.append(time.perf_counter() - started)
    return solution, statistics.median(seconds)


def one_secret() -> list[dict[str, Any]]:
    """RBF, n = 50, secret 24, total power 1."""
    rows = []
    for squared, expected in EXPECTED_FREE.items():
        prior = rbf(50, np.sqrt(squared))
        free, seconds = timed(lambda prior=prior: design_window(prior, [24], mse=0.02))
        block = design_window(prior, [24], mse=0.02, structure="block")
        rows.append(
            {
                "lengthscale_sq": squared,
                "free": free.worst_information,
                "free_expected": expected,
                "block": block.worst_information,
                "block_expected": EXPECTED_BLOCK[squared],
                "sdp_a": information(prior, 24, sdp_a(prior, 24, 1.0)),
                "uniform": information(prior, 24, np.eye(50) / 50),
                "gap": max(free.gap, block.gap),
                "seconds": seconds,
            }
        )
    return rows


def general_solver(problems: int) -> dict[str, Any]:
    """Random problems against Clarabel: n <= 30, 1 to 4 secrets, 1 to 3 priors."""
    differences, gaps, ours, theirs = [], [], [], []
    for seed in tqdm(range(problems), disable=not sys.stderr.isatty(), desc="against Clarabel"):
        window = random_window(seed)
        started = time.perf_counter()
        solution = design_window(window.priors, window.secrets, information_limit=window.limits)
        between = time.perf_counter()
        expected = least_power(window.priors, window.secrets, window.limits)
        ours.append(between - started)
        theirs.append(time.perf_counter() - between)
        differences.append(solution.noise_power * len(window.priors[0]) / expected - 1.0)
        gaps.append(solution.gap)
    return {
        "problems": problems,
        "largest_difference": float(np.max(np.abs(differences))),
        "largest_gap": float(np.max(gaps)),
        "seconds_ours": statistics.median(ours),
        "seconds_clarabel": statistics.median(theirs),
    }


def all_fifty(power_each: float = 1.0) -> dict[str, Any]:
    """All 50 basic secrets, RBF l = 6: our power for the guarantee that Algorithm 1 attains."""
    prior = rbf(50, 6.0)
    started = time.perf_counter()
    noise = multiple_secrets(prior, range(50), power_each)
    theirs = time.perf_counter() - started
    attained = float(np.max(basic_informations(prior, noise)))
    solution, ours = timed(lambda: design_window(prior, "all", information_limit=attained))
    return {
        "worst_information": attained,
        "power_algorithm_1": float(np.trace(noise)),
        "power_ours": solution.noise_power * 50,
        "power_ratio": solution.noise_power * 50 / float(np.trace(noise)),
        "seconds_algorithm_1": theirs,
        "seconds_ours": ours,
        "speed_ratio": theirs / ours,
    }


def scale(sizes: tuple[int, ...], robust: tuple[int, ...]) -> list[dict[str, Any]]:
    """Cost against n: all secrets of one prior, and of five priors at once."""
    rows = []
    for count in sizes:
        prior = rbf(count, 6.0)
        solution, seconds = timed(lambda prior=prior: design_window(prior, "all", mse=0.02))
        rows.append(_scale_row("all, one prior", count, solution, seconds))
    for count in robust:
        priors = [rbf(count, lengthscale) for lengthscale in (2.0, 4.0, 8.0, 16.0, 32.0)]
        solution, seconds = timed(
            lambda priors=priors: design_window(priors, "all", mse=0.02, tolerance=0.01),
            runs=1 if count >= 200 else RUNS,
        )
        rows.append(_scale_row("all, five priors", count, solution, seconds))
    return rows


def _scale_row(what: str, count: int, solution: WindowSolution, seconds: float) -> dict[str, Any]:
    return {
        "what": what,
        "n": count,
        "seconds": seconds,
        "gap": solution.gap,
        "rank": solution.rank,
        "factor_error": solution.factor_error,
    }


def _print(result: dict[str, Any]) -> None:
    print("One secret of 50, RBF, total power 1: information K")
    print("   l^2      free  expected     block  expected     SDP_A   uniform      gap   seconds")
    for r in result["one_secret"]:
        print(
            f"{r['lengthscale_sq']:6} {r['free']:9.4f} {r['free_expected']:9.4f} {r['block']:9.4f}"
            f" {r['block_expected']:9.4f} {r['sdp_a']:9.4f} {r['uniform']:9.2f} {r['gap']:8.1e}"
            f" {r['seconds']:9.4f}"
        )
    g = result["general_solver"]
    print(f"\n{g['problems']} random problems against Clarabel")
    print(f"  largest difference in power {g['largest_difference']:.1e}")
    print(f"  largest certificate gap     {g['largest_gap']:.1e}")
    print(f"  median seconds              {g['seconds_ours']:.3f}, {g['seconds_clarabel']:.3f}")
    if result["all_fifty"] is not None:
        a = result["all_fifty"]
        print(f"\nAll 50 secrets at K = {a['worst_information']:.4g}: ours beside Algorithm 1")
        print(f"  power   {a['power_ours']:.3f}, {a['power_algorithm_1']:.3f}", end="")
        print(f" (ratio {a['power_ratio']:.3f})")
        print(f"  seconds {a['seconds_ours']:.5f}, {a['seconds_algorithm_1']:.1f}", end="")
        print(f" ({a['speed_ratio']:.0f} times)")
    print("\nCost against n")
    print("  design                 n   seconds      gap  rank  factor error")
    for r in result["scale"]:
        print(
            f"  {r['what']:18} {r['n']:5} {r['seconds']:9.3f} {r['gap']:8.1e} {r['rank']:5}"
            f" {r['factor_error']:13.1e}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--quick", action="store_true", help="without what takes minutes")
    arguments = parser.parse_args()
    quick = arguments.quick
    result = {
        "one_secret": one_secret(),
        "general_solver": general_solver(8 if quick else 30),
        "all_fifty": None if quick else all_fifty(),
        "scale": scale((50, 200, 500), (50, 100))
        if quick
        else scale((50, 200, 500, 1000, 2000), (50, 100, 200)),
    }
    if arguments.json:
        print(json.dumps(result, sort_keys=True))
    else:
        _print(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
