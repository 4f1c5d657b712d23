"""Amounts of leakage and tables of releases as text for a terminal."""

from collections.abc import Iterator, Sequence

from precompute.leakage.quantification import Leakage

SMALL = 1e-3  # below, six digits after the point would hide most of a number
SHOWN_WHOLE = 40


def amount(value: float) -> str:
    """Six digits after the point; four significant ones where those would show few or none."""
    return f"{value:.6f}" if value == 0 or abs(value) >= SMALL else f"{value:.4g}"


def bound(value: float | None) -> str:
    """A supremum; None has words."""
    return "no finite bound: it grows with every release" if value is None else amount(value)


def release_table(leakage: Leakage) -> Iterator[str]:
    """A line for each release, the middle left out of long sequences, and the largest TPL."""
    yield f"{'release':>8} {'budget':>10} {'BPL':>10} {'FPL':>10} {'TPL':>10}"
    rows = list(zip(leakage.epsilons, leakage.bpl, leakage.fpl, leakage.tpl, strict=True))
    previous = -1
    for number in shown_places(len(rows)):
        if number != previous + 1:
            yield "     ..."
        previous = number
        yield f"{number + 1:>8} " + " ".join(f"{amount(value):>10}" for value in rows[number])
    yield f"largest TPL: {amount(leakage.worst)}"


def shown_places(length: int) -> Sequence[int]:
    """All of a short sequence; the beginning and the end of a long one."""
    if length <= SHOWN_WHOLE:
        return range(length)
    return (*range(20), *range(length - 5, length))


def plan_text(budgets: Sequence[float]) -> str:
    """A plan on one line: equal neighbours are counted, not repeated."""
    parts: list[tuple[float, int]] = []
    for budget in budgets:
        if parts and parts[-1][0] == budget:
            parts[-1] = (budget, parts[-1][1] + 1)
        else:
            parts.append((budget, 1))
    words = [amount(budget) + (f" ({times} times)" if times > 1 else "") for budget, times in parts]
    return ", ".join(words if len(words) <= SHOWN_WHOLE else [*words[:20], "...", *words[-5:]])
