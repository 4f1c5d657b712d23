"""How each architecture is searched for: which stage keeps which budget, and where to begin."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from precompute.mapping.chains import Chain, Flow, Guarded, shrunk, success
from precompute.mapping.descent import descend
from precompute.mapping.joint import FloatArray
from precompute.mapping.outcome_tensors import Grouped
from precompute.mapping.search import POLISHED, Found, follow, search
from precompute.mapping.solution import Architecture, Budgets, Options
from precompute.mapping.starts import Start, make_starts

# Chains of two stages that are refined.
REFINED = 2
# Starts of what only begins another search, and of a second stage, whose maps have few cells.
FEW_STARTS = 8


class Architectures:
    """The searches of one joint and budgets; each is done once, whoever asks for it."""

    def __init__(self, grouped: Grouped, budgets: Budgets, options: Options) -> None:
        self.grouped = grouped
        self.budgets = budgets
        self.options = options
        self.known: dict[tuple[str, int], Found] = {}

    def of(self, architecture: Architecture) -> Found:
        """The results of one architecture, the best first."""
        options = self.options
        if architecture in ("local", "information"):
            return self.single(architecture, options.symbols)
        if architecture == "ill":
            return self.ill()
        if architecture == "lip":
            return self.lip()
        given = [self.ill().chains[0], self.lip().chains[0]]
        given = [Chain((chain.maps(),)) for chain in given]
        core = self.both(options.symbols)
        found = search(
            self.grouped,
            self.flow_both(),
            options.symbols,
            replace(options, starts=1),
            [*given, core.chains[0]],
            polished=1,
        )
        return _ranked(
            self.grouped,
            [found.chains[0], *given, *core.chains],
            core.settled and found.settled,
        )

    def flow_both(self) -> Flow:
        """One stage that keeps both budgets."""
        return self._flow("end", (self.budgets.local,), self.options.symbols)

    def _flow(self, guarded: Guarded, local: tuple[float, ...], symbols: int) -> Flow:
        """A flow with information privacy, solved as the options say."""
        outcomes = symbols ** len(self.grouped.tables)
        surrogate = self.options.constraint == "surrogate" or (
            self.options.constraint == "auto" and outcomes > self.options.exact_outcomes
        )
        return Flow(self.budgets.information, guarded, local, surrogate)

    def single(self, kind: str, symbols: int, *, begins: bool = False) -> Found:
        """One stage that keeps one budget; asked again, the first answer.

        With less care where another search only begins from it.
        """
        if (kind, symbols) not in self.known:
            options = self.options
            if begins:
                options = replace(options, starts=min(options.starts, FEW_STARTS))
            flow = (
                Flow(math.inf, "end", (self.budgets.local,))
                if kind == "local"
                else self._flow("end", (math.inf,), symbols)
            )
            self.known[kind, symbols] = search(
                self.grouped, flow, symbols, options, polished=1 if begins else POLISHED
            )
        return self.known[kind, symbols]

    def both(self, symbols: int) -> Found:
        """One stage that keeps both budgets, begun also from the designs that keep one."""
        if ("both", symbols) not in self.known:
            flow = self.flow_both()
            given = [
                shrunk(self.grouped, self.single(kind, symbols, begins=True).chains[0], flow)
                for kind in ("local", "information")
            ]
            self.known["both", symbols] = search(self.grouped, flow, symbols, self.options, given)
        return self.known["both", symbols]

    def ill(self) -> Found:
        """Information privacy first, then local differential privacy about its result."""
        options, budgets = self.options, self.budgets
        flow = self._flow("middle", (math.inf, budgets.local), options.middle)
        inner = Flow(math.inf, "end", (budgets.local,))
        firsts = self.single("information", options.middle, begins=options.refine)
        built = self._two_stages(firsts, inner, flow, ())
        if not options.refine or options.middle != options.symbols:
            return built
        # What is best before noise need not be best after it: search with the noise in place.
        noise = tuple(_response(options.symbols, budgets.local) for _ in self.grouped.tables)
        private = self._flow("middle", (math.inf,), options.middle)
        number = max(1, options.starts)
        starts = [Start(chain, None, finished=True) for chain in built.chains]
        starts += [
            Start(Chain((start.chain.stages[0], noise)), start.rule)
            for start in make_starts(
                self.grouped, private, options.middle, number=number, seed=options.seed
            )
        ]
        return follow(self.grouped, flow, starts, options, polished=POLISHED)

    def lip(self) -> Found:
        """Local differential privacy first, then information privacy of what is said."""
        options, budgets = self.options, self.budgets
        flow = self._flow("end", (budgets.local, math.inf), options.symbols)
        inner = self._flow("end", (math.inf,), options.symbols)
        firsts = self.single("local", options.middle)
        extra: tuple[Chain, ...] = ()
        if options.refine:
            symbols = min(options.symbols, options.middle)
            extra = tuple(
                _split(chain, options.middle, options.symbols)
                for chain in self.both(symbols).chains[:1]
            )
        return self._two_stages(firsts, inner, flow, extra)

    def _two_stages(self, firsts: Found, inner: Flow, flow: Flow, extra: Sequence[Chain]) -> Found:
        """Second stages for the best first stages, then both stages refined."""
        options = self.options
        chains, settled = [], firsts.settled
        # Second stages are small: few starts find the best.
        few = replace(options, starts=min(options.starts, FEW_STARTS))
        for chain in firsts.chains[: REFINED if options.refine else 1]:
            after = replace(
                self.grouped,
                tables=tuple(
                    table @ one
                    for table, one in zip(self.grouped.tables, chain.stages[0], strict=True)
                ),
            )
            second = search(after, inner, options.symbols, few, polished=0)
            settled = settled and second.settled
            chains.append(Chain((chain.stages[0], second.chains[0].stages[0])))
        if options.refine:
            for chain in [*chains, *extra]:
                end = descend(
                    self.grouped, flow, chain, sweeps=options.sweeps, tolerance=options.tolerance
                )
                settled = settled and end.settled
                chains.append(end.chain)
        chains = [shrunk(self.grouped, chain, flow) for chain in chains]
        return _ranked(self.grouped, chains, settled)


def _ranked(grouped: Grouped, chains: Sequence[Chain], settled: bool) -> Found:
    """Chains by their success, the best first."""
    pairs = [(success(grouped, chain), chain) for chain in chains]
    pairs.sort(key=lambda pair: -pair[0])
    return Found(tuple(pair[1] for pair in pairs), tuple(pair[0] for pair in pairs), settled)


def _response(symbols: int, local: float) -> FloatArray:
    """Randomised response: the symbol with e^local / (e^local + symbols - 1), else any other."""
    other = math.exp(-local) if math.isfinite(local) else 0.0
    one = np.full((symbols, symbols), other) + (1.0 - other) * np.eye(symbols)
    return np.asarray(one / one.sum(axis=1, keepdims=True))


def _split(chain: Chain, middle: int, symbols: int) -> Chain:
    """A chain of one stage as one of two whose second stage changes nothing."""
    firsts, seconds = [], []
    for one in chain.stages[0]:
        wide = np.zeros((one.shape[0], middle))
        wide[:, : one.shape[1]] = one
        second = np.zeros((middle, symbols))
        second[np.arange(middle), np.minimum(np.arange(middle), one.shape[1] - 1)] = 1.0
        firsts.append(wide)
        seconds.append(second)
    return Chain((tuple(firsts), tuple(seconds)))
