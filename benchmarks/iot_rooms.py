"""Mappings on a real room: accuracy of H and of G by learners on days never seen, as curves.

``python -m benchmarks.iot_rooms [--quick] [--public co2|light]``; needs SFUMATO_DATA. Tables go to
the output as they come, pictures into bench-output/. Designs are made from the training days'
empirical joint; the budgets that they keep there are printed beside what the test days' own
distribution shows ("shown": days differ, and no promise of a model learnt from some days holds on
all others; "each day" is held to the budget on every mixture of the training days).
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.room_log import Part, Public, Split, read_log, split
from benchmarks.room_points import HEADER, Point, draw
from precompute.audit.sensor_attacks import (
    Attack,
    best_attack,
    drawn,
    memoised,
    one_hot,
    windowed,
)
from precompute.mapping.achieved import achieved
from precompute.mapping.baselines import Method, project
from precompute.mapping.epic import design_epic
from precompute.mapping.joint import FloatArray, IntArray, Maps
from precompute.mapping.solution import Architecture, Budgets, Options, Solution
from precompute.mapping.two_stage import design_mapping

LOG = Path("sensors") / "room_occupancy_estimation.csv.gz"
INFORMATION = (0.05, 0.1, 0.4, 0.8, 1.6)
LOCAL = (0.25, 0.5, 1.0, 2.0, 4.0)
# epsilon_LD of every node in the curves over epsilon_I.
LOCAL_BESIDE = 2.0
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
# Whose symbols the window attacker looks at.
WATCHED = (
    ("LDP only", Budgets(local=0.5)),
    ("direct", Budgets(0.1, LOCAL_BESIDE)),
    ("direct", Budgets(0.8, LOCAL_BESIDE)),
)
HOUR_STEPS = (1, 20, 120)
# `direct` with G guarded on each training day, whatever their mixture (regimes).
EACH_DAY = "each day"
STARTS = 4
# Fresh symbols for each row: so often to learn from, so often to be tested on.
LEARN_DRAWS, TEST_DRAWS = 1, 4


def rooms(
    split_log: Split, *, quick: bool = False, pictures: Path | None = None, name: str = "co2"
) -> Iterator[str]:
    """Lines of the tables, as they are found.

    Args:
        split_log: training and test days.
        quick: few points.
        pictures: folder for the SVG, or None.
        name: of H, for titles.
    """
    yield from split_log.said
    began = time.perf_counter()
    points: list[Point] = []
    windows: dict[str, Maps] = {}
    yield HEADER
    for make in _plan(split_log, quick, windows):
        points.append(make())
        yield points[-1].line()
    yield (
        f"majority: H {points[0].public.majority:.3f}, G {points[0].private.majority:.3f}; "
        f"balanced 0.5 is no knowledge; {time.perf_counter() - began:.0f} s"
    )
    yield "what symbols tell of G, balanced accuracy: of one step, and of all lengths to an hour"
    for title, maps in windows.items():
        yield from _window_lines(split_log, title, maps)
    if pictures is not None:
        yield f"picture: {draw(points, pictures / f'iot_rooms_{name}.svg', name)}"


def _plan(both: Split, quick: bool, windows: dict[str, Maps]) -> Iterator[Callable[[], Point]]:
    """What to measure, in order; ``windows`` receives maps that the window attacker looks at."""
    yield lambda: _released(both, "raw", "-", both.train.raw, both.test.raw)
    yield lambda: _released(
        both,
        "cells",
        "-",
        one_hot(both.train.cells, both.sizes),
        one_hot(both.test.cells, both.sizes),
    )
    methods: tuple[tuple[Method, float], ...] = (
        ("dca", 0.0),
        ("mdr", 0.0),
        *(("ruca", cost) for cost in (COSTS[1:4:2] if quick else COSTS)),
    )
    for method, cost in methods:
        yield lambda method=method, cost=cost: _projected(both, method, cost)
    for title, architecture, budgets in _asked(quick):
        yield lambda title=title, architecture=architecture, budgets=budgets: _mapped(
            both, title, architecture, budgets, windows
        )


def _asked(quick: bool) -> Iterator[tuple[str, Architecture, Budgets]]:
    """Curves over epsilon_LD and epsilon_I alone, then over epsilon_I at LOCAL_BESIDE."""
    local = LOCAL[1::2] if quick else LOCAL
    information = INFORMATION[1::3] if quick else INFORMATION
    yield from (("LDP only", "local", Budgets(local=amount)) for amount in local)
    yield from (("EPIC LDP", "epic", Budgets(local=amount)) for amount in local)
    yield from (("inf. only", "information", Budgets(amount)) for amount in information)
    yield from (("EPIC inf.", "epic", Budgets(amount)) for amount in information)
    both: tuple[tuple[str, Architecture], ...] = (
        ("ILL", "ill"),
        ("LIP", "lip"),
        ("direct", "direct"),
        (EACH_DAY, "direct"),
        ("EPIC", "epic"),
    )
    for title, architecture in both:
        yield from ((title, architecture, Budgets(one, LOCAL_BESIDE)) for one in information)


def _mapped(
    both: Split,
    title: str,
    architecture: Architecture,
    budgets: Budgets,
    windows: dict[str, Maps],
) -> Point:
    joint = both.joint(both.train, by_day=title == EACH_DAY)
    options = Options(starts=STARTS, sweeps=40)
    solution: Solution = (
        design_epic(joint, budgets, options)
        if architecture == "epic"
        else design_mapping(joint, budgets, architecture, options)
    )
    maps = solution.maps
    shown = achieved(both.joint(both.test), maps).information
    asked = f"I {budgets.information:g} LD {budgets.local:g}"
    if (title, budgets) in WATCHED:
        windows[f"{title} {asked}"] = maps
    random = np.random.default_rng(1)
    learn = np.vstack([_said(maps, both.train, random) for _ in range(LEARN_DRAWS)])
    test = np.vstack([_said(maps, both.test, random) for _ in range(TEST_DRAWS)])
    return Point(
        title,
        asked,
        solution.achieved.guarded,
        max(solution.achieved.local),
        shown,
        1.0 - solution.achieved.public_error,
        _rule_accuracy(solution, both),
        *_both_attacks(both, learn, test, LEARN_DRAWS, TEST_DRAWS),
        _best_of_private(both, maps),
    )


def _said(maps: Maps, part: Part, random: np.random.Generator) -> FloatArray:
    return one_hot(drawn(maps, part.cells, random), [one.shape[1] for one in maps])


def _rule_accuracy(solution: Solution, both: Split) -> float:
    """How often the shipped rule decides H rightly on the test days; exact over the draws."""
    rule = solution.outcomes.argmax(axis=0)
    said = both.joint(both.test).after(solution.maps).outcomes().sum(axis=1)
    return float(np.take_along_axis(said, rule[None], axis=0).sum())


def _best_of_private(both: Split, maps: Maps) -> float:
    """Balanced accuracy of G by the test days' own p(z|g): half the sum of max_g p(z|g)."""
    said = both.joint(both.test).after(maps).outcomes().sum(axis=0).reshape(2, -1)
    return float((said / said.sum(axis=1, keepdims=True)).max(axis=0).sum() / 2)


def _projected(both: Split, method: Method, cost: float) -> Point:
    train = both.train
    found = project(method, train.raw, train.public, train.private, cost=cost)
    asked = f"k 1 cost {cost:g}" if method == "ruca" else "k 1"
    return _released(
        both, method.upper(), asked, found.apply(train.raw), found.apply(both.test.raw)
    )


def _released(both: Split, title: str, asked: str, learn: FloatArray, test: FloatArray) -> Point:
    nothing = float("nan")
    infinite = float("inf")
    attacks = _both_attacks(both, learn, test, 1, 1)
    return Point(title, asked, infinite, infinite, infinite, nothing, nothing, *attacks, nothing)


def _both_attacks(
    both: Split, learn: FloatArray, test: FloatArray, learn_draws: int, test_draws: int
) -> tuple[Attack, Attack]:
    def attack(truth: IntArray, test_truth: IntArray) -> Attack:
        return best_attack(
            learn,
            np.tile(truth, learn_draws),
            np.tile(both.train.choosing, learn_draws),
            test,
            np.tile(test_truth, test_draws),
        )

    return (
        attack(both.train.public, both.test.public),
        attack(both.train.private, both.test.private),
    )


def _window_lines(both: Split, title: str, maps: Maps) -> Iterator[str]:
    """Fresh draws against symbols kept for each cell over a day."""
    sizes = [one.shape[1] for one in maps]
    for how in ("fresh", "memoised"):
        random = np.random.default_rng(2)
        told: dict[tuple[int, ...], list[FloatArray]] = {(1,): [], HOUR_STEPS: []}
        for part in (both.train, both.test):
            symbols = (
                drawn(maps, part.cells, random)
                if how == "fresh"
                else memoised(maps, part.cells, part.day, random)
            )
            seen = one_hot(symbols, sizes)
            for steps, held in told.items():
                held.append(windowed(seen, part.stretch, steps))
        found = [
            best_attack(
                learn, both.train.private, both.train.choosing, test, both.test.private
            ).balanced
            for learn, test in told.values()
        ]
        yield f"  {title:26s} {how:9s} one step {found[0]:.3f}   an hour {found[1]:.3f}"


def main() -> int:
    """The benchmark on its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few points")
    parser.add_argument("--public", choices=("co2", "light"), default="co2", help="H (co2)")
    arguments = parser.parse_args()
    folder = os.environ.get("SFUMATO_DATA")
    if folder is None:
        print("iot_rooms: SFUMATO_DATA is not set; it names the folder of logs", file=sys.stderr)
        return 2
    public: Public = arguments.public
    both = split(read_log(Path(folder) / LOG), public)
    for line in rooms(both, quick=arguments.quick, pictures=Path("bench-output"), name=public):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
