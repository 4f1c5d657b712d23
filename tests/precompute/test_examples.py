"""The files in ``config/`` as a newcomer uses them: design the one, run the other with it."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from fakes.fault_broker import FaultBroker

from agent.assemble import assemble
from agent.cli import main
from agent.config import load_agent
from agent.entropy import SeededNormals
from agent.formats.bundle import load_bundle
from agent.formats.design_summary import promise_warnings
from agent.sanitise.discrete_bits import SystemBits

CONFIG = Path(__file__).parents[2] / "config"


def test_the_examples_fit_together_and_promise_something(tmp_path, capsys):
    bundle_path = tmp_path / "home.bundle"
    assert main(["design", str(CONFIG / "design.example.yaml"), "-o", str(bundle_path)]) == 0
    assert "WARNING" not in capsys.readouterr().out
    bundle = load_bundle(bundle_path)
    noises = [bundle.designs["location"], bundle.designs["temperature"]]
    for design in noises:
        assert promise_warnings(design) == ()
    # What the comments say of the noise.
    assert bundle.designs["temperature"].noise_variance ** 0.5 == pytest.approx(2.7, abs=0.05)

    (tmp_path / "trace.gpx").write_text(
        "<gpx><trk><trkseg>"
        + "".join(
            f'<trkpt lat="40.{n:04d}" lon="116.5"><time>2026-01-31T12:{n:02d}:00Z</time></trkpt>'
            for n in range(30)
        )
        + "</trkseg></trk></gpx>"
    )
    (tmp_path / "temperature.csv").write_text(
        "time,temperature\n"
        + "".join(
            f"2026-01-31T{hour:02d}:{minute}:00Z,20.5\n"
            for hour in range(3)
            for minute in ("00", "15", "30", "45")
        )
    )
    (tmp_path / "activities.csv").write_text(
        "time,state\n2026-01-31T12:00:00Z,home\n2026-01-31T14:00:00Z,away\n"
    )
    (tmp_path / "air.csv").write_text(
        "time,co2\n" + "".join(f"2026-01-31T12:{n:02d}:00Z,{400 + 40 * n}\n" for n in range(30))
    )
    text = (CONFIG / "agent.example.yaml").read_text()
    with FaultBroker() as broker, ExitStack() as resources:
        agent_path = tmp_path / "agent.yaml"
        agent_path.write_text(
            text.replace("0" * 64, bundle.sha256)
            .replace("speed: 1 ", "speed: max ")
            .replace("port: 1883", f"port: {broker.port}")
        )
        agent, _ = assemble(
            load_agent(agent_path, {}),
            normals=SeededNormals(1),
            bits=SystemBits(),
            say=lambda _: None,
            resources=resources,
        )
        summary = agent.run()
    assert summary.complete
    assert {one.topic for one in broker.published} == {
        "owntracks/alice/phone",
        "home/alice/dining-room",
        "home/alice/activity",
        "home/room/air",
    }
    assert len(broker.published) > 12
