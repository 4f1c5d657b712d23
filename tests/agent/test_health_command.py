"""``sfumato health``: what is stored is shown, what is wrong is said, nothing is disturbed."""

import json
import os
import sqlite3
import time
from dataclasses import replace

import pytest
from fakes.agents import finish, run_here, start, write_agent, write_walk
from fakes.designs import location_stream
from fakes.fault_broker import FaultBroker

from agent.channels import report_at_start
from agent.cli import main
from agent.commands.health import find_problems
from agent.entropy import SeededNormals
from agent.formats.bundle import design_digest
from agent.formats.errors import FormatError
from agent.health import Account, ChannelReport, decode_report, encode_report
from agent.mapping_kind import OUTSIDE
from agent.state_folder import FILE_NAME
from agent.state_reading import Snapshot, read_snapshot
from agent.store import Advance, ChannelPosition, Outgoing, Store
from tests.agent.example_designs import rooms

REPORT = ChannelReport(
    design="rooms",
    design_sha256="d" * 64,
    counts={"readings": 12, "refused: not on Earth": 2, "releases": 9},
    released_ms=1_700_000_400_000,
    segments_used=1,
    segments_allowed=4,
    last_refusal="not on Earth",
    account=Account(1.0, 0.9812, 0.5, 9),
)


def stored(tmp_path, report=REPORT, outgoing=(), parked=()):
    folder = tmp_path / "state"
    with Store(folder) as store:
        store.commit(reports={"rooms": report}, outgoing=outgoing)
        store.commit(parked=parked)
    return folder


def health(place, capsys, *words):
    code = main(["health", str(place), *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_stopped_agent_in_words_and_as_json(tmp_path, capsys):
    folder = stored(tmp_path)
    code, out, err = health(folder, capsys)
    assert (code, err) == (0, "")
    for words in (
        "no agent is running",
        "rooms: 9 releases, the last one for 2023-11-14T22:20:00Z",
        "outbox: 0 waiting, 0 parked",
        "refused: 2 not on Earth (the last reason)",
        "design rooms: 1 of 4 segments",
        "TPL 0.9812 of 1 (",
        "\nhealthy\n",
    ):
        assert words in out
    code, out, _ = health(folder, capsys, "--json")
    found = json.loads(out)
    assert (code, found["healthy"], found["running"], found["problems"]) == (0, True, False, [])
    (channel,) = found["channels"]
    assert (channel["tpl_worst"], channel["tpl_limit"]) == (0.9812, 1.0)
    assert (channel["refused"], channel["last_refusal"]) == ({"not on Earth": 2}, "not on Earth")


def test_looking_changes_nothing_and_leaves_nothing_behind(tmp_path, capsys):
    folder = stored(tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    folder.chmod(0o500)
    try:
        assert health(folder, capsys)[0] == 0
    finally:
        folder.chmod(0o700)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_agent_that_holds_the_folder_is_seen_and_not_hindered(tmp_path, capsys):
    folder = tmp_path / "state"
    with Store(folder) as store:
        store.commit(reports={"rooms": REPORT}, outgoing=[Outgoing("rooms", 1, "t", b"p")])
        code, out, _ = health(folder, capsys, "--json")
        found = json.loads(out)
        assert (code, found["running"], found["channels"][0]["waiting"]) == (0, True, 1)
        store.commit(outgoing=[Outgoing("rooms", 2, "t", b"p")])
    assert {path.name for path in folder.iterdir()} == {FILE_NAME, "lock"}
    code, out, _ = health(folder, capsys)
    assert code == 1
    assert "stopped with 2 releases that no broker acknowledged" in out


def test_an_agent_is_watched_while_it_runs_and_after(tmp_path, capsys):
    write_walk(tmp_path / "walk.csv", 400)
    with FaultBroker() as broker:
        broker.faults.ack = False  # so that the run cannot end by itself
        config = write_agent(tmp_path, broker.port)
        process = start("run", config)
        try:
            deadline = time.monotonic() + 30
            while len(broker.published) < 16 and time.monotonic() < deadline:
                time.sleep(0.01)
            code, out, _ = health(config, capsys, "--json")
            found = json.loads(out)
            assert (code, found["running"]) == (0, True)
            assert found["channels"][0]["waiting"] > 0
        finally:
            process.terminate()
            finish(process)
        broker.faults.ack = True
        assert finish(start("run", config))[0] == 0
    code, out, _ = health(config, capsys, "--json")
    found = json.loads(out)
    assert (code, found["running"], found["healthy"]) == (0, False, True)
    (channel,) = found["channels"]
    # Both runs together; the second saw the recording from its start again.
    assert (channel["releases"], channel["waiting"], channel["parked"]) == (400, 0, 0)
    assert channel["readings"] == 400 + sum(channel["refused"].values())
    assert channel["tpl_worst"] is None


def test_a_refused_topic_is_a_problem(tmp_path, capsys):
    write_walk(tmp_path / "walk.csv", 5)
    with FaultBroker() as broker:
        broker.faults.refuse_topic = "owntracks/alice/phone"
        config = write_agent(tmp_path, broker.port)
        run_here(config, normals=SeededNormals(1))
    code, out, _ = health(config, capsys)
    assert code == 1
    assert "the broker refused 5 releases for good (parked)" in out
    assert out.endswith("not healthy\n")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"failure": "disk gone"}, "source failed: disk gone"),
        ({"standing": "the allowance is spent"}, "readings are refused: the allowance is spent"),
        ({"account": Account(1.0, 1.01, 1.01, 9)}, "has passed its limit"),
    ],
    ids=range(3),
)
def test_what_is_wrong_is_said(changes, words):
    report = ChannelReport(**{name: getattr(REPORT, name) for name in REPORT.__slots__} | changes)
    (problem,) = find_problems(Snapshot({"rooms": report}, {}, 0o700, True))
    assert words in problem
    assert list(find_problems(Snapshot({"rooms": REPORT}, {}, 0o700, None))) == []


@pytest.mark.parametrize(
    ("readings", "outside", "sick"),
    [(20, 11, True), (1440, 1440, True), (20, 10, False), (19, 19, False), (1440, 0, False)],
)
def test_a_node_that_reads_mostly_outside_its_range_is_not_healthy(
    tmp_path, capsys, readings, outside, sick
):
    """Its columns may be exchanged, and every symbol wrong."""
    counts = {"readings": readings, OUTSIDE: outside, "releases": readings}
    folder = stored(tmp_path, replace(REPORT, counts=counts))
    code, out, _ = health(folder, capsys)
    words = f"PROBLEM channel 'rooms': {outside:,} of {readings:,} readings lay outside"
    assert (code, words in out, "in their order and unit" in out) == (int(sick), sick, sick)
    found = json.loads(health(folder, capsys, "--json")[1])
    assert (found["healthy"], len(found["problems"])) == (not sick, int(sick))


@pytest.mark.parametrize(
    ("worst", "limit", "shown"),
    [
        (1.99851, 2.0, "TPL 1.9986 of 2 ("),
        (1.99999999, 2.0, "TPL 1.99999999 of 2 ("),
        (2.0 * (1 - 2**-53), 2.0, "TPL 1.9999999999999998 of 2 ("),
        (2.0, 2.0, "TPL 2 of 2 ("),
        (2.01001, 2.0, "TPL 2.0101 of 2 ("),
        (0.0, 0.15, "TPL 0 of 0.15 ("),
        (1e-9, 1e-5, "TPL 1e-09 of 1e-05 ("),
    ],
    ids=range(7),
)
def test_leakage_is_rounded_up_but_never_to_a_limit_it_keeps(tmp_path, capsys, worst, limit, shown):
    account = Account(limit, worst, 0.0, 9)
    assert shown in health(stored(tmp_path, replace(REPORT, account=account)), capsys)[1]


def test_a_memoised_channel_says_that_it_has_no_account(tmp_path, capsys):
    design = rooms(policy="memoised", memoise_steps=6, limit=1.0, epsilon=1.0)
    position = ChannelPosition(None, 0, 0, 1, None)
    folder = stored(tmp_path, report_at_start(design, position))
    sentence = "epsilon 1 per state in each 1 h; no account over time"
    assert f"\n  temporal leakage: {sentence}\n" in health(folder, capsys)[1]
    (channel,) = json.loads(health(folder, capsys, "--json")[1])["channels"]
    assert (channel["no_account"], channel["tpl_worst"]) == (sentence, None)
    assert report_at_start(rooms(), position).unaccounted is None


def test_a_channel_that_refuses_to_start_is_not_healthy(tmp_path, capsys):
    write_walk(tmp_path / "walk.csv", 5)
    design = location_stream(segments=2)
    config = write_agent(tmp_path, 9, design=design)
    folder = tmp_path / "state"
    with Store(folder) as store:
        spent = Advance("location", design_digest(design).hex(), b"lost", 2, 1, 5)
        store.commit(advances=[spent], reports={"location": replace(REPORT, design="x")})
    database = sqlite3.connect(folder / FILE_NAME)
    database.execute("DELETE FROM noise")
    database.commit()
    database.close()
    assert main(["run", str(config), "--quiet"]) == 2
    reason = capsys.readouterr().err.strip().removeprefix("sfumato run: ")
    code, out, _ = health(config, capsys)
    assert code == 1
    assert f"PROBLEM channel 'location': readings are refused: {reason}\n" in out
    code, out, _ = health(config, capsys, "--json")
    found = json.loads(out)
    (channel,) = found["channels"]
    assert (code, found["healthy"], channel["refuses_now"]) == (1, False, reason)
    assert (channel["segments_used"], channel["segments_allowed"]) == (2, 2)
    assert channel["readings"] == 12  # what earlier runs did is kept


def test_a_folder_open_to_others_is_a_problem(tmp_path, capsys):
    folder = stored(tmp_path)
    folder.chmod(0o750)
    code, out, _ = health(folder, capsys)
    assert code == 1
    assert "has the mode 0750, open to others" in out


def test_a_channel_that_never_ran_is_a_problem(tmp_path, capsys):
    write_walk(tmp_path / "walk.csv", 5)
    config = write_agent(tmp_path, 9, design=location_stream())
    stored(tmp_path)
    code, out, _ = health(config, capsys)
    assert code == 1
    assert "channel 'location': nothing is known of it" in out


@pytest.mark.parametrize("place", ["gone", "gone.yaml", "empty"])
def test_what_is_not_there_is_one_line(tmp_path, capsys, place):
    (tmp_path / "empty").mkdir()
    code, out, err = health(tmp_path / place, capsys)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("sfumato health: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_of_somebody_else_is_one_line(tmp_path, capsys):
    folder = stored(tmp_path)
    (folder / FILE_NAME).chmod(0)
    code, _, err = health(folder, capsys)
    assert code == 2
    assert "ask as the user who runs the agent" in err


def test_a_store_that_cannot_be_opened_is_one_line(tmp_path, capsys, monkeypatch):
    folder = stored(tmp_path)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    code, _, err = health(folder, capsys)
    assert code == 2
    assert "Permission denied" in err
    assert "ask as the user who runs the agent" in err


@pytest.mark.parametrize("where", [0, 100, 4096])
def test_a_damaged_store_is_one_line(tmp_path, capsys, where):
    folder = tmp_path / "state"
    with Store(folder) as store:
        rows = [Outgoing("rooms", n, "t", b"payload" * 9) for n in range(400)]
        store.commit(reports={"rooms": REPORT}, outgoing=rows)
    path = folder / FILE_NAME
    content = bytearray(path.read_bytes())
    content[where : where + 20_000] = b"\xa5" * len(content[where : where + 20_000])
    path.write_bytes(content)
    code, out, err = health(folder, capsys)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("PRAGMA user_version = 7", "schema version 7"),
        ("UPDATE reports SET report = '{}'", "damaged or of another version"),
        ("UPDATE reports SET report = replace(report, '12', '-1')", "damaged"),
        ("UPDATE reports SET report = replace(report, '0.9812', '1e999')", "damaged"),
        ("INSERT INTO outbox VALUES (1, 'rooms', 1, 't', x'00', 'sent')", "unknown status"),
    ],
    ids=range(5),
)
def test_what_this_version_does_not_know_is_one_line(tmp_path, capsys, statement, words):
    folder = stored(tmp_path)
    database = sqlite3.connect(folder / FILE_NAME)
    database.execute(statement)
    database.commit()
    database.close()
    code, out, err = health(folder, capsys)
    assert (code, out) == (2, "")
    assert words in err


def test_reports_are_canonical():
    text = encode_report(REPORT)
    assert decode_report(text) == REPORT
    for changed in (text + " ", text[:-1], "[]", "1", "{", text.replace("design_", "resign_")):
        with pytest.raises(FormatError):
            decode_report(changed)


def test_running_is_unknown_where_the_system_does_not_say(tmp_path, monkeypatch):
    monkeypatch.setattr("agent.state_reading.LOCKS", tmp_path / "none")
    assert read_snapshot(stored(tmp_path)).running is None
