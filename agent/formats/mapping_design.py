"""The ``mapping`` design: what each sensor node may say, and how a fusion centre decides by it.

One design covers a network of nodes (mapping_node.py). A device holds the same bundle whether it
runs one node or all; the fusion centre decides with the outcomes' distribution in it. How a design
is written into a bundle stands in mapping_entry.py.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from agent.formats.errors import FormatError
from agent.formats.mapping_node import (
    BUDGET_TOLERANCE,
    MAX_SYMBOLS,
    MAX_TEXT,
    WEIGHT_BITS,
    WHOLE,
    Node,
    WeightTable,
    local_epsilon,
)

__all__ = [
    "MAX_HYPOTHESES",
    "MAX_NODES",
    "MAX_OUTCOMES",
    "MAX_SYMBOLS",
    "WEIGHT_BITS",
    "WHOLE",
    "MappingDesign",
    "Node",
    "Repeats",
    "WeightTable",
    "local_epsilon",
]

# With H they are 32 axes, which is all that an older NumPy has.
MAX_NODES = 31
MAX_HYPOTHESES = 64
MAX_OUTCOMES = 1 << 20
MAX_HORIZON = 4096
MAX_REGIMES = 4096
MAX_SENTENCES = 20
MAX_SENTENCE = 2000
# Sums of probabilities further from 1 are a mistake; nearer ones are rounding.
SUM_TOLERANCE = 1e-9

Repeats = Literal["memoised", "accounted"]
Architecture = Literal["local", "information", "ill", "lip", "direct", "epic"]


@dataclass(frozen=True, slots=True, eq=False)
class MappingDesign:
    """Maps of a network of nodes; amounts in nats, infinite where nothing is bounded.

    Attributes:
        name: of the design.
        architecture: ``local``, ``information``, ``ill``, ``lip``, ``direct`` or ``epic``.
        nodes: in the order of the axes of ``outcomes``.
        public: the values of H, by name.
        private: in words, what G is.
        step_ms: at most one release of a node in each step; nodes' symbols of one step belong
            together at the fusion centre.
        information_asked: epsilon_I; None where none was asked for.
        information: epsilon_I of G achieved by all symbols of one step together, in the model.
        information_upper: an upper confidence bound of it for what the log was drawn from; None
            where the joint was given rather than learnt.
        regimes: of how many regimes (days, seasons) of the log each is guarded; None where their
            average is.
        information_across: epsilon_I for every mixture of these regimes and every p(g); None
            without regimes. ``information_asked`` is then about it.
        confidence: of ``information_upper``; None where there is none.
        local_asked: epsilon_LD; None where none was asked for.
        public_error: Bayes error of H from all symbols, in the model.
        public_chance: without any.
        private_error: Bayes error of G from all symbols.
        private_chance: without any.
        repeats: ``memoised``: one symbol for each cell of a node and period; ``accounted``: fresh
            symbols, with an account of temporal leakage of the cells.
        memoise_steps: the period, for memoised repeats only.
        limit: alpha of the account, for accounted repeats only.
        horizon: releases whose leakage is updated and shown.
        segments: how often state may be lost and begun again, plus one.
        knowledge: what the joint was taken to be and what it was learnt from, a sentence each.
        outcomes: (|H|, |Z_1|, …, |Z_s|) p(h, z), read-only; any missing node is summed out.

    Raises:
        FormatError: a value out of range, or parts that do not fit each other.
    """

    name: str
    architecture: str
    nodes: tuple[Node, ...]
    public: tuple[str, ...]
    private: str
    step_ms: int
    information_asked: float | None
    information: float
    regimes: int | None
    information_across: float | None
    information_upper: float | None
    confidence: float | None
    local_asked: float | None
    public_error: float
    public_chance: float
    private_error: float
    private_chance: float
    repeats: Repeats
    memoise_steps: int | None
    limit: float | None
    horizon: int
    segments: int
    knowledge: tuple[str, ...]
    outcomes: npt.NDArray[np.float64]
    kind: Literal["mapping"] = "mapping"

    def __post_init__(self) -> None:
        if self.architecture not in get_args(Architecture) or self.repeats not in get_args(Repeats):
            raise self._wrong(f"{self.architecture!a} with {self.repeats!a} is not known")
        names = [node.name for node in self.nodes]
        if not 1 <= len(names) <= MAX_NODES or len(set(names)) != len(names):
            raise self._wrong(f"expected 1 to {MAX_NODES} nodes of different names")
        if not 2 <= len(self.public) <= MAX_HYPOTHESES or len(set(self.public)) != len(self.public):
            raise self._wrong(f"expected 2 to {MAX_HYPOTHESES} different values of H")
        if len(self.knowledge) > MAX_SENTENCES:
            raise self._wrong(f"expected at most {MAX_SENTENCES} sentences of knowledge")
        for text, most in (
            *((value, MAX_TEXT) for value in self.public),
            *((line, MAX_SENTENCE) for line in (self.private, *self.knowledge)),
        ):
            if not text or not text.isprintable() or len(text) > most:
                raise self._wrong("a value or sentence is empty, too long or not printable")
        for what, found, largest in (
            ("step_ms", self.step_ms, math.inf),
            ("horizon", self.horizon, MAX_HORIZON),
            ("segments", self.segments, math.inf),
            ("memoise_steps", self.memoise_steps or 0, math.inf),
        ):
            least = 0 if what == "memoise_steps" and self.memoise_steps is None else 1
            if not least <= found <= largest:
                above = "more" if largest == math.inf else f"at most {largest}"
                raise self._wrong(f"{what} is {found}, out of range; expected 1 or {above}")
        self._require_amounts()
        self._require_repeats()
        object.__setattr__(self, "outcomes", self._checked_outcomes())

    def node(self, name: str) -> Node:
        """The node of that name.

        Raises:
            FormatError: there is none; the message lists those that there are.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        raise FormatError(
            f"design {self.name!r}: no node {name!r}; it has "
            f"{', '.join(node.name for node in self.nodes)}; correct the name"
        )

    def _require_amounts(self) -> None:
        asked = [value for value in (self.information_asked, self.local_asked) if value is not None]
        if not all(math.isfinite(amount) and amount >= 0 for amount in asked):
            raise self._wrong("a budget that was asked for is below zero or not finite")
        # Tables have no more than their node states, which may be more than they have.
        local = self.local_asked
        limit = math.inf if local is None else local + BUDGET_TOLERANCE
        for node in self.nodes:
            if node.local > limit and (told := local_epsilon(node.tables)) > limit:
                raise self._wrong(
                    f"node {node.name!r} has tables of epsilon {told:.9g}; expected at most "
                    f"the local budget asked for, {local:.9g}; design it again"
                )
        upper = self.information_upper
        if not (self.information >= 0 and (upper is None or upper >= 0)):
            raise self._wrong("an achieved budget is below zero or not a number")
        across = self.information_across
        if (across is None) != (self.regimes is None):
            raise self._wrong("regimes and the budget across them belong together")
        if across is not None and not (across >= 0 and 1 <= (self.regimes or 0) <= MAX_REGIMES):
            raise self._wrong("the number of regimes or the budget across them is out of range")
        if (upper is None) != (self.confidence is None):
            raise self._wrong("an upper bound and its confidence belong together")
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise self._wrong("the confidence is not between 0 and 1")
        errors = (self.public_error, self.public_chance, self.private_error, self.private_chance)
        if not all(0 <= error <= 1 for error in errors):
            raise self._wrong("an error is not a probability")

    def _require_repeats(self) -> None:
        if (self.repeats == "memoised") != (self.memoise_steps is not None):
            raise self._wrong("a period belongs to memoised repeats, and only to them")
        if (self.repeats == "accounted") != (self.limit is not None):
            raise self._wrong("a limit belongs to accounted repeats, and only to them")
        if self.limit is not None and not (math.isfinite(self.limit) and self.limit > 0):
            raise self._wrong("the limit is not finite and above zero")
        try:
            for node in self.nodes:
                if self.limit is None:
                    node.require_no_account()
                else:
                    node.require_account(self.limit)
        except FormatError as error:
            raise self._wrong(str(error)) from None

    def _checked_outcomes(self) -> npt.NDArray[np.float64]:
        shape = (len(self.public), *(node.symbols for node in self.nodes))
        if math.prod(shape) > MAX_OUTCOMES:
            raise self._wrong(
                f"{math.prod(shape)} outcomes; at most {MAX_OUTCOMES} are allowed: use fewer nodes "
                "or symbols"
            )
        if self.outcomes.dtype != np.float64 or self.outcomes.shape != shape:
            raise self._wrong(
                f"the outcomes have the shape {self.outcomes.shape}; expected {shape} in float64"
            )
        # Adding zero makes a new array, in which no zero has a sign: one design, one file.
        outcomes = np.asarray(np.ascontiguousarray(self.outcomes) + 0.0)
        if not bool(np.all(outcomes >= 0)) or not abs(float(outcomes.sum()) - 1) <= SUM_TOLERANCE:
            raise self._wrong("the outcomes are not probabilities that sum to 1")
        outcomes.setflags(write=False)
        return outcomes

    def _wrong(self, what: str) -> FormatError:
        return FormatError(f"design {self.name!r}: {what}")
