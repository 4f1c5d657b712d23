"""Broker, listener and agent at work: a recording goes in, what a subscriber got comes out."""

import csv
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import yaml

from agent.formats.designs import FloatArray
from precompute.demo.children import Child, wait_until
from precompute.demo.local_broker import LocalBroker
from precompute.demo.material import Material
from precompute.errors import PrecomputeError

TOPIC = "owntracks/demo/phone"
PUBLISHED_NAME = "published.csv"
AGENT_NAME = "agent.yaml"
START_SECONDS = 20.0
SETTLE_SECONDS = 3.0
STALLED_SECONDS = 60.0
AGENT_COMMENT = """# What the demonstration ran; its broker is gone: name your own before using it.
"""
# A demonstration takes long journeys too; a real agent's default is narrower.


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Published:
    """What arrived: (n,) seconds, ascending, and (n, 2) metres about the public origin."""

    times_seconds: FloatArray
    points: FloatArray


def publish(
    material: Material,
    folder: Path,
    *,
    bundle_name: str,
    bundle_sha256: str,
    progress: Callable[[int], None],
) -> Published:
    """Run the system until the recording has passed through it.

    Args:
        material: what is replayed.
        folder: holds the bundle; the agent's configuration, state and logs go there.
        bundle_name: of the file in ``folder``.
        bundle_sha256: pinned in the agent's configuration.
        progress: called with the number of releases that have arrived.

    Raises:
        PrecomputeError: a part did not start, failed, or stalled; the message is its last line.
    """
    csv_path = folder / PUBLISHED_NAME
    with ExitStack() as running:
        broker = running.enter_context(LocalBroker())
        write_agent_yaml(folder / AGENT_NAME, material, bundle_name, bundle_sha256, broker.port)
        words = ["listen", TOPIC, "--host", "127.0.0.1", "--port", str(broker.port)]
        words += ["--protocol", "3.1.1", "--csv", str(csv_path)]
        listener = running.enter_context(Child("listener", words, folder))
        listener.start()
        _wait_for_subscription(listener)
        agent = running.enter_context(Child("agent", ["run", str(folder / AGENT_NAME)], folder))
        agent.start()
        arrived = _follow(agent, listener, csv_path, progress)
        # What the agent saw acknowledged has left the broker; the listener may still be writing.
        expected = int(material.times_seconds.size)
        quiet = _Quiet(csv_path, arrived)
        wait_until(lambda: quiet.rows() >= expected or quiet.seconds() > SETTLE_SECONDS, 30.0)
        listener.require_running()
    return read_published(csv_path, material)


def write_agent_yaml(
    path: Path, material: Material, bundle_name: str, bundle_sha256: str, port: int
) -> None:
    """The agent's configuration, as a user would write it."""
    every = material.every_seconds
    document = {
        "device": "demo-phone",
        "bundle": {"path": bundle_name, "sha256": bundle_sha256},
        "state": "state",
        # amqtt, the broker inside the demonstration, speaks MQTT 3.1.1 only.
        "broker": {"host": "127.0.0.1", "port": port, "protocol": "3.1.1"},
        "channels": [
            {
                "name": "location",
                "kind": "location",
                "design": "location",
                "origin": {
                    "latitude": material.origin.latitude,
                    "longitude": material.origin.longitude,
                },
                "range": f"{material.origin.reach_metres / 1000:g} km",
                "source": {
                    "kind": "replay",
                    "path": _path_from(path.parent, material.replay_path),
                    "speed": "max",
                    "repair": material.repair,
                },
                "cadence": {"every": f"{every} s"},
                "publish": {"topic": TOPIC, "format": "owntracks"},
            }
        ],
    }
    text = AGENT_COMMENT + yaml.safe_dump(document, sort_keys=False)
    path.write_text(text, encoding="utf-8")


def _path_from(folder: Path, file: Path) -> str:
    """Its name alone if it lies in the folder, which is moved later; else the whole path."""
    resolved = file.resolve()
    return resolved.name if resolved.parent == folder.resolve() else str(resolved)


def read_published(path: Path, material: Material) -> Published:
    """The listener's table, on the projection's metres, in order of time.

    Raises:
        PrecomputeError: nothing arrived.
    """
    times, latitudes, longitudes = [], [], []
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            times.append(datetime.fromisoformat(row["time"].replace("Z", "+00:00")).timestamp())
            latitudes.append(float(row["latitude"]))
            longitudes.append(float(row["longitude"]))
    if not times:
        raise PrecomputeError(
            "nothing arrived at the demonstration's listener: every reading was refused; "
            "try another trace"
        )
    order = np.argsort(np.array(times), kind="stable")
    east, north = material.origin.forward(np.array(latitudes), np.array(longitudes))
    return Published(np.array(times)[order], np.column_stack([east, north])[order])


def _wait_for_subscription(listener: Child) -> None:
    def subscribed() -> bool:
        listener.require_running()
        return "subscribed" in listener.log_path.read_text(encoding="utf-8", errors="replace")

    if not wait_until(subscribed, START_SECONDS):
        raise PrecomputeError(
            f"the demonstration's listener did not subscribe within {START_SECONDS:g} s; "
            "the machine may be too busy: try again"
        )


def _follow(agent: Child, listener: Child, csv_path: Path, progress: Callable[[int], None]) -> int:
    """Until the agent has ended; how many releases have arrived by then."""
    quiet = _Quiet(csv_path, 0)
    while agent.exit_code() is None:
        progress(quiet.rows())
        listener.require_running()
        if quiet.seconds() > STALLED_SECONDS:
            raise PrecomputeError(
                f"nothing has arrived for {STALLED_SECONDS:g} s; the demonstration gives up"
            )
        time.sleep(0.1)
    code = agent.exit_code()
    if code:
        raise agent.failure(code)
    progress(quiet.rows())
    return quiet.rows()


class _Quiet:
    """How many rows a growing file has, and for how long it has not grown."""

    def __init__(self, path: Path, rows: int) -> None:
        self._path = path
        self._rows = rows
        self._size = -1
        self._since = time.monotonic()

    def rows(self) -> int:
        """Lines after the header."""
        size = self._path.stat().st_size if self._path.exists() else 0
        if size != self._size:
            self._size, self._since = size, time.monotonic()
            self._rows = max(0, self._path.read_bytes().count(b"\n") - 1) if size else 0
        return self._rows

    def seconds(self) -> float:
        """Since the file last grew."""
        self.rows()
        return time.monotonic() - self._since
