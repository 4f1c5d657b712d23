"""Ctrl-C and SIGTERM while a command works: one line, its exit code, and nothing half-written."""

import fcntl
import os
import pty
import random
import re
import signal
import struct
import subprocess
import sys
import termios
import threading

import pytest
from fakes.fault_broker import free_port

SLOW_MAPPING = """\
designs:
  - name: room
    kind: mapping
    step: 1 min
    architecture: direct
    protect: {information: 0.1, local: 1.0}
    joint: joint.csv
    starts: 100000
    nodes:
      - {name: light, columns: [lux], cuts: [100]}
      - {name: air, columns: [co2], cuts: [600, 1000]}
    memoise: 1 h
"""
JOINT = """\
h,g,light,air,p
no,empty,0,0,0.35
no,in use,1,0,0.10
no,in use,1,1,0.10
yes,empty,0,1,0.05
yes,empty,0,2,0.15
yes,in use,1,1,0.10
yes,in use,1,2,0.15
"""
# What is started, and the words on the terminal by which its long work is known to have begun.
WORK = {
    "design": ("design slow.yaml -o slow.bundle", "room: maps"),
    "design epic": ("design epic.yaml -o slow.bundle", "room: maps"),
    "fit": ("fit walk.csv -o prior.yaml --windows 40 --points 400", "fitting:"),
    "reproduce cip": ("reproduce cip -o figures", "panel a"),
    "reproduce iot": ("reproduce iot --figure 5 -o figures", "figure 5"),
}
SIGNALS = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "slow.yaml").write_text(SLOW_MAPPING)
    (tmp_path / "epic.yaml").write_text(SLOW_MAPPING.replace("direct", "epic"))
    (tmp_path / "joint.csv").write_text(JOINT)
    chance, rows, north, east = random.Random(1), ["time,lat,lon"], 0.0, 0.0
    for minute in range(20_000):
        north, east = (0.99 * value + chance.gauss(0, 1e-3) for value in (north, east))
        rows.append(f"{1_700_000_000 + 60 * minute},{50 + north:.6f},{8 + east:.6f}")
    (tmp_path / "walk.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def _start(words, folder, **streams):
    # Tests that run in the background of a shell ignore SIGINT, and so would their children.
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "agent", *words.split()],
            cwd=folder,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            **streams,
        )
    finally:
        signal.signal(signal.SIGINT, earlier)


def _read_terminal(master, until=None):
    """What was written until a word comes, or until the other side is closed."""
    said = ""
    while until is None or until not in said:
        try:
            part = os.read(master, 4096)
        except OSError:  # how Linux says that nobody has the other side open
            return said
        if not part:
            return said
        said += part.decode(errors="replace")
    return said


@pytest.mark.parametrize("number", SIGNALS, ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("work", WORK)
def test_a_command_at_work_ends_in_one_line_and_leaves_nothing(folder, work, number):
    words, begun = WORK[work]
    code, verb = SIGNALS[number]
    before = {path.name for path in folder.iterdir()}
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 120, 0, 0))
    process = _start(words, folder, stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    watch = threading.Timer(40, process.kill)
    watch.start()
    try:
        assert begun in _read_terminal(master, begun)
        # As a terminal does: Ctrl-C goes to all of the group, workers included.
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        rest = _read_terminal(master)
        out = process.stdout.read()
        assert process.wait() == code
    finally:
        watch.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(master)
    assert "Traceback" not in rest
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", rest))
    said = [line for line in lines if "sfumato" in line]
    assert said == [f"sfumato {work.split()[0]}: {verb}"]
    assert out == b""
    left = {path.name for path in folder.rglob("*")} - before
    assert left <= {"figures"}  # the folder that was made for what was to come
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # nobody of its group is left


@pytest.mark.parametrize("number", SIGNALS, ids=["SIGINT", "SIGTERM"])
def test_a_listener_under_way_ends_cleanly(folder, number):
    words = f"listen home/# --port {free_port()} --csv heard.csv"
    with _start(words, folder, stderr=subprocess.PIPE, text=True) as process:
        assert "cannot be reached" in process.stderr.readline()
        process.send_signal(number)
        rest = process.stderr.read()
        assert process.wait(30) == 0
    assert [line for line in rest.splitlines() if "cannot be reached" not in line] == [
        "sfumato listen: messages 0, kept 0, repeats 0, malformed 0, missing 0"
    ]
