"""The device's account of temporal leakage: what may still be released without passing alpha.

Pure: a state goes in, the next one comes out; the store saves it in the release's transaction.
Time is counted in steps of the Markov chain, at most one release in a step. A step without a
release has the budget 0: it lets the leakage fade as the chain forgets.

Two numbers decide exactly whether a release keeps *every* earlier one within alpha:

- ``backward``, the BPL of the last step: BPL_t = L_B(BPL_{t-1}) + e_t;
- ``ceiling``, the most that FPL may be at the next step. Release t asks for
  TPL_t = BPL_t + L_F(FPL_{t+1}) <= alpha, and the earlier ones for FPL_t = L_F(FPL_{t+1}) + e_t
  to stay below their ceiling, so

      ceiling_{t+1} = L_F^{-1}(min(alpha - BPL_t, ceiling_t - e_t)).

A release is admissible when e_t <= alpha - L_B(BPL_{t-1}) and e_t <= ceiling_t. To leave something
for the future as well, :func:`offer` keeps BPL below the steady state's x and the ceiling above
its y (precompute.leakage.allocation proves that both can be kept for ever): the offers are those
of TPL Algorithm 3, without knowing the number of releases, and more after silence.

The releases of the last ``horizon`` steps are kept too, with their BPL, so that their forward
leakage is updated at each release and can be shown. What is older stays within alpha because of
the ceiling, which covers every release there was.
"""

import math
import struct
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.errors import RefusedError
from agent.formats.errors import FormatError
from agent.formats.leakage_table import LeakageTable

MAX_HORIZON = 4096
# Rounding along a step is a few units in the last place of alpha; plans stay 1e-10 alpha below.
ROUNDING = 1e-13
# Silent steps looked at; more only let the leakage fade further, so leaving them out is safe.
MAX_FADING = 20_000
_STATE_MAGIC = b"SFLEDG\x01\n"
_HEAD = struct.Struct("<qQdddI")
_ENTRY = struct.Struct("<qdd")


@dataclass(frozen=True, slots=True)
class LedgerRules:
    """What the bundle's design fixes.

    Attributes:
        limit: alpha, the TPL that no release may pass (nats).
        backward: L_B of the assumed observer.
        forward: L_F.
        steady_backward: x, the BPL that offers keep below.
        steady_forward: y, the ceiling that offers keep above.
        horizon: number of releases whose leakage is updated and shown.
    """

    limit: float
    backward: LeakageTable
    forward: LeakageTable
    steady_backward: float
    steady_forward: float
    horizon: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.limit) and self.limit > 0):
            raise FormatError("ledger: the limit is not finite and above zero")
        for steady in (self.steady_backward, self.steady_forward):
            if not 0 < steady <= self.limit:
                raise FormatError("ledger: a steady leakage is not between 0 and the limit")
        if not 1 <= self.horizon <= MAX_HORIZON:
            raise FormatError(f"ledger: the horizon is not between 1 and {MAX_HORIZON} releases")


@dataclass(frozen=True, slots=True)
class Entry:
    """One release that is still in the horizon: its step, budget and backward leakage (nats)."""

    step: int
    epsilon: float
    backward: float


@dataclass(frozen=True, slots=True)
class LedgerState:
    """The account after step ``step``.

    Attributes:
        step: number of the last step accounted for; -1 before the first.
        releases: how many there were.
        backward: BPL at ``step``.
        ceiling: the most that FPL may be at ``step + 1``; infinite before the first release.
        worst: the largest TPL seen of any release, while it was in the horizon.
        recent: the last releases, oldest first, at most the horizon.
    """

    step: int = -1
    releases: int = 0
    backward: float = 0.0
    ceiling: float = math.inf
    worst: float = 0.0
    recent: tuple[Entry, ...] = ()


def advance(rules: LedgerRules, state: LedgerState, step: int) -> LedgerState:
    """The account at ``step - 1``: every step since the last one passed without a release.

    Raises:
        RefusedError: this step or a later one is already accounted for.
    """
    if step <= state.step:
        raise RefusedError(
            f"leakage: step {step} was already accounted for (the last is {state.step}); "
            "one release is allowed in each step, wait for the next"
        )
    backward, ceiling = state.backward, state.ceiling
    for _ in range(min(step - 1 - state.step, MAX_FADING)):
        faded = rules.backward.look_up(backward)
        raised = rules.forward.invert(min(rules.limit - faded, ceiling))
        if faded == backward and raised == ceiling:
            break  # nothing changes any more, however long the silence
        backward, ceiling = faded, raised
    return replace(state, step=step - 1, backward=backward, ceiling=ceiling)


def allowance(rules: LedgerRules, state: LedgerState, step: int) -> float:
    """The largest budget that passes alpha nowhere, even if it leaves nothing for the future."""
    now = advance(rules, state, step)
    return max(0.0, min(rules.limit - rules.backward.look_up(now.backward), now.ceiling))


def offer(rules: LedgerRules, state: LedgerState, step: int) -> float:
    """The largest budget for this step after which there is as much for every later one."""
    now = advance(rules, state, step)
    kept_free = now.ceiling - rules.forward.look_up(rules.steady_forward)
    return max(0.0, min(rules.steady_backward - rules.backward.look_up(now.backward), kept_free))


def charge(rules: LedgerRules, state: LedgerState, step: int, epsilon: float) -> LedgerState:
    """The account after a release with this budget at this step.

    Raises:
        RefusedError: it would pass alpha now or for an earlier release, the budget is not finite
            and positive, or the step was already used. Nothing is charged.
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise RefusedError("leakage: the budget of a release is not finite and above zero")
    now = advance(rules, state, step)
    most = min(rules.limit - rules.backward.look_up(now.backward), now.ceiling)
    if epsilon > most + ROUNDING * rules.limit:
        raise RefusedError(
            f"leakage: a release with budget {epsilon:.6g} would pass the limit "
            f"{rules.limit:.6g}; {max(0.0, most):.6g} is left at this step: wait, or release "
            "with less"
        )
    backward = rules.backward.look_up(now.backward) + epsilon
    room = min(rules.limit - backward, now.ceiling - epsilon)
    recent = (*now.recent, Entry(step, epsilon, backward))[-rules.horizon :]
    charged = replace(
        now,
        step=step,
        releases=state.releases + 1,
        backward=backward,
        ceiling=rules.forward.invert(max(0.0, room)),
        recent=recent,
    )
    worst = max(state.worst, *leakages(rules, charged))
    return replace(charged, worst=worst)


def leakages(rules: LedgerRules, state: LedgerState) -> tuple[float, ...]:
    """TPL of each release in the horizon, oldest first, given all releases up to now."""
    forward = 0.0  # FPL at ``later``
    later = state.step
    total: list[float] = []
    for entry in reversed(state.recent):
        for _ in range(min(later - entry.step, MAX_FADING)):
            faded = rules.forward.look_up(forward)
            if faded == forward:
                break
            forward = faded
        later = entry.step
        total.append(entry.backward + forward)
        forward += entry.epsilon
    return tuple(reversed(total))


def encode_state(state: LedgerState) -> bytes:
    """The account as bytes, for the store.

    Little-endian: magic with the version, step i64, releases u64, backward f64,
    ceiling f64, worst f64, number of recent u32, then step i64, epsilon f64, backward f64 each.
    """
    head = _HEAD.pack(
        state.step,
        state.releases,
        state.backward,
        state.ceiling,
        state.worst,
        len(state.recent),
    )
    entries = (_ENTRY.pack(e.step, e.epsilon, e.backward) for e in state.recent)
    return _STATE_MAGIC + head + b"".join(entries)


def decode_state(content: bytes) -> LedgerState:
    """The inverse of :func:`encode_state`.

    Raises:
        FormatError: not the bytes of an account of this version.
    """
    start = len(_STATE_MAGIC)
    if content[:start] != _STATE_MAGIC or len(content) < start + _HEAD.size:
        raise FormatError("ledger: the stored account is not one of version 1; it is not used")
    step, releases, backward, ceiling, worst, size = _HEAD.unpack_from(content, start)
    body = content[start + _HEAD.size :]
    if size > MAX_HORIZON or len(body) != size * _ENTRY.size:
        raise FormatError("ledger: the stored account has the wrong length; it is not used")
    recent = tuple(Entry(*row) for row in _ENTRY.iter_unpack(body))
    steps = [-1, *(entry.step for entry in recent)]
    sound = (
        all(math.isfinite(x) and x >= 0 for x in (backward, worst))
        and ceiling >= 0
        and all(e.epsilon > 0 and math.isfinite(e.epsilon + e.backward) for e in recent)
        and all(a < b for a, b in pairwise(steps))
        and steps[-1] <= step
        and size <= releases
    )
    if not sound:
        raise FormatError("ledger: the stored account contradicts itself; it is not used")
    return LedgerState(step, releases, backward, ceiling, worst, recent)
