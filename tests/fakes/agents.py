"""An agent's files written into a folder, and the agent run in this process or in its own."""

import os
import subprocess
import sys
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from fakes.designs import location_stream, write_designs

from agent.assemble import assemble
from agent.config import load_agent
from agent.formats.designs import Design
from agent.sanitise.discrete_bits import SystemBits

REPOSITORY = Path(__file__).parents[2]
START = 1_700_000_010  # Unix seconds; the 30 s slots around it are at multiples of 30


def write_walk(path: Path, count: int, *, step_seconds: int = 30, seed: int = 7) -> None:
    """A made-up walk as CSV, a fix every ``step_seconds``."""
    random = np.random.default_rng(seed)
    steps = random.normal(0, 2e-4, size=(count, 2)).cumsum(axis=0)
    steps += np.array((40.03, 116.41))
    lines = ["time,lat,lon"]
    for number, (latitude, longitude) in enumerate(steps):
        time = datetime.fromtimestamp(START + number * step_seconds, timezone.utc)
        lines.append(f"{time:%Y-%m-%dT%H:%M:%SZ},{latitude:.7f},{longitude:.7f}")
    path.write_text("\n".join(lines) + "\n")


def write_agent(
    folder: Path,
    port: int,
    *,
    design: Design | None = None,
    trace: str = "walk.csv",
    protocol: str = "5",
    every: str = "30 s",
    speed: str = "max",
) -> Path:
    """``agent.yaml`` with one location channel, and its bundle."""
    digest = write_designs(folder / "location.bundle", [design or location_stream()])
    config = folder / "agent.yaml"
    config.write_text(
        f"""
device: phone
bundle: {{path: location.bundle, sha256: "{digest}"}}
state: state
broker: {{host: 127.0.0.1, port: {port}, protocol: {protocol}}}
channels:
  - name: location
    kind: location
    design: location
    origin: {{latitude: 40.0, longitude: 116.5}}
    source: {{kind: replay, path: {trace}, speed: {speed}}}
    cadence: {{every: {every}, hold: 10 min}}
    publish: {{topic: owntracks/alice/phone, format: owntracks}}
"""
    )
    return config


def run_here(config: Path, *, normals, bits=None, before_close=None):
    """Runs the agent in this process; returns (summary, lines said)."""
    said: list[str] = []
    with ExitStack() as resources:
        agent, _ = assemble(
            load_agent(config, {}),
            normals=normals,
            bits=bits or SystemBits(),
            say=said.append,
            resources=resources,
        )
        summary = agent.run()
        if before_close is not None:
            before_close()
    return summary, said


def start(*words: object, **more) -> "subprocess.Popen[str]":
    """``sfumato WORDS`` in a process of its own."""
    return start_python("-m", "agent", *words, **more)


def start_python(*words: object, cwd: Path | None = None) -> "subprocess.Popen[str]":
    """Python in a process of its own, on this checkout."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("SFUMATO_")
    }
    environment["PYTHONPATH"] = f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'tests'}"
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=cwd or REPOSITORY,
    )


def finish(process: "subprocess.Popen[str]", seconds: float = 60) -> tuple[int, str, str]:
    """(exit code, stdout, stderr)."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running after {seconds} s; it said: {err}") from None
    return process.returncode, out, err
