"""What an observer who knows the Markov chain learns from a sequence of releases.

BPL_1 = e_1, BPL_t = L_B(BPL_{t-1}) + e_t: what releases up to t say about the state at t.
FPL_T = e_T, FPL_t = L_F(FPL_{t+1}) + e_t: what releases from t on say about it.
TPL_t = BPL_t + FPL_t - e_t: all of them together (Cao et al., ICDE 2017, equations 8 to 13).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agent.formats.leakage_table import LeakageTable
from precompute.leakage.envelope import build_table
from precompute.leakage.errors import LeakageError
from precompute.leakage.suprema import supremum
from precompute.leakage.transition_matrices import TransitionMatrix

INDEPENDENT = LeakageTable((), (), ())
MAX_RELEASES = 10_000_000


@dataclass(frozen=True, slots=True)
class Adversary:
    """What the observer knows of the chain: the past (backward), the future (forward), or both.

    A direction that is not known has the empty table: L = 0.
    """

    backward: LeakageTable = INDEPENDENT
    forward: LeakageTable = INDEPENDENT

    @staticmethod
    def knowing(
        backward: TransitionMatrix | None = None, forward: TransitionMatrix | None = None
    ) -> "Adversary":
        """The adversary with these matrices.

        Raises:
            LeakageError: neither is given, or they differ in the number of states.
        """
        if backward is None and forward is None:
            raise LeakageError(
                "adversary: neither a backward nor a forward matrix; give at least one"
            )
        if backward is not None and forward is not None and len(backward) != len(forward):
            raise LeakageError(
                f"adversary: the backward matrix has {len(backward)} states and the forward one "
                f"{len(forward)}; expected the same states in both"
            )
        same = (
            backward is not None
            and forward is not None
            and bool((backward.probabilities == forward.probabilities).all())
        )
        table = INDEPENDENT if backward is None else build_table(backward)
        if same:
            return Adversary(table, table)
        return Adversary(table, INDEPENDENT if forward is None else build_table(forward))


@dataclass(frozen=True, slots=True)
class Leakage:
    """Leakage of each release (nats): four sequences of equal length."""

    epsilons: tuple[float, ...]
    bpl: tuple[float, ...]
    fpl: tuple[float, ...]
    tpl: tuple[float, ...]

    @property
    def worst(self) -> float:
        """The largest TPL of any release."""
        return max(self.tpl)


@dataclass(frozen=True, slots=True)
class Suprema:
    """Least upper bounds under a constant budget for ever; None where there is no finite one."""

    backward: float | None
    forward: float | None
    total: float | None


def quantify(adversary: Adversary, epsilons: Sequence[float]) -> Leakage:
    """BPL, FPL and TPL of releases with these budgets.

    Raises:
        LeakageError: no budget, too many, or one that is not finite and positive.
    """
    budgets = checked_budgets(epsilons)
    bpl = _run(adversary.backward, budgets)
    fpl = _run(adversary.forward, budgets[::-1])[::-1]
    tpl = [b + f - e for b, f, e in zip(bpl, fpl, budgets, strict=True)]
    return Leakage(tuple(budgets), tuple(bpl), tuple(fpl), tuple(tpl))


def quantify_suprema(adversary: Adversary, epsilon: float) -> Suprema:
    """Where BPL, FPL and TPL end under a constant budget."""
    backward = supremum(adversary.backward, epsilon)
    forward = supremum(adversary.forward, epsilon)
    if backward is None or forward is None:
        return Suprema(backward, forward, None)
    return Suprema(backward, forward, backward + forward - epsilon)


def worst_of_users(users: Sequence[Leakage]) -> tuple[float, ...]:
    """TPL of the mechanism for a population: at each release the largest over the users.

    Raises:
        LeakageError: no user, or users with different numbers of releases.
    """
    lengths = {len(user.tpl) for user in users}
    if len(lengths) != 1:
        raise LeakageError(
            f"users: found {len(users)} with {len(lengths)} different numbers of releases; "
            "expected one or more users with equally many"
        )
    return tuple(max(values) for values in zip(*(user.tpl for user in users), strict=True))


def checked_budgets(epsilons: Sequence[float]) -> list[float]:
    """The budgets as floats, refused where no mechanism could have them."""
    if not 0 < len(epsilons) <= MAX_RELEASES:
        raise LeakageError(
            f"budgets: found {len(epsilons)}; expected 1 to {MAX_RELEASES} numbers above zero"
        )
    budgets = [float(epsilon) for epsilon in epsilons]
    for place, epsilon in enumerate(budgets, start=1):
        if not (math.isfinite(epsilon) and epsilon > 0):
            raise LeakageError(
                f"budgets: number {place} is {epsilon:g}; expected a finite number above zero "
                "(leave out steps without a release only if the chain does not move in them)"
            )
    return budgets


def _run(table: LeakageTable, budgets: Sequence[float]) -> list[float]:
    leakage = 0.0
    out = []
    for epsilon in budgets:
        leakage = table.look_up(leakage) + epsilon
        out.append(leakage)
    return out
