"""Every figure of the mappings of sensor nodes in one table: ``make bench-iot``.

``python -m benchmarks.iot [--problems N] [--starts N] [--seconds S] [--only PART]``. Small problems
against another search (iot_search.py) and, where SCIP_PYTHON names an interpreter with pyscipopt,
against spatial branch and bound with a proof; the paper's size; twelve sensors; the device; a real
room (iot_rooms.py). Exits 1 when a figure is missed.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import iot_rooms, iot_small
from precompute.mapping.reproduction.figures import COLUMNS
from precompute.mapping.reproduction.made_up_joint import paper_like_joint
from precompute.mapping.solution import Budgets, Options
from precompute.mapping.two_stage import design_mapping


@dataclass(frozen=True, slots=True)
class Line:
    """One figure; ``met`` is None where nothing was asked for."""

    what: str
    asked: str
    measured: str
    met: bool | None = None


def small_problems(problems: int, starts: int, seconds: float) -> Iterator[Line]:
    """Fifty random problems: errors, gains over chance, budgets, the baselines."""
    began = time.perf_counter()
    with ProcessPoolExecutor() as pool:
        work = pool.map(partial(iot_small.compare, starts=starts), range(problems))
        found = list(tqdm(work, total=problems, unit="problem", disable=not sys.stderr.isatty()))
    yield from compared_lines(found)
    yield Line("    seconds, both searches", "", f"{time.perf_counter() - began:.0f}")
    yield from _proved(found, seconds)


def compared_lines(found: list[iot_small.Compared]) -> Iterator[Line]:
    """What the comparisons say."""
    name = f"{len(found)} random problems (s <= 3, |X| <= 4, |Z| = 2)"
    for column, best, own in (
        ("direct", lambda one: one.best, "best"),
        ("lip", lambda one: one.best, "best"),
        ("ill", lambda one: one.best_ill, "best of its own problem"),
    ):
        gaps = [one.errors[column] / max(best(one), 1e-12) - 1 for one in found]
        lost = [
            0.0 if one.chance - best(one) < 1e-7 else (one.errors[column] - best(one))
            / (one.chance - best(one))
            for one in found
        ]  # fmt: skip
        worst = max(range(len(found)), key=lambda k: gaps[k])
        yield Line(
            f"{name}: error of {column} over the {own} found",
            "<= 2 %",
            f"{100 * gaps[worst]:.3f} % (problem {worst})",
            gaps[worst] <= iot_small.CLOSE,
        )
        worst = max(range(len(found)), key=lambda k: lost[k])
        over = [str(k) for k, share in enumerate(lost) if share > iot_small.CLOSE]
        yield Line(
            f"    gain over chance that {column} leaves behind",
            "",
            f"{100 * lost[worst]:.2f} % (problem {worst}); over 2 %: {', '.join(over) or 'none'}",
        )
    gaps = [
        one.errors["direct"] - min([one.chance, *([one.local_alone] if one.local_alone else [])])
        for one in found
    ]
    kept = sum(one.local_alone is not None for one in found)
    yield Line(
        f"direct against a constant, and LDP only where it keeps epsilon_I ({kept})",
        "never worse",
        f"{max(gaps):.1e} worse",
        max(gaps) <= 1e-9,
    )
    passed = max(one.passed for one in found)
    yield Line("budgets, by an enumeration of our own", "<= 1e-9 over", f"{passed:.1e}",
               passed <= 1e-9)  # fmt: skip


def _proved(found: list[iot_small.Compared], seconds: float) -> Iterator[Line]:
    gaps, open_ = [], 0
    for one in found:
        if one.problem.sensors > 2:  # branch and bound does not end there within minutes
            continue
        for column in ("direct", "ill"):
            asked = replace(one.problem, response=one.problem.local if column == "ill" else None)
            proof = iot_small.proved(asked, seconds)
            if proof is None:
                yield Line("    SCIP: set SCIP_PYTHON to an interpreter with pyscipopt", "", "NONE")
                return
            open_ += proof[0] - proof[1] > 1e-3
            gaps.append(one.errors[column] / max(proof[1], 1e-12) - 1)
    yield Line(
        f"{len(gaps)} of them (s <= 2) over SCIP's proved lower bound",
        "<= 2 %",
        f"{100 * max(gaps):.3f} %; not proved to the end: {open_}",
        max(gaps) <= iot_small.CLOSE,
    )


def paper_size() -> Iterator[Line]:
    """Six sensors of sixteen cells, every architecture, as a user would ask for it."""
    joint = paper_like_joint()
    for name, (architecture, refine) in COLUMNS.items():
        began = time.perf_counter()
        one = design_mapping(joint, Budgets(0.18, 0.5), architecture, Options(refine=refine))
        seconds = time.perf_counter() - began
        yield Line(
            f"6 sensors, |X| = 16, {name}",
            "<= 20 s",
            f"{seconds:.1f} s, error of H {one.achieved.public_error:.4f}",
            seconds <= 20,
        )


def twelve_sensors() -> Iterator[Line]:
    """The surrogate beside exact rows on the same problem."""
    joint = paper_like_joint(sensors=12)
    for constraint in ("surrogate", "exact"):
        began = time.perf_counter()
        one = design_mapping(
            joint, Budgets(0.18, 0.5), "direct", Options(starts=1, constraint=constraint)
        )
        seconds = time.perf_counter() - began
        achieved = one.achieved
        kept = achieved.information <= 0.18 + 1e-9 and max(achieved.local) <= 0.5 + 1e-9
        yield Line(
            f"12 sensors, |X| = 16, direct, {constraint}",
            "<= 300 s, budgets kept" if constraint == "surrogate" else "",
            f"{seconds:.0f} s, error of H {achieved.public_error:.4f}, "
            f"epsilon_I {achieved.information:.4f}",
            (seconds <= 300 and kept) if constraint == "surrogate" else None,
        )


def device() -> Iterator[Line]:
    """Quantise and draw, on this machine."""
    try:
        from benchmarks.iot_device import measure_mapped_reading
    except ImportError as error:
        yield Line("one mapped reading", "<= 10 us", f"not measured: {error}", False)
        return
    found = measure_mapped_reading()
    for name, microseconds in found.quantise_and_draw.items():
        yield Line(
            f"one mapped reading, quantise and draw, {name} (here)",
            "<= 10 us",
            f"{microseconds:.2f} us",
            microseconds <= 10,
        )
    yield Line("    with the stored state decoded and encoded", "", f"{found.sanitise:.1f} us")


def rooms() -> Iterator[Line]:
    """The real log: curves and pictures, nothing to pass or miss."""
    folder = os.environ.get("SFUMATO_DATA")
    if folder is None:
        yield Line("a real room", "curves", "not measured: SFUMATO_DATA is not set", False)
        return
    print("a real room: accuracy on days never seen, by learners on what is published")
    both = iot_rooms.split(iot_rooms.read_log(Path(folder) / iot_rooms.LOG), "co2")
    for line in iot_rooms.rooms(both, pictures=Path("bench-output"), name="co2"):
        print(f"      {line}", flush=True)
    yield Line("a real room, the tables above", "curves", "printed", True)


def main() -> int:
    """All figures, the quick ones first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=50, help="small random problems (50)")
    parser.add_argument("--starts", type=int, default=20, help="of the other search (20)")
    parser.add_argument("--seconds", type=float, default=20, help="for each proof by SCIP (20)")
    parser.add_argument(
        "--only", choices=("device", "paper", "small", "twelve", "rooms"), help="one part"
    )
    arguments = parser.parse_args()
    parts: dict[str, Callable[[], Iterator[Line]]] = {
        "device": device,
        "paper": paper_size,
        "twelve": twelve_sensors,
        "small": lambda: small_problems(arguments.problems, arguments.starts, arguments.seconds),
        "rooms": rooms,
    }
    missed = 0
    print(f"{'':5} {'figure':75} {'asked':22} measured")
    for name, part in parts.items():
        if arguments.only in (None, name):
            for line in part():
                verdict = {True: "PASS", False: "MISS", None: ""}[line.met]
                missed += line.met is False
                print(f"{verdict:5} {line.what:75} {line.asked:22} {line.measured}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
