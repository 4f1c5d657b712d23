"""One state in, one release out, with the account of temporal leakage kept in between.

The same calls as :class:`agent.sanitise.sanitiser.Sanitiser`: state bytes in, release and next
state bytes out, both to be stored in one transaction before anything is sent.

Every account begins as if one had been lost: see kept_state.py.
Memoised releases have no account; each lost memory lets every state be drawn once more.
"""

from agent.errors import RefusedError
from agent.formats.leakage_design import LeakageDesign, leakage_design_digest
from agent.health import Account
from agent.ledger import LedgerRules, charge, offer
from agent.sanitise.discrete_bits import RandomBits, uniform_below
from agent.sanitise.discrete_mechanisms import (
    DiscreteMechanism,
    GridLaplace,
    RandomisedResponse,
    UnaryEncoding,
)
from agent.sanitise.discrete_memory import Memoised
from agent.sanitise.discrete_planar import PlanarLaplace
from agent.sanitise.kept_state import Keeper, KeptState, after_blank


class CategorySanitiser:
    """A leakage design and a source of bits, as a function on (state bytes, time, state number).

    Args:
        design: what to sample and what to account for.
        source: the operating system's bits on a device; seeded ones in tests.
    """

    def __init__(self, design: LeakageDesign, source: RandomBits) -> None:
        self._design = design
        self._source = source
        self._mechanism = _mechanism(design)
        self._rules = LedgerRules(
            design.limit,
            design.backward,
            design.forward,
            design.steady_backward,
            design.steady_forward,
            design.horizon,
        )
        self._keeper = Keeper(
            magic=b"SFCATG\x01\n",
            what="leakage",
            name=f"design {design.name!r}",
            digest=leakage_design_digest(design),
            segments=design.segments,
            rules=self._rules,
        )

    def number_of(self, state: str) -> int:
        """A state's number; that of ``elsewhere`` for an unknown one, where the design has it.

        Raises:
            RefusedError: unknown, and the design has no state for that. The name is not shown.
        """
        known = self._design.states
        name = state if state in known else self._design.elsewhere
        if name is None:
            raise RefusedError(
                f"design {self._design.name!r}: unknown state: it is not one of the {len(known)}; "
                "learn the matrix with it, or name a state for unknown ones"
            )
        return known.index(name)

    def cold_start(self, segment: int) -> bytes:
        """The state of a segment in which nothing is released yet; the first is 0.

        Raises:
            RefusedError: the design does not allow that many lost accounts.
        """
        return self._keeper.cold_start(segment)

    def segment(self, state: bytes) -> int:
        """The segment that the state is in.

        Raises:
            FormatError: damaged, or of another design or version.
        """
        return self._keeper.decode(state).segment

    def sanitise(
        self, state: bytes, time_ms: int, value_steps: tuple[int, ...]
    ) -> tuple[tuple[int, ...], bytes]:
        """A release for the state with this number, and the state bytes after it.

        Args:
            state: from :meth:`cold_start` or the last call.
            time_ms: the release's time, Unix milliseconds; its step is time_ms // step_ms.
            value_steps: the state's number, alone in a tuple.

        Returns:
            State numbers: one, or for unary_encoding any number of them.

        Raises:
            RefusedError: no such state, the step already had a release, or nothing may be
                released. Nothing has changed then.
            FormatError: the state is damaged, or of another design or version.
        """
        if len(value_steps) != 1 or not 0 <= value_steps[0] < len(self._design.states):
            raise RefusedError(
                f"design {self._design.name!r}: unknown state: it is not one of the "
                f"{len(self._design.states)}"
            )
        before = self._keeper.decode(state)
        step = time_ms // self._design.step_ms
        if self._design.policy == "memoised":
            return self._memoised(before, step, value_steps)
        if before.waiting:
            return self._blank(), self._keeper.encode(after_blank(before, step))
        epsilon = offer(self._rules, before.ledger, step)
        if self._design.policy == "steady":
            epsilon = min(epsilon, self._design.epsilon)
        ledger = charge(self._rules, before.ledger, step, epsilon)
        drawn = self._mechanism.sample(self._to_domain(value_steps[0]), epsilon, self._source)
        after = KeptState(before.segment, False, ledger, before.memory)
        return self._to_numbers(drawn), self._keeper.encode(after)

    def last_budget(self, state: bytes) -> float:
        """What the last release was drawn with; 0 for one that was drawn without the state."""
        if self._design.policy == "memoised":
            return self._design.epsilon
        ledger = self._keeper.decode(state).ledger
        charged = ledger.recent and ledger.recent[-1].step == ledger.step
        return ledger.recent[-1].epsilon if charged else 0.0

    def account(self, state: bytes) -> Account | None:
        """What releases leak together; None for memoised ones, which have no temporal bound."""
        if self._design.policy == "memoised":
            return None
        return self._keeper.account(state)

    def _memoised(
        self, before: KeptState, step: int, value: tuple[int, ...]
    ) -> tuple[tuple[int, ...], bytes]:
        assert self._design.memoise_steps is not None
        memoised = Memoised(self._mechanism, self._design.memoise_steps)
        drawn, memory = memoised.sample(
            self._to_domain(value[0]), step, self._design.epsilon, before.memory, self._source
        )
        after = KeptState(before.segment, False, before.ledger, memory)
        return self._to_numbers(drawn), self._keeper.encode(after)

    def _to_domain(self, number: int) -> tuple[int, ...]:
        width = self._design.width
        return (number,) if width is None else (number % width, number // width)

    def _to_numbers(self, drawn: tuple[int, ...]) -> tuple[int, ...]:
        width = self._design.width
        return drawn if width is None else (drawn[0] + width * drawn[1],)

    def _blank(self) -> tuple[int, ...]:
        """A release that no state made more likely."""
        states = range(len(self._design.states))
        if self._design.mechanism == "unary_encoding":
            return tuple(state for state in states if self._source.bits(1))
        return (uniform_below(len(states), self._source),)


def _mechanism(design: LeakageDesign) -> DiscreteMechanism:
    """The mechanism over the design's states."""
    number = len(design.states)
    match design.mechanism:
        case "randomised_response":
            return RandomisedResponse(number)
        case "unary_encoding":
            return UnaryEncoding(number)
        case "grid_laplace":
            return GridLaplace(0, number - 1)
        case "planar_laplace":
            assert design.width is not None
            return PlanarLaplace(design.width, number // design.width)
