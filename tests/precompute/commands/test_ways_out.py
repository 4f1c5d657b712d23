"""A faulty row is refused by every command with the way out that this command has."""

import pytest
from fakes.designs import write_designs
from fakes.mapping_designs import room_mapping

from agent.cli import main

WAYS = ("give --repair", "set repair: true under source", "set repair: true under log")
TRACE = "time,lat,lon\n1700006400,48.2,16.4\n1700006460,400.5,16.4\n1700006520,48.2,16.4\n"
ROOM = "time,light,temp,h,g\n1700006400,1,2,a,b\n1700006460,,2,b,a\n1700006520,1,2,a,b\n"
STATES = "time,state\n1700006400,fine\n1700006460,\n"
INTERVALS = "2030-01-01 02:00:00,2030-01-01 03:00:00,a\n2030-01-01 02:30:00,2030-01-01 04:00:00,b\n"
DESIGN = """
designs:
  - name: room
    kind: mapping
    step: 1 min
    protect: {information: 0.2, local: 1.0}
    public: {column: h}
    private: {column: g}
    log: {path: room.csv, columns: {time: time}}
    nodes: [{name: light, columns: [light, temp]}]
    memoise: 1 h
"""
AGENT = """
device: hub
bundle: {path: one.bundle, sha256: "%s"}
channels:
  - name: light
    kind: mapping
    design: room
    node: light-1
    source: {kind: replay, path: room.csv, columns: {time: time, values: [light, temp]}}
    cadence: {every: 1 min}
    publish: {topic: home/light}
"""


@pytest.mark.parametrize(
    ("words", "way"),
    [
        ("fit trace.csv -o prior.yaml", WAYS[0]),
        ("leakage learn trace.csv --cell 1km --step 1min -o m.csv", WAYS[0]),
        ("leakage learn states.txt --states --step 1min -o m.csv", WAYS[0]),
        ("demo --trace trace.csv -o out", WAYS[0]),
        ("run agent.yaml", WAYS[1]),
        ("design design.yaml -o new.bundle", WAYS[2]),
        ("listen t --decide one.bundle --truth truth.csv", None),
    ],
    ids=range(7),
)
def test_a_command_names_the_way_out_that_it_has(tmp_path, monkeypatch, capsys, words, way):
    monkeypatch.chdir(tmp_path)
    digest = write_designs(tmp_path / "one.bundle", [room_mapping()])
    files = {"trace.csv": TRACE, "room.csv": ROOM, "truth.csv": STATES, "states.txt": INTERVALS}
    files |= {"design.yaml": DESIGN, "agent.yaml": AGENT % digest}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert main(words.split()) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "line " in said
    assert [one for one in WAYS if one in said] == ([] if way is None else [way])
    assert "--repair" not in said or way == WAYS[0]
    assert "400.5" not in said
