"""`sfumato explain`: one page that needs nothing else, with the class where it is known."""

import argparse
import re
from pathlib import Path

import pytest

from agent.formats.errors import FormatError
from precompute.commands import design, explain
from precompute.errors import DesignError

DESIGN = """
designs:
  - name: place
    kind: stream
    axes: [east, north]
    secret: {radius: 500 m}
    protect: {epsilon: 2.0, delta: 1.0e-3}
    prior: {kernels: [{family: rbf, lengthscale: [10 min, 2 h]}]}
  - name: one
    kind: window
    times: {count: 20, step: 1 s}
    prior: {kernels: [{family: rbf, variance: 1.0, lengthscale: 4 s}]}
    secrets: [[9], [3, 4]]
    budget: {mse: 0.02}
  - name: rooms
    kind: leakage
    knowledge: {backward: P.csv}
    protect: {alpha: 1}
    step: 10 min
"""


def _run(module: object, *words: str) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)  # type: ignore[attr-defined]
    return int(module.run(parser.parse_args(words)))  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explained")
    (folder / "design.yaml").write_text(DESIGN)
    (folder / "P.csv").write_text(",bed,hall\nbed,.8,.2\nhall,.1,.9\n")
    _run(design, str(folder / "design.yaml"), "-o", str(folder / "a.bundle"))
    return folder


def test_the_page_shows_every_design_and_fetches_nothing(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = made / "page.html"
    words = [str(made / "a.bundle"), "--design", str(made / "design.yaml"), "-o", str(page)]
    assert _run(explain, *words) == 0
    said = capsys.readouterr().out.splitlines()
    nothing = "--design adds nothing for rooms: the bundle holds all that is shown"
    assert said == [str(page), nothing]
    text = page.read_text()
    for expected in (
        "place: a stream",
        "one: a window",
        "rooms: released states",
        "What is lost against rbf",
        "Shaded",
    ):
        assert expected in text
    assert not re.findall(r"(?:src|href)=|url\(|<script|<img", text)
    assert "nan" not in re.sub(r"<style>.*?</style>", "", text, flags=re.S).lower().split()
    first = page.read_bytes()
    _run(explain, *words)
    assert page.read_bytes() == first


def test_without_the_design_file_the_page_says_what_it_cannot_show(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made / "new"
    assert _run(explain, str(made / "a.bundle"), "-o", str(folder)) == 0
    text = (folder / "explained.html").read_text()
    assert "in words only" in text
    assert "Shaded" not in text
    assert "--design" in capsys.readouterr().out


def test_a_design_file_of_another_bundle_is_refused(made: Path) -> None:
    other = made / "other.yaml"
    other.write_text(DESIGN.replace("[10 min, 2 h]", "[10 min, 3 h]"))
    with pytest.raises(DesignError, match="another prior"):
        _run(explain, str(made / "a.bundle"), "--design", str(other), "-o", str(made / "x.html"))


@pytest.mark.parametrize("name", ["place", "one", "rooms"])
def test_a_design_file_without_a_design_of_that_name_is_refused(made: Path, name: str) -> None:
    other = made / "other.yaml"
    other.write_text(DESIGN.replace(f"name: {name}\n", "name: other\n"))
    with pytest.raises(DesignError, match=f"has no design '{name}'.*found .*other"):
        _run(explain, str(made / "a.bundle"), "--design", str(other), "-o", str(made / "x.html"))
    assert not (made / "x.html").exists()


def test_a_design_of_that_name_but_of_another_kind_is_refused(made: Path) -> None:
    other = made / "other.yaml"
    swapped = DESIGN.replace("name: one", "name: X").replace("name: rooms", "name: one")
    other.write_text(swapped.replace("name: X", "name: rooms"))
    with pytest.raises(DesignError, match="the design 'one' is no window, the bundle's is one"):
        _run(explain, str(made / "a.bundle"), "--design", str(other), "-o", str(made / "x.html"))


ROOM = """
designs:
  - name: room
    kind: mapping
    step: 1 min
    protect: {information: 0.5, local: 1.0}
    joint: joint.csv
    nodes:
      - {name: light, columns: [lux], cuts: [100]}
    memoise: 1 h
    starts: 1
"""
JOINT = "h,g,light,p\nno,out,0,.4\nno,in,1,.1\nyes,out,0,.1\nyes,in,1,.2\nyes,out,1,.2\n"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("room")
    (folder / "room.yaml").write_text(ROOM)
    (folder / "joint.csv").write_text(JOINT)
    _run(design, str(folder / "room.yaml"), "-o", str(folder / "room.bundle"))
    return folder


def test_a_mapping_is_shown_in_pictures_to_which_a_design_file_adds_nothing(
    room: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = room / "page.html"
    assert _run(explain, str(room / "room.bundle"), "-o", str(page)) == 0
    assert capsys.readouterr().out.splitlines() == [str(page)]
    alone = page.read_text()
    assert alone.count("<svg") == alone.count("<figcaption>") == 3
    words = [str(room / "room.bundle"), "--design", str(room / "room.yaml"), "-o", str(page)]
    assert _run(explain, *words) == 0
    nothing = "--design adds nothing for room: the bundle holds all that is shown"
    assert capsys.readouterr().out.splitlines() == [str(page), nothing]
    assert page.read_text() == alone


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        ("name: room", "name: hall", "has no design 'room', which the bundle holds"),
        ("name: light", "name: lamp", "has other nodes than"),
        ("[lux]", "[lumen]", "has other columns than"),
        ("step: 1 min", "step: 2 min", "has another step than"),
        ("step: 1 min", "step: 1 min\n    architecture: lip", "has another architecture than"),
    ],
)
def test_a_design_file_of_another_mapping_is_refused(
    room: Path, before: str, after: str, part: str
) -> None:
    other = room / "other.yaml"
    other.write_text(ROOM.replace(before, after))
    if "lamp" in after:
        other.write_text(other.read_text().replace("joint.csv", "lamp.csv"))
        (room / "lamp.csv").write_text(JOINT.replace("light", "lamp"))
    with pytest.raises(DesignError, match=part):
        _run(explain, str(room / "room.bundle"), "--design", str(other), "-o", str(room / "x.html"))
    assert not (room / "x.html").exists()


def test_what_is_not_a_bundle_is_refused(made: Path) -> None:
    with pytest.raises(FormatError):
        _run(explain, str(made / "design.yaml"), "-o", str(made / "x.html"))


def test_a_page_never_replaces_what_is_not_one(made: Path) -> None:
    theirs = made / "theirs.html"
    theirs.write_text("<p>My garden</p>")
    with pytest.raises(FormatError, match="is there already and is not a page by"):
        _run(explain, str(made / "a.bundle"), "-o", str(theirs))
    assert theirs.read_text() == "<p>My garden</p>"


def test_a_page_that_cannot_be_written_is_refused(made: Path) -> None:
    with pytest.raises(FormatError, match="--output"):
        _run(explain, str(made / "a.bundle"), "-o", str(made / "a.bundle" / "x.html"))
