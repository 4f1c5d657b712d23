"""SIGKILL at any instruction: nothing is lost, and nothing is drawn twice."""

import json
import time

import pytest
from fakes.agents import finish, start, start_python, write_agent, write_walk
from fakes.fault_broker import FaultBroker

from agent.state_folder import FILE_NAME
from agent.store import Store


def by_time(broker):
    """tst -> the different payloads seen for it."""
    found = {}
    for message in broker.published:
        content = json.loads(message.payload)
        found.setdefault(content["tst"], set()).add(message.payload)
    return found


def assert_whole_and_drawn_once(broker, fixes):
    payloads = by_time(broker)
    assert len(payloads) == fixes  # every slot was released
    repeated = {tst: seen for tst, seen in payloads.items() if len(seen) > 1}
    assert repeated == {}  # the same bytes at every resend
    identities = {json.loads(next(iter(seen)))["_id"] for seen in payloads.values()}
    assert len(identities) == fixes


@pytest.mark.parametrize(
    ("point", "count"),
    [
        ("before commit", 2),
        ("inside commit", 2),
        ("after commit", 1),
        ("after commit", 3),
        ("after publish", 1),
        ("after publish", 333),
    ],
)
def test_a_crash_resends_the_same_bytes(tmp_path, point, count):
    write_walk(tmp_path / "walk.csv", 1500)
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port)
        killed = start_python("-m", "fakes.killed_agent", config, point, count)
        assert finish(killed)[0] == -9
        assert (tmp_path / "state" / FILE_NAME).exists()
        code, _, words = finish(start("run", config))
        assert code == 0, words
        assert_whole_and_drawn_once(broker, 1500)


def test_kills_at_arbitrary_moments_lose_nothing_and_draw_nothing_twice(tmp_path):
    write_walk(tmp_path / "walk.csv", 2500)
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port)
        for published in (1, 417, 1333):
            process = start("run", config)
            deadline = time.monotonic() + 30
            while len(broker.published) < published and time.monotonic() < deadline:
                time.sleep(0.001)
            process.kill()
            finish(process)
        assert finish(start("run", config))[0] == 0
        assert_whole_and_drawn_once(broker, 2500)


def test_a_committed_batch_that_was_never_sent_goes_out_byte_for_byte(tmp_path):
    write_walk(tmp_path / "walk.csv", 200)
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port)
        finish(start_python("-m", "fakes.killed_agent", config, "after commit", 1))
        with Store(tmp_path / "state") as store:
            stored = [row.payload for row in store.waiting(0, 1000)]
        assert stored
        assert broker.published == []
        assert finish(start("run", config))[0] == 0
    assert [message.payload for message in broker.published][: len(stored)] == stored


def test_sigterm_ends_cleanly_and_the_next_run_goes_on(tmp_path):
    write_walk(tmp_path / "walk.csv", 1500)
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port)
        broker.faults.ack = False  # so that the run cannot end by itself
        process = start("run", config)
        deadline = time.monotonic() + 30
        while len(broker.published) < 16 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.terminate()
        code, _, words = finish(process)
        assert code == 0, words
        assert "left in the outbox" in words
        assert not (tmp_path / "state" / f"{FILE_NAME}-wal").exists()
        broker.faults.ack = True
        assert finish(start("run", config))[0] == 0
        assert_whole_and_drawn_once(broker, 1500)
