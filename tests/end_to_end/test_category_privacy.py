"""A category channel keeps the rules: nothing raw stored or said, and nothing drawn twice."""

import json
import logging
from dataclasses import replace

import pytest
from fakes.agents import finish, run_here, start, start_python
from fakes.designs import write_designs
from fakes.fault_broker import FaultBroker

from agent.entropy import SeededNormals
from agent.formats.state_json import decode_state_message
from agent.state_folder import FILE_NAME
from agent.store import Store
from tests.agent.example_designs import rooms

STEP = 600
START = 1_700_000_400  # Unix seconds, a multiple of the step
KNOWN = "canary-in-the-bedroom"
UNKNOWN = "canary-at-the-clinic"


def write_agent(folder, port, design, states, *, bundle="rooms.bundle"):
    """``agent.yaml`` with one category channel, its bundle and its recording."""
    digest = write_designs(folder / bundle, [design])
    lines = [f"{START + number * STEP},{state}" for number, state in enumerate(states)]
    (folder / "states.csv").write_text("\n".join(["time,state", *lines]) + "\n")
    config = folder / "agent.yaml"
    config.write_text(
        f"""
device: phone
bundle: {{path: {bundle}, sha256: "{digest}"}}
state: state
broker: {{host: 127.0.0.1, port: {port}}}
channels:
  - name: rooms
    kind: category
    design: rooms
    source: {{kind: replay, path: states.csv, speed: max}}
    cadence: {{every: 10 min}}
    publish: {{topic: home/alice/room}}
"""
    )
    return config


def run_planted(tmp_path, capfd, caplog, design, states):
    """What was stored (read before and after the end), said and sent."""
    caplog.set_level(logging.DEBUG)
    stored = bytearray()

    def read_the_store():
        for path in sorted((tmp_path / "state").iterdir()):
            stored.extend(path.read_bytes())

    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port, design, states)
        summary, said = run_here(config, normals=SeededNormals(5), before_close=read_the_store)
    read_the_store()
    captured = capfd.readouterr()
    words = "\n".join([*said, captured.out, captured.err, caplog.text]).encode()
    payloads = [message.payload for message in broker.published]
    return summary, bytes(stored), words, bytes(broker.received), payloads


def without(content, payloads):
    """The bytes without the payloads, which may hold a state as a released one."""
    for payload in set(payloads):
        content = content.replace(payload, b"")
    return content


def test_an_unknown_state_leaves_no_trace(tmp_path, capfd, caplog):
    design = rooms(elsewhere="hall")
    summary, stored, words, wire, _ = run_planted(tmp_path, capfd, caplog, design, [UNKNOWN] * 40)
    assert summary.counts["releases"] == 40
    assert b"clinic" not in stored + words + wire


def test_a_refused_state_leaves_no_trace_but_a_count(tmp_path, capfd, caplog):
    summary, stored, words, wire, _ = run_planted(tmp_path, capfd, caplog, rooms(), [UNKNOWN] * 40)
    assert summary.counts["releases"] == 0
    assert b"clinic" not in stored + words + wire
    assert b"a state that the design does not know" in stored
    assert b"refused: a state that the design does not know 40" in summary.line().encode()


def test_a_known_state_shows_as_a_released_one_only(tmp_path, capfd, caplog):
    design = rooms(states=(KNOWN, "hall", "attic"))
    summary, stored, words, wire, payloads = run_planted(
        tmp_path, capfd, caplog, design, [KNOWN] * 60
    )
    assert summary.counts["releases"] == 60
    released = [decode_state_message(payload).state for payload in payloads]
    assert wire.count(KNOWN.encode()) == released.count(KNOWN) > 0  # the search does find it
    assert set(released) == set(design.states)
    assert KNOWN.encode() not in without(wire, payloads)
    assert KNOWN.encode() not in without(stored, payloads)
    assert KNOWN.encode() not in words


def test_a_known_state_that_is_not_released_is_nowhere(tmp_path, capfd, caplog):
    # One release for all: the seed of the operating system is not ours, so try until it is
    # another state than the true one (2 in 3 of the first releases are).
    design = replace(rooms(states=(KNOWN, "hall", "attic")), policy="memoised", memoise_steps=1000)
    for attempt in range(60):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        _, stored, words, wire, payloads = run_planted(folder, capfd, caplog, design, [KNOWN] * 20)
        if decode_state_message(payloads[0]).state != KNOWN:
            break
    assert KNOWN.encode() not in stored + words + wire


def by_time(broker):
    """t -> the different payloads seen for it."""
    found = {}
    for message in broker.published:
        found.setdefault(json.loads(message.payload)["t"], set()).add(message.payload)
    return found


@pytest.mark.parametrize(
    ("point", "count"),
    [("before commit", 1), ("inside commit", 1), ("after commit", 1), ("after publish", 7)],
)
def test_a_crash_resends_the_same_bytes_and_spends_nothing_twice(tmp_path, point, count):
    states = ["bed", "hall", "küche", "hall"] * 100
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port, rooms(horizon=500), states)
        killed = start_python("-m", "fakes.killed_agent", config, point, count)
        assert finish(killed)[0] == -9
        with Store(tmp_path / "state") as store:
            stored = [row.payload for row in store.waiting(0, 1000)]
        code, _, words = finish(start("run", config))
        assert code == 0, words
        seen = by_time(broker)
    assert len(seen) == len(states)
    assert [payloads for payloads in seen.values() if len(payloads) > 1] == []
    assert set(stored) <= {payload for payloads in seen.values() for payload in payloads}
    budgets = [json.loads(next(iter(seen[time])))["epsilon"] for time in sorted(seen)]
    # One beginning only: the account went on where the crash had left it.
    assert budgets[0] == 0
    assert min(budgets[1:]) > 0


def test_a_deleted_account_is_met_with_a_release_that_says_nothing(tmp_path):
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port, rooms(), ["bed"] * 10)
        assert finish(start("run", config))[0] == 0
        for path in (tmp_path / "state").iterdir():
            path.unlink()
        assert finish(start("run", config))[0] == 0
        budgets = [json.loads(message.payload)["epsilon"] for message in broker.published]
    assert [place for place, budget in enumerate(budgets) if budget == 0] == [0, 10]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("every: 10 min", "every: 5 min", "design 'rooms' is made for a step of 600 s"),
        ("{every: 10 min}", "{on: reading}", "comes with every reading; design 'rooms'"),
        ("kind: category", "kind: scalar\n    unit: Cel", "is for states"),
        ("path: states.csv", "path: states.csv, columns: {time: time}", "columns lacks 'state'"),
        ("kind: category", "kind: category\n    unit: Cel", "unknown key 'unit'"),
        ("home/alice/room", "home/alice/room, format: owntracks", "expected one of json"),
    ],
    ids=range(6),
)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, old, new, expected):
    config = write_agent(tmp_path, 9, rooms(), ["bed"] * 3)
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new))
    code, out, err = finish(start("run", config))
    assert (code, out) == (2, "")
    assert expected in err
    assert not (tmp_path / "state" / FILE_NAME).exists()
