"""What is said of a mapping: by inspect, as words and as JSON, and by the design command."""

import json
import math
from dataclasses import replace

import pytest
from fakes.designs import location_stream, write_designs
from fakes.mapping_designs import accounted_mapping, node, room_mapping, three_nodes, weights

from agent.cli import main
from agent.formats.bundle import read_bundle, write_bundle
from agent.formats.design_summary import summarise
from agent.formats.mapping_summary import describe_mapping, mapping_warnings
from precompute.build_bundle import BuiltBundle
from precompute.design_kinds.request import BuiltDesign
from precompute.design_words import bundle_words
from precompute.reports.design_page import render_designs


def words(design):
    return " ".join(describe_mapping(design))


def test_who_says_what_both_budgets_errors_and_what_is_not_covered():
    said = words(room_mapping())
    for part in (
        "3 nodes each say at most one symbol every 1 min",
        "decides H: fine, stale; hides G: whether somebody is at home",
        "node light-1: S1_Light, S1_Temp in 3 cells (tree), said as 2 symbols, in two stages",
        "(epsilon_LD 0.5109), whatever an observer knows",  # log(5/3) = 0.51082…, rounded up
        "node sound: S1_Sound in 2 cells (nearest centre), said as 3 symbols;",
        "(epsilon_I 0.4375, asked for: 0.5)",
        "epsilon_LD 1.0987 at most, asked for: 1.125",
        "at most 0.6250, with confidence 95 %",
        "errs about H in 28.1 % of the steps (37.5 % without any symbol)",
        "errs about G in 37.5 % (40.6 % without any)",
        "each different cell of a node costs that node's epsilon_LD once in each period",
        "when symbols change may tell of G without any bound",
        "evidence: learnt from 512 rows",
        "after 2 losses of its state a node refuses to go on",
    ):
        assert part in said
    assert "WARNING" not in said


def test_a_small_budget_that_is_kept_is_never_shown_above_what_was_asked_for():
    quiet = weights((0.5, 0.5), (0.5, 0.5))
    one = replace(three_nodes()[1], tables=(quiet,), local=1.2e-9)
    small = {"information": 4.7e-10, "information_asked": 1e-9, "local_asked": 2e-9}
    said = words(room_mapping(nodes=(one,), **small))
    for part in (
        "by a factor of at most 1 + 4.71e-10 (epsilon_I 4.7e-10, asked for: 1e-09)",
        "any two readings by a factor of at most 1 + 1.21e-09 (epsilon_LD 1.2e-09)",
        "local privacy: epsilon_LD 1.2e-09 at most, asked for: 2e-09",
    ):
        assert part in said
    said = words(room_mapping(information=0.43751234, information_asked=0.43752))
    assert "(epsilon_I 0.43752, asked for: 0.43752)" in said
    assert "0.4376" not in said


def test_an_account_says_its_limit_and_what_several_steps_may_tell():
    said = words(accounted_mapping())
    assert "temporal leakage at most alpha = 3 nats" in said
    # log(5/3) + log 3 + log 2 = log 10
    assert "at most n times 2.3026 nats" in said
    assert "first symbol after a start without state does not look" in said
    assert "memoised" not in said


def test_nothing_unbounded_is_shown_as_a_number():
    sure = node("co2", ("S5_CO2",), three_nodes()[1].quantiser, weights((1.0, 0.0), (0.0, 1.0)))
    design = room_mapping(
        nodes=(sure,),
        information=math.inf,
        information_asked=None,
        information_upper=math.inf,
        local_asked=None,
    )
    said = words(design)
    assert "some symbols rule a cell out (no epsilon_LD)" in said
    assert "information privacy of G: none (none was asked for)" in said
    assert "too short to bound epsilon_I" in said
    assert "WARNING: some symbols rule a value of the private hypothesis out" in said
    assert "inf" not in said.replace("information", "").replace("infer", "")
    summary = json.loads(json.dumps(summarise(design), allow_nan=False))
    assert summary["information"] is summary["information_upper"] is None
    assert summary["nodes"][0]["local"] is summary["nodes"][0]["odds_factor"] is None


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"information": 0.6}, "epsilon_I is 0.6000, above the 0.5 asked for"),
        ({"public_error": 0.375}, "as good"),
    ],
)
def test_what_should_be_known_before_relying_on_it(changes, part):
    (warning,) = mapping_warnings(room_mapping(**changes))
    assert part in warning


def test_a_budget_of_zero_is_a_warning_and_no_error():
    quiet = weights((0.5, 0.5), (0.5, 0.5))
    one = replace(three_nodes()[1], tables=(quiet,), local=0.0)
    design = room_mapping(nodes=(one,), information=0.0, information_asked=0.0, local_asked=0.0)
    assert mapping_warnings(design) == (
        "the nodes say nothing: whatever they read, their symbols are drawn alike",
    )
    assert "does not depend on the reading" in words(design)


def test_inspect_shows_it_beside_other_designs(tmp_path, capsys):
    path = tmp_path / "room.bundle"
    write_designs(path, [location_stream(), room_mapping()])
    assert main(["inspect", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("room: 3 nodes each say") for line in lines)
    assert max(map(len, lines[1:])) <= 88
    assert main(["inspect", str(path), "--json"]) == 0
    designs = json.loads(capsys.readouterr().out)["designs"]
    assert [one["kind"] for one in designs] == ["stream", "mapping"]
    assert designs[1]["nodes"][1] == {
        "name": "co2",
        "columns": ["S5_CO2"],
        "low": [0.0],
        "high": [2000.0],
        "quantiser": "cuts",
        "cells": 2,
        "symbols": 2,
        "tables": 1,
        "local": pytest.approx(math.log(3)),
        "odds_factor": pytest.approx(3.0),
    }


def test_the_design_command_and_the_page_use_the_same_words():
    design = accounted_mapping()
    content = write_bundle([design])
    built = BuiltDesign(design, {}, ("found in 3 sweeps",), ("the log is short",))
    bundle = BuiltBundle(content, read_bundle(content).sha256, (built,))
    said = " ".join(bundle_words(bundle, "room.bundle").split())
    assert "decides H: fine, stale" in said
    assert "found in 3 sweeps" in said
    assert "WARNING the log is short" in said
    assert "decides H: fine, stale" in render_designs(read_bundle(content), {})


def test_regimes_are_what_the_budget_is_about():
    said = words(room_mapping(regimes=5, information_across=0.46))
    # e^0.46 = 1.5841
    assert (
        "whatever the mixture of the 5 regimes of the rows it was designed for and however likely "
        "each value of G is: "
        "all symbols of one step together change how likely any value of G is, and the odds "
        "between two values, by a factor of at most 1.59 (epsilon_I 0.4600, asked for: 0.5)"
    ) in said
    assert "in the average of the log epsilon_I is 0.4375" in said
    # The margin's bound is about another number than the one promised.
    assert (
        "by the log it is, on average over regimes and not in each of them, at most 0.625" in said
    )
    assert "WARNING" not in said
    over = room_mapping(regimes=5, information_across=0.6)
    assert "WARNING: epsilon_I is 0.6000, above the 0.5 asked for" in words(over)
    summary = json.loads(json.dumps(summarise(over), allow_nan=False))
    assert (summary["regimes"], summary["information_across"]) == (5, 0.6)
    none = words(room_mapping(regimes=5, information_across=math.inf))
    assert "information privacy of G: none (asked for: 0.5)" in none
