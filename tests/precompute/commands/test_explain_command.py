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
    assert capsys.readouterr().out.strip() == str(page)
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
    other.write_text(DESIGN.replace("name: ", "name: other-"))
    with pytest.raises(DesignError, match="none of the bundle's designs"):
        _run(explain, str(made / "a.bundle"), "--design", str(other), "-o", str(made / "x.html"))


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
