"""``sfumato listen`` where it cannot hear, or must not write."""

import signal
import threading

import pytest
from fakes.agents import finish, start
from fakes.fault_broker import FaultBroker, free_port
from paho.mqtt.client import Client, DisconnectFlags
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from agent import topic_filters
from agent.cli import main
from agent.commands.listen_events import connect_callbacks
from agent.failing_threads import failing_threads
from agent.subscriber import Receiver


@pytest.fixture
def here(monkeypatch):
    """The command in this process, which keeps its signal handlers."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return lambda *words: main(["listen", *map(str, words)])


@pytest.mark.parametrize("topic", ["", "a/#/b", "a+"])
def test_a_topic_that_is_none_is_refused_before_anything_is_made(here, tmp_path, capsys, topic):
    assert here("good/#", topic, "--csv", tmp_path / "out.csv") == 2
    line = capsys.readouterr().err
    assert line.startswith("sfumato listen: ")
    assert "topic" in line
    assert line.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_failure_in_the_clients_thread_ends_the_command_with_a_line(here, monkeypatch, capsys):
    """As paho raised for a bad filter before filters were checked."""
    monkeypatch.setattr(topic_filters, "require_topic_filter", lambda _: None)
    hook = threading.excepthook
    with FaultBroker() as broker:
        assert here("a/#/b", "--port", broker.port, "--idle", "20") == 2
    said = capsys.readouterr().err
    assert "failed with ValueError" in said
    assert "Traceback" not in said
    assert threading.excepthook is hook


def test_any_threads_failure_is_told_without_its_text():
    told = []

    def fail():
        raise RuntimeError("48.2083")

    with failing_threads(told.append):
        thread = threading.Thread(target=fail, name="worker")
        thread.start()
        thread.join()
    assert told == ["worker failed with RuntimeError; this is a bug, please report it"]


def test_a_lost_connection_is_told_in_plain_words_with_the_address():
    client, told = Client(CallbackAPIVersion.VERSION2), []
    receiver = Receiver(None, keep_places=False)
    connect_callbacks(
        client, ["t"], receiver, told.append, address="attic:1883", with_content=False
    )
    lost = ReasonCode(PacketTypes.DISCONNECT, "Unspecified error")
    client.on_disconnect(client, None, DisconnectFlags(False), lost, None)
    client.on_connect_fail(client, None)
    assert [(event.words, event.final) for event in told] == [
        (
            "no connection to the broker at attic:1883 (the broker is gone, or closed it without "
            "a word); trying again",
            False,
        ),
        ("the broker at attic:1883 cannot be reached; trying again", False),
    ]


def test_who_could_hear_nothing_does_not_end_well():
    code, out, words = finish(start("listen", "a/#", "--port", free_port(), "--idle", "0.7"))
    assert (code, out) == (1, "")
    assert words.splitlines()[-1].startswith("sfumato listen: nothing could be heard")


@pytest.mark.parametrize("twice", [True, False])
def test_a_map_is_never_written_over_a_file_of_the_users(here, tmp_path, capsys, twice):
    path = tmp_path / "short.gpx"
    path.write_text("<gpx>the only copy</gpx>")
    words = ["--geojson", path, *(["--csv", path] if twice else [])]
    assert here("a/#", "--idle", "0.1", *words) == 2
    assert "--geojson" in capsys.readouterr().err
    assert path.read_text() == "<gpx>the only copy</gpx>"
