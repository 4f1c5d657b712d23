"""Budgets decided release by release, without knowing how many will follow.

Keeping BPL <= x and a ceiling >= y of the steady state (see allocation) after each release leaves
the steady budget for every later one:

- BPL_{t-1} <= x gives x - L_B(BPL_{t-1}) >= x - L_B(x) = e;
- ceiling_t >= y gives ceiling_t - L_F(y) >= y - L_F(y) = e; and with the budget
  min(x - L_B(BPL_{t-1}), ceiling_t - L_F(y)) the next ceiling is
  L_F^{-1}(min(alpha - BPL_t, ceiling_t - e_t)) >= L_F^{-1}(L_F(y)) >= y, as alpha - x = L_F(y).

So the offers never fall below e, the first is x, and a last release may take everything that is
left, which is y: TPL Algorithm 3 comes out, for every horizon at once. After steps without a
release the offers are larger. The device's agent.ledger applies the same rules; this is the
workstation's own statement of them, and tests compare the two.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from precompute.leakage.allocation import SteadyState, steady_state
from precompute.leakage.errors import LeakageError
from precompute.leakage.quantification import Adversary


@dataclass(slots=True)
class OnlineAllocator:
    """Hands out budgets step by step; every earlier release stays within the limit.

    Attributes:
        adversary: the assumed observer.
        steady: the steady state for the limit.
        backward: BPL of the last step.
        ceiling: the most that FPL may be at the next step.
    """

    adversary: Adversary
    steady: SteadyState
    backward: float = 0.0
    ceiling: float = math.inf

    @staticmethod
    def within(adversary: Adversary, alpha: float) -> "OnlineAllocator":
        """An allocator before its first release.

        Raises:
            LeakageError: alpha is no limit, or the chain allows no endless stream.
        """
        return OnlineAllocator(adversary, steady_state(adversary, alpha))

    def next_budget(self, *, last: bool = False) -> float:
        """The budget for the next step; with ``last`` also what was kept for later ones."""
        carried = self.adversary.backward.look_up(self.backward)
        if last:
            return min(self.steady.limit - carried, self.ceiling)
        reserve = self.adversary.forward.look_up(self.steady.forward)
        return min(self.steady.backward - carried, self.ceiling - reserve)

    def spend(self, epsilon: float) -> None:
        """Account for one step: a release, or with 0 a step without one.

        Raises:
            LeakageError: this budget would take some release past the limit.
        """
        carried = self.adversary.backward.look_up(self.backward)
        most = min(self.steady.limit - carried, self.ceiling)
        if not 0 <= epsilon <= most:
            raise LeakageError(
                f"online allocation: a budget of {epsilon:.6g} would pass the limit "
                f"{self.steady.limit:.6g}; at most {max(0.0, most):.6g} is left at this step"
            )
        self.backward = carried + epsilon
        room = min(self.steady.limit - self.backward, self.ceiling - epsilon)
        self.ceiling = self.adversary.forward.invert(max(0.0, room))


def allocate_online(
    adversary: Adversary, alpha: float, released: Sequence[bool]
) -> tuple[float, ...]:
    """Budgets of a stream that releases only at some steps; 0 where it does not."""
    allocator = OnlineAllocator.within(adversary, alpha)
    budgets = []
    for release in released:
        epsilon = allocator.next_budget() if release else 0.0
        allocator.spend(epsilon)
        budgets.append(epsilon)
    return tuple(budgets)
