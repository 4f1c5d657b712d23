"""The search for one map for each sensor: many starts, the promising ones followed to the end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from precompute.mapping.chains import Chain, Flow, block, success
from precompute.mapping.descent import Descent, descend
from precompute.mapping.joint_moves import move_jointly
from precompute.mapping.outcome_tensors import Grouped
from precompute.mapping.rule_program import small_enough, solve_with_rule
from precompute.mapping.solution import Options
from precompute.mapping.starts import START_KINDS, Start, make_starts

# Sweeps that every start is given before the promising ones are chosen.
SCREENING = 2
# Powers of p(h) that the first sweeps of the starts are tilted by, in turn.
TILTS = (0.0, 1.0, 0.5)
# Weights nearer to each other than this are even.
EVEN = 1e-6
# Of the starts, this share is followed to the end, but never fewer than FOLLOWED.
SHARE = 0.34
FOLLOWED = 4
# Of the ends, so many different ones are polished, each in at most so many rounds.
POLISHED = 2
ROUNDS = 3
MOVES = 20
# Ends whose chances of deciding rightly are nearer than this are taken for the same.
ALIKE = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Results of a search, the best first.

    Attributes:
        chains: where the starts ended.
        successes: the chance of deciding rightly of each.
        settled: whether every start that was followed ended because a sweep gained too little.
    """

    chains: tuple[Chain, ...]
    successes: tuple[float, ...]
    settled: bool


def search(
    grouped: Grouped,
    flow: Flow,
    symbols: int,
    options: Options,
    given: Sequence[Chain] = (),
    *,
    polished: int = POLISHED,
) -> Found:
    """The best maps of one stage.

    Args:
        grouped: the joint.
        flow: of one stage.
        symbols: |Z|.
        options: starts, seed, sweeps, tolerance.
        given: further places to begin, feasible; the result is never worse than any of them.
        polished: so many of the best different ends are polished.
    """
    starts = [Start(chain, None) for chain in given]
    starts += make_starts(grouped, flow, symbols, number=max(1, options.starts), seed=options.seed)
    return follow(grouped, flow, starts, options, polished=polished)


def follow(
    grouped: Grouped, flow: Flow, starts: Sequence[Start], options: Options, *, polished: int
) -> Found:
    """Every start for a few sweeps, the promising ones to the end, the best of these polished."""
    screened = [
        _screened(grouped, flow, start, place, options) for place, start in enumerate(starts)
    ]
    order = sorted(range(len(screened)), key=lambda place: -screened[place].success)
    many = max(FOLLOWED, round(SHARE * len(order)))
    ends = []
    for rank, place in enumerate(order):
        end = screened[place]
        if rank < many and not end.settled:
            end = descend(
                grouped, flow, end.chain, sweeps=options.sweeps, tolerance=options.tolerance
            )
        ends.append(end)
    ends.sort(key=lambda end: -end.success)
    finer = [polish(grouped, flow, end, options) for end in _different(ends, polished)]
    ends = sorted([*finer, *ends], key=lambda end: -end.success)[: len(ends)]
    chains = [end.chain for end in ends]
    successes = [success(grouped, chain) for chain in chains[:1]] + [
        end.success for end in ends[1:]
    ]
    return Found(tuple(chains), tuple(successes), all(end.settled for end in ends[:many]))


def _screened(grouped: Grouped, flow: Flow, start: Start, place: int, options: Options) -> Descent:
    """The first sweeps from a start.

    Where one value of H is likelier than the others, what is said must be strong before it changes
    a decision, and weak maps give no direction. So two starts of three first raise a success that
    counts the rarer values more.
    """
    sweeps = min(SCREENING, options.sweeps)
    tilt = _tilt(grouped, TILTS[(place + place // START_KINDS) % len(TILTS)])
    chain, rule = start.chain, start.rule
    if tilt is not None:
        leaning = replace(flow, tilt=tilt)
        chain = descend(
            grouped, leaning, chain, sweeps=sweeps, tolerance=options.tolerance, rule=rule
        ).chain
        rule = None
    return descend(grouped, flow, chain, sweeps=sweeps, tolerance=options.tolerance, rule=rule)


def _tilt(grouped: Grouped, power: float) -> tuple[float, ...] | None:
    """p(h)^-power, 1 on average; None where that is as good as even."""
    cells = np.add.reduceat(np.append(grouped.weights, 0.0), grouped.bounds[:-1])
    cells[np.diff(grouped.bounds) == 0] = 0.0
    chances = cells.reshape(grouped.publics, grouped.privates).sum(axis=1)
    weights = np.where(chances > 0, np.where(chances > 0, chances, 1.0) ** -power, 0.0)
    weights /= float(chances @ weights)
    return None if float(np.ptp(weights[chances > 0])) < EVEN else tuple(weights.tolist())


def polish(grouped: Grouped, flow: Flow, end: Descent, options: Options) -> Descent:
    """All maps moved together, then rule and map of each block together, in turn; never worse."""
    for _ in range(ROUNDS):
        chain = end.chain
        movable = len(chain.stages) == 1 or flow.guarded == "middle"
        if movable and not flow.surrogate:
            chain = move_jointly(grouped, flow, chain, MOVES)
        chain = _with_rules(grouped, flow, chain)
        new = descend(
            grouped, flow, chain, sweeps=max(2, options.sweeps), tolerance=options.tolerance
        )
        gained = new.success - end.success
        if gained > 0:
            end = new
        if gained < max(options.tolerance, 1e-7):
            break
    return end


def _with_rules(grouped: Grouped, flow: Flow, chain: Chain) -> Chain:
    """One sweep of the programs that choose map and rule together, where they are small."""
    for sensor in range(len(grouped.tables)):
        for stage in range(len(chain.stages)):
            here = block(grouped, chain, flow, sensor, stage)
            if small_enough(here) and not flow.surrogate:
                one = solve_with_rule(here, chain.stages[stage][sensor])
                chain = chain.with_map(sensor, stage, one)
    return chain


def _different(ends: Sequence[Descent], number: int) -> list[Descent]:
    """The best ends that differ in what they reach."""
    kept: list[Descent] = []
    for end in ends:
        if len(kept) < number and all(abs(end.success - one.success) > ALIKE for one in kept):
            kept.append(end)
    return kept
