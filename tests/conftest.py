"""Fixtures that every part shares: the real data, and a real broker."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # `from fakes.designs import …`


def absent(what: str) -> None:
    """Skips the test, visibly; in continuous integration nothing may be absent."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}; with CI=true this is a failure")
    pytest.skip(what)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data, for measuring only."""
    named = os.environ.get("SFUMATO_DATA")
    if not named:
        absent("SFUMATO_DATA is not set")
    folder = Path(str(named))
    if not (folder / "geolife").is_dir():
        absent("SFUMATO_DATA does not name the folder of real data")
    return folder.resolve()


@dataclass(frozen=True)
class Broker:
    """A running mosquitto."""

    host: str
    port: int
    log: Path


@pytest.fixture
def mosquitto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A mosquitto of this test's own, on 127.0.0.1."""
    found = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        absent("mosquitto is not installed (Debian: apt-get install mosquitto)")
    from fakes.fault_broker import free_port

    folder = tmp_path_factory.mktemp("mosquitto")
    port = free_port()
    config = folder / "mosquitto.conf"
    # By default 1,000 messages wait for a slow subscriber and the rest is dropped; a replay at
    # full speed outruns any subscriber.
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n"
        "log_dest stderr\nlog_type all\n"
    )
    log = folder / "mosquitto.log"
    with log.open("wb") as stream:
        process = subprocess.Popen([str(found), "-c", str(config)], stdout=stream, stderr=stream)
    try:
        wait_for_port(port, process)
        yield Broker("127.0.0.1", port, log)
    finally:
        process.terminate()
        process.wait(10)


def wait_for_port(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Until something listens there."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        assert process.poll() is None, "the broker ended"
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError("the broker does not listen")
