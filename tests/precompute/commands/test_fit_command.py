"""``sfumato fit`` as a user meets it: files in, a table, a class, one line for what is wrong."""

import json
from pathlib import Path

import numpy as np
import pytest

from agent.cli import main
from precompute.priors.prior_class import load_prior

QUICK = ["--families", "rbf,matern32", "--windows", "3", "--points", "40"]


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    """A made-up random walk about a made-up place."""
    rng = np.random.default_rng(0)
    steps = np.cumsum(rng.standard_normal((160, 2)), axis=0) * 1e-5
    lines = [
        f"{1_764_000_000 + 5 * k},{48.2 + north:.7f},{16.4 + east:.7f}"
        for k, (east, north) in enumerate(steps)
    ]
    path = tmp_path / "walk.csv"
    path.write_text("t,lat,lon\n" + "\n".join(lines) + "\n")
    return path


def test_a_trace_becomes_a_class_that_a_design_can_name(walk, tmp_path, capsys) -> None:
    output = tmp_path / "prior.yaml"
    assert main(["fit", str(walk), "-o", str(output), *QUICK]) == 0
    shown = capsys.readouterr()
    assert "lengthscale/step" in shown.out
    assert "Matérn-3/2" in shown.out
    assert "160 fixes" in shown.err
    (member,) = load_prior(output).ranges()
    assert member.lengthscale.high == 14 * 86_400


def test_json_is_one_object_and_nothing_else(walk, capsys) -> None:
    assert main(["fit", str(walk), "--json", *QUICK]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["windows"] == 3
    assert {row["family"] for row in found["families"]} == {"rbf", "matern32"}
    assert found["origin"] == {"latitude": 48.0, "longitude": 16.5}
    assert all(len(row["effective_lengthscale"]) == 3 for row in found["families"])


def test_two_runs_write_the_same_bytes(walk, tmp_path) -> None:
    outputs = [tmp_path / name for name in ("a.yaml", "b.yaml")]
    for output in outputs:
        assert main(["fit", str(walk), "-o", str(output), *QUICK]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_a_column_of_a_table_is_fitted_as_a_scalar(tmp_path, capsys) -> None:
    path = tmp_path / "room.csv"
    values = 20 + np.sin(2 * np.pi * np.arange(400) / 96) + np.arange(400) % 7 * 0.01
    rows = [f"{1_764_000_000 + 900 * k},{value:.3f}" for k, value in enumerate(values)]
    path.write_text("when,degrees\n" + "\n".join(rows) + "\n")
    words = ["fit", str(path), "--column", "degrees", "--time-column", "when", "--json"]
    assert main([*words, "--families", "periodic"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["origin"] is None
    assert found["families"][0]["period"] == pytest.approx(86_400, rel=0.03)
    assert found["prior"][0].startswith("damped periodic of period 1 d")


@pytest.mark.parametrize(
    ("extra", "line"),
    [
        (["--families", "gauss"], "families: found 'gauss'; expected one or more of rbf"),
        (["--gap", "5"], "--gap: '5' has no unit"),
        (["--longest", "0 d"], "--longest: '0 d' is not finite and positive"),
        (["--points", "3"], "found windows of 3 points"),
        (["--time-column", "t"], "--time-column: found without --column"),
        (["--column", "lat"], "--time-column is missing"),
        (["--column", "lat", "--columns", "time=t"], "found with --column"),
        (["--columns", "time"], "--columns: found 'time'; expected role=name"),
        (["--columns", "time=t,latitude=nope,longitude=lon"], "nope"),
        (["other.csv", "--column", "lat", "--time-column", "t"], "found 2 files"),
        (["-o", "no/such/folder/prior.yaml"], "no such folder"),
        (["-o", "."], "is a folder"),
        (["nowhere.gpx"], "no such file"),
        (["--gap", "2 s"], "too short to fit: segments between gaps: 160"),
    ],
)
def test_bad_input_gets_one_line_and_exit_two(walk, capsys, extra, line) -> None:
    assert main(["fit", *QUICK, str(walk), *extra]) == 2
    shown = capsys.readouterr()
    last = shown.err.splitlines()[-1]
    assert last.startswith("sfumato fit: ")
    assert line in last
    assert "48.2" not in shown.err


def test_a_trace_with_a_bad_row_is_refused_unless_repair_is_asked_for(walk, capsys) -> None:
    walk.write_text(walk.read_text() + "1764009999,400.5,16.4\n")
    assert main(["fit", str(walk), *QUICK]) == 2
    refused = capsys.readouterr().err
    assert "--repair" in refused
    assert "400.5" not in refused
    assert main(["fit", str(walk), *QUICK, "--repair"]) == 0


def test_a_table_without_a_header_is_read_by_column_numbers(walk, tmp_path, capsys) -> None:
    bare = tmp_path / "bare.txt"
    bare.write_text("\n".join(walk.read_text().splitlines()[1:]) + "\n")
    assert main(["fit", str(bare), *QUICK]) == 2
    assert "has no header" in capsys.readouterr().err
    assert main(["fit", str(bare), "--columns", "time=1,latitude=2,longitude=3", *QUICK]) == 0


def test_real_people_have_the_effective_lengthscales_that_were_published(data_dir, capsys) -> None:
    """Meehan & Chaudhuri (2021), section 7.4: quartiles 2.7, 6.3, 8.0 of GeoLife's east axis."""
    users = [f"{data_dir}/geolife/users/{user}.csv.gz" for user in ("u000", "u004")]
    words = ["fit", *users, "--repair", "--json", "--families", "rbf", "--points", "60"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    (row,) = [r for r in found["families"] if r["axis"] == "east"]
    # Other people, windows and optimiser bounds than theirs: the same region, not the same digits.
    assert 2.0 < row["effective_lengthscale"][1] < 9.0


def test_the_recording_is_never_written_over(walk, tmp_path, capsys) -> None:
    before = walk.read_bytes()
    diary = tmp_path / "diary.yaml"
    diary.write_text("dear: diary\n")
    for output in (walk, diary):
        assert main(["fit", str(walk), "-o", str(output), *QUICK]) == 2
        assert "--output" in capsys.readouterr().err
    assert walk.read_bytes() == before
    assert diary.read_text() == "dear: diary\n"


def test_a_second_fit_replaces_the_first(walk, tmp_path) -> None:
    output = tmp_path / "prior.yaml"
    for _ in range(2):
        assert main(["fit", str(walk), "-o", str(output), *QUICK]) == 0


def test_an_output_that_cannot_be_written_is_found_before_the_fit(walk, monkeypatch) -> None:
    monkeypatch.setattr("precompute.priors.trace_fitting.fit_traces", pytest.fail)
    assert main(["fit", str(walk), "-o", "/proc/prior.yaml", *QUICK]) == 2


@pytest.mark.parametrize(
    ("timed", "words"),
    [(0, "none of its 40 track points has a time"), (1, "39 rows"), (4, "36 rows")],
)
def test_what_is_short_because_points_have_no_time_is_said_to_be_that(
    tmp_path, capsys, timed, words
) -> None:
    points = "".join(
        f'<trkpt lat="48.{k:04d}" lon="16.3">'
        + (f"<time>2026-01-01T00:00:{k:02d}Z</time>" if k < timed else "")
        + "</trkpt>"
        for k in range(40)
    )
    path = tmp_path / "t.gpx"
    path.write_text(f"<gpx><trk><trkseg>{points}</trkseg></trk></gpx>")
    assert main(["fit", str(path), "--repair", *QUICK]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert words in line
    assert "time" in line.replace("longer", "")
