"""The README's commands and files, as they stand, on a recording made here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent.formats.traces import Trace
from precompute.demo.made_up_week import made_up_week

README = (Path(__file__).parents[2] / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, flags=re.S | re.M)
COMMANDS = [
    line.split("#")[0].strip()
    for kind, text in BLOCKS
    if kind == "sh"
    for line in text.splitlines()
    if line.strip()
]
PLACE = re.compile(r"`((?:sfumato|make)[ \w.\-/]*)`|\[[^\]]*\]\(([\w./\-]+)\)")


def document(first_line: str) -> str:
    (found,) = [text for kind, text in BLOCKS if kind == "yaml" and text.startswith(first_line)]
    return found


def sfumato(words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    name, *rest = words.split()
    assert name == "sfumato"
    return subprocess.run(
        [sys.executable, "-m", "agent", *rest],
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def write_gpx(trace: Trace, path: Path) -> None:
    from datetime import datetime, timezone

    points = "".join(
        f'<trkpt lat="{lat:.7f}" lon="{lon:.7f}"><time>'
        f"{datetime.fromtimestamp(t, timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')}</time></trkpt>"
        for t, lat, lon in zip(trace.times_seconds, trace.latitude, trace.longitude, strict=True)
    )
    path.write_text(f"<gpx><trk><trkseg>{points}</trkseg></trk></gpx>")


def test_the_walk_through_works_as_written(tmp_path: Path, mosquitto) -> None:
    week = made_up_week()
    morning = slice(6 * 720, 10 * 720)  # 6 to 10 o'clock, with the way to work
    short = Trace(
        "morning",
        week.times_seconds[morning].copy(),
        week.latitude[morning].copy(),
        week.longitude[morning].copy(),
    )
    write_gpx(short, tmp_path / "my-week.gpx")
    (tmp_path / "design.yaml").write_text(document("# design.yaml"))

    fitted = sfumato("sfumato fit my-week.gpx -o prior.yaml", tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    designed = sfumato("sfumato design design.yaml -o location.bundle", tmp_path)
    assert designed.returncode == 0, designed.stderr
    (digest,) = re.findall(r"sha256: ([0-9a-f]{64})", designed.stdout)
    assert "standard deviation 4058 m" in designed.stdout  # "this one takes 4.1 km"
    assert sfumato("sfumato inspect location.bundle", tmp_path).returncode == 0
    explain = "sfumato explain location.bundle --design design.yaml -o explained.html"
    assert explain in README
    assert sfumato(explain, tmp_path).returncode == 0

    agent = document("# agent.yaml")
    assert "the digest that design printed" in agent
    agent = agent.replace("the digest that design printed", digest)
    (tmp_path / "agent.yaml").write_text(agent.replace("port: 1883", f"port: {mosquitto.port}"))
    listen = next(line for line in COMMANDS if line.startswith("sfumato listen"))
    words = [*listen.split()[1:], "--port", str(mosquitto.port), "--idle", "20", "--count", "481"]
    with subprocess.Popen(
        [sys.executable, "-m", "agent", *words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        stderr=subprocess.PIPE,
        text=True,
    ) as listener:
        assert listener.stderr is not None
        assert "subscribed" in listener.stderr.readline()
        run = sfumato("sfumato run agent.yaml", tmp_path)
        assert run.returncode == 0, run.stderr
        releases = int(re.findall(r"releases (\d+)", run.stderr)[-1])
        if releases != 481:
            listener.terminate()
        listener.stderr.read()
    assert releases in (480, 481)  # four hours, every 30 s
    assert len((tmp_path / "published.csv").read_text().splitlines()) == releases + 1
    assert (tmp_path / "published.geojson").stat().st_size > 1000
    assert sfumato("sfumato health agent.yaml", tmp_path).returncode == 0


def test_the_readme_tells_what_200_metres_buy(tmp_path: Path) -> None:
    text = document("# design.yaml").replace(
        "protect: {epsilon: 1.0, delta: 1.0e-3}", "noise: {std: 200 m}"
    )
    for metres, epsilon in ((25, 1), (50, 2)):
        (tmp_path / "d.yaml").write_text(text.replace("500 m", f"{metres} m"))
        said = sfumato("sfumato design d.yaml -o d.bundle", tmp_path).stdout
        (found,) = re.findall(r"\(epsilon ([\d.]+)\)", said)
        assert float(found) == pytest.approx(epsilon, rel=0.15)


def test_every_command_and_page_that_the_readme_names_exists() -> None:
    root = Path(__file__).parents[2]
    listed = sfumato("sfumato --help", root).stdout
    targets = re.findall(r"^([\w-]+(?: [\w-]+)*):", (root / "Makefile").read_text(), flags=re.M)
    known_targets = {target for line in targets for target in line.split()}
    named = [command for command, _ in PLACE.findall(README) if command] + COMMANDS
    for command in named:
        words = command.removeprefix(".venv/bin/").split()
        if words[0] == "sfumato" and len(words) > 1 and words[1].isalpha():
            assert re.search(rf"^    {words[1]}\b", listed, flags=re.M), command
        if words[0] == "make":
            assert words[1] in known_targets, command
    for _, page in PLACE.findall(README):
        assert not page or (root / page).exists(), page
