"""What a mapping promises, and what it does not, in figures and in words."""

import math
from collections.abc import Iterator
from typing import Any

from agent.formats.amounts import amount_in_words, bound_in_words, limit_in_words
from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_node import BUDGET_TOLERANCE, Node
from agent.formats.odds import odds_factor, odds_in_words
from agent.formats.quantisers import Cuts, Tree
from agent.formats.quantities import format_duration

_ARCHITECTURES = {
    "local": "guards each reading only (local differential privacy)",
    "information": "guards G only (information privacy)",
    "ill": "guards G first and then each reading (ILL)",
    "lip": "guards each reading first and then G (LIP)",
    "direct": "guards both at once, by one map for each node",
    "epic": "guards both, learnt from samples (EPIC)",
}


def summarise_mapping(design: MappingDesign) -> dict[str, Any]:
    """JSON values; amounts in nats, null where something is unbounded or was not asked for."""
    period = design.memoise_steps
    return {
        "name": design.name,
        "kind": design.kind,
        "architecture": design.architecture,
        "public": list(design.public),
        "private": design.private,
        "step_seconds": design.step_ms / 1000,
        "information_asked": design.information_asked,
        "information": _finite(design.information),
        "regimes": design.regimes,
        "information_across": _finite(design.information_across),
        "information_odds_factor": _odds(2 * design.information),
        "information_upper": _finite(design.information_upper),
        "confidence": design.confidence,
        "local_asked": design.local_asked,
        "public_error": design.public_error,
        "public_chance": design.public_chance,
        "private_error": design.private_error,
        "private_chance": design.private_chance,
        "repeats": design.repeats,
        "memoise_seconds": None if period is None else period * design.step_ms / 1000,
        "alpha": design.limit,
        "horizon": design.horizon,
        "segments": design.segments,
        "knowledge": list(design.knowledge),
        "nodes": [
            {
                "name": node.name,
                "columns": list(node.columns),
                "low": list(node.low),
                "high": list(node.high),
                "quantiser": _quantiser(node),
                "cells": node.cells,
                "symbols": node.symbols,
                "tables": len(node.tables),
                "local": _finite(node.local),
                "odds_factor": _odds(node.local),
            }
            for node in design.nodes
        ],
        "warnings": list(mapping_warnings(design)),
    }


def mapping_warnings(design: MappingDesign) -> tuple[str, ...]:
    """What a person must know before relying on the design."""
    found = []
    if all(node.local == 0 for node in design.nodes):
        found.append("the nodes say nothing: whatever they read, their symbols are drawn alike")
    elif design.public_error >= design.public_chance:
        found.append("the symbols do not help to decide: guessing the most frequent is as good")
    asked = design.information_asked
    told = design.information if design.information_across is None else design.information_across
    if asked is not None and told > asked + BUDGET_TOLERANCE:
        found.append(
            f"epsilon_I is {bound_in_words(told, asked)}, above the {limit_in_words(asked)} "
            "asked for"
        )
    if math.isinf(design.information):
        found.append("some symbols rule a value of the private hypothesis out: it is not hidden")
    return tuple(found)


def describe_mapping(design: MappingDesign) -> tuple[str, ...]:
    """A heading, and sentences for a terminal."""
    number = len(design.nodes)
    step = format_duration(design.step_ms / 1000)
    nodes = "one node says" if number == 1 else f"{number} nodes each say"
    return (
        f"{design.name}: {nodes} at most one symbol every {step}",
        f"decides H: {', '.join(design.public)}; hides G: {design.private}",
        f"architecture: {design.architecture}, which {_ARCHITECTURES[design.architecture]}",
        *(_node_words(node, design.local_asked) for node in design.nodes),
        *_information_words(design),
        *_error_words(design),
        *_repeat_words(design),
        *(f"evidence: {line}" for line in design.knowledge),
        "not promised: anything about another private fact than G; about G, if the joint is not "
        "the true one; what the times of messages, their absence or the traffic tell; and what "
        "the device's state folder tells to whoever can read it",
        f"after {design.segments - 1} losses of its state a node refuses to go on",
        *(f"WARNING: {line}" for line in mapping_warnings(design)),
    )


def describe_unaccounted(design: MappingDesign) -> str | None:
    """What memoised repeats bound instead of temporal leakage; None where an account is kept."""
    if design.memoise_steps is None:
        return None
    period = format_duration(design.memoise_steps * design.step_ms / 1000)
    return f"epsilon_LD for each different cell in each {period}; no account over time"


def _node_words(node: Node, asked: float | None) -> str:
    takes = ", ".join(node.columns)
    stages = "" if len(node.tables) == 1 else ", in two stages"
    head = f"node {node.name}: {takes} in {_count(node.cells, 'cell')} ({_quantiser(node)}), "
    head += f"said as {_count(node.symbols, 'symbol')}{stages}; "
    if node.local == 0:
        return head + "its symbol does not depend on the reading (epsilon_LD 0)"
    if math.isinf(node.local):
        return head + "some symbols rule a cell out (no epsilon_LD)"
    return head + (
        "one symbol changes the odds between any two readings by a factor of at most "
        f"{odds_in_words(node.local)} (epsilon_LD {amount_in_words(node.local, asked)}), whatever "
        "an observer knows"
    )


def _information_words(design: MappingDesign) -> Iterator[str]:
    asked = "none was asked for" if design.information_asked is None else (
        f"asked for: {limit_in_words(design.information_asked)}"
    )  # fmt: skip
    limit, across = design.information_asked, design.information_across
    if across is not None and math.isfinite(across):
        yield (
            "information privacy, whatever the mixture of the "
            f"{_count(design.regimes or 0, 'regime')} of the rows it was designed for and however "
            "likely each value of G is: all symbols of one step together change how likely any "
            "value of G is, and the odds between two values, by a factor of at most "
            f"{odds_in_words(across)} (epsilon_I {amount_in_words(across, limit)}, {asked}), for "
            "an observer who knows the regime and the joint in it and nothing else of this step; "
            f"in the average of the log epsilon_I is {amount_in_words(design.information, limit)}"
        )
    elif math.isinf(design.information) or across is not None:
        yield f"information privacy of G: none ({asked})"
    else:
        yield (
            "information privacy: all symbols of one step together change how likely any value of "
            f"G is by a factor of at most {odds_in_words(design.information)} (epsilon_I "
            f"{amount_in_words(design.information, limit)}, {asked}), and so the odds between two "
            f"values by at most {odds_in_words(2 * design.information)}, for an observer who knows "
            "the joint and nothing else of this step"
        )
    if design.local_asked is None:
        yield "local privacy: no epsilon_LD was asked for"
    else:
        worst = max(node.local for node in design.nodes)
        shown = "none" if math.isinf(worst) else amount_in_words(worst, design.local_asked)
        asked = limit_in_words(design.local_asked)
        yield f"local privacy: epsilon_LD {shown} at most, asked for: {asked}"
    # The bound is about the log's own mixture, whatever is guarded.
    average = "" if design.regimes is None else ", on average over regimes and not in each of them,"
    if design.information_upper is not None and design.confidence is not None:
        if math.isinf(design.information_upper):
            yield (
                "the log is too short to bound epsilon_I for what it was drawn from: the figure "
                "above holds for the joint that was learnt, and for no other"
            )
        else:
            yield (
                "the joint was learnt from a log, so the true epsilon_I is not known: by the log "
                f"it is{average} at most {amount_in_words(design.information_upper, limit)}, with "
                f"confidence {100 * design.confidence:g} % that the log is not a misleading one; "
                "that holds for readings to come only if they come from where the log came from"
            )


def _error_words(design: MappingDesign) -> Iterator[str]:
    yield (
        f"in the model, the fusion centre errs about H in {_percent(design.public_error)} of the "
        f"steps ({_percent(design.public_chance)} without any symbol)"
    )
    yield (
        "whoever uses the symbols of a step as well as one can errs about G in "
        f"{_percent(design.private_error)} ({_percent(design.private_chance)} without any)"
    )


def _repeat_words(design: MappingDesign) -> Iterator[str]:
    total = sum(node.local for node in design.nodes)
    if design.memoise_steps is not None:
        period = format_duration(design.memoise_steps * design.step_ms / 1000)
        yield (
            f"repeats are memoised: within {period} a node says the same symbol whenever its "
            "reading is in the same cell; about which cells they were, each different cell of a "
            "node costs that node's epsilon_LD once in each period, however often it comes back"
        )
        yield (
            "not covered by that: when a node's cell changes and that it came back, wherever the "
            "symbols differ. Information privacy is about the symbols of one step: what they tell "
            "about a G that lasts adds up over the different cells of all nodes and over periods, "
            "and when symbols change may tell of G without any bound"
        )
    else:
        assert design.limit is not None
        yield (
            "repeats are fresh and accounted: all symbols of a node together change the odds "
            "about its cell at any one step by a factor of at most "
            f"{odds_in_words(design.limit)} (temporal leakage at most alpha = "
            f"{limit_in_words(design.limit)} nats), for ever, against an observer who knows how "
            "this node's cells follow each other and nothing else of them"
        )
        yield (
            "not covered by that: several steps or several nodes taken together. Information "
            "privacy is about the symbols of one step: about a G that lasts, the symbols of n "
            "steps may tell n times as much or more; "
            + (
                "nothing bounds that whatever the joint is"
                if math.isinf(total)
                else "whatever the joint is, they change the odds about it by at most n times "
                f"{amount_in_words(total)} nats (n times the sum of the nodes' epsilon_LD)"
            )
        )
        yield "a node's first symbol after a start without state does not look at its reading"


def _quantiser(node: Node) -> str:
    match node.quantiser:
        case Cuts():
            return "cuts"
        case Tree():
            return "tree"
    return "nearest centre"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _percent(error: float) -> str:
    return f"{100 * error:.1f} %"


def _finite(amount: float | None) -> float | None:
    return None if amount is None or math.isinf(amount) else amount


def _odds(amount: float) -> float | None:
    return None if math.isinf(amount) else odds_factor(amount)
