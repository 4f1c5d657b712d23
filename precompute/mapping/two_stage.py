"""Design of mappings from a known joint: budgets in, maps out, checked apart from the solver.

``local`` and ``information`` keep one budget; ``ill``, ``lip`` and ``direct`` both. ``ill`` and
``lip`` are first built stage by stage as published (Sun and Tay, IEEE TIFS 2020); with ``refine``
both stages are then improved in turn. ``direct`` (ours) begins from the others' results as well
and is never worse than they are at the same budgets and options.
"""

import math

import numpy as np

from precompute.mapping.achieved import achieved
from precompute.mapping.architectures import Architectures
from precompute.mapping.chains import Chain
from precompute.mapping.design_checks import require_kept, require_no_surrogate, require_sizes
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, Joint, Maps
from precompute.mapping.least_said import least_said
from precompute.mapping.outcome_tensors import group, outcomes
from precompute.mapping.solution import Architecture, Budgets, Options, Solution

# Budgets below are zero: they cannot be told from it by a solver.
NOTHING = 1e-9


def design_mapping(
    joint: Joint, budgets: Budgets, architecture: Architecture, options: Options | None = None
) -> Solution:
    """The maps with the least error of H that keep both budgets.

    Raises:
        MappingError: an architecture that is not designed here, sizes that cannot be.
    """
    options = Options() if options is None else options
    if architecture not in ("local", "information", "ill", "lip", "direct"):
        raise MappingError(
            f"mapping: architecture {architecture!r} is not designed from a joint; expected local, "
            "information, ill, lip or direct"
        )
    require_sizes(joint, options)
    require_no_surrogate(joint, options)
    asked, warnings = _effective(joint, budgets, architecture)
    if asked is None:
        chain = _constant(joint, architecture, options)
        stopped = "nothing to search: the constant map"
        return _solution(
            joint, budgets, architecture, chain, found=(), stopped=stopped, warnings=warnings
        )
    design = Architectures(group(joint), asked, options)
    found = design.of(architecture)
    stopped = (
        f"the best of {len(found.successes)} starts; every start that was followed ended where a "
        f"sweep gained less than {options.tolerance:g}"
        if found.settled
        else f"the best of {len(found.successes)} starts; some still gained after "
        f"{options.sweeps} sweeps"
    )
    errors = tuple(1.0 - one for one in found.successes)
    return _solution(
        joint,
        budgets,
        architecture,
        found.chains[0],
        found=errors,
        stopped=stopped,
        warnings=warnings,
    )


def _constant(joint: Joint, architecture: str, options: Options) -> Chain:
    """Every sensor says each symbol equally often, whatever it reads."""

    def flat(rows: int, columns: int) -> FloatArray:
        return np.full((rows, columns), 1.0 / columns)

    if architecture in ("ill", "lip"):
        first: Maps = tuple(flat(size, options.middle) for size in joint.sizes)
        second: Maps = tuple(flat(options.middle, options.symbols) for _ in joint.sizes)
        return Chain((first, second))
    return Chain((tuple(flat(size, options.symbols) for size in joint.sizes),))


def _effective(
    joint: Joint, budgets: Budgets, architecture: str
) -> tuple[Budgets | None, tuple[str, ...]]:
    """The budgets that bind, None for the constant map, and what the user should know."""
    information = math.inf if architecture == "local" else budgets.information
    local = math.inf if architecture == "information" else budgets.local
    warnings = []
    if int(np.count_nonzero(joint.prior.sum(axis=0))) < 2:
        information = math.inf
        warnings.append("G takes one value only: there is nothing that information privacy guards")
    if int(np.count_nonzero(joint.prior.sum(axis=1))) < 2:
        warnings.append("H takes one value only: nothing can be learnt, the map is constant")
        return None, tuple(warnings)
    for name, limit in (("information", information), ("local", local)):
        if limit < NOTHING:
            warnings.append(f"the {name} budget is {limit:g}: only the constant map keeps it")
            return None, tuple(warnings)
    return Budgets(information, local), tuple(warnings)


def _solution(
    joint: Joint,
    budgets: Budgets,
    architecture: Architecture,
    chain: Chain,
    *,
    found: tuple[float, ...],
    stopped: str,
    warnings: tuple[str, ...],
) -> Solution:
    """The chain, saying no more than it needs to, as a solution checked by brute force."""
    chain = Chain(least_said(joint, chain.stages))
    maps = chain.maps()
    said = group(joint.after(maps))
    cells = outcomes(said, said.tables).sum(axis=1)
    cells = cells.reshape(joint.publics, *(one.shape[1] for one in maps))
    for array in (cells, *(one for stage in chain.stages for one in stage)):
        array.setflags(write=False)
    reached = achieved(joint, maps)
    require_kept(reached, budgets, architecture)
    return Solution(
        architecture=architecture,
        budgets=budgets,
        first=chain.stages[0],
        second=chain.stages[1] if len(chain.stages) > 1 else None,
        outcomes=cells,
        achieved=reached,
        found=found,
        stopped=stopped,
        warnings=warnings,
    )
