"""Pictures of a mapping: what each node says, what the symbols buy, and what they may tell of G.

Everything is worked out from what the bundle holds.
"""

import math
from functools import reduce

import numpy as np

from agent.formats.amounts import amount_in_words
from agent.formats.designs import FloatArray
from agent.formats.mapping_design import MappingDesign, Node
from agent.formats.mapping_node import WHOLE, local_epsilon
from agent.formats.odds import odds_in_words
from precompute.reports.bars import Bar, draw_bars, draw_table
from precompute.reports.cells import cell_axis, cells_in_words
from precompute.reports.charts import Axis, Curve, draw_chart
from precompute.reports.page import bullets, figure, heading, paragraph, pictures
from precompute.reports.scales import linear

MOST_NODES = 8
MOST_SYMBOLS_DRAWN = 8
POINTS = 201
# e to this is far beyond any odds that a picture can show, and far below what overflows.
LARGE = 300.0


def mapping_pictures(design: MappingDesign) -> list[str]:
    """Parts of a page: pictures of the network, then of its nodes, and cells in words."""
    shown = nodes_drawn(design)
    parts = [
        pictures([_errors(design), _budget(design)]),
        heading(3, "What each node says" if len(design.nodes) > 1 else "What the node says"),
    ]
    if len(shown) < len(design.nodes):
        parts.append(
            paragraph(
                f"Drawn are the {len(shown)} of {len(design.nodes)} nodes whose symbols tell most "
                "of their readings (largest epsilon_LD); all are told in words below.",
                "note",
            )
        )
    parts.append(pictures([_node(node) for node in shown]))
    axes = [(node, cell_axis(node)) for node in shown]
    told = [cells_in_words(node, axis) for node, axis in axes if axis.words]
    if told:
        parts += [heading(3, "What the numbered cells are"), bullets(told)]
    return parts


def nodes_drawn(design: MappingDesign) -> tuple[Node, ...]:
    """At most ``MOST_NODES``, in their order: those of the largest epsilon_LD, first of equals."""
    ranked = sorted(design.nodes, key=lambda node: -local_epsilon(node.tables))
    chosen = {node.name for node in ranked[:MOST_NODES]}
    return tuple(node for node in design.nodes if node.name in chosen)


def said_by_cell(node: Node) -> FloatArray:
    """(cells, symbols) p(z | cell): of two tables their product."""
    tables = [np.array(table, dtype=np.float64) / WHOLE for table in node.tables]
    return np.asarray(reduce(np.matmul, tables))


def posterior_range(epsilon: float, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and largest p(g | z), where it and p(not g | z) keep to e^±epsilon of the prior.

    Information privacy holds for every coarser question about G too, so also for "not g".
    """
    up, down = math.exp(min(epsilon, LARGE)), math.exp(-epsilon)
    least = np.maximum(prior * down, 1 - (1 - prior) * up)
    most = np.minimum(prior * up, 1 - (1 - prior) * down)
    return least, most


def posterior_by_odds(epsilon: float, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and largest p(g | z), where odds change by at most e^±epsilon."""
    factor = math.exp(min(epsilon, LARGE))
    return prior / (prior + (1 - prior) * factor), prior * factor / (1 - prior + prior * factor)


def _node(node: Node) -> str:
    table = said_by_cell(node)
    axis = cell_axis(node)
    drawn = table[list(axis.order), :MOST_SYMBOLS_DRAWN]
    stages = ", of both stages' product, which is what leaves the node" * (len(node.tables) > 1)
    some = (
        f" (drawn are the first {MOST_SYMBOLS_DRAWN} of {node.symbols} symbols)"
        if node.symbols > MOST_SYMBOLS_DRAWN
        else ""
    )
    # Of the tables that are drawn; a node may state more than they have.
    local = local_epsilon(node.tables)
    if local == 0:
        means = "This node is constant: its symbol is drawn alike whatever it reads, and tells "
        means += "nothing of it."
    elif math.isinf(local):
        means = "Some symbol rules a cell out: nothing bounds the odds between any two readings."
    else:
        means = (
            "One symbol changes the odds between any two readings by a factor of at most "
            f"{odds_in_words(local)} (epsilon_LD {amount_in_words(local)})."
        )
    return figure(
        draw_table(drawn, axis.name, axis.ticks, f"Table of the node {node.name}"),
        f"Node {node.name}",
        f"How likely each symbol z is in each cell of the reading{stages}{some}; cells are drawn "
        f"equally wide. {means}",
    )


def _errors(design: MappingDesign) -> str:
    rows = (
        ("H", "with the symbols", design.public_error),
        ("H", "by guessing", design.public_chance),
        ("G", "with the symbols", design.private_error),
        ("G", "by guessing", design.private_chance),
    )
    bars = [
        Bar(f"{what} {how}", 100 * error, f"{100 * error:.1f} %", how == "by guessing", number == 2)
        for number, (what, how, error) in enumerate(rows)
    ]
    top = max(1.0, *(bar.value for bar in bars))
    return figure(
        draw_bars(bars, Axis("wrong decisions, % of steps", linear(0.0, top)), "Errors of H and G"),
        "What the symbols buy",
        f"In the model, H is decided wrongly in {bars[0].number} of the steps with all nodes' "
        f"symbols and in {bars[1].number} by guessing the most frequent: the shorter the filled "
        f"bar, the more useful. G is in {bars[2].number} and {bars[3].number}: the nearer the "
        "filled bar comes to the hollow one, the better G is hidden.",
    )


def _budget(design: MappingDesign) -> str:
    """By what is promised: of every mixture of regimes the odds, else the ratio to the prior."""
    likeliest = 1 - design.private_chance
    prior = np.linspace(0.0, 1.0, POINTS)
    promised = design.information if design.information_across is None else (
        design.information_across
    )  # fmt: skip
    by = posterior_by_odds if design.regimes is not None else posterior_range
    least, most = (
        by(promised, prior) if math.isfinite(promised) else (np.zeros(POINTS), np.ones(POINTS))
    )
    edges = (
        Curve("most and least after one step", "ours bold", prior, most),
        Curve("", "ours bold", prior, least),
    )
    drawn = [*edges, Curve("nothing learnt", "behind", prior, prior)]
    if design.regimes is None and 0 < promised < math.inf:
        beyond = posterior_by_odds(2 * promised, prior)
        drawn.insert(2, Curve("if p(G) is not the model's", "independent dashed", prior, beyond[1]))
        drawn.insert(3, Curve("", "independent dashed", prior, beyond[0]))
    if design.regimes is None:
        here = np.full(2, likeliest)
        drawn.append(
            Curve("the model's likeliest value of G", "raw dotted", here, np.array([0.0, 1.0]))
        )
    scale = linear(0.0, 1.0)
    chart = draw_chart(
        drawn,
        Axis("before: probability of a value of G", scale),
        Axis("after: probability", scale),
        "What one step may tell of G",
        between=[edges],
    )
    words = _budget_words(design, promised, likeliest)
    return figure(chart, "What one step may tell of G in the model, at most", words)


def _budget_words(design: MappingDesign, promised: float, likeliest: float) -> str:
    if math.isinf(promised):
        return (
            "Some symbols may rule a value of G out: nothing bounds what one step tells of it, so "
            "that whatever was believed before, anything may be believed after."
        )
    if promised == 0:
        return (
            "All symbols of one step together tell nothing of G (epsilon_I 0): whatever was "
            "believed before is believed after."
        )
    said = f"(epsilon_I {amount_in_words(promised, design.information_asked)})"
    if design.regimes is not None:
        even = np.array([0.5])
        low, high = posterior_by_odds(promised, even)
        return (
            "Whatever was believed before and whatever the mixture of the log's "
            f"{design.regimes} regimes, all symbols of one step change the odds of a value of G by "
            f"a factor of at most {odds_in_words(promised)} {said}: an even guess becomes "
            f"{_below(low)} at least and {_above(high)} at most. Further steps add to it."
        )
    low, high = posterior_range(promised, np.array([likeliest]))
    return (
        f"Who believes of G what the model says, its likeliest value {100 * likeliest:.1f} % "
        f"(dotted), holds that value after all symbols of one step for {_below(low)} at least and "
        f"{_above(high)} at most {said}; further steps add to it. Who believed anything else "
        "before may go as far as the dashed lines: odds change by a factor of at most "
        f"{odds_in_words(2 * promised)}."
    )


def _below(chance: FloatArray) -> str:
    return f"{math.floor(1000 * float(chance[0]) + 1e-9) / 10:.1f} %"


def _above(chance: FloatArray) -> str:
    return f"{math.ceil(1000 * float(chance[0]) - 1e-9) / 10:.1f} %"
