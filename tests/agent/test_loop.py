"""The loop with its edges replaced: when it waits, when it ends, what it reports."""

import json
import sqlite3
import threading
import time
from contextlib import ExitStack, closing

import pytest
from fakes.agents import START, run_here, write_agent, write_walk
from fakes.fault_broker import FaultBroker, Faults

from agent import loop
from agent.assemble import READINGS_AHEAD, assemble
from agent.config import load_agent
from agent.entropy import SeededNormals
from agent.loop import StopRequested
from agent.sanitise.discrete_bits import SystemBits


def outbox_length(folder):
    """How many releases wait; another thread's look at the agent's file."""
    path = folder / "state" / "agent.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        try:
            (found,) = database.execute("SELECT count(*) FROM outbox").fetchone()
        except sqlite3.OperationalError:  # no table yet
            return 0
    return found


def run_and_stop(tmp_path, port, enough, **more):
    """Runs against a broker that never lets it end until ``enough`` releases wait, and a little."""
    config = write_agent(tmp_path, port, **more)
    with ExitStack() as resources:
        agent, mailbox = assemble(
            load_agent(config, {}),
            bits=SystemBits(),
            normals=SeededNormals(1),
            say=lambda _: None,
            resources=resources,
        )

        def stop_when_enough():
            ends = time.monotonic() + 60
            while outbox_length(tmp_path) < enough and time.monotonic() < ends:
                time.sleep(0.05)
            time.sleep(0.5)  # for what must not come after it
            mailbox.put(StopRequested())

        stopper = threading.Thread(target=stop_when_enough)
        stopper.start()
        summary = agent.run()
        stopper.join()
    return summary


def test_a_replay_at_full_speed_waits_while_the_outbox_is_long(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "OUTBOX_HIGH_WATER", 100)
    write_walk(tmp_path / "walk.csv", 5000)
    with FaultBroker(Faults(ack=False)) as broker:
        summary = run_and_stop(tmp_path, broker.port, 100)
    assert 100 <= summary.counts["left in the outbox"] <= 100 + 2 * READINGS_AHEAD
    assert summary.complete  # stopped on request


def test_a_source_at_a_pace_is_never_held_up(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "OUTBOX_HIGH_WATER", 100)
    write_walk(tmp_path / "walk.csv", 1500)
    with FaultBroker(Faults(ack=False)) as broker:
        summary = run_and_stop(tmp_path, broker.port, 1500, speed="1000000")
    assert summary.counts["left in the outbox"] == 1500


def test_it_ends_when_everything_is_acknowledged(tmp_path):
    write_walk(tmp_path / "walk.csv", 300)
    with FaultBroker() as broker:
        summary, _ = run_here(write_agent(tmp_path, broker.port), normals=SeededNormals(1))
    assert summary.complete
    assert summary.line() == (
        "readings 300, releases 300, acknowledged 300, left in the outbox 0, parked 0, "
        "slots without a recent reading 0"
    )


def test_a_second_run_over_the_same_recording_releases_nothing_again(tmp_path):
    write_walk(tmp_path / "walk.csv", 50)
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port)
        run_here(config, normals=SeededNormals(1))
        summary, _ = run_here(config, normals=SeededNormals(2))
    assert summary.counts["releases"] == 0
    assert summary.counts["refused: at or before the last release"] == 50
    assert len(broker.published) == 50


def test_noise_goes_on_after_a_restart_as_if_there_had_been_none(tmp_path):
    def places(broker):
        return {
            one["tst"]: (one["lat"], one["lon"])
            for one in (json.loads(message.payload) for message in broker.published)
        }

    (tmp_path / "whole").mkdir()
    (tmp_path / "cut").mkdir()
    for name in ("whole", "cut"):
        write_walk(tmp_path / name / "walk.csv", 90)
    with FaultBroker() as whole:
        run_here(write_agent(tmp_path / "whole", whole.port), normals=SeededNormals(3))
    recording = (tmp_path / "cut" / "walk.csv").read_text()
    normals = SeededNormals(3)
    with FaultBroker() as cut:
        config = write_agent(tmp_path / "cut", cut.port)
        for rows in (30, 60, 90):
            lines = recording.splitlines()[: rows + 1]
            (tmp_path / "cut" / "walk.csv").write_text("\n".join(lines) + "\n")
            run_here(config, normals=normals)
    assert places(cut) == places(whole)


def test_parked_rows_are_reported_and_the_run_is_not_complete(tmp_path):
    write_walk(tmp_path / "walk.csv", 5)
    with FaultBroker(Faults(refuse_topic="owntracks/alice/phone")) as broker:
        summary, said = run_here(write_agent(tmp_path, broker.port), normals=SeededNormals(1))
    assert not summary.complete
    assert (summary.counts["parked"], summary.counts["acknowledged"]) == (5, 0)
    assert any("reason 135" in line for line in said)


def test_slots_carry_round_times_whatever_the_fixes_times(tmp_path):
    lines = [f"{START + 7 + 31 * number},40.0,116.4" for number in range(50)]
    (tmp_path / "walk.csv").write_text("t_unix,lat,lon\n" + "\n".join(lines) + "\n")
    with FaultBroker() as broker:
        run_here(write_agent(tmp_path, broker.port), normals=SeededNormals(1))
    times = [int(one.payload.split(b'"tst":')[1].split(b"}")[0]) for one in broker.published]
    assert all(time % 30 == 0 for time in times)
    assert times == list(range(times[0], times[-1] + 1, 30))


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_connections_that_break_again_and_again_lose_nothing(tmp_path, protocol):
    write_walk(tmp_path / "walk.csv", 400)
    with FaultBroker(Faults(reset_after=90)) as broker:
        config = write_agent(tmp_path, broker.port, protocol=protocol)
        summary, _ = run_here(config, normals=SeededNormals(1))
    assert summary.complete
    assert broker.connections == 2
    assert len({one.payload for one in broker.published}) == 400
