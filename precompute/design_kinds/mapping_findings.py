"""What a mapping does, in figures and words, and what would help where it does nothing."""

import math
from dataclasses import dataclass, replace
from typing import Any

from agent.formats.amounts import bound_in_words, limit_in_words
from precompute.design_kinds.mapping_keys import MappingKeys
from precompute.design_kinds.mapping_material import Material
from precompute.design_kinds.mapping_regimes import AcrossRegimes, across_warnings, across_words
from precompute.mapping.held_out import HeldOut
from precompute.mapping.joint import Joint
from precompute.mapping.margin_search import Confirmed
from precompute.mapping.shipped_maps import ShippedMaps
from precompute.mapping.solution import Architecture, Budgets
from precompute.mapping.two_stage import design_mapping

# An error within this share of that of guessing is no help to anybody.
USELESS = 0.99
HELP_STARTS = 5
# Mutual information below this is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Help:
    """Errors of H of other designs, for a design that is no better than guessing.

    Attributes:
        direct: with one map for each node and the same budgets.
        without_local: with the information budget only; None where there is no local budget.
        without_information: with the local budget only; None where there is no other.
        whole: with nothing hidden: every node says its cell.
    """

    direct: float
    without_local: float | None
    without_information: float | None
    whole: float


def find_help(
    joint: Joint, keys: MappingKeys, binding: Budgets, shipped: ShippedMaps
) -> Help | None:
    """What would help; None where the design already does."""
    found = shipped.achieved
    if found.public_error < USELESS * found.public_chance or found.public_chance == 0:
        return None
    options = replace(keys.options, starts=min(HELP_STARTS, keys.options.starts))

    def error(architecture: Architecture, budgets: Budgets) -> float:
        return design_mapping(joint, budgets, architecture, options).achieved.public_error

    local, information = binding.local, binding.information
    return Help(
        direct=error("direct", binding),
        without_local=error("information", Budgets(information)) if local < math.inf else None,
        without_information=(
            error("local", Budgets(local=local)) if information < math.inf else None
        ),
        whole=error("local", Budgets()),
    )


def findings(
    keys: MappingKeys,
    material: Material,
    binding: Budgets,
    found: Confirmed,
    *,
    judged: HeldOut | None,
    across: AcrossRegimes | None,
    helps: Help | None,
) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """Figures for ``--json``, sentences, warnings."""
    shipped = found.shipped
    achieved = shipped.achieved
    figures = {
        "cells": list(material.joint.sizes),
        "private_leakage": achieved.private_leakage,
        "public_information": achieved.public_information,
        "reading_information": list(achieved.reading_information),
        "information_exact": achieved.information_exact,
        "regimes": None if material.regimes is None else {
            "number": material.regimes,
            "across": _finite(found.shipped.achieved.guarded),
            "rows": None if across is None else _finite(across.rows),
            "held_out": None if across is None else _finite_or_none(across.held_out),
        },
        "local_achieved": [_finite(amount) for amount in achieved.local],
        "model_budget": _finite(found.model_budget),
        "local_budget": _finite(binding.local),
        "margin": None if not found.margin.rows else {
            "upper": _finite(found.margin.upper),
            "confidence": found.margin.confidence,
            "blocks": found.margin.blocks,
            "block_seconds": keys.margin.block_seconds,
            "rows": found.margin.rows,
            "by_local": found.margin.by_local,
            "kept": found.kept,
            "tried": [[budget, _finite(upper)] for budget, upper in found.tried],
        },
        "held_out": None if judged is None else {
            "rows": judged.rows,
            "public_error": judged.public_error,
            "public_guess": judged.public_guess,
            "private_error": judged.private_error,
            "private_guess": judged.private_guess,
        },
        "starts": list(shipped.solution.found),
        "stopped": shipped.solution.stopped,
        "reading": list(material.notes),
        "help": None if helps is None else {
            "direct": helps.direct,
            "without_local": helps.without_local,
            "without_information": helps.without_information,
            "whole": helps.whole,
        },
    }  # fmt: skip
    words = [*material.notes, shipped.solution.stopped, _information_words(keys, shipped)]
    if judged is not None:
        words.append(judged_words(judged))
    if across is not None:
        words.append(across_words(across))
    words += _margin_words(keys, found)
    warnings = _warnings(keys, material, binding, found, judged=judged, helps=helps)
    if across is not None:
        warnings += across_warnings(across, keys.budgets.information)
    return figures, tuple(words), warnings


def judged_words(judged: HeldOut) -> str:
    """What the rows say that the design has not seen."""
    return (
        f"on {judged.rows:,} later rows that the design has not seen, H is decided wrongly in "
        f"{_percent(judged.public_error)} (guessing {_percent(judged.public_guess)}), and G "
        f"in {_percent(judged.private_error)} (guessing {_percent(judged.private_guess)})"
    )


def _information_words(keys: MappingKeys, shipped: ShippedMaps) -> str:
    achieved = shipped.achieved
    each = ", ".join(
        f"{node.name} {_told(amount):.3g}"
        for node, amount in zip(keys.nodes, achieved.reading_information, strict=True)
    )
    return (
        f"mutual information in nats: I(H;Z) {_told(achieved.public_information):.4g}, I(G;Z) "
        f"{_told(achieved.private_leakage):.4g}; of each reading and its symbol: {each}"
    )


def _told(amount: float) -> float:
    """The amount, 0 where it is rounding alone."""
    return amount if amount >= ROUNDING else 0.0


def _margin_words(keys: MappingKeys, found: Confirmed) -> list[str]:
    if not found.margin.rows:
        return []
    asked = keys.budgets.information
    tried = f", the best of {len(found.tried)} tries" if len(found.tried) > 1 else ""
    basis = (
        "the local budgets alone imply it, whatever the distribution"
        if found.margin.by_local
        else f"by {found.margin.blocks} blocks of the held-out rows"
    )
    if math.isinf(found.margin.upper):
        basis = f"{found.margin.blocks} blocks of held-out rows are too few"
    return [
        f"margin: {_of_average(keys)}epsilon_I is at most "
        f"{bound_in_words(found.margin.upper, asked)} with confidence "
        f"{100 * found.margin.confidence:g} % ({basis}); the model was held to "
        f"{bound_in_words(found.model_budget, asked)}{tried}"
    ]


def _of_average(keys: MappingKeys) -> str:
    """Which epsilon_I the margin is about."""
    return "" if keys.regimes is None else "on average over regimes, not in each of them, "


def _warnings(
    keys: MappingKeys,
    material: Material,
    binding: Budgets,
    found: Confirmed,
    *,
    judged: HeldOut | None,
    helps: Help | None,
) -> tuple[str, ...]:
    warnings = list(found.shipped.solution.warnings)
    achieved, asked = found.shipped.achieved, keys.budgets
    if keys.margin.enforced and math.isfinite(binding.information) and not found.kept:
        warnings.append(
            f"the log does not confirm the budget: epsilon_I is "
            f"{bound_in_words(achieved.guarded, asked.information)} in the model, asked for was "
            f"{limit_in_words(asked.information)}, and with confidence "
            f"{100 * keys.margin.confidence:g} % the log only shows that it is at most "
            f"{bound_in_words(found.margin.upper, asked.information)}; no smaller budget that "
            "was tried helped. A longer log, or local budgets whose sum is below the one asked "
            "for, would"
        )
    for name, budget, kept in (
        ("information", asked.information, binding.information),
        ("local", asked.local, binding.local),
    ):
        if math.isfinite(budget) and math.isinf(kept):
            warnings.append(
                f"architecture {keys.architecture} does not guard the {name} budget: the "
                f"{limit_in_words(budget)} asked for is not kept; direct guards both"
            )
    if material.chains and binding.local < asked.local:
        before = "" if math.isinf(asked.local) else f" instead of {limit_in_words(asked.local)}"
        warnings.append(
            f"the account of alpha {keys.repeats.alpha:.12g} leaves each symbol the local budget "
            f"{bound_in_words(binding.local, asked.local)}{before}; longer steps, fewer cells or a "
            "larger alpha leave more"
        )
    if judged is not None and helps is None and judged.public_error >= judged.public_guess:
        warnings.append(
            f"on the {judged.rows:,} later rows the symbols do not help to decide H: the error is "
            f"{_percent(judged.public_error)}, that of guessing {_percent(judged.public_guess)}; "
            "what was learnt does not hold there: use a longer log, fewer cells, or other nodes"
        )
    if helps is not None:
        warnings.append(_help_words(keys, achieved.public_chance, achieved.public_error, helps))
    return tuple(warnings)


def _help_words(keys: MappingKeys, chance: float, error: float, helps: Help) -> str:
    said = (
        f"the symbols do not help to decide H: the error is {_percent(error)}, that of guessing "
        f"{_percent(chance)}."
    )
    if helps.direct < USELESS * chance:
        return (
            f"{said} Architecture {keys.architecture} wastes these budgets: direct would err in "
            f"{_percent(helps.direct)}"
        )
    said += " Neither ILL nor LIP nor one direct map helps at these budgets."
    if helps.whole >= USELESS * chance:
        return f"{said} Nor would saying all: these cells do not tell H; use other nodes or cells"
    parts = []
    if helps.without_information is not None:
        parts.append(f"with the local budget alone it is {_percent(helps.without_information)}")
    if helps.without_local is not None:
        parts.append(f"with the information budget alone {_percent(helps.without_local)}")
    parts.append(f"with nothing hidden {_percent(helps.whole)}")
    return f"{said} Of designs that hide less, {', '.join(parts)}: raise the budget that binds"


def _percent(error: float) -> str:
    return f"{100 * error:.1f} %"


def _finite_or_none(amount: float | None) -> float | None:
    return None if amount is None else _finite(amount)


def _finite(amount: float) -> float | None:
    return amount if math.isfinite(amount) else None
