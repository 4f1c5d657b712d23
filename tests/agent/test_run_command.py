"""``sfumato run`` where nothing comes out, and ``sfumato --version``."""

import re

import pytest
from fakes.agents import finish, run_here, start, write_agent, write_walk
from fakes.fault_broker import FaultBroker

from agent.cli import main
from agent.entropy import SeededNormals


def test_a_run_that_refused_every_reading_ends_with_1_and_says_why(tmp_path):
    write_walk(tmp_path / "walk.csv", 40)
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port)
        config.write_text(config.read_text().replace("longitude: 116.5", "longitude: 16.5"))
        code, out, words = finish(start("run", config, "--quiet"))
    assert (code, out) == (1, "")
    assert words == (
        "sfumato run: channel 'location': nothing was released: all 40 readings were refused, 40 "
        "of them as farther from the origin than the range; check the channel's origin, range, "
        "unit and source\n"
    )
    assert not broker.published


def test_a_recording_that_was_released_before_is_no_failure(tmp_path):
    write_walk(tmp_path / "walk.csv", 40)
    with FaultBroker() as broker:
        config = write_agent(tmp_path, broker.port)
        for seed in (1, 2):
            summary, _ = run_here(config, normals=SeededNormals(seed))
            assert (summary.complete, summary.barren) == (True, ())


def test_a_failing_thread_ends_the_run(tmp_path, monkeypatch, capsys):
    import signal

    from agent import broker as broker_module

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(broker_module, "Connected", None)  # paho's callback then fails
    write_walk(tmp_path / "walk.csv", 5)
    with FaultBroker() as broker:
        assert main(["run", str(write_agent(tmp_path, broker.port))]) == 2
    assert "failed with TypeError" in capsys.readouterr().err


def test_the_version_is_shown(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert re.fullmatch(r"sfumato \d+\.\d+\S* \(Python \d\S+\)\n", capsys.readouterr().out)
