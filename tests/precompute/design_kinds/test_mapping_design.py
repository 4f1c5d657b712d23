"""``kind: mapping``: from a labelled log or a stated joint to a design in a bundle."""

import math
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import yaml
from fakes.documents import REPOSITORY, file_in
from fakes.sensor_logs import write_room

from agent.formats.amounts import amount_in_words
from agent.formats.bundle import read_bundle, write_bundle
from agent.formats.design_summary import summarise
from agent.formats.documents import Section
from agent.formats.errors import FormatError, SfumatoError
from agent.formats.mapping_node import local_epsilon
from precompute.design_config import read_requests
from precompute.design_kinds import mapping
from precompute.mapping import epic
from precompute.mapping.achieved import achieved
from precompute.mapping.integer_weights import from_weights
from precompute.mapping.joint import joint_of_cells
from precompute.mapping.margin import Margin
from precompute.mapping.solution import Budgets

LOG = """
name: room
kind: mapping
step: 1 min
protect: {information: 0.2, local: 1.0}
public: {column: ventilate}
private: {column: occupied}
log: {path: room.csv, columns: {time: time}}
nodes:
  - {name: light, columns: [light], cells: 4}
  - {name: air, columns: [co2, humidity], cells: 4, quantiser: kmeans}
memoise: 1 d
starts: 2
"""
STATED = """
name: room
kind: mapping
step: 1 min
protect: {information: 0.2, local: 1.0}
joint: joint.csv
nodes:
  - {name: light, columns: [lux], cuts: [100]}
  - {name: air, columns: [co2], cuts: [600, 1000], range: [0, 5000]}
memoise: 1 d
starts: 2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mapping")
    write_room(folder / "room.csv", 2000)
    chance = np.random.default_rng(5)
    cells = chance.random((2, 2, 2, 3)) + 0.1
    cells[1, :, 1, :] += 1  # light tells H
    cells[0, :, 0, :] += 1
    write_joint(folder / "joint.csv", cells / cells.sum())
    return folder


def write_joint(path, cells):
    lines = ["h,g,light,air,p"]
    for place in product(*map(range, cells.shape)):
        h, g, light, air = place
        lines.append(f"{'ny'[h]},{'oi'[g]},{light},{air},{float(cells[place])!r}")
    path.write_text("\n".join(lines) + "\n")


def joint_in(path):
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    cells = np.zeros((2, 2, 2, 3))
    for h, g, light, air, p in rows:
        cells["ny".index(h), "oi".index(g), int(light), int(air)] = float(p)
    return joint_of_cells(cells)


def request(folder, text, **changes):
    content = yaml.safe_load(text)
    for key, value in changes.items():
        if value is None:
            content.pop(key)
        else:
            content[key] = value
    (one,) = read_requests(Section({"designs": [content]}, "design.yaml"), folder)
    return one


def build(folder, text, **changes):
    return request(folder, text, **changes).build(lambda _: None)


@pytest.mark.parametrize("architecture", ["direct", "ill", "lip"])
def test_a_stated_joint_becomes_maps_that_keep_both_budgets(folder, architecture):
    built = build(folder, STATED, architecture=architecture)
    design = built.design
    assert (design.information_asked, design.local_asked) == (0.2, 1.0)
    maps = []
    for node in design.nodes:
        whole = np.eye(node.cells)
        for table in node.tables:
            whole = whole @ from_weights(table)
        maps.append(whole)
        assert node.local == local_epsilon(node.tables) <= 1.0 + 1e-9
    found = achieved(joint_in(folder / "joint.csv"), maps)
    assert found.information == pytest.approx(design.information, abs=1e-12)
    assert design.information <= 0.2 + 1e-9
    assert design.public_error == pytest.approx(found.public_error, abs=1e-12)
    assert design.public_error < 0.9 * found.public_chance
    assert np.allclose(design.outcomes.sum(axis=(1, 2)), found_prior(folder), atol=1e-12)
    assert len(design.nodes[0].tables) == (1 if architecture == "direct" else 2)
    assert (design.information_upper, design.confidence) == (None, None)
    assert design.nodes[1].high == (5000.0,)
    assert not design.nodes[0].is_outside((1e9,))
    assert design.memoise_steps == 1440


def found_prior(folder):
    return joint_in(folder / "joint.csv").prior.sum(axis=1)


@pytest.mark.parametrize(
    ("architecture", "guarded"), [("local", "local"), ("information", "information")]
)
def test_a_budget_that_an_architecture_does_not_guard_may_be_left_out(
    folder, architecture, guarded
):
    amount = {"local": 1.0, "information": 0.2}[guarded]
    design = build(folder, STATED, architecture=architecture, protect={guarded: amount}).design
    asked = (design.information_asked, design.local_asked)
    assert asked == ((None, 1.0) if guarded == "local" else (0.2, None))
    both = build(folder, STATED, architecture=architecture)
    assert any("does not guard" in line for line in both.warnings)
    with pytest.raises(FormatError, match="the key 'local' is missing; architecture direct"):
        request(folder, STATED, protect={"information": 0.2})


def test_a_log_becomes_a_bundle_with_all_that_was_measured(folder):
    built = build(folder, LOG)
    design, figures = built.design, built.figures
    assert list(read_bundle(write_bundle([design])).designs) == ["room"]
    assert (design.public, design.private) == (("no", "yes"), "occupied: empty, in use")
    assert design.information <= 0.2 + 1e-9
    assert design.information_upper >= design.information
    assert (figures["margin"]["rows"], figures["held_out"]["rows"]) == (600, 600)
    assert figures["held_out"]["public_error"] < figures["held_out"]["public_guess"]
    assert len(figures["reading_information"]) == 2
    assert 0 <= figures["private_leakage"] <= 0.2
    assert "1,400 rows" in design.knowledge[0]
    log = (folder / "room.csv").read_text().splitlines()[1:1401]
    lights = [float(line.split(",")[1]) for line in log]
    ((low,), (high,)) = design.nodes[0].low, design.nodes[0].high
    assert low < min(lights)
    assert max(lights) < high
    assert high - low < 1.6 * (max(lights) - min(lights))


@pytest.mark.parametrize("light", [{"cells": 4}, {"cuts": [300]}], ids=("learnt", "cuts"))
def test_no_reading_of_the_log_ships_as_an_end_of_a_range(folder, light):
    """A bundle goes to every device, and inspect prints it."""
    nodes = [{"name": "light", "columns": ["light"], **light}, yaml.safe_load(LOG)["nodes"][1]]
    built = build(folder, LOG, nodes=nodes)
    header, *rows = [line.split(",") for line in (folder / "room.csv").read_text().splitlines()]
    for one in summarise(built.design)["nodes"]:
        for name, low, high in zip(one["columns"], one["low"], one["high"], strict=True):
            readings = {float(row[header.index(name)]) for row in rows}
            assert not {low, high} & readings


def test_epic_goes_the_way_of_the_others_and_says_how_far_it_is(folder):
    seen = []
    one = request(folder, LOG, architecture="epic")
    built = one.build(seen.append)
    design, joint = built.design, one.material.joint
    assert [line.split(":")[1] for line in seen if line.startswith("epic")] == [
        " start 1 of 2",
        " start 2 of 2",
    ]
    assert list(read_bundle(write_bundle([design])).designs) == ["room"]
    # What ships is worked out from the rounded tables, in the rows as they are.
    maps = [from_weights(*node.tables) for node in design.nodes]
    found = achieved(joint, maps)
    assert design.information == found.information <= 0.2 + 1e-9
    assert design.public_error == found.public_error < 0.9 * found.public_chance
    assert np.allclose(design.outcomes, joint.after(maps).outcomes().sum(axis=1), atol=1e-15)
    assert all(node.local <= 1.0 + 1e-9 for node in design.nodes)
    assert joint.weights.size <= 2 * 2 * 4 * 4
    assert joint.weights.sum() == pytest.approx(1)
    assert built.figures["held_out"]["public_error"] < built.figures["held_out"]["public_guess"]
    assert "without smoothing" in " ".join(built.figures["reading"])


def test_an_epic_that_tells_too_much_is_not_believed(folder, monkeypatch):
    def lying(joint, budgets, options):
        whole = Budgets(local=budgets.local)
        return replace(epic.design_epic(joint, whole, options), budgets=budgets)

    asked = {"information": 0.01, "local": 1.0}
    one = request(folder, LOG, architecture="epic", starts=1, protect=asked)
    monkeypatch.setattr(
        mapping, "solve", lambda m, _, budgets, options, __: lying(m.joint, budgets, options)
    )
    with pytest.raises(SfumatoError, match=r"asked for were 0\.01 and 1"):
        one.build(lambda _: None)


def test_a_constant_epic_is_helped_like_the_others(folder):
    built = build(folder, LOG, architecture="epic", protect={"information": 0.2, "local": 0.001})
    assert built.figures["help"]["direct"] > 0
    assert any("do not help to decide" in line for line in built.warnings)


@pytest.mark.parametrize("architecture", ["direct", "epic"])
def test_regimes_of_the_log_are_each_guarded(folder, architecture):
    built = build(folder, LOG, architecture=architecture, regimes={"every": "6 h"})
    design = built.design
    # 1,400 rows for the design, one a minute, are 24 h: four or five periods of six hours.
    assert design.regimes in (4, 5)
    assert design.information <= design.information_across <= 0.2 + 1e-9
    across = design.information_across
    figures = built.figures["regimes"]
    assert (figures["number"], figures["across"]) == (design.regimes, across)
    # EPIC guards the rows themselves; the others guard smoothed ones, which are not far from them.
    assert figures["rows"] == pytest.approx(across, abs=1e-9 if architecture == "epic" else 0.05)
    assert figures["held_out"] > 0
    assert any("counted in the rows themselves" in line for line in design.knowledge)
    assert any("later rows that the design has not seen, H is" in line for line in design.knowledge)
    said = " ".join(built.words)
    assert f"G is guarded in {design.regimes} regimes of the design's rows, " in said
    content = write_bundle([design])
    assert read_bundle(content).designs["room"].information_across == design.information_across


def test_regimes_may_stand_in_a_column(folder, tmp_path):
    lines = (folder / "room.csv").read_text().splitlines()
    seasons = ("season", *(("winter", "summer")[n // 100 % 2] for n in range(len(lines))))
    told = [f"{line},{season}" for line, season in zip(lines, seasons, strict=False)]
    (tmp_path / "room.csv").write_text("\n".join(told) + "\n")
    built = build(tmp_path, LOG, regimes={"column": "season"})
    assert built.design.regimes == 2
    (by_column,) = [line for line in built.words if line.startswith("G is guarded")]
    assert by_column == (
        "G is guarded in 2 regimes of the design's rows, 4 pairs of a value of G and a regime"
    )


def test_the_same_file_gives_the_same_bytes(folder):
    first, second = (write_bundle([build(folder, LOG).design]) for _ in range(2))
    assert first == second


def test_an_account_lowers_the_local_budget_to_what_it_leaves_each_step(folder):
    built = build(folder, LOG, memoise=None, account={"alpha": 0.5})
    design = built.design
    assert (design.repeats, design.limit, design.memoise_steps) == ("accounted", 0.5, None)
    assert all(node.local <= built.figures["local_budget"] + 1e-9 for node in design.nodes)
    assert built.figures["local_budget"] < 0.5
    assert any("the account of alpha 0.5 leaves" in line for line in built.warnings)
    read_bundle(write_bundle([design]))
    alone = build(
        folder,
        LOG,
        memoise=None,
        account={"alpha": 0.5},
        architecture="direct",
        protect={"information": 0.2},
    )
    assert alone.design.local_asked is None


def test_a_margin_lowers_the_models_budget_until_the_log_confirms_it(folder, monkeypatch):
    seen = []

    def bound(maps, rows, *, block_seconds, confidence):
        found = achieved(request_.material.joint, maps).information
        seen.append(confidence)
        return Margin(2 * found, confidence, 10, 600, by_local=False)

    monkeypatch.setattr(mapping, "information_upper", bound)
    request_ = request(
        folder, LOG, margin={"confidence": 0.9, "block": "30 min"}, protect=strict(local=3.0)
    )
    built = request_.build(lambda _: None)
    margin = built.figures["margin"]
    assert margin["kept"]
    assert margin["upper"] <= 0.02
    assert 0.005 <= built.figures["model_budget"] <= 0.01 + 1e-9
    assert seen == [pytest.approx(1 - 0.1 / 8)] * len(margin["tried"])
    assert built.design.confidence == 0.9


def strict(local):
    return {"information": 0.02, "local": local}


def test_a_log_that_cannot_confirm_the_budget_is_said_with_both_numbers(folder):
    built = build(folder, LOG, margin={"block": "1 h"}, protect=strict(local=3.0))
    (warning,) = [line for line in built.warnings if "does not confirm" in line]
    assert not built.figures["margin"]["kept"]
    assert f"{amount_in_words(built.design.information, 0.02)} in the model" in warning
    assert built.figures["model_budget"] == 0.02


def test_local_budgets_alone_can_confirm_the_other(folder):
    built = build(folder, LOG, margin={}, protect={"information": 0.2, "local": 0.1})
    assert built.figures["margin"]["kept"]
    assert built.design.information_upper <= 0.2


@pytest.mark.parametrize(
    "protect", [{"information": 0, "local": 1}, {"information": 1, "local": 0}]
)
def test_a_budget_of_zero_is_the_constant_map_with_a_warning(folder, protect):
    built = build(folder, STATED, protect=protect)
    assert built.design.information <= 1e-12
    assert all(node.local == 0 for node in built.design.nodes)
    assert any("constant" in line for line in built.warnings)


def test_a_design_that_does_not_help_says_what_would(folder):
    built = build(folder, STATED, protect={"information": 1e-4, "local": 1e-3})
    (words,) = [line for line in built.warnings if "do not help to decide" in line]
    assert "Neither ILL nor LIP nor one direct map helps" in words
    assert "with nothing hidden" in words
    assert built.figures["help"]["whole"] < built.design.public_chance


def test_a_stated_g_that_is_constant_is_a_warning_and_a_logged_one_a_refusal(folder, tmp_path):
    cells = np.zeros((2, 1, 2, 3))
    cells[0, 0, 0, 0] = cells[1, 0, 1, 2] = 0.5
    write_joint(tmp_path / "joint.csv", cells)
    built = build(tmp_path, STATED)
    assert any("G takes one value only" in line for line in built.warnings)
    write_room(tmp_path / "room.csv", 5)
    with pytest.raises(SfumatoError, match="one value in all"):
        request(tmp_path, LOG)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("n,o,0,0,0.3", r"sum to 0\.8; expected 1"),
        ("n,o,0,1,0.5\nn,o,0,1,0.1", "line 4: the same h, g and cells"),
        ("n,o,2,0,0.5", "line 3: light is '2'; expected a cell, a number from 0 to 1"),
        ("n,o,0,-1,0.5", "line 3: air is '-1'; expected a cell"),
        ("n,o,0,0,-0.5", "line 3: p is '-0.5'; expected a probability"),
        ("n,o,0,0,half", "line 3: p is 'half'; expected a probability"),
        ("n,,0,0,0.5", "line 3: g is empty"),
        ("n,o,0,0", "line 3: 4 cells; expected 5"),
        ("y,i,0,0,0.5", "h has one value only"),
    ],
)
def test_a_joint_that_is_none_is_refused_by_line(tmp_path, line, message):
    (tmp_path / "joint.csv").write_text(f"h,g,light,air,p\ny,o,0,0,0.5\n{line}\n")
    with pytest.raises(SfumatoError, match=message):
        request(tmp_path, STATED)
    (tmp_path / "joint.csv").write_text("h,g,licht,air,p\ny,o,0,0,0.5\n")
    with pytest.raises(SfumatoError, match="line 1 is not the header h, g, light, air, p"):
        request(tmp_path, STATED)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"architecure": "lip"}, "unknown key 'architecure'; did you mean 'architecture'"),
        ({"architecture": "both"}, "expected one of direct, ill, lip"),
        ({"joint": "joint.csv"}, "found both of log and joint"),
        ({"log": None}, "found neither of log and joint"),
        ({"memoise": None}, "found neither of memoise and account"),
        ({"account": {"alpha": 1}}, "found both of memoise and account"),
        ({"protect": {"information": -1, "local": 1}}, "expected nats from 0"),
        ({"protect": {"information": math.inf, "local": 1}}, "finite number"),
        ({"margin": {"confidence": 1.5}}, "expected a number between 0 and 1"),
        ({"regimes": {"every": "1 d", "column": "x"}}, "regimes: found both of every and column"),
        ({"regimes": {}}, "regimes: found neither of every and column"),
        ({"regimes": {"column": "occupid"}}, "did you mean 'occupied'"),
        ({"regimes": {"every": "1 d"}, "architecture": "local"}, "local does not guard G"),
        ({"symbols": 300}, "symbols: found 300; expected 2 to 64"),
        ({"middle": 1}, "middle: found 1; expected 2 to"),
        ({"smoothing": {"weight": 2}}, "smoothing: the weight is 2"),
        ({"public": {"column": "ventilat"}}, "did you mean 'ventilate'"),
        ({"public": {"column": "co2", "above": "mean"}}, "above: found 'mean'"),
        ({"private": {"column": "occupied", "names": ["empty"]}}, "complete names"),
        (
            {"nodes": [{"name": "a", "columns": ["light"], "quantiser": "trees"}]},
            "quantile, kmeans",
        ),
        (
            {"nodes": [{"name": "a", "columns": ["co2", "light"], "quantiser": "quantile"}]},
            "quantile takes one column",
        ),
        ({"nodes": [{"name": "a", "columns": ["light"], "cuts": [5, 3]}]}, "cuts do not ascend"),
        ({"nodes": [{"name": "a b", "columns": ["light"]}]}, "expected letters A to Z"),
        ({"nodes": [{"name": "a", "columns": ["light"]}] * 2}, "same name"),
    ],
)
def test_what_is_wrong_is_said_with_the_way_out(folder, changes, message):
    with pytest.raises(SfumatoError, match=message):
        request(folder, LOG, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"memoise": None, "account": {"alpha": 1}}, "says nothing about repeats"),
        ({"regimes": {"every": "1 d"}}, "a stated joint has none"),
        ({"smoothing": {"weight": 1}}, "taken as it is"),
        ({"margin": {"confidence": 0.9}}, "needs rows that the design does not see"),
        ({"nodes": [{"name": "light", "columns": ["lux"]}]}, "the key 'cuts' is missing"),
    ],
)
def test_a_stated_joint_has_no_rows_to_learn_from(folder, changes, message):
    with pytest.raises(SfumatoError, match=message):
        request(folder, STATED, **changes)


def test_the_stated_joint_of_the_documentation_is_designed(tmp_path):
    page = (REPOSITORY / "docs/mapping.md").read_text()
    (table,) = re.findall(r"```csv\n(.*?)```", page, re.S)
    (tmp_path / "joint.csv").write_text(table)
    document = Section(yaml.safe_load(file_in(page, "stated.yaml")), "stated.yaml")
    (one,) = read_requests(document, tmp_path)
    design = one.build(lambda _: None).design
    assert design.private == "g: empty, in use"
    assert design.public_error < design.public_chance


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"symbols": 1}, "symbols: found 1; expected 2 to 64"),
        ({"middle": 1, "architecture": "lip"}, "middle: found 1; expected 2 to 256"),
        ({"memoise": "90 s"}, "memoise: found 1.5 steps; expected a whole number"),
        ({"protect": {"information": 0.2, "local": 1000}}, "local: found 1000; expected nats"),
        ({"seed": -1}, "seed: found -1; expected a whole number from 0"),
    ],
)
def test_a_key_that_could_only_mislead_is_refused(folder, changes, words):
    with pytest.raises(FormatError, match=re.escape(words)):
        request(folder, STATED, **changes)


def test_a_column_that_stands_twice_in_the_header_is_refused(folder, tmp_path):
    rows = (folder / "room.csv").read_text().splitlines()
    rows[0] = rows[0].replace("humidity", "co2")
    (tmp_path / "room.csv").write_text("\n".join(rows) + "\n")
    nodes = [{"name": "air", "columns": ["co2"], "cells": 4}]
    with pytest.raises(FormatError, match="2 times; give the column's number"):
        build(tmp_path, LOG, nodes=nodes)


def test_symbols_that_fail_on_later_rows_are_warned_of(folder, tmp_path):
    rows = (folder / "room.csv").read_text().splitlines()
    place = rows[0].split(",").index("ventilate")
    for number in range(1401, len(rows)):  # what the design has not seen is the other way round
        cells = rows[number].split(",")
        cells[place] = {"yes": "no", "no": "yes"}[cells[place]]
        rows[number] = ",".join(cells)
    (tmp_path / "room.csv").write_text("\n".join(rows) + "\n")
    assert any("on the 600 later rows" in line for line in build(tmp_path, LOG).warnings)
    assert not any("later rows" in line for line in build(folder, LOG).warnings)
