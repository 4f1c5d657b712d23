"""The paper's qualitative statements, judged on the computed points; none is taken for granted."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from precompute.mapping.reproduction.figures import BOTH_BUDGETS, Point

# Errors closer than this are the same: what a search leaves.
SAME = 1e-7
# "Leaves I(X1;Z1) high": so many times what any design with both budgets leaves.
HIGH = 5.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """One statement, whether it holds on the points, and the numbers that say so."""

    statement: str
    holds: bool
    evidence: str


def judge(figures: Mapping[str, Sequence[Point]]) -> tuple[Verdict, ...]:
    """Every statement that the given figures can decide."""
    found: list[Verdict] = []
    if "6" in figures:
        for local in sorted({point.local for point in figures["6"]}):
            row = [point for point in figures["6"] if point.local == local]
            for how in ("staged", "refined"):
                found += _order(row, how, local)
    if "5" in figures:
        found.append(_local_protects_badly(figures["5"]))
    if "7" in figures:
        found.append(_information_leaves_readings(figures["7"]))
    every = [point for row in figures.values() for point in row]
    found.append(_never_behind(every))
    found.append(_budgets_kept(every))
    return tuple(found)


def _order(row: Sequence[Point], how: str, local: float) -> list[Verdict]:
    small = min(row, key=lambda point: point.information)
    large = max(row, key=lambda point: point.information)
    words = {"staged": "stage by stage", "refined": "refined over both stages"}[how]
    verdicts = []
    for point, first, second, size in (
        (small, "ill", "lip", "small"),
        (large, "lip", "ill", "large"),
    ):
        ahead = point.cells[f"{first}_{how}"].public_error
        behind = point.cells[f"{second}_{how}"].public_error
        verdicts.append(
            Verdict(
                f"{first.upper()} is ahead of {second.upper()} at {size} epsilon_I, {words}, "
                f"epsilon_LD = {local:g}",
                ahead < behind - SAME,
                f"epsilon_I = {point.information:g}: error of H {ahead:.4f} ({first.upper()}), "
                f"{behind:.4f} ({second.upper()})",
            )
        )
    return verdicts


def _local_protects_badly(row: Sequence[Point]) -> Verdict:
    """At the largest epsilon_LD: the asked epsilon_I is passed, and G is found more often."""
    largest = max(point.local for point in row)
    chosen = [point for point in row if point.local == largest]
    holds = True
    words = []
    for point in chosen:
        alone = point.cells["ldp_only"]
        others = min(point.cells[name].private_error for name in BOTH_BUDGETS)
        told = math.inf if alone.information is None else alone.information
        holds = holds and told > point.information and alone.private_error < others
        words.append(
            f"epsilon_I asked {point.information:g}, LDP alone {told:.3f}; error of G "
            f"{alone.private_error:.4f}, with both budgets >= {others:.4f}"
        )
    return Verdict(
        f"LDP alone protects G badly (epsilon_LD = {largest:g})", holds, "; ".join(words)
    )


def _information_leaves_readings(row: Sequence[Point]) -> Verdict:
    point = min(row, key=lambda one: one.local)
    alone = point.cells["information_only"]
    others = max(point.cells[name].reading_information for name in BOTH_BUDGETS)
    local = "unbounded" if alone.local is None else f"{alone.local:.3f}"
    return Verdict(
        f"information privacy alone leaves I(X1;Z1) high (over {HIGH:g} times the others')",
        alone.reading_information > HIGH * others,
        f"epsilon_LD = {point.local:g}: {alone.reading_information:.4f}, with both budgets <= "
        f"{others:.4f}; its LDP is {local}",
    )


def _never_behind(every: Sequence[Point]) -> Verdict:
    gaps = [
        point.cells["direct"].public_error - point.cells[name].public_error
        for point in every
        for name in BOTH_BUDGETS
    ]
    return Verdict(
        "ours (direct) is never behind a design that keeps both budgets",
        max(gaps) <= SAME,
        f"{len(every)} points: at worst {max(gaps):.1e} behind, at best {-min(gaps):.4f} ahead",
    )


def _budgets_kept(every: Sequence[Point]) -> Verdict:
    def excess(asked: Callable[[Point], float], of: str, names: Sequence[str]) -> float:
        found = []
        for point in every:
            for name in names:
                value = getattr(point.cells[name], of)
                found.append((math.inf if value is None else value) - asked(point))
        return max(found)

    information = excess(
        lambda point: point.information, "information", (*BOTH_BUDGETS, "information_only")
    )
    local = excess(lambda point: point.local, "local", (*BOTH_BUDGETS, "ldp_only"))
    worst = max(information, local)
    return Verdict(
        "what is achieved never passes what is asked (1e-9)", worst <= 1e-9, f"excess {worst:.1e}"
    )
