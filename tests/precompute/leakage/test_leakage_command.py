"""``sfumato leakage``: what it prints, writes and refuses."""

import argparse
import json
from pathlib import Path

import pytest

from agent.formats.errors import SfumatoError
from precompute.commands import leakage as command

ONE_WAY = "0.8,0.2\n0,1\n"
TWO_WAY = "0.8,0.2\n0.1,0.9\n"


def run(*words: object) -> int:
    """The command, as the command line calls it."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def one_way(tmp_path: Path) -> Path:
    path = tmp_path / "P.csv"
    path.write_text(ONE_WAY)
    return path


@pytest.fixture
def two_way(tmp_path: Path) -> Path:
    path = tmp_path / "P2.csv"
    path.write_text(TWO_WAY)
    return path


def test_quantify_gives_the_documented_fields(
    one_way: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("quantify", "--backward", one_way, "--epsilon", 0.1, "--steps", 10, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bpl"][-1] == pytest.approx(0.4964, abs=5e-5)
    assert report["fpl"] == [0.1] * 10
    assert len(report["tpl"]) == 10
    assert report["supremum_forward"] == pytest.approx(0.1)
    assert report["supremum"] == pytest.approx(report["supremum_backward"], abs=1e-12)
    assert report["unbounded"] is False


def test_no_finite_bound_is_null_and_said(
    one_way: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("quantify", "--backward", one_way, "--epsilon", 0.3, "--steps", 3)
    assert run(*words, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["supremum"] is None
    assert report["unbounded"] is True
    assert run(*words) == 0
    assert "no finite bound: it grows with every release" in capsys.readouterr().out


def test_budgets_from_a_file_have_no_supremum(
    one_way: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    budgets = tmp_path / "budgets.txt"
    budgets.write_text("0.1\n0.2\n")
    assert (
        run("quantify", "--forward", one_way, "--epsilons", budgets, "--window", 2, "--json") == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert report["epsilons"] == [0.1, 0.2]
    assert report["unbounded"] is None
    assert report["w_event"] == pytest.approx(0.3)


def test_allocate_for_a_known_and_an_unknown_horizon(
    two_way: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("allocate", "--alpha", 1, "--backward", two_way, "--forward", two_way)
    assert run(*words, "--steps", 5, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["epsilons"][0] == pytest.approx(0.584560, abs=5e-7)
    assert report["tpl"] == pytest.approx([1.0] * 5, abs=1e-9)
    assert run(*words, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["epsilons"] == pytest.approx([0.169120], abs=5e-7)
    assert report["tpl"] == pytest.approx([1.0], abs=1e-9)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture_is_written_and_is_the_same_again(
    one_way: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("quantify", "--backward", one_way, "--epsilon", 0.1, "--steps", 10, "--plot")
    first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    assert run(*words, first) == 0
    assert run(*words, second) == 0
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) > 5000
    assert "largest TPL: 0.49" in capsys.readouterr().out


def test_a_learned_matrix_can_be_quantified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "rooms.csv"
    log.write_text("\n".join(["kitchen", "hall", "hall", "bed", "bed", "bed", "hall"] * 20))
    forward, backward = tmp_path / "F.csv", tmp_path / "B.csv"
    assert run("learn", log, "--states", "-o", forward, "--backward", backward, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["states"], report["transitions"]) == (3, 139)
    words = ("allocate", "--alpha", 1, "--backward", backward, "--forward", forward, "--steps", 4)
    assert run(*words) == 0
    assert "largest TPL: 1.000000" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("quantify", "--epsilon", "0.1", "--steps", "3"), "give at least one"),
        (
            ("quantify", "--backward", "P.csv", "--epsilon", "0.1"),
            "found 0.1 without --steps; expected also the number",
        ),
        (("quantify", "--backward", "P.csv", "--epsilon", "0", "--steps", "3"), "number 1 is 0"),
        (("quantify", "--backward", "missing.csv", "--epsilon", "1", "--steps", "3"), "no such"),
        (("allocate", "--alpha", "0", "--backward", "P.csv"), "alpha: found 0"),
        (("allocate", "--alpha", "nan", "--backward", "P.csv"), "alpha: found nan"),
        (("allocate", "--alpha", "1", "--backward", "P.csv", "--steps", "0"), "found 0 steps"),
        (
            ("allocate", "--alpha", "1", "--backward", "P.csv", "--plot", "x.pdf"),
            "cannot tell the kind",
        ),
        (("learn", "P.csv", "-o", "x.csv"), "give --cell for traces, or --states"),
        (("learn", "P.csv", "--states", "--step", "5", "-o", "x.csv"), "has no unit"),
    ],
)
def test_wrong_use_is_refused_in_one_line(
    words: tuple[str, ...],
    message: str,
    one_way: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(one_way.parent)
    with pytest.raises(SfumatoError, match=message) as caught:
        run(*words)
    assert "\n" not in str(caught.value)


def test_inputs_and_files_of_others_are_never_written_over(
    one_way: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("mine\n")
    for words in (
        ("learn", log, "--states", "-o", log),
        ("learn", log, "--states", "-o", tmp_path / "P2.csv", "--backward", tmp_path / "P2.csv"),
        ("learn", log, "--states", "-o", one_way),
    ):
        with pytest.raises(SfumatoError, match=r"also read or written|left alone"):
            run(*words)
    picture = tmp_path / "holiday.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n from the camera")
    words = ("quantify", "--backward", one_way, "--epsilon", 0.1, "--steps", 3, "--plot")
    with pytest.raises(SfumatoError, match="left alone"):
        run(*words, picture)
    assert log.read_text() == "mine\n"
    assert one_way.read_text() == ONE_WAY
    for name in ("new.png", "new.svg"):
        for _ in range(2):
            assert run(*words, tmp_path / name) == 0
