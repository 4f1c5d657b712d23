"""The command from end to end, on small recordings; the whole week is `make demo`."""

import csv
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from agent.cli import main
from agent.formats.projection import LocalProjection
from tests.precompute.demo.test_material import write_walk

WORDS = [sys.executable, "-m", "agent", "demo"]


def leftovers(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith("work-")]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """(folder, path of the recording) of one demonstration of 400 fixes named dangerously."""
    folder = tmp_path_factory.mktemp("demo")
    path = write_walk(folder / "a<b>&'walk'.csv", 400)
    assert main(["demo", "--trace", str(path), "-o", str(folder / "out")]) == 0
    return folder / "out", path


def test_it_leaves_a_report_and_what_it_was_made_of(shown):
    folder, _ = shown
    assert sorted(path.name for path in folder.iterdir()) == [
        "agent.yaml",
        "design.yaml",
        "location.bundle",
        "prior.yaml",
        "published.csv",
        "report.html",
    ]


def test_the_report_is_one_small_page_that_fetches_nothing(shown):
    page = (shown[0] / "report.html").read_text()
    assert len(page) < 2_000_000
    assert (shown[0] / "report.html").stat().st_mode & 0o077 == 0
    without_namespace = page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//|<script|<link|<img|@import|url\(", without_namespace)
    assert 'name="viewport"' in page
    assert "do not share" in page


def test_the_files_name_is_escaped(shown):
    page = (shown[0] / "report.html").read_text()
    assert "<b>&" not in page
    assert "a&lt;b&gt;&amp;&#x27;walk&#x27;.csv" in page


def test_what_was_published_is_noisy_by_as_much_as_the_design_says(shown):
    with (shown[0] / "published.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 200
    east, north = LocalProjection(10.0, 20.0).forward(
        [float(r["latitude"]) for r in rows], [float(r["longitude"]) for r in rows]
    )
    true_east, true_north = LocalProjection(10.0, 20.0).forward(10.1, 20.2)
    distance = np.hypot(east - true_east, north - true_north)
    assert 1.0 < np.min(distance) + np.max(distance) < 5000.0
    # No true position is among them: fixes have this latitude to within 5 m.
    assert all(not r["latitude"].startswith("10.1000") for r in rows) or np.max(distance) > 20.0


def test_a_second_run_into_the_same_folder_starts_anew(shown):
    folder, path = shown
    first = (folder / "published.csv").read_text()
    assert main(["demo", "--trace", str(path), "-o", str(folder)]) == 0
    second = (folder / "published.csv").read_text()
    assert second != first
    assert second.count("\n") == first.count("\n")
    assert leftovers(folder) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such file"),
        ("", "empty"),
        ("t,lat,lon\n1772409600,10,20\n", "."),
        ("t,lat,lon\n1772409600,10,20\n1772409605,nan,20\n1772409610,10,20\n", "line 3"),
        ("t,lat,lon\n1772409600,10,20\n1772409605,400,20\n1772409610,10,20\n", "line 3"),
        ("t,lat,lon\n1772409610,10,20\n1772409605,10,20\n1772409600,10,20\n", "line 3"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path, capsys, content, words):
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_text(content)
    assert main(["demo", "--trace", str(path), "-o", str(tmp_path / "out")]) == 2
    lines = [
        line
        for line in capsys.readouterr().err.splitlines()
        if not line.startswith("sfumato demo: [")
    ]
    assert len(lines) == 1
    assert re.search(words, lines[0])
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["demo", "-o", str(tmp_path / "file" / "out")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything_and_removes_the_working_folder(tmp_path, number):
    path = write_walk(tmp_path / "walk.csv", 120_000)
    words = [*WORDS, "--trace", str(path), "-o", str(tmp_path / "out")]
    # Tests that run in the background of a shell ignore SIGINT, and so would their children.
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    signal.signal(signal.SIGINT, earlier)
    with process:
        for line in process.stderr:
            if "publishing" in line:
                break
        deadline = time.monotonic() + 20
        while not list((tmp_path / "out").glob("work-*/agent.log")) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, number)
        process.stderr.read()
        assert process.wait(30) != 0
    assert leftovers(tmp_path / "out") == []
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # nobody of its group is left


def test_real_recordings_become_reports(data_dir, tmp_path):
    names = [
        "geolife/plt_raw/000_20081023025304.plt",
        "tracks/gpx/gpxpy_track-with-empty-segment.gpx",
    ]
    for k, name in enumerate(names):
        folder = tmp_path / str(k)
        assert main(["demo", "--trace", str(data_dir / name), "-o", str(folder)]) == 0
        assert "What is not" in (folder / "report.html").read_text()


@pytest.mark.parametrize("name", ["design.yaml", "report.html", "published.csv"])
def test_files_of_the_users_are_never_written_over(tmp_path, capsys, name):
    path = write_walk(tmp_path / "walk.csv", 400)
    (tmp_path / name).write_text("mine\n")
    assert main(["demo", "--trace", str(path), "-o", str(tmp_path)]) == 2
    assert "left alone" in capsys.readouterr().err
    assert sorted(child.name for child in tmp_path.iterdir()) == sorted(["walk.csv", name])
    assert (tmp_path / name).read_text() == "mine\n"
    path = path.rename(tmp_path / "agent.yaml")
    (tmp_path / name).unlink()
    assert main(["demo", "--trace", str(path), "-o", str(tmp_path)]) == 2
    assert "also read or written" in capsys.readouterr().err
