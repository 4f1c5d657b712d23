"""One node's cell in, one symbol out: exact draws from integer weights, repeats held to a rule.

The same calls as :class:`agent.sanitise.sanitiser.Sanitiser`. A symbol is drawn by one 32-bit
number for each table: symbol k is said for numbers from the sum of the weights before it up to,
but not including, the sum with it. So each has exactly weight / 2^32.

**Memoised**: a cell gets one symbol in a period; the memory is stored with the release, so a
restart says the same again. A lost memory lets every cell be drawn once more: a new segment,
counted, and refused beyond what the design covers.

**Accounted**: a fresh symbol for each step, charged with just the node's epsilon_LD; where the
account does not admit that, nothing is said. The design was refused unless a release in every step
can be kept up for ever, so the steady leakages of kept_state.py hold here too.
"""

import hashlib
from bisect import bisect_right
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate

from agent.errors import RefusedError
from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_entry import mapping_design_digest
from agent.formats.mapping_node import WEIGHT_BITS, Node
from agent.health import Account
from agent.ledger import LedgerRules, LedgerState, advance, charge
from agent.sanitise.discrete_bits import RandomBits, uniform_below
from agent.sanitise.discrete_memory import Memoised
from agent.sanitise.kept_state import Keeper, KeptState, after_blank


class SymbolSampler:
    """A node's tables as thresholds; a mechanism over its cells."""

    def __init__(self, node: Node) -> None:
        self.cells = node.cells
        # The last threshold of a row is 2^32, above every number that is drawn.
        self._thresholds = tuple(
            tuple(tuple(accumulate(row)) for row in table) for table in node.tables
        )

    def draw(self, cell: int, source: RandomBits) -> int:
        """A fresh symbol for a cell."""
        place = cell
        for table in self._thresholds:
            place = bisect_right(table[place], source.bits(WEIGHT_BITS))
        return place

    def sample(
        self, value: tuple[int, ...], epsilon: float | Fraction, source: RandomBits
    ) -> tuple[int, ...]:
        """:meth:`draw` as a DiscreteMechanism; the budget is the tables' own, whatever is given."""
        del epsilon
        return (self.draw(value[0], source),)


class MappingSanitiser:
    """One node of a design and a source of bits, as a function on (state bytes, time, cell).

    Args:
        design: of the network.
        node: which of its nodes this is.
        source: the operating system's bits on a device; seeded ones in tests.
    """

    def __init__(self, design: MappingDesign, node: Node, source: RandomBits) -> None:
        self._design = design
        self._node = node
        self._source = source
        self._sampler = SymbolSampler(node)
        self._rules = None
        if design.limit is not None:
            self._rules = LedgerRules(
                design.limit,
                node.backward,
                node.forward,
                node.steady_backward,
                node.steady_forward,
                design.horizon,
            )
        self._keeper = Keeper(
            magic=b"SFMAPS\x01\n",
            what="mapping",
            name=f"node {node.name!r} of design {design.name!r}",
            digest=hashlib.sha256(
                mapping_design_digest(design) + node.name.encode("ascii")
            ).digest(),
            segments=design.segments,
            rules=self._rules,
        )

    def cold_start(self, segment: int) -> bytes:
        """The state of a segment in which nothing is said yet; the first is 0.

        Raises:
            RefusedError: the design does not allow that many lost states.
        """
        return self._keeper.cold_start(segment)

    def segment(self, state: bytes) -> int:
        """The segment that the state is in.

        Raises:
            FormatError: damaged, or of another node, design or version.
        """
        return self._keeper.decode(state).segment

    def sanitise(
        self, state: bytes, time_ms: int, value_steps: tuple[int, ...]
    ) -> tuple[tuple[int, ...], bytes]:
        """A symbol for the cell, and the state bytes after it.

        Args:
            state: from :meth:`cold_start` or the last call.
            time_ms: the release's time, Unix milliseconds; its step is time_ms // step_ms.
            value_steps: the cell, alone in a tuple.

        Raises:
            RefusedError: no such cell, the step already had a release, or nothing may be
                released. Nothing has changed then.
            FormatError: the state is damaged, or of another node, design or version.
        """
        if len(value_steps) != 1 or not 0 <= value_steps[0] < self._sampler.cells:
            raise RefusedError(f"{self._keeper.name}: a cell that its quantiser does not have")
        before = self._keeper.decode(state)
        step = time_ms // self._design.step_ms
        if self._design.memoise_steps is not None:
            return self._memoised(before, step, value_steps, self._design.memoise_steps)
        if before.waiting:
            return (self._blank(),), self._keeper.encode(after_blank(before, step))
        after = replace(before, ledger=self._charged(before.ledger, step))
        return (self._sampler.draw(value_steps[0], self._source),), self._keeper.encode(after)

    def last_budget(self, state: bytes) -> float | None:
        """None: the tables say what a symbol costs; messages need not."""
        del state
        return None

    def account(self, state: bytes) -> Account | None:
        """What symbols leak together; None for memoised ones, which have no temporal bound."""
        return None if self._rules is None else self._keeper.account(state)

    def _memoised(
        self, before: KeptState, step: int, cell: tuple[int, ...], period_steps: int
    ) -> tuple[tuple[int, ...], bytes]:
        if step // period_steps < before.memory.period:
            raise RefusedError(
                f"{self._keeper.name}: a step of a period that is over; its symbols are forgotten: "
                "check the clock"
            )
        memoised = Memoised(self._sampler, period_steps)
        drawn, memory = memoised.sample(cell, step, 0.0, before.memory, self._source)
        after = KeptState(before.segment, False, before.ledger, memory)
        return drawn, self._keeper.encode(after)

    def _charged(self, ledger: LedgerState, step: int) -> LedgerState:
        assert self._rules is not None
        if self._node.local > 0:
            return charge(self._rules, ledger, step, self._node.local)
        # A symbol that does not depend on the cell: the step passes as a silent one does.
        return advance(self._rules, advance(self._rules, ledger, step), step + 1)

    def _blank(self) -> int:
        """A symbol that the reading had no part in: that of a uniform cell."""
        return self._sampler.draw(uniform_below(self._sampler.cells, self._source), self._source)
