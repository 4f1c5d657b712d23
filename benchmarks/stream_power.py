"""Stream designs in figures: power, proof, time, two solvers, and an averaging attack.

``make bench-stream``, or ``python benchmarks/stream_power.py [--json]``. Power is relative to that
of noise matched to one known kernel at the same guarantee. Times are medians of three runs.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from precompute.cip.stream_classes import shape_families
from precompute.cip.stream_design import StreamSolution, design_stream
from precompute.cip.stream_dictionary import candidates, scene_for
from precompute.cip.stream_exchange import solve_class
from precompute.cip.stream_information import information_over
from precompute.cip.stream_quadrature import halved
from precompute.cip.stream_solver import least_power
from precompute.cip.stream_spectra import noise_spectrum, unit_spectra
from precompute.priors.kernels import DampedPeriodic
from precompute.priors.prior_class import KernelRange, PriorClass, Range
from tests.oracles.stream_sequential import least_power_by_sequential_programs

DAY = 86400.0
RUNS = 3
FINER = 20


def smooth(family: str, low: float, high: float) -> KernelRange:
    return KernelRange(family, Range(low, high))


def routine(shape: Range, envelope: str = "rbf") -> KernelRange:
    fades = Range(3 * DAY, 30 * DAY)
    return KernelRange("damped_periodic", shape, period=DAY, damping=fades, envelope=envelope)


LOCATION = smooth("rbf", 30, 14 * DAY)
CLASSES = {
    "RBF 3...1000 steps": (smooth("rbf", 3, 1000),),
    "RBF 3...100,000 steps": (smooth("rbf", 3, 100_000),),
    "RBF 30 s...14 d": (LOCATION,),
    "Matern-1/2 3...1000 steps": (smooth("matern12", 3, 1000),),
    "Matern-3/2 3...1000 steps": (smooth("matern32", 3, 1000),),
    "Matern-5/2 3...1000 steps": (smooth("matern52", 3, 1000),),
    "RBF 30 s...14 d, daily routine l = 1": (LOCATION, routine(Range.point(1.0))),
    "RBF 30 s...14 d, daily routine l = 0.5...1.5": (LOCATION, routine(Range(0.5, 1.5))),
}
DAILY = PriorClass(CLASSES["RBF 30 s...14 d, daily routine l = 1"])


def worst_on_finer_grid(prior: PriorClass, solution: StreamSolution) -> float:
    """Largest K over a grid 20 times finer (one parameter), with every panel halved."""
    families = shape_families(prior)
    quadrature = halved(scene_for(families).quadrature)
    spectrum = noise_spectrum(solution.components, quadrature.omega)
    worst = 0.0
    for family in families:
        grid = family.grid(0.01 / FINER if len(family.grid(0.01)) <= 3000 else 0.02)
        for start in range(0, len(grid), 2000):
            K = information_over(family, grid[start : start + 2000], quadrature, spectrum)
            worst = max(worst, float(K.max()))
    return worst


def class_row(name: str) -> dict[str, object]:
    prior = PriorClass(CLASSES[name])
    seconds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        solution = design_stream(prior, 1.0)
        seconds.append(time.perf_counter() - began)
    return {
        "class": name,
        "relative_power": solution.relative_power,
        "lower_bound": solution.power_lower,
        "components": len(solution.components),
        "states": solution.states,
        "worst_over_limit": worst_on_finer_grid(prior, solution),
        "seconds": statistics.median(seconds),
    }


def without_oscillators() -> float:
    scene = scene_for(shape_families(DAILY))
    solution, _ = solve_class(scene, candidates(scene, ("matern12", "matern32", "matern52")))
    return float(solution.variances.sum())


def solver_row(name: str) -> dict[str, object]:
    """The same convex problem, the dictionary's optimum, by both methods."""
    scene = scene_for(shape_families(PriorClass(CLASSES[name])))
    menu = ("matern32", "oscillator") if "routine" in name else ("matern32",)
    components = candidates(scene, menu)
    _, shapes = solve_class(scene, components)
    spectra = unit_spectra(components, scene.quadrature.omega)
    interior, sequential, programs = [], [], 0
    for _ in range(RUNS):
        began = time.perf_counter()
        ours = float(least_power(shapes.rows, spectra).variances.sum())
        interior.append(time.perf_counter() - began)
        began = time.perf_counter()
        theirs, programs = least_power_by_sequential_programs(shapes.rows, spectra)
        sequential.append(time.perf_counter() - began)
    return {
        "class": name,
        "interior_point": ours,
        "interior_point_seconds": statistics.median(interior),
        "sequential_qp": theirs,
        "sequential_qp_seconds": statistics.median(sequential),
        "quadratic_programs": programs,
    }


def averaging_attack(paths: int = 400) -> dict[str, float]:
    """30 days of one routine, every half hour: who knows the prior looks for one night's place.

    The error of the best estimate (the posterior mean), drawn at random, against the least that
    the guarantee allows, ``1 / (K_max + 1/prior variance)``. One unit of noise, prior 5 times it.
    """
    solution = design_stream(DAILY, 1.0).for_power(1.0)
    times = np.arange(0, 30 * DAY, 1800.0)
    secret = times.size // 2
    lags = np.abs(times[:, np.newaxis] - times)
    noise = np.zeros_like(lags)
    for c in solution.components:
        x = lags / c.timescale_seconds
        if c.family == "oscillator":
            noise += c.variance * np.exp(-x) * np.cos(2 * np.pi * lags / c.period_seconds)
        elif c.family == "matern32":
            x *= np.sqrt(3)
            noise += c.variance * (1 + x) * np.exp(-x)
        elif c.family == "matern52":
            x *= np.sqrt(5)
            noise += c.variance * (1 + x + x * x / 3) * np.exp(-x)
        else:
            noise += c.variance * np.exp(-x)
    prior = DampedPeriodic(1.0, DAY, 30 * DAY, variance=25.0).covariance(times, times)
    generator = np.random.default_rng(20)
    jitter = 1e-9 * np.eye(times.size)
    truth = np.linalg.cholesky(prior + jitter) @ generator.normal(size=(times.size, paths))
    drawn = np.linalg.cholesky(noise + jitter) @ generator.normal(size=(times.size, paths))
    gains = np.linalg.solve(prior + noise, prior[secret])
    nights = secret + 48 * np.arange(-(secret // 48), (times.size - 1 - secret) // 48 + 1)
    best = gains @ (truth + drawn) - truth[secret]
    mean = (truth + drawn)[nights].mean(axis=0) - truth[secret]
    least = 1 / (solution.information_limit + 1 / 25.0)
    white = prior[secret] @ np.linalg.solve(prior + np.eye(times.size), prior[secret])
    return {
        "release": 1.0,
        "best_estimate": float(np.sqrt(np.mean(best**2))),
        "mean_of_the_hour": float(np.sqrt(np.mean(mean**2))),
        "guaranteed_at_least": float(np.sqrt(least)),
        "best_estimate_independent_noise": float(np.sqrt(25.0 - white)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    found = {
        "classes": [class_row(name) for name in CLASSES],
        "daily_without_oscillators": without_oscillators(),
        "solvers": [solver_row(name) for name in list(CLASSES)[1:8:5]],
        "averaging": averaging_attack(),
    }
    if as_json:
        print(json.dumps(found, sort_keys=True))
        return
    print(
        f"{'class':46} {'power':>7} {'any noise >=':>12} {'parts':>5} {'states':>6} "
        f"{'worst/limit':>11} {'seconds':>8}"
    )
    for row in found["classes"]:
        print(
            f"{row['class']:46} {row['relative_power']:7.3f} {row['lower_bound']:12.3f} "
            f"{row['components']:5d} {row['states']:6d} {row['worst_over_limit']:11.6f} "
            f"{row['seconds']:8.2f}"
        )
    print(f"daily routine without oscillators: {found['daily_without_oscillators']:.1f}")
    print("\nthe convex part by two methods (power, seconds)")
    for row in found["solvers"]:
        print(
            f"{row['class']:46} interior point {row['interior_point']:.5f} "
            f"{row['interior_point_seconds']:.3f} s; sequential QP (OSQP) "
            f"{row['sequential_qp']:.5f} {row['sequential_qp_seconds']:.3f} s, "
            f"{row['quadratic_programs']} programs"
        )
    print("\n30 days of one routine, one standard deviation of noise; error of an attacker")
    for name, value in found["averaging"].items():
        print(f"  {name.replace('_', ' '):34} {value:.3f}")


if __name__ == "__main__":
    main()
