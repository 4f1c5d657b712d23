"""The search for one map for each sensor: many starts, the promising ones followed to the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from precompute.mapping.chains import Chain, Flow, block, success
from precompute.mapping.descent import Descent, descend
from precompute.mapping.joint_moves import move_jointly
from precompute.mapping.outcome_tensors import Grouped
from precompute.mapping.rule_program import small_enough, solve_with_rule
from precompute.mapping.screening import coupled, screen
from precompute.mapping.solution import Options
from precompute.mapping.starts import Start, make_starts

# Of the starts, this share is followed to the end, but never fewer than FOLLOWED.
SHARE = 0.25
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
    starts = [Start(chain, None, finished=True) for chain in given]
    starts += make_starts(grouped, flow, symbols, number=max(1, options.starts), seed=options.seed)
    return follow(grouped, flow, starts, options, polished=polished)


def follow(
    grouped: Grouped, flow: Flow, starts: Sequence[Start], options: Options, *, polished: int
) -> Found:
    """Every start a little way, the promising ones to the end, the best of these polished."""
    screened = sorted(screen(grouped, flow, starts, options), key=lambda end: -end.success)
    # Starts that came to the same place are followed once.
    promising = _different(screened, max(FOLLOWED, round(SHARE * len(screened))))
    followed = [_followed(grouped, flow, end, options) for end in promising]
    left = [end for end in screened if all(end is not one for one in promising)]
    ends = [*followed, *left]
    ends.sort(key=lambda end: -end.success)
    finer = [polish(grouped, flow, end, options) for end in _different(ends, polished)]
    ends = sorted([*finer, *ends], key=lambda end: -end.success)[: len(ends)]
    chains = [end.chain for end in ends]
    successes = [success(grouped, chain) for chain in chains[:1]] + [
        end.success for end in ends[1:]
    ]
    return Found(tuple(chains), tuple(successes), all(end.settled for end in followed))


def _followed(grouped: Grouped, flow: Flow, end: Descent, options: Options) -> Descent:
    """Sweeps to the end, from where all maps are moved together as long as that helps."""
    chain = end.chain
    if not end.settled:
        end = descend(grouped, flow, chain, sweeps=options.sweeps, tolerance=options.tolerance)
    if coupled(flow, chain):
        chain = move_jointly(grouped, flow, end.chain, MOVES)
        if chain is not end.chain:
            end = descend(grouped, flow, chain, sweeps=options.sweeps, tolerance=options.tolerance)
    return end


def polish(grouped: Grouped, flow: Flow, end: Descent, options: Options) -> Descent:
    """All maps moved together, then rule and map of each block together, in turn; never worse."""
    for _ in range(ROUNDS):
        chain = end.chain
        if coupled(flow, chain):
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
