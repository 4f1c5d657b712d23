"""The fusion centre: nodes' symbols of one step in, one decision about H out.

Pure: no clock and no I/O; the caller says what time it is. Messages of one step belong together by
their public times. A step is decided

- when all its nodes have spoken;
- when a later step is complete: a node's messages come in order, so nothing more can come;
- when ``wait_seconds`` have passed since its first message;
- at the end, or when more than ``open_steps`` wait (the oldest then).

The decision is the value of H with the largest p(h, z), the first of equals; nodes that are
missing are summed out. A step without any message has no decision. A decided step stays decided.
"""

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_entry import mapping_design_digest
from agent.formats.mapping_json import DESIGN_DIGITS, MappingMessage

MAX_OPEN_STEPS = 16_384
MAX_DECIDED_STEPS = 16_384

USED = "used"
OTHER_DESIGN = "of another design"
UNKNOWN_NODE = "of an unknown node"
OUT_OF_RANGE = "with a symbol out of range"
REPEATED = "repeated"
CONTRADICTING = "contradicting an earlier one"
LATE = "late"
DECISIONS = "decisions"
INCOMPLETE = "with nodes missing"
MISSING = "symbols missing"
IMPOSSIBLE = "impossible in the model"
PUSHED_OUT = "decided early for want of room"


@dataclass(frozen=True, slots=True)
class Decision:
    """About one step.

    Attributes:
        time_ms: of the step's beginning, Unix milliseconds.
        value: number of the value of H.
        posterior: of every value of H, summing to 1.
        missing: names of the nodes that were not heard.
    """

    time_ms: int
    value: int
    posterior: tuple[float, ...]
    missing: tuple[str, ...]


@dataclass(slots=True)
class _Open:
    """A step that waits: the symbols heard, by the node's place, and since when."""

    since: float
    symbols: dict[int, int] = field(default_factory=dict)


class Fusion:
    """Collects, decides, counts.

    Args:
        design: whose nodes are listened to.
        wait_seconds: see the module's words.
        open_steps: so many steps may wait.
    """

    def __init__(
        self, design: MappingDesign, *, wait_seconds: float, open_steps: int = MAX_OPEN_STEPS
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._design = design
        self._digits = mapping_design_digest(design).hex()[:DESIGN_DIGITS]
        self._places = {node.name: place for place, node in enumerate(design.nodes)}
        self._wait = wait_seconds
        self._most = open_steps
        self._open: dict[int, _Open] = {}
        self._open_order: list[int] = []  # a heap; steps that were decided meanwhile are skipped
        # What was decided with. Of too many the earliest steps are forgotten, and late from then
        # on; not the first decided, which one clock that is far ahead might have made the latest.
        self._decided: dict[int, dict[int, int]] = {}
        self._decided_order: list[int] = []
        self._forgotten: int | None = None
        self._other = ""  # the last other design heard of

    def take(self, message: MappingMessage, now: float) -> list[Decision]:
        """A message that arrives at ``now`` (seconds of any clock that only goes forward)."""
        place, problem = self._placed(message)
        if problem is not None:
            self.counts[problem] += 1
            return []
        step = message.time_ms // self._design.step_ms
        if step in self._decided or (self._forgotten is not None and step <= self._forgotten):
            known = self._decided.get(step, {})
            self.counts[self._again(known, place, message.symbol) or LATE] += 1
            return []
        if step not in self._open:
            self._open[step] = _Open(now)
            heappush(self._open_order, step)
        waiting = self._open[step]
        again = self._again(waiting.symbols, place, message.symbol)
        self.counts[again or USED] += 1
        if again is not None:
            return []
        waiting.symbols[place] = message.symbol
        if len(waiting.symbols) == len(self._places):
            return self._decide_up_to(step)
        if len(self._open) > self._most:
            self.counts[PUSHED_OUT] += 1
            return self._decide_up_to(self._earliest())
        return []

    def pass_time(self, now: float) -> list[Decision]:
        """Decides what has waited for long enough."""
        over = []
        for step, waiting in self._open.items():  # in the order in which they were opened
            if waiting.since + self._wait > now:
                break
            over.append(step)
        return [self._decide(step) for step in sorted(over)]

    def next_due(self) -> float | None:
        """When :meth:`pass_time` will have something to decide; None while nothing waits."""
        first = next(iter(self._open.values()), None)
        return None if first is None else first.since + self._wait

    def close(self) -> list[Decision]:
        """Decides whatever still waits."""
        return [self._decide(step) for step in sorted(self._open)]

    def summary(self) -> str:
        """One line for the user."""
        counts = self.counts
        line = f"{DECISIONS} {counts[DECISIONS]}"
        for name in (INCOMPLETE, MISSING, IMPOSSIBLE, PUSHED_OUT):
            line += f", {name} {counts[name]}" if counts[name] else ""
        line += f"; symbols {USED} {counts[USED]}"
        for name in (OTHER_DESIGN, UNKNOWN_NODE, OUT_OF_RANGE, REPEATED, CONTRADICTING, LATE):
            line += f", {name} {counts[name]}" if counts[name] else ""
        return line

    def other_design(self) -> str | None:
        """What to do about nodes that speak by another design; None where there are none."""
        if not self._other:
            return None
        return (
            f"{self.counts[OTHER_DESIGN]} symbols were {OTHER_DESIGN}, the last of {self._other}; "
            f"expected {self._digits}: give the nodes and the listener the same bundle and design"
        )

    def _placed(self, message: MappingMessage) -> tuple[int, str | None]:
        """The node's place, or why the message is not used."""
        if message.design != self._digits:
            self._other = message.design
            return -1, OTHER_DESIGN
        place = self._places.get(message.node)
        if place is None:
            return -1, UNKNOWN_NODE
        if not 0 <= message.symbol < self._design.nodes[place].symbols:
            return -1, OUT_OF_RANGE
        return place, None

    @staticmethod
    def _again(known: dict[int, int], place: int, symbol: int) -> str | None:
        """What a node's second word about one step is; None for its first."""
        if place not in known:
            return None
        return REPEATED if known[place] == symbol else CONTRADICTING

    def _earliest(self) -> int:
        """The earliest open step; there is one."""
        while self._open_order[0] not in self._open:
            heappop(self._open_order)
        return self._open_order[0]

    def _decide_up_to(self, last: int) -> list[Decision]:
        decisions = []
        while self._open and (step := self._earliest()) <= last:
            decisions.append(self._decide(step))
        return decisions

    def _decide(self, step: int) -> Decision:
        symbols = self._open.pop(step).symbols
        self._decided[step] = symbols
        heappush(self._decided_order, step)
        if len(self._decided) > MAX_DECIDED_STEPS:
            earliest = heappop(self._decided_order)
            del self._decided[earliest]
            if self._forgotten is None or earliest > self._forgotten:
                self._forgotten = earliest
        missing = tuple(name for name, place in self._places.items() if place not in symbols)
        self.counts[DECISIONS] += 1
        self.counts[MISSING] += len(missing)
        self.counts[INCOMPLETE] += bool(missing)
        heard = tuple(symbols.get(place, slice(None)) for place in range(len(self._places)))
        posterior = self._posterior((slice(None), *heard))
        if posterior is None:
            self.counts[IMPOSSIBLE] += 1
            posterior = self._posterior((slice(None),))
        assert posterior is not None
        value = max(range(len(posterior)), key=lambda number: posterior[number])
        return Decision(step * self._design.step_ms, value, posterior, missing)

    def _posterior(self, cells: tuple[int | slice, ...]) -> tuple[float, ...] | None:
        """p(h | these cells); None where the model gives them no probability."""
        joint = np.asarray(self._design.outcomes[cells])
        found = joint.reshape(joint.shape[0], -1).sum(axis=1)
        total = float(found.sum())
        return tuple(float(part) / total for part in found) if total > 0 else None
