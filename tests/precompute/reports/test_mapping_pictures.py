"""Pictures of a mapping: lengths and bands are those of the bundle's own tables, by hand."""

import html
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from agent.formats.mapping_design import MappingDesign, Node
from agent.formats.quantisers import Centres, Cuts, Tree
from precompute.reports.bars import Bar, chance_in_digits, draw_bars, draw_table
from precompute.reports.cells import cell_axis, cells_in_words
from precompute.reports.charts import Axis
from precompute.reports.mapping_pictures import MOST_NODES, mapping_pictures, nodes_drawn
from precompute.reports.scales import linear
from tests.fakes.mapping_designs import (
    accounted_mapping,
    node,
    room_mapping,
    weights,
)

LEFT, RIGHT, TOP, BOTTOM = 100.0, 576.0, 16.0, 368.0


def _figure(design: MappingDesign, heading: str) -> str:
    """The one figure with that heading."""
    page = "".join(mapping_pictures(design))
    found = [one for one in re.findall(r"<figure>.*?</figure>", page) if f">{heading}<" in one]
    assert len(found) == 1
    return html.unescape(found[0])


def _alone(one: Node, **changes: object) -> MappingDesign:
    """A network of this node and of no other."""
    shape = np.full(one.symbols, 1 / one.symbols)
    outcomes = np.outer([0.5, 0.5], shape)
    return room_mapping(nodes=(one,), outcomes=outcomes, local_asked=None, **changes)


def _heights(picture: str) -> list[float]:
    return [float(h) for h in re.findall(r'class="full"[^>]*height="([\d.]+)"', picture)]


def _chances(picture: str) -> list[float]:
    """What the bars of a table of two symbols say: of 1, so many of the row's pixels."""
    room = (BOTTOM - TOP) / 2 - 24
    return [height / room for height in _heights(picture)]


def test_the_bars_of_a_node_are_its_table_in_the_order_of_symbols_and_cells() -> None:
    picture = _figure(room_mapping(), "Node co2")
    assert _chances(picture) == pytest.approx([0.75, 0.25, 0.25, 0.75], abs=1e-4)
    ends = re.findall(r'class="full"[^>]* y="([\d.]+)"[^>]*height="([\d.]+)"', picture)
    # Bars stand on the floors of their rows.
    floors = [float(y) + float(height) for y, height in ends]
    assert floors == pytest.approx([192.0, 192.0, BOTTOM, BOTTOM], abs=0.02)
    numbers = re.findall(r'class="key middle"[^>]*>([^<]+)<', picture)
    assert numbers == ["0.750", "0.250", "0.250", "0.750"]
    assert "S5_CO2, in its own unit: cut at" in picture
    # The cut stands between the two cells.
    assert re.search(r'class="tick middle" x="338\.0"[^>]*>600<', picture)
    assert "odds between any two readings by a factor of at most 3 (epsilon_LD 1.0987)" in picture


def test_two_stages_are_drawn_as_their_product() -> None:
    picture = _figure(room_mapping(), "Node light-1")
    # (.75, .25) through (.75, .25; .25, .75) is .75 * .75 + .25 * .25 = .625; and so on.
    expected = [0.625, 0.5, 0.375, 0.375, 0.5, 0.625]
    assert _chances(picture) == pytest.approx(expected, abs=1e-4)
    assert "both stages' product, which is what leaves the node" in picture
    assert "both stages" not in _figure(room_mapping(), "Node co2")


def test_more_symbols_have_a_row_each_and_too_many_are_said_to_be_left_out() -> None:
    three = _figure(room_mapping(), "Node sound")
    room = (BOTTOM - TOP) / 3 - 24
    shares = [height / room for height in _heights(three)]
    assert shares == pytest.approx([0.5, 0.25, 0.25, 0.25, 0.25, 0.5], abs=1e-4)
    assert "first" not in three
    sixteen = node("co2", ("c",), Cuts((1.0,)), weights((1 / 16,) * 16, (1 / 16,) * 16))
    picture = _figure(_alone(sixteen), "Node co2")
    assert len(_heights(picture)) == 8 * 2
    assert "(drawn are the first 8 of 16 symbols)" in picture
    # All are far below 1, so that the rows end at a tenth; they are 80 high.
    assert picture.count(">0.1<") == 8
    assert _heights(picture)[0] / (80 - 24) == pytest.approx(10 / 16, abs=1e-3)


def test_a_constant_node_is_said_to_be_constant_and_one_that_rules_out_to_bound_nothing() -> None:
    constant = node("co2", ("c",), Cuts((1.0,)), weights((0.25, 0.75), (0.25, 0.75)))
    picture = _figure(_alone(constant), "Node co2")
    assert "This node is constant" in picture
    assert "odds between" not in picture
    sure = node("co2", ("c",), Cuts((1.0,)), weights((1.0, 0.0), (0.5, 0.5)))
    picture = _figure(_alone(sure), "Node co2")
    assert "nothing bounds the odds between any two readings" in picture
    assert "constant" not in picture
    assert "inf" not in picture.replace("information", "")
    # A node may state more than its tables have; the picture is of the tables.
    picture = _figure(_alone(replace(constant, local=math.inf)), "Node co2")
    assert "This node is constant" in picture


def test_a_tree_over_one_column_is_drawn_by_its_cuts() -> None:
    questions, children = ((0, 800.0), (0, 600.0), (0, 1000.0)), ((1, 2), (-2, -1), (-3, -4))
    tree = node(
        "air",
        ("co2",),
        Tree(questions, children, 1),
        weights((0.5, 0.5), (0.75, 0.25), (0.25, 0.75), (0.125, 0.875)),
    )
    axis = cell_axis(tree)
    # Below 600 is cell 1, from 600 to 800 cell 0.
    assert axis.order == (1, 0, 2, 3)
    assert axis.ticks == ((1.0, "600"), (2.0, "800"), (3.0, "1000"))
    assert axis.words == ()
    picture = _figure(_alone(tree), "Node air")
    assert _chances(picture)[:4] == pytest.approx([0.75, 0.5, 0.25, 0.125], abs=1e-4)


def test_cells_of_several_columns_are_numbered_and_told_in_words() -> None:
    page = "".join(mapping_pictures(room_mapping()))
    assert (
        "light-1: cell 0: S1_Light below 20; cell 1: S1_Light from 20 and S1_Temp below 25; "
        "cell 2: S1_Light from 20 and S1_Temp from 25"
    ) in page
    rows = weights(*[(0.5, 0.5)] * 20)
    centres = Centres(tuple((float(k), 10.0 * k) for k in range(20)), (1.0, 2.0))
    wide = node("n", ("a", "b"), centres, rows)
    told = cells_in_words(wide, cell_axis(wide))
    assert told.startswith("n (distances in units of a 1, b 2): cell 0: nearest to a 0, b 0; ")
    assert told.endswith("; cell 11: nearest to a 11, b 110; and 8 more, not told here")


def test_centres_stand_under_their_bars_in_ascending_order() -> None:
    one = node("n", ("a",), Centres(((3.0,), (1.0,)), (1.0,)), weights((0.25, 0.75), (0.75, 0.25)))
    axis = cell_axis(one)
    assert axis.order == (1, 0)
    assert axis.ticks == ((0.5, "1"), (1.5, "3"))


def test_cuts_that_hardly_differ_are_written_apart() -> None:
    one = node("n", ("a",), Cuts((600.123, 600.124)), weights(*[(1.0,)] * 3))
    assert [text for _, text in cell_axis(one).ticks] == ["600.123", "600.124"]


def test_a_cell_that_no_reading_reaches_is_said_to_be_so() -> None:
    questions, children = ((0, 5.0), (0, 9.0)), ((1, -1), (-2, -3))
    one = node("n", ("a",), Tree(questions, children, 1), weights(*[(1.0,)] * 3))
    assert cell_axis(one).words == ("a from 5", "a below 5", "no reading")


def test_what_the_symbols_buy_is_as_long_as_the_errors() -> None:
    picture = _figure(room_mapping(), "What the symbols buy")
    bars = re.findall(r'class="(full|hollow)" x="190"[^>]*width="([\d.]+)"', picture)
    assert [kind for kind, _ in bars] == ["full", "hollow", "full", "hollow"]
    lengths = [float(width) for _, width in bars]
    # 0.28125, 0.375, 0.375, 0.40625; the last fills the picture.
    assert lengths == pytest.approx([330 * k / 13 for k in (9, 12, 12, 13)], abs=0.01)
    assert re.findall(r">([\d.]+ %)<", picture) == ["28.1 %", "37.5 %", "37.5 %", "40.6 %"]
    tick = re.search(r'class="tick middle" x="([\d.]+)"[^>]*>40<', picture)
    assert tick is not None
    assert float(tick.group(1)) == pytest.approx(190 + 330 * 40 / 40.625, abs=0.1)
    assert "wrong decisions, % of steps" in picture


def _lines(picture: str, style: str) -> list[dict[float, float]]:
    """The chart's curves of a style, as y by x, both from 0 to 1."""
    found = []
    for path in re.findall(rf'class="line {style}" d="(M[^"hH]*)"', picture):
        pairs = [pair.split() for pair in re.split("[ML]", path)[1:]]
        keys = len(re.findall(r'class="key"', picture))
        top = TOP + 25 * keys
        found.append(
            {
                round((float(x) - LEFT) / (RIGHT - LEFT), 3): (BOTTOM - float(y)) / (BOTTOM - top)
                for x, y in pairs
            }
        )
    return found


def test_without_regimes_the_band_is_of_the_ratio_and_dashed_of_twice_the_odds() -> None:
    picture = _figure(room_mapping(), "What one step may tell of G in the model, at most")
    most, least = _lines(picture, "ours bold")
    up, down = math.exp(0.4375), math.exp(-0.4375)
    for prior in (0.2, 0.5, 0.8):
        assert most[prior] == pytest.approx(min(prior * up, 1 - (1 - prior) * down), abs=1e-3)
        assert least[prior] == pytest.approx(max(prior * down, 1 - (1 - prior) * up), abs=1e-3)
    highest, lowest = _lines(picture, "independent dashed")
    odds = math.exp(2 * 0.4375)
    assert highest[0.5] == pytest.approx(odds / (1 + odds), abs=1e-3)
    assert lowest[0.5] == pytest.approx(1 / (1 + odds), abs=1e-3)
    (mark,) = _lines(picture, "raw dotted")
    assert list(mark) == pytest.approx([0.594], abs=1e-3)
    # .59375 e^-.4375 = .3833; 1 - .40625 e^-.4375 = .7377
    assert "likeliest value 59.4 %" in picture
    assert "38.3 % at least and 73.8 % at most (epsilon_I 0.4375)" in picture
    assert picture.count('class="band"') == 1


@pytest.mark.parametrize("make", [room_mapping, accounted_mapping])
def test_with_regimes_the_band_is_of_the_odds_across_them_whatever_the_prior(make) -> None:
    design = make(regimes=5, information_across=0.25)
    picture = _figure(design, "What one step may tell of G in the model, at most")
    most, least = _lines(picture, "ours bold")
    factor = math.exp(0.25)
    for prior in (0.2, 0.5, 0.8):
        odds = prior / (1 - prior)
        assert most[prior] == pytest.approx(odds * factor / (1 + odds * factor), abs=1e-3)
        assert least[prior] == pytest.approx(odds / factor / (1 + odds / factor), abs=1e-3)
    assert not _lines(picture, "independent dashed")
    assert not _lines(picture, "raw dotted")
    # e^.25 = 1.2840…, 1/(1 + e^.25) = .43782…: the factor rounded up, the least down.
    assert "the log's 5 regimes" in picture
    assert "at most 1.29 (epsilon_I 0.2500)" in picture
    assert "becomes 43.7 % at least and 56.3 % at most" in picture


@pytest.mark.parametrize(
    "changes",
    [
        {"information": math.inf, "information_upper": math.inf},
        {"regimes": 2, "information_across": math.inf},
    ],
)
def test_where_nothing_is_bounded_the_band_is_everything(changes) -> None:
    picture = _figure(room_mapping(**changes), "What one step may tell of G in the model, at most")
    most, least = _lines(picture, "ours bold")
    assert set(most.values()) == {1.0}
    assert set(least.values()) == {0.0}
    assert "nothing bounds what one step tells" in picture


@pytest.mark.parametrize("information", [0.0, 1e-12, 700.0, 1e6])
def test_budgets_of_any_size_are_drawn(information: float) -> None:
    for changes in ({}, {"regimes": 2, "information_across": information}):
        page = "".join(mapping_pictures(room_mapping(information=information, **changes)))
        assert not re.search(r"\bnan\b|\binf\b", page)
        told = "tell nothing of G (epsilon_I 0)" in page
        assert told == (information == 0)


def test_of_31_nodes_those_that_tell_most_are_drawn_and_the_page_says_so() -> None:
    silent = weights((1.0,), (1.0,))
    loud = weights((0.75, 0.25), (0.25, 0.75))
    nodes = tuple(
        node(f"n{k}", ("c",), Cuts((1.0,)), loud if k >= 29 else silent) for k in range(31)
    )
    outcomes = np.full((2, *(one.symbols for one in nodes)), 1 / 8)
    design = room_mapping(nodes=nodes, outcomes=outcomes)
    names = [one.name for one in nodes_drawn(design)]
    assert names == ["n0", "n1", "n2", "n3", "n4", "n5", "n29", "n30"]
    page = "".join(mapping_pictures(design))
    assert page.count("<figure>") == page.count("<figcaption>") == MOST_NODES + 2
    assert "Drawn are the 8 of 31 nodes whose symbols tell most" in page
    assert page.count("This node is constant") == 6
    assert "Drawn are" not in "".join(mapping_pictures(room_mapping()))


def test_the_largest_of_tables_stays_small_and_its_ticks_apart() -> None:
    rows = weights(*[(1 / 64,) * 64] * 256)
    one = node("n", ("a",), Cuts(tuple(k + 0.25 for k in range(255))), rows)
    picture = _figure(_alone(one), "Node n")
    assert len(picture) < 300_000
    ticks = re.findall(r'class="tick middle" x="([\d.]+)"[^>]*>([\d.]+)<', picture)
    places = [float(x) for x, _ in ticks]
    assert len(ticks) > 4
    assert min(np.diff(places)) >= 9.5 * max(len(text) for _, text in ticks)


def test_what_is_hardly_so_does_not_look_certain() -> None:
    found = [chance_in_digits(chance) for chance in (0.0, 2**-32, 0.5, 1 - 2**-32, 1.0)]
    assert found == ["0.000", "<.001", "0.500", ">.999", "1.000"]


def test_words_are_escaped() -> None:
    one = node("n", ("<b>", '"&'), Centres(((0.0, 0.0), (1.0, 1.0)), (1.0, 1.0)),
               weights((0.5, 0.5), (0.25, 0.75)))  # fmt: skip
    page = "".join(mapping_pictures(_alone(one)))
    single = node("n", ("<b>",), Cuts((1.0,)), weights((0.5, 0.5), (0.25, 0.75)))
    page += "".join(mapping_pictures(_alone(single)))
    page += draw_bars([Bar("<b>", 1.0, "<b>")], Axis("<b>", linear(0.0, 1.0)), "<b>")
    page += draw_table(np.array([[1.0]]), "<b>", ((0.5, "<b>"),), "<b>")
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
