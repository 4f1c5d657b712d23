"""EPIC: maps from samples alone, by empirical risk in a kernel's space, within both budgets.

No model of the readings: what is given are rows (cells of all sensors, h, g) with weights. The maps
p_t(z|x) and a classifier f of H from all z lower, in turn,

    mean:  Σ_i w_i Σ_c (1 - h_ic Σ_z Π_t p_t(z_t|x_it) f_c(z))₊²  +  λ/2 Σ_c |f_c|²
    each:  Σ_i w_i Σ_c Σ_z Π_t p_t(z_t|x_it) (1 - h_ic f_c(z))₊²  +  λ/2 Σ_c |f_c|²,

where c is one problem for two values of H, and one against the rest for each of more values.
``mean`` is the published risk; ``each``, ours, bounds it from above (Jensen) and sees the noise of
what is said, which a larger f undoes on the mean. It is linear in each map, and with f free its
minimum is Σ_z p(z) 4 p(h=0|z) p(h=1|z), twice the error of H or more. Sources: Nguyen, Wainwright &
Jordan, "Nonparametric decentralized detection using kernel methods" (IEEE TSP 2005); with a privacy
constraint, Sun & Tay, "On the relationship between inference and data privacy in decentralized IoT
networks" (IEEE TIFS 2020). Theirs keeps the empirical risk of every adversary in a ball of the
space above a threshold; ours keeps information privacy of the rows' distribution itself, exactly,
at every outcome, which no adversary can beat on it, and local differential privacy.

Blocks: the classifier (:mod:`precompute.mapping.epic_classifier`) and each sensor's map
(:mod:`precompute.mapping.epic_block`). No block ever raises the risk, so every start converges;
where to depends on the start, so there are several, seeded, and the maps with the least Bayes
error of H on the rows are kept. The rule that ships is that of the outcomes p(h, z), not f: it is
at least as good on the rows, and needs no kernel at the fusion centre.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from precompute.mapping.achieved import achieved
from precompute.mapping.epic_block import block_of, improve, risk
from precompute.mapping.epic_kernel import products, values
from precompute.mapping.epic_starts import constant_maps, kept_share, mixed, start_maps
from precompute.mapping.epic_training import (
    EpicSettings,
    classifiers,
    kernel_factor,
    public_outcomes,
    signs_of,
)
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, IntArray, Joint, Maps
from precompute.mapping.least_said import least_said
from precompute.mapping.solution import Budgets, Options, Solution

# Numbers of the largest array, classes by outcomes; 400 MB.
MOST_NUMBERS = 50_000_000
# What achieved may exceed asked by; rounding only.
BEYOND = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    maps: Maps
    error: float
    risk: float
    rounds: int
    settled: bool


def design_epic(
    joint: Joint,
    budgets: Budgets,
    options: Options = Options(),  # noqa: B008 - a frozen value
    settings: EpicSettings = EpicSettings(),  # noqa: B008 - a frozen value
    progress: Callable[[str], None] | None = None,
) -> Solution:
    """Maps by EPIC; an infinite budget leaves that constraint out.

    Args:
        joint: the empirical joint of the rows (``joint_of_rows``); alike rows are merged here.
        budgets: kept by every outcome of ``joint``.
        options: ``symbols``, ``starts``, ``seed``, ``sweeps`` and ``tolerance`` are used.
        settings: see there.
        progress: is told a line for each start.

    Raises:
        MappingError: too many outcomes to write out, or a classifier that cannot be certified.
    """
    joint = joint.merged()
    sensors = len(joint.tables)
    outcomes = options.symbols**sensors
    if outcomes * joint.weights.size > MOST_NUMBERS:
        raise MappingError(
            f"epic: {joint.weights.size} different rows times {outcomes} outcomes are more than "
            f"{MOST_NUMBERS}; use fewer symbols, sensors or cells, or a parametric architecture"
        )
    if budgets.local == 0 or budgets.information == 0:
        maps = constant_maps(joint, options.symbols)
        return _solution(
            joint,
            budgets,
            maps,
            found=(_error(joint, maps),),
            stopped="a budget of zero",
            warnings=("a budget of zero: nothing is told, the map is constant",),
        )
    random = np.random.default_rng(options.seed)
    runs = []
    for number in range(max(1, options.starts)):
        start = start_maps(joint, budgets, options.symbols, number, random)
        runs.append(_descend(joint, budgets, options, settings, maps=start, random=random))
        if progress is not None:
            progress(f"epic: start {number + 1} of {options.starts}: error {runs[-1].error:.4f}")
    runs.sort(key=lambda run: (run.error, run.risk))
    best = runs[0]
    stopped = (
        f"a round lowered the risk by less than {settings.progress:g} of it, after {best.rounds}"
        if best.settled
        else f"{options.sweeps} rounds were over"
    )
    return _solution(
        joint,
        budgets,
        best.maps,
        found=tuple(run.error for run in runs),
        stopped=f"{stopped}; best of {len(runs)} starts",
        warnings=(),
    )


def classifier_error(
    joint: Joint,
    maps: Maps,
    settings: EpicSettings = EpicSettings(),  # noqa: B008 - a frozen value
) -> float:
    """The chance that sign f(z), or the largest f_c(z), is not H: what EPIC's own rule does."""
    joint = joint.merged()
    lower = kernel_factor(joint, maps[0].shape[1], settings)
    said = joint.after(maps).tables
    weights, _ = classifiers(joint, said, lower, settings, None)
    scores = np.stack([values(v, lower, len(maps)).ravel() for v in weights])
    decided = (scores[0] < 0).astype(np.intp) if len(scores) == 1 else scores.argmax(axis=0)
    cells = public_outcomes(joint, maps)
    return float(1.0 - cells[decided, np.arange(decided.size)].sum())


def _descend(
    joint: Joint,
    budgets: Budgets,
    options: Options,
    settings: EpicSettings,
    *,
    maps: Maps,
    random: np.random.Generator,
) -> _Run:
    """Rounds of classifier and sensors from one start."""
    lower = kernel_factor(joint, options.symbols, settings)
    signs = signs_of(joint)
    distinct = [_distinct(table) for table in joint.tables]
    weights: FloatArray | None = None
    before = math.inf
    for number in range(1, options.sweeps + 1):
        said = list(joint.after(maps).tables)
        weights, now = classifiers(joint, said, lower, settings, weights)
        if before - now <= max(options.tolerance, settings.progress * now):
            return _Run(maps, _error(joint, maps), now, number, True)
        before = now
        scores = np.stack([values(v, lower, len(maps)) for v in weights])
        for sensor in random.permutation(len(maps)):
            others = products(
                [table for t, table in enumerate(said) if t != sensor], joint.weights.size
            )
            facing = np.moveaxis(scores, 1 + sensor, -1)
            block = block_of(
                joint,
                int(sensor),
                distinct=distinct[sensor],
                others=others,
                signs=signs,
                scores=facing.reshape(len(weights), -1, options.symbols),
                each=settings.loss == "each",
                budgets=budgets,
            )
            chosen, _ = improve(block, maps[sensor])
            if risk(block, chosen) < risk(block, maps[sensor]):
                maps = (*maps[:sensor], chosen, *maps[sensor + 1 :])
                said[sensor] = joint.tables[sensor] @ chosen
    return _Run(maps, _error(joint, maps), before, options.sweeps, False)


def _distinct(table: FloatArray) -> tuple[FloatArray, IntArray]:
    """The different rows of a table, and which of them each class has."""
    rows, member = np.unique(table, axis=0, return_inverse=True)
    return rows, member.ravel()


def _error(joint: Joint, maps: Maps) -> float:
    """Bayes error of H."""
    return float(1.0 - public_outcomes(joint, maps).max(axis=0).sum())


def _solution(
    joint: Joint,
    budgets: Budgets,
    maps: Maps,
    *,
    found: tuple[float, ...],
    stopped: str,
    warnings: tuple[str, ...],
) -> Solution:
    """The maps with their re-checked promise; mixed with constants until it holds."""
    (maps,) = least_said(joint, (maps,))
    reached = achieved(joint, maps)
    if reached.guarded > budgets.information + BEYOND or (
        max(reached.local) > budgets.local + BEYOND
    ):
        maps = mixed(maps, kept_share(joint, budgets, maps))
        reached = achieved(joint, maps)
        warnings = (*warnings, "the maps were mixed with constant ones until the budgets held")
    shape = tuple(one.shape[1] for one in maps)
    outcomes = public_outcomes(joint, maps).reshape(joint.publics, *shape)
    outcomes.setflags(write=False)
    return Solution(
        architecture="epic",
        budgets=budgets,
        first=maps,
        second=None,
        outcomes=outcomes,
        achieved=reached,
        found=found,
        stopped=stopped,
        warnings=warnings,
    )
