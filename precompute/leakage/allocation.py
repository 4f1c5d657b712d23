"""Budgets that keep the temporal leakage of every release within a limit alpha.

Both of the paper's algorithms rest on one equation. Let x be the backward leakage that a long
stream settles at. It must come from e = x - L_B(x); the forward leakage y must settle too,
e = y - L_F(y); and x + y - e = alpha. Together y = alpha - L_B(x) and

    x + L_F(alpha - L_B(x)) = alpha.

The left side does not fall with x, is at most alpha at x = 0 and at least alpha at x = alpha, so
bisection finds x. Then e = x - L_B(x) for ever is TPL Algorithm 2 (unknown horizon), and
e_1 = x, e_2 = ... = e_{T-1} = e, e_T = y is Algorithm 3: it starts where the stream would settle
and ends there, so TPL_t = alpha at every t.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from precompute.leakage.errors import LeakageError
from precompute.leakage.quantification import Adversary, quantify

# Plans aim this far below the limit (relative, at most HEADROOM_NATS), so that rounding on the way
# to and on the device never makes a release that was planned be refused.
HEADROOM = 1e-10
HEADROOM_NATS = 5e-10
# A steady budget below this share of alpha is none: with L = identity it is 0 up to rounding.
NO_BUDGET = 1e-9
BISECTIONS = 2000


@dataclass(frozen=True, slots=True)
class SteadyState:
    """Where a stream that never ends stays within the limit.

    Attributes:
        limit: alpha, nats.
        backward: x, the BPL it settles at; also the budget of a first release.
        forward: y, the FPL it settles at; also the budget of a last release.
        epsilon: e, the budget of every release between.
    """

    limit: float
    backward: float
    forward: float
    epsilon: float


def steady_state(adversary: Adversary, alpha: float) -> SteadyState:
    """The solution of the equation above.

    Raises:
        LeakageError: alpha is not finite and positive, or no constant budget stays within it.
    """
    steady = _solve(adversary, alpha)
    if steady.epsilon <= NO_BUDGET * alpha:
        raise LeakageError(
            f"allocation: no constant budget keeps the leakage within {alpha:g} for ever, because "
            "the chain gives away its past or future with certainty; state the number of steps, "
            "smooth the matrix, or release less often"
        )
    return steady


def allocate_unknown_horizon(adversary: Adversary, alpha: float) -> float:
    """The constant budget with supremum of TPL = alpha (TPL Algorithm 2)."""
    return steady_state(adversary, alpha).epsilon


def allocate_known_horizon(adversary: Adversary, alpha: float, steps: int) -> tuple[float, ...]:
    """Budgets of ``steps`` releases with TPL_t = alpha at every t (TPL Algorithm 3).

    Where that plan would leave nothing between its ends (the chain gives its past or future away
    with certainty), the largest constant budget within alpha is returned: then TPL_t <= alpha.

    Raises:
        LeakageError: alpha is not finite and positive, or steps below 1.
    """
    if steps < 1:
        raise LeakageError(f"allocation: found {steps} steps; expected at least 1")
    steady = _solve(adversary, alpha)
    if steps == 1:
        return (_target(alpha),)
    least = min(steady.backward, steady.forward, steady.epsilon if steps > 2 else math.inf)
    if least <= NO_BUDGET * alpha:
        return (_largest_constant(adversary, alpha, steps),) * steps
    return (steady.backward, *(steady.epsilon,) * (steps - 2), steady.forward)


def allocate_personalised(
    adversaries: Sequence[Adversary], alphas: Sequence[float], steps: int
) -> tuple[tuple[float, ...], ...]:
    """A plan for each user, with the user's own chain and limit.

    Raises:
        LeakageError: not as many limits as users, or one of them cannot be met.
    """
    if len(adversaries) != len(alphas) or not adversaries:
        raise LeakageError(
            f"allocation: {len(adversaries)} users and {len(alphas)} limits; "
            "expected one limit for each of one or more users"
        )
    return tuple(
        allocate_known_horizon(adversary, alpha, steps)
        for adversary, alpha in zip(adversaries, alphas, strict=True)
    )


def common_budgets(plans: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """One plan for all users: the least budget at each step. Leakage rises with every budget, so
    it keeps every user within the limit of the user's own plan.
    """
    return tuple(min(budgets) for budgets in zip(*plans, strict=True))


def checked_limit(alpha: float) -> float:
    """alpha, refused unless it is finite and positive."""
    if not (math.isfinite(alpha) and alpha > 0):
        raise LeakageError(f"alpha: found {alpha:g}; expected a finite number above zero")
    return alpha


def _target(alpha: float) -> float:
    checked_limit(alpha)
    return alpha - min(HEADROOM * alpha, HEADROOM_NATS)


def _solve(adversary: Adversary, alpha: float) -> SteadyState:
    target = _target(alpha)
    backward, forward = adversary.backward, adversary.forward

    def excess(x: float) -> float:
        return x + forward.look_up(target - backward.look_up(x)) - target

    # The smaller end of the bracket: rounding then keeps x + L_F(y) at or below the target.
    x = largest_below(excess, target)
    y = target - backward.look_up(x)
    epsilon = min(x - backward.look_up(x), y - forward.look_up(y))
    return SteadyState(alpha, x, y, max(0.0, epsilon))


def largest_below(excess: Callable[[float], float], high: float) -> float:
    """The largest x in [0, high] with excess(x) <= 0, for an excess that does not fall."""
    if excess(high) <= 0:
        return high
    low = 0.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if excess(middle) <= 0:
            low = middle
        else:
            high = middle
    return low


def _largest_constant(adversary: Adversary, alpha: float, steps: int) -> float:
    """The largest constant budget whose TPL stays within the target over a known horizon."""
    target = _target(alpha)

    def excess(epsilon: float) -> float:
        return quantify(adversary, [epsilon] * steps).worst - target if epsilon > 0 else -target

    return largest_below(excess, target)
