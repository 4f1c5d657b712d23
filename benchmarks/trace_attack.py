"""Attackers on real traces: independent noise and sfumato's at equal power (`make bench-attack`).

Every user file of ``$SFUMATO_DATA/geolife/users`` is put on a 30 s grid, cut into windows of two
hours, and released with 200 m of noise per axis, several times: once with independent noise and
once with streams designed for three classes of priors. A grid of Gaussian-process smoothers that
know the noise exactly attacks every window. Rows of the data are read and never printed.
"""

import argparse
import math
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.formats.designs import Component, FloatArray
from agent.formats.projection import LocalProjection
from agent.formats.trace_files import read_traces
from precompute.audit.attack_bound import expected_release_error, least_attacker_error
from precompute.audit.grids import coverage, cut_windows, onto_grid
from precompute.audit.noise_covariance import (
    IndependentNoise,
    component_correlation,
    draw_noise,
)
from precompute.audit.paths import path_length, path_length_ratio
from precompute.audit.summaries import Summary, summarise
from precompute.audit.trace_attacks import attack_windows, kernel_grid
from precompute.cip.stream_design import design_stream
from precompute.priors.prior_class import KernelRange, PriorClass, Range

STEP_SECONDS = 30.0
WINDOW_POINTS = 241
LONGEST_GAP_SECONDS = 1200.0
LEAST_COVERAGE = 0.5
NEAR_SECONDS = 60.0
DEVIATION = 200.0
DRAWS = 4
SEED = 5
DAY = 86400.0

CLASSES = {
    "RBF 3...1,000 steps": Range(3 * STEP_SECONDS, 1_000 * STEP_SECONDS),
    "RBF 3...100,000 steps": Range(3 * STEP_SECONDS, 100_000 * STEP_SECONDS),
    "RBF 30 s...14 d": Range(30.0, 14 * DAY),
}


@dataclass(frozen=True, slots=True)
class Noise:
    """A covariance on the window's grid and the mean error that it guarantees (metres)."""

    name: str
    covariance: FloatArray
    floor: float | None
    made_of: str


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS, help="of the noise, for every window")
    arguments = parser.parse_args()
    folder = os.environ.get("SFUMATO_DATA")
    if not folder:
        print("trace_attack: SFUMATO_DATA is not set; point it at the data", file=sys.stderr)
        return 2
    began = time.perf_counter()
    windows, users = read_windows(Path(folder) / "geolife" / "users")
    lengths = path_length(windows)
    print(
        f"{windows.shape[0]} windows of {(WINDOW_POINTS - 1) * STEP_SECONDS / 3600:g} h from "
        f"{users} people, every {STEP_SECONDS:g} s; gaps of at most "
        f"{LONGEST_GAP_SECONDS / 60:g} min bridged by straight lines, a fix within "
        f"{NEAR_SECONDS:g} s of at least {LEAST_COVERAGE:.0%} of the grid;\n"
        f"true path in a window: median {np.median(lengths) / 1000:.1f} km. Noise: "
        f"{DEVIATION:g} m on each axis, {expected_release_error(DEVIATION):.0f} m expected "
        f"distance, {arguments.draws} draws for every window (seed {SEED}).\n"
    )
    for noise in noises():
        show(noise, windows, arguments.draws)
    print(f"{time.perf_counter() - began:.0f} s")
    return 0


def read_windows(folder: Path) -> tuple[FloatArray, int]:
    """(w, n, 2) metres about each window's own mean, and the number of people they come from."""
    found, users = [], 0
    for path in sorted(folder.glob("*.csv.gz")):
        mine = [window - np.mean(window, axis=0) for window in _windows_of(path)]
        users += bool(mine)
        found += mine
    return np.stack(found), users


def _windows_of(path: Path) -> Iterator[FloatArray]:
    traces = read_traces(path, repair=True).traces
    times = np.concatenate([trace.times_seconds for trace in traces])
    order = np.argsort(times, kind="stable")
    times = times[order]
    latitude = np.concatenate([trace.latitude for trace in traces])[order]
    longitude = np.concatenate([trace.longitude for trace in traces])[order]
    place = LocalProjection(float(np.median(latitude)), float(np.median(longitude)))
    points = np.column_stack(place.forward(latitude, longitude))
    for piece in onto_grid(times, points, STEP_SECONDS, LONGEST_GAP_SECONDS):
        for window in cut_windows(piece, WINDOW_POINTS):
            if coverage(times, window.times_seconds, NEAR_SECONDS) >= LEAST_COVERAGE:
                yield window.points


def noises() -> Iterator[Noise]:
    """Independent noise, then a stream for each class, all of one power."""
    variance = DEVIATION**2
    times = np.arange(WINDOW_POINTS) * STEP_SECONDS
    independent = IndependentNoise(variance)(times)
    yield Noise("independent", independent, None, "drawn afresh for every reading")
    lags = np.abs(times[:, None] - times)
    for name, lengthscale in CLASSES.items():
        prior = PriorClass((KernelRange("rbf", lengthscale),))
        solution = design_stream(prior, 1.0).for_power(variance)
        covariance = sum(
            (c.variance * component_correlation(c, lags) for c in solution.components),
            np.zeros_like(lags),
        )
        yield Noise(
            f"sfumato, {name}",
            covariance,
            least_attacker_error(solution.worst_information),
            f"{solution.relative_power:.2f} x the power for one known kernel: "
            + "; ".join(map(_component, solution.components)),
        )


def show(noise: Noise, windows: FloatArray, draws: int) -> None:
    """Attack every window and print one block of the table."""
    truth = np.repeat(windows, draws, axis=0)
    rng = np.random.default_rng(SEED)
    released = truth + draw_noise(noise.covariance, 2, truth.shape[0], rng)
    times = np.arange(WINDOW_POINTS) * STEP_SECONDS
    attack = attack_windows(
        times, noise.covariance, truth, released, kernel_grid(STEP_SECONDS, float(times[-1]))
    )

    def by_window(values: FloatArray) -> Summary:
        # Draws on one window are averaged first, so that the interval is over windows.
        return summarise(np.mean(values.reshape(-1, draws), axis=1))

    kernel = attack.kernels[attack.tuned_index]
    print(f"{noise.name}  ({noise.made_of})")
    print("                        mean   (95 % interval)   quartiles over windows, m")
    rows = {
        "raw release": attack.released_error,
        "attacker, tuned": attack.tuned,
        "attacker, honest": attack.honest,
        "attacker, clairvoyant": attack.clairvoyant,
    }
    for name, values in rows.items():
        s = by_window(values)
        print(
            f"  {name:<22}{s.mean:5.0f}   ({s.low:.0f}...{s.high:.0f})".ljust(47)
            + f"{s.lower_quartile:.0f} / {s.median:.0f} / {s.upper_quartile:.0f}"
        )
    print(
        f"  tuned: {kernel.family}, {kernel.lengthscale_seconds:.0f} s, "
        f"{kernel.deviation_metres:.0f} m; root mean square {attack.tuned_root_mean_square:.0f} m"
    )
    if noise.floor is not None:
        print(f"  no attacker of the class below (Bayes risk): {noise.floor:.0f} m")
    ratio = by_window(path_length_ratio(released, truth))
    whole = float(np.sum(path_length(released)) / np.sum(path_length(truth)))
    print(
        f"  path length: all windows together x {whole:.2f}; quartiles over windows "
        f"{ratio.lower_quartile:.2f} / {ratio.median:.2f} / {ratio.upper_quartile:.2f}\n"
    )


def _component(component: Component) -> str:
    return (
        f"{component.family} {math.sqrt(component.variance):.0f} m over "
        f"{component.timescale_seconds:.3g} s"
    )


if __name__ == "__main__":
    raise SystemExit(main())
