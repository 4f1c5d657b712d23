"""The first moves from every start, after which the promising ones are told from the others.

The success has no slope where no decision changes, which is nearly everywhere while budgets keep
all symbols faint. So starts first raise smooth stand-ins of it (:func:`blocks.total_norm`), all
maps together where a common budget binds them; those that gain most go on. A start with a rule is
led by the rule instead: it comes to places that the stand-ins pass by.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from precompute.mapping.chains import Chain, Flow, worth
from precompute.mapping.descent import Descent, descend
from precompute.mapping.joint_moves import move_jointly
from precompute.mapping.outcome_tensors import Grouped
from precompute.mapping.solution import Options
from precompute.mapping.starts import START_KINDS, Start

# Sweeps of every kind that a start is given.
SWEEPS = 2
# Powers of the stand-ins, the smoothest first, and joint moves by each of them.
POWERS = (2.0, 6.0)
MOVES = 8
# After so many moves by the first power, this share of the starts goes on, never fewer than LEAST.
FIRST_MOVES = 4
SHARE = 0.4
LEAST = 4
# Powers of p(h) that the first sweeps of the starts with rules are tilted by, in turn.
TILTS = (0.0, 1.0, 0.5)
# Weights nearer to each other than this are even.
EVEN = 1e-6


def screen(
    grouped: Grouped, flow: Flow, starts: Sequence[Start], options: Options
) -> list[Descent]:
    """Where the first moves and sweeps from each start lead; from a finished chain never down."""
    chains = [_begun(grouped, flow, start, place, options) for place, start in enumerate(starts)]
    smooth = [
        place for place, start in enumerate(starts) if start.rule is None and not start.finished
    ]
    worths = {place: worth(grouped, chains[place], POWERS[0]) for place in smooth}
    smooth.sort(key=lambda place: -worths[place])
    for place in smooth[: max(LEAST, round(SHARE * len(smooth)))]:
        for power in POWERS:
            chains[place] = _smoothly(grouped, flow, chains[place], power, options)
    sweeps = min(SWEEPS, options.sweeps)
    return [
        descend(grouped, flow, chain, sweeps=sweeps, tolerance=options.tolerance)
        for chain in chains
    ]


def coupled(flow: Flow, chain: Chain) -> bool:
    """Whether the first stage's maps share a budget, so that moving them together can help."""
    asked = len(chain.stages) == 1 or flow.guarded == "middle"
    return asked and not flow.surrogate and not math.isinf(flow.information)


def _begun(grouped: Grouped, flow: Flow, start: Start, place: int, options: Options) -> Chain:
    """A few moves from a start.

    What is said must be strong before it changes a decision where one value of H is likelier than
    the others. So of the starts that follow a rule two of three first raise a success that counts
    the rarer values more.
    """
    chain = start.chain
    if start.finished:
        return chain
    if start.rule is None:
        if coupled(flow, chain):
            chain = move_jointly(grouped, flow, chain, FIRST_MOVES, POWERS[0])
        return chain
    tilt = _tilt(grouped, TILTS[(place + place // START_KINDS) % len(TILTS)])
    return descend(
        grouped,
        flow if tilt is None else replace(flow, tilt=tilt),
        chain,
        sweeps=min(SWEEPS, options.sweeps),
        tolerance=options.tolerance,
        rule=start.rule,
    ).chain


def _smoothly(grouped: Grouped, flow: Flow, chain: Chain, power: float, options: Options) -> Chain:
    """A chain with more of a stand-in."""
    if coupled(flow, chain):
        chain = move_jointly(grouped, flow, chain, MOVES, power)
    sweeps = min(SWEEPS, options.sweeps)
    return descend(
        grouped, flow, chain, sweeps=sweeps, tolerance=options.tolerance, power=power
    ).chain


def _tilt(grouped: Grouped, power: float) -> tuple[float, ...] | None:
    """p(h)^-power, 1 on average; None where that is as good as even."""
    cells = np.add.reduceat(np.append(grouped.weights, 0.0), grouped.bounds[:-1])
    cells[np.diff(grouped.bounds) == 0] = 0.0
    chances = cells.reshape(grouped.publics, grouped.privates).sum(axis=1)
    weights = np.where(chances > 0, np.where(chances > 0, chances, 1.0) ** -power, 0.0)
    weights /= float(chances @ weights)
    return None if float(np.ptp(weights[chances > 0])) < EVEN else tuple(weights.tolist())
