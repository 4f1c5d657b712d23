"""The documentation's way from a labelled log to decisions at the broker, on a made-up room."""

import csv
import re
import subprocess
import sys

from fakes.agents import finish, start
from fakes.documents import commands_in, file_in, section_of
from fakes.sensor_logs import MAKE_ROOM

PAGE = section_of("docs/mapping.md", "## From a log to a decision")
MINUTES = 1440


def make_up(folder):
    """A week to learn from, and a later day with what was right in it; the day's rows."""
    (folder / "make_room.py").write_text(MAKE_ROOM)
    subprocess.run([sys.executable, "make_room.py"], cwd=folder, check=True)
    with (folder / "today.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def run(folder, *words):
    code, out, err = finish(start(*words, cwd=folder), 120)
    assert code == 0, (words, err)
    return out, err


def test_a_labelled_log_becomes_decisions_at_the_broker(tmp_path, mosquitto):
    rows = make_up(tmp_path)
    (tmp_path / "design.yaml").write_text(file_in(PAGE, "design.yaml"))
    design, inspect, listen, window, desk, health = commands_in(PAGE)
    printed, _ = run(tmp_path, *design)
    digest = printed.split("sha256: ")[1][:64]
    assert "epsilon_I" in run(tmp_path, *inspect)[0]
    for name in ("window.yaml", "desk.yaml"):
        config = file_in(PAGE, name).replace("port: 1883", f"port: {mosquitto.port}")
        assert "the digest that design printed" in config
        config = config.replace("the digest that design printed", digest)
        (tmp_path / name).write_text(config)

    listener = start(*listen, "--port", mosquitto.port, cwd=tmp_path)
    try:
        assert "subscribed" in listener.stderr.readline()
        devices = [start(*words, cwd=tmp_path) for words in (window, desk)]
        for device in devices:
            code, _, said = finish(device, 120)
            assert code == 0, said
        code, _, said = finish(listener, 60)
    finally:
        listener.kill()
    assert code == 0, said
    assert run(tmp_path, *health)[0].endswith("\nhealthy\n")
    require_decisions(tmp_path, rows, said)
    readings = {row[column] for row in rows for column in ("co2", "humidity")}
    for path in tmp_path.glob("*-state/*"):
        stored = path.read_bytes()
        assert not any(f'"{reading}"'.encode() in stored for reading in readings)


def require_decisions(folder, rows, said):
    """One decision for each minute, better than guessing, and counted as the listener says."""
    with (folder / "decisions.csv").open(newline="") as stream:
        decisions = list(csv.DictReader(stream))
    truth = {row["time"]: row["ventilate"] for row in rows}
    assert len(decisions) == len({one["time"] for one in decisions}) > 0.99 * MINUTES
    assert sum(bool(one["missing"]) for one in decisions) < 0.02 * MINUTES
    known = [one for one in decisions if minute(one["time"]) in truth]
    wrong = sum(one["decision"] != truth[minute(one["time"])] for one in known)
    (compared, percent, guess) = re.search(
        r"truth: (\d+) decisions compared, ([\d.]+) % wrong; .*: ([\d.]+) %", said
    ).groups()
    assert int(compared) == len(known) > 0.99 * MINUTES
    assert float(percent) == round(100 * wrong / len(known), 1)
    # 24 periods of an hour, in each of which the symbols of a node's 8 cells are drawn once.
    assert float(percent) < float(guess) - 2


def minute(time):
    """As the log writes it."""
    return re.sub(r"\.0+Z$", "Z", time)
