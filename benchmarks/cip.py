"""Every figure of the noise designs in one table: ``make bench-cip``.

``python -m benchmarks.cip [--json] [--quick]``. All of it is measured in this one run: windows
against their known optima, a general solver and the published algorithm; cost against size; the
stream for a wide class with its proof and an averaging attack; the reproduced figure. Times are
medians of three runs on one thread, but for conic solvers and what takes minutes, which run once.
``--quick`` leaves those out.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import cip_windows as windows
from benchmarks import stream_power as streams
from precompute.cip.paper_formulas import published_noise_for_all
from precompute.priors.algebra_threads import one_algebra_thread
from precompute.reproduce.cip_panels import PANELS, row
from precompute.reproduce.cip_quartiles import quartiles

# Posterior interval and power of the published programs at the data's median lengthscale.
PUBLISHED = {
    "a": (0.420, 1.0),
    "b": (0.0667, 1.0),
    "c": (0.707, 17.20),
    "e": (0.336, 0.96),
    "f": (0.257, 0.96),
    "g": (0.577, 10.43),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One figure; ``met`` is None where nothing was asked for."""

    what: str
    asked: str
    measured: str
    met: bool | None = None


def one_secret() -> Iterator[Line]:
    for found in windows.one_secret():
        for structure in ("free", "block"):
            expected, value = found[f"{structure}_expected"], found[structure]
            yield Line(
                f"K, RBF n = 50, one secret, l^2 = {found['lengthscale_sq']}, {structure}",
                f"{expected:.4f}",
                f"{value:.4f}",
                abs(value - expected) < 1e-4,
            )
        yield Line(
            "    as published (SDP_A); uniform", "", f"{found['sdp_a']:.4f}; {found['uniform']:.1f}"
        )


def against_a_general_solver(problems: int) -> Iterator[Line]:
    found = windows.general_solver(problems)
    name = f"{problems} random problems against Clarabel"
    difference, gap = found["largest_difference"], found["largest_gap"]
    yield Line(f"{name}: objective", "<= 0.1 %", f"{100 * difference:.4f} %", difference <= 1e-3)
    yield Line(f"{name}: certificate gap", "<= 0.1 %", f"{100 * gap:.4f} %", gap <= 1e-3)
    yield Line(
        "    seconds, ours; Clarabel",
        "",
        f"{found['seconds_ours']:.3f}; {found['seconds_clarabel']:.3f}",
    )


def against_algorithm_one() -> Iterator[Line]:
    found = windows.all_fifty()
    began = time.perf_counter()
    published_noise_for_all(windows.rbf(50, 6.0), 1.0)
    by_formula = time.perf_counter() - began
    power, speed = found["power_ratio"], found["speed_ratio"]
    yield Line("all 50 secrets, power over Algorithm 1's", "<= 0.5", f"{power:.3f}", power <= 0.5)
    yield Line("all 50 secrets, times faster", ">= 1000", f"{speed:.0f}", speed >= 1000)
    yield Line(
        "    seconds: ours; Algorithm 1 on conic solvers; by our formulas for it",
        "",
        f"{found['seconds_ours']:.5f}; {found['seconds_algorithm_1']:.1f}; {by_formula:.3f}",
    )


def cost_against_size(quick: bool) -> Iterator[Line]:
    sizes = (50, 200, 500) if quick else (50, 200, 500, 1000, 2000)
    for found in windows.scale(sizes, (50, 100) if quick else (50, 100, 200)):
        asked = {("all, one prior", 2000): 10.0, ("all, five priors", 200): 30.0}.get(
            (found["what"], found["n"])
        )
        name = f"{found['what']}, n = {found['n']}"
        yield Line(
            f"{name}: seconds",
            "" if asked is None else f"<= {asked:g}",
            f"{found['seconds']:.3f}",
            None if asked is None else found["seconds"] <= asked,
        )
        if "five" in found["what"]:
            gap = found["gap"]
            yield Line(f"{name}: gap", "<= 1 %", f"{100 * gap:.3f} %", gap <= 0.01)


def stream(quick: bool) -> Iterator[Line]:
    daily, wide = list(streams.CLASSES)[-2:]
    for name in (daily,) if quick else (daily, wide):
        found = streams.class_row(name)
        power, states = float(found["relative_power"]), int(found["states"])
        worst, seconds = float(found["worst_over_limit"]), float(found["seconds"])
        yield Line(f"stream: {name}: seconds", "<= 30", f"{seconds:.1f}", seconds <= 30)
        yield Line("    power over one known lengthscale's", "<= 6.5", f"{power:.3f}", power <= 6.5)
        yield Line("    no stationary noise does with less than", "", f"{found['lower_bound']:.3f}")
        yield Line("    state variables an axis", "<= 24", f"{states}", states <= 24)
        yield Line(
            "    worst on a finer grid, of the limit", "<= 1.001", f"{worst:.6f}", worst <= 1.001
        )
    if not quick:
        yield Line(
            "    without oscillators (a prototype: 52 to 61)",
            "",
            f"{streams.without_oscillators():.1f}",
        )
    attack = streams.averaging_attack(100 if quick else 400)
    least = attack["guaranteed_at_least"]
    # The estimate's error is measured on random paths: leave it four standard errors.
    spread = 4 / (2 * (100 if quick else 400)) ** 0.5
    yield Line(
        "averaging over 30 days of one home, error in noise std",
        f">= {least:.3f}",
        f"{attack['best_estimate']:.3f}",
        attack["best_estimate"] >= least * (1 - spread),
    )
    yield Line(
        "    the same with independent noise",
        "",
        f"{attack['best_estimate_independent_noise']:.3f}",
    )


def reproduction() -> Iterator[Line]:
    band = quartiles()
    for letter, panel in tqdm(PANELS.items(), disable=not sys.stderr.isatty(), desc="panels"):
        found = row(panel, band.values[panel.kernel][1] ** 2)
        title = f"panel {letter}: {panel.title}"
        if letter in PUBLISHED:
            value, power = PUBLISHED[letter]
            yield Line(
                f"{title}: published noise, interval; power",
                f"{value:g}; {power:.2f}",
                f"{found['sdp']:.4f}; {found['trace']:.2f}",
                abs(found["sdp"] - value) < 1e-3 and abs(found["trace"] - power) < 1e-2,
            )
        worst = [found, *found.get("true_lengthscale", {}).values()]
        yield Line(
            f"{title}: our interval",
            f">= {found['sdp']:.4f}",
            f"{found['ours']:.4f}",
            all(one["ours"] >= max(one["sdp"], one["uniform"]) for one in worst),
        )


def figures(quick: bool) -> list[Line]:
    """Everything, in order."""
    parts: list[Callable[[], Iterator[Line]]] = [
        one_secret,
        lambda: against_a_general_solver(8 if quick else 30),
        *(() if quick else (against_algorithm_one,)),
        lambda: cost_against_size(quick),
        lambda: stream(quick),
        reproduction,
    ]
    with one_algebra_thread():
        return [line for part in parts for line in part()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--quick", action="store_true", help="without what takes minutes")
    arguments = parser.parse_args()
    began = time.perf_counter()
    lines = figures(arguments.quick)
    seconds = time.perf_counter() - began
    missed = sum(line.met is False for line in lines)
    if arguments.json:
        print(
            json.dumps(
                {"lines": [asdict(line) for line in lines], "missed": missed, "seconds": seconds},
                sort_keys=True,
            )
        )
        return min(missed, 1)
    verdicts = {True: "met", False: "MISSED", None: ""}
    for line in lines:
        print(f"{line.what:78} {line.asked:>14} {line.measured:>24} {verdicts[line.met]}")
    print(f"{missed} missed; {seconds:.0f} s")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
