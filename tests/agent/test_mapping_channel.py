"""A node's channel: what it takes, refuses, counts and sends, and what its agent is refused for."""

import json
import math
import random

import pytest
from fakes.designs import location_stream, write_designs
from fakes.mapping_designs import STEP_MS, accounted_mapping, room_mapping

from agent.cadence import CadenceSettings
from agent.channels import Channel
from agent.cli import main
from agent.formats.column_files import read_column_file
from agent.formats.errors import FormatError
from agent.formats.mapping_entry import mapping_design_digest
from agent.formats.mapping_json import decode_mapping_message
from agent.health import decode_report, encode_report
from agent.kinds import NOT_FINITE
from agent.mapping_kind import OUTSIDE, WRONG_NUMBER, MappingKind
from agent.readings import Reading
from agent.sanitise.mapping import MappingSanitiser
from agent.store import ChannelPosition

FRESH = ChannelPosition(None, 0, 0, 1, None)
START = 1_700_006_400_000


class SeededBits:
    def __init__(self, seed):
        self._random = random.Random(seed)

    def bits(self, number):
        return self._random.getrandbits(number)


def channel(design, node="light-1", seed=1, hold_steps=0):
    one = design.node(node)
    return Channel(
        name="a",
        device="hub",
        topic="t",
        kind=MappingKind(design, one),
        cadence=CadenceSettings(design.step_ms, hold_steps * design.step_ms),
        design=design,
        sanitiser=MappingSanitiser(design, one, SeededBits(seed)),
        position=FRESH,
    )


def reading(step, *values):
    return Reading(START + step * STEP_MS, values)


def test_only_the_listed_fields_leave_the_device():
    design = room_mapping()
    subject = channel(design)
    for step in range(4):
        subject.take(reading(step, 31.415, 27.182))
    outgoing, _ = subject.take_batch()
    for step, one in enumerate(outgoing):
        message = decode_mapping_message(one.payload)
        assert message.design == mapping_design_digest(design).hex()[:16]
        assert (message.node, message.time_ms) == ("light-1", START + step * STEP_MS)
        assert set(json.loads(one.payload)) == {"design", "id", "node", "t", "z"}
    assert len({decode_mapping_message(one.payload).symbol for one in outgoing}) == 1
    report = subject.take_report()
    assert report.account is None
    assert "no account over time" in str(report.unaccounted)


def test_wrong_readings_are_refused_and_ones_outside_are_counted_and_used():
    subject = channel(room_mapping())
    wrong = ((math.nan, 1.0), (1.0, math.inf), (1.0,), (1.0, 2.0, 3.0), ())
    for step, values in enumerate(wrong):
        subject.take(reading(step, *values))
    for step, values in enumerate(((-5.0, 1.0), (1.0, 1e300), (0.0, 100.0)), len(wrong)):
        subject.take(reading(step, *values))
    assert subject.counts[f"refused: {NOT_FINITE}"] == 2
    assert subject.counts[f"refused: {WRONG_NUMBER}"] == 3
    assert subject.counts[OUTSIDE] == 2
    assert subject.counts["releases"] == 3
    report = subject.take_report()
    assert decode_report(encode_report(report)).counts[OUTSIDE] == 2


def test_held_slots_repeat_the_last_symbol_and_cost_nothing():
    """Fresh symbols for one reading would be several looks at it."""
    for seed in range(20):
        accounts = []
        for hold_steps in (5, 0):
            subject = channel(accounted_mapping(), seed=seed, hold_steps=hold_steps)
            for step in (0, 1, 6):
                subject.take(reading(step, 1.0, 1.0))
            outgoing, _ = subject.take_batch()
            said = [decode_mapping_message(one.payload).symbol for one in outgoing]
            accounts.append(subject.take_report().account)
            assert len(said) == (7 if hold_steps else 3)
            assert not hold_steps or len(set(said[1:6])) == 1
        assert accounts[0] == accounts[1]


def write(tmp_path, channels, designs=None):
    digest = write_designs(tmp_path / "room.bundle", designs or [room_mapping(), location_stream()])
    (tmp_path / "log.csv").write_text(
        "time,light,temp\n1700006400,1.5,2.5\n1700006460,1.5,2.5\n1700006520,1.5,2.5\n"
    )
    lines = [f'device: hub\nbundle: {{path: room.bundle, sha256: "{digest}"}}\nchannels:']
    for number, changes in enumerate(channels):
        values = {
            "kind": "mapping",
            "design": "room",
            "node": "light-1",
            "source": "{kind: replay, path: log.csv, speed: max, "
            "columns: {time: time, values: [light, temp]}}",
            "cadence": "{every: 1 min}",
            "publish": "{topic: home/light}",
            **changes,
        }
        lines.append(f"  - name: c{number}")
        lines += [f"    {key}: {value}" for key, value in values.items() if value is not None]
    path = tmp_path / "agent.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


COLUMNS = "{kind: replay, path: log.csv, columns: {time: time, values: %s}}"


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        ([{"node": "attic"}], "no node 'attic'; it has light-1, co2, sound"),
        ([{"node": None}], "the key 'node' is missing"),
        ([{"design": "location"}], "needs a design of the kind mapping"),
        ([{"kind": "category", "node": None}], "no other channel can use one"),
        ([{"cadence": "{every: 2 min}"}], "is made for a step of 60 s"),
        ([{"cadence": "{on: reading}"}], "comes with every reading"),
        ([{}, {}], "node 'light-1' is already channel 'c0'"),
        ([{"source": COLUMNS % "light"}], "1 value columns; node 'light-1' takes 2: S1_Light"),
        ([{"source": COLUMNS % "[light, temp, temp]"}], "3 value columns"),
        ([{"source": "{kind: replay, path: log.csv}"}], "0 value columns"),
        ([{"source": COLUMNS % "[light, heat]"}], "no column 'heat'"),
        (
            [{"source": COLUMNS % "[s1_temp, S1_Light]"}],
            "node 'light-1' takes the same in another order; write values: [S1_Light, S1_Temp]",
        ),
        ([{"source": COLUMNS % "[light, true]"}], "expected a column's name"),
    ],
    ids=range(13),
)  # fmt: skip
def test_what_does_not_fit_is_refused_at_the_start(tmp_path, capsys, channels, message):
    assert main(["run", str(write(tmp_path, channels))]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "state").exists()


def test_a_table_of_several_columns_in_any_order(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "b;a;day;clock;c\n1,5;200;2030-01-01;00:00:00;-300\n2;3;2030-01-01;00:00:30;4\n"
    )
    columns = {"time": ["day", "clock"], "values": ["a", "c", 1]}
    file = read_column_file(path, columns=columns)
    assert [list(column) for column in file.values] == [[200, 3], [-300, 4], [1.5, 2]]
    assert list(file.times_seconds) == [1893456000, 1893456030]
    # Two columns are no position: 200 is no latitude, and is taken.
    two = read_column_file(path, columns={"time": ["day", "clock"], "values": ["a", "c"]})
    assert list(two.values[0]) == [200, 3]
    one = read_column_file(path, columns={"time": ["day", "clock"], "value": "b"})
    assert list(one.values[0]) == [1.5, 2]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"time": "t", "values": []}, "one column a key"),
        ({"time": "t"}, "lacks 'values'"),
        ({"values": ["a"]}, "lacks 'time'"),
        ({"time": "t", "values": ["a"], "trace": "a"}, "'trace'"),
        ({"time": "t", "values": ["a"], "value": "a"}, "'value'"),
        ({"time": "t", "values": [2, 9]}, "from 1"),
    ],
    ids=range(6),
)
def test_columns_that_are_not_there_are_refused(tmp_path, columns, message):
    path = tmp_path / "log.csv"
    path.write_text("t,a,b\n1700006400,1,2\n1700006460,3,4\n")
    with pytest.raises(FormatError, match=message):
        read_column_file(path, columns=columns)


def test_a_faulty_row_is_refused_by_its_line_or_dropped(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,a,b\n1700006400,1,2\n1700006460,,31.415\n1700006520,3,4\n")
    columns = {"time": "t", "values": ["a", "b"]}
    with pytest.raises(FormatError, match="line 3: value 1 missing or not a finite") as refusal:
        read_column_file(path, columns=columns)
    assert "31.415" not in str(refusal.value)
    file = read_column_file(path, columns=columns, repair=True)
    assert [list(column) for column in file.values] == [[1, 3], [2, 4]]
