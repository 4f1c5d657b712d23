"""A design of mappings that cannot be used: which, where, what was found, what was expected."""

import re

import pytest
import yaml

from agent.formats.documents import Section
from agent.formats.errors import SfumatoError
from precompute.design_config import read_requests

STATED = """
name: room
kind: mapping
step: 1 min
protect: {information: 0.5, local: 1.0}
joint: joint.csv
nodes:
  - {name: light, columns: [lux], cuts: [100]}
  - {name: air, columns: [co2], cuts: [600, 1000]}
memoise: 1 h
"""
JOINT = """\
h,g,light,air,p
no,empty,0,0,0.5
no,in use,1,1,0.25
yes,in use,1,2,0.25
"""
LOG = """
name: room
kind: mapping
step: 1 min
protect: {information: 0.5, local: 1.0}
public: {column: ventilate}
private: {column: occupied}
log: {path: [monday.csv, tuesday.csv], columns: {time: time}}
nodes:
  - {name: light, columns: [light], cells: 4}
memoise: 1 h
"""
WHERE = "design.yaml.designs[1]"
NODES = WHERE + ".nodes[1]"
ROOM = f"{WHERE}: design 'room'"


def _refusal(folder, text, change):
    content = yaml.safe_load(text)
    other = yaml.safe_load(STATED) | {"name": "hall"}
    for path, value in change.items():
        place = content
        *steps, last = path.split(".")
        for step in steps:
            place = place[int(step) if step.isdecimal() else step]
        place[last] = value
    with pytest.raises(SfumatoError) as refused:
        read_requests(Section({"designs": [other, content]}, "design.yaml"), folder)
    said = str(refused.value)
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("change", "where", "words"),
    [
        ({"nodes.1.cuts": [1000, 600]}, f"{ROOM}: node 'air': ", "cut 2 is not above"),
        ({"nodes.1.cuts": list(range(300))}, f"{ROOM}: node 'air': ", "301 cells; expected 1 to"),
        ({"nodes.1.name": "a" * 41}, f"{NODES}.name: ", "found 41 letters; expected at most 40"),
        ({"symbols": 65}, f"{WHERE}.symbols: ", "found 65; expected 2 to 64"),
        ({"symbols": 1}, f"{WHERE}.symbols: ", "a single symbol says nothing"),
        ({"middle": 257}, f"{WHERE}.middle: ", "found 257; expected 2 to 256"),
        ({"horizon": 4097}, f"{WHERE}.horizon: ", "found 4097; expected at most 4096"),
        ({"public": {"names": ["no"]}}, f"{ROOM}: ", "joint.csv: h has 1 values .* is 'yes'"),
        ({"joint": "lost.csv"}, f"{ROOM}: ", "lost.csv: no such file"),
    ],
)
def test_keys_are_refused_before_any_search_with_their_place(tmp_path, change, where, words):
    (tmp_path / "joint.csv").write_text(JOINT)
    said = _refusal(tmp_path, STATED, change)
    assert said.startswith(where)
    assert re.search(words, said)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("no,empty,0,1,x", "line 5: p is 'x'; expected a probability, from 0 to 1"),
        ("no,empty,0,3,0", "line 5: air is '3'; expected a cell, a number from 0 to 2"),
        ("no,empty,0", "line 5: 3 cells; expected 5, one for each column"),
        ("no,empty,0,1,0.5", "the probabilities sum to 1.5; expected 1"),
    ],
)
def test_a_line_of_a_stated_joint_is_refused_by_its_number(tmp_path, line, words):
    (tmp_path / "joint.csv").write_text(JOINT)
    (tmp_path / "wrong.csv").write_text(f"{JOINT}{line}\n")
    said = _refusal(tmp_path, STATED, {"joint": "wrong.csv"})
    assert said.startswith(f"{ROOM}: {tmp_path / 'wrong.csv'}: {words}")


def _day(first, *, light="7.25"):
    rows = (
        f"{first + 60 * k},{light},{'yes' if k % 3 else 'no'},{'in' if k % 2 else '-'}\n"
        for k in range(40)
    )
    return "time,light,ventilate,occupied\n" + "".join(rows)


@pytest.mark.parametrize(
    ("first", "light", "words"),
    [
        (1_700_000_600, "7.25", "monday.csv and .*tuesday.csv overlap in time; expected"),
        (1_700_086_400, "7.25x", "tuesday.csv: line 2: .*not a finite number"),
    ],
)
def test_a_log_is_refused_by_file_and_line_and_no_reading_is_shown(tmp_path, first, light, words):
    (tmp_path / "joint.csv").write_text(JOINT)
    (tmp_path / "monday.csv").write_text(_day(1_700_000_000))
    (tmp_path / "tuesday.csv").write_text(_day(first, light=light))
    said = _refusal(tmp_path, LOG, {})
    assert said.startswith(f"{ROOM}: ")
    assert re.search(words, said)
    assert "7.25" not in said


def test_smoothing_out_of_range_is_refused_with_its_place(tmp_path):
    (tmp_path / "joint.csv").write_text(JOINT)
    said = _refusal(tmp_path, LOG, {"smoothing": {"weight": 2}})
    assert said.startswith(f"{WHERE}: smoothing: the weight is 2; expected above 0 to 1")
