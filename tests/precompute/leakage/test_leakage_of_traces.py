"""From trace files to matrices and budgets: a made-up GPX, and the real data where it is."""

import argparse
import json
from pathlib import Path

import pytest
from fakes.documents import commands_in, section_of

from agent.formats.errors import FormatError
from precompute.commands import leakage as command
from precompute.leakage.errors import LeakageError
from precompute.leakage.matrix_files import read_matrix
from precompute.leakage.trace_cells import cells_of_traces


def run(*words: object) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(word) for word in words]))


def write_gpx(path: Path, days: int) -> Path:
    """Back and forth between two made-up places 3 km apart, two hours each, a fix a minute."""
    points = []
    for minute in range(days * 1440):
        away = (minute // 120) % 2
        time = f"2030-01-{1 + minute // 1440:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:00Z"
        latitude = 10.0051 + 0.0271 * away
        points.append(f'<trkpt lat="{latitude}" lon="20.0051"><time>{time}</time></trkpt>')
    path.write_text(
        '<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>'
        + "".join(points)
        + "</trkseg></trk></gpx>"
    )
    return path


def test_a_commute_is_learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = write_gpx(tmp_path / "trace.gpx", days=4)
    forward = tmp_path / "P.csv"
    with pytest.raises(LeakageError, match="never left"):  # elsewhere was never seen
        run("learn", trace, "--cell", "1km", "-o", forward, "--smoothing", 0)
    assert run("learn", trace, "--cell", "1km", "-o", forward, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["states"] == 3  # two places and elsewhere
    assert report["transitions"] == 4 * 144 - 1
    matrix = read_matrix(forward)
    here, there = (i for i, name in enumerate(matrix.names) if name != "elsewhere")
    # Twelve steps of ten minutes in each stay: one of twelve leaves.
    assert matrix.probabilities[here, there] == pytest.approx(1 / 12, abs=0.01)
    assert "origin 10 20, cell 1000 m" in forward.read_text()


def test_the_documentations_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = commands_in(section_of("docs/leakage.md", "## How to use it"))
    assert [words[0] for words in commands] == ["leakage"] * 6
    write_gpx(tmp_path / "trace.gpx", days=3)
    for name in ("ann-before", "ann-next", "bob-before"):
        (tmp_path / f"{name}.csv").write_text("0.8,0.2\n0.1,0.9\n")
    monkeypatch.chdir(tmp_path)
    for words in commands:
        assert run(*words[1:]) == 0, words
    assert (tmp_path / "tpl.png").exists()
    assert "no release ever leaks more than 1 nats" in capsys.readouterr().out


def test_the_grids_origin_says_only_the_region(tmp_path: Path) -> None:
    trace = write_gpx(tmp_path / "trace.gpx", days=1)
    cells = cells_of_traces([trace], cell_metres=500, step_seconds=600)
    assert cells.grid.startswith("grid: origin 10 20,")
    assert repr(cells) != str(cells.runs)
    assert "e1n1" in {name for run in cells.runs for name in run}


def test_wrong_cells_are_refused(tmp_path: Path) -> None:
    trace = write_gpx(tmp_path / "trace.gpx", days=1)
    with pytest.raises(LeakageError, match="above zero"):
        cells_of_traces([trace], cell_metres=0.0, step_seconds=600)


def test_a_real_trace_is_learned_quantified_and_allocated(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forward, backward = tmp_path / "F.csv", tmp_path / "B.csv"
    user = data_dir / "geolife" / "users" / "u000.csv.gz"
    options = ("--cell", "1km", "--repair", "--hold", "1 h", "-o", forward, "--backward", backward)
    assert run("learn", user, *options) == 0
    capsys.readouterr()
    matrices = ("--backward", backward, "--forward", forward)
    assert run("allocate", "--alpha", 1, *matrices, "--steps", 100, "--json") == 0
    assert json.loads(capsys.readouterr().out)["tpl"] == pytest.approx([1.0] * 100, abs=1e-9)
    assert run("quantify", "--epsilon", 0.1, "--steps", 50, *matrices, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert 0.5 < report["worst_tpl"] < report["supremum"]


def test_a_real_home_is_learned_and_allocated(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = data_dir / "sensors" / "ordonezA_ADLs.txt"
    forward, backward = tmp_path / "F.csv", tmp_path / "B.csv"
    with pytest.raises(FormatError, match="--repair"):
        run("learn", "--states", log, "-o", forward)
    assert run("learn", "--states", log, "--repair", "-o", forward, "--backward", backward) == 0
    assert "10 states" in capsys.readouterr().out
    words = ("allocate", "--alpha", 5, "--backward", backward, "--forward", forward, "--json")
    assert run(*words) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["tpl"] == pytest.approx([5.0], abs=1e-9)
