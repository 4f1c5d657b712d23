"""The head of a learnt matrix: read back, and held against what the matrix is used for."""

import argparse
from pathlib import Path

import pytest

from agent.formats.documents import parse_yaml
from agent.formats.errors import SfumatoError
from precompute.commands import leakage as command
from precompute.leakage.designing import design_leakage
from precompute.leakage.errors import LeakageError
from precompute.leakage.matrix_files import read_matrix_file
from precompute.leakage.matrix_heads import (
    BACKWARD_COMMENT,
    FORWARD_COMMENT,
    Grid,
    MatrixHead,
    parse_head,
    step_comment,
)

GRID = Grid(40.0, 116.5, 1000.0)
BODY = ",e0n0,elsewhere\ne0n0,.8,.2\nelsewhere,.3,.7\n"


def matrix(folder: Path, name: str, *comments: str, body: str = BODY) -> Path:
    path = folder / name
    path.write_text("".join(f"# {comment}\n" for comment in comments) + body)
    return path


@pytest.fixture
def learnt(tmp_path: Path) -> Path:
    head = (step_comment(600), GRID.comment())
    matrix(tmp_path, "B.csv", BACKWARD_COMMENT, *head)
    matrix(tmp_path, "F.csv", FORWARD_COMMENT, *head)
    return tmp_path


def design(folder: Path, *, step: str = "10 min", cell: str = "1 km", east: str = "116.5") -> None:
    document = f"""
name: region
kind: leakage
knowledge: {{backward: B.csv, forward: F.csv}}
protect: {{alpha: 1}}
step: {step}
regions: {{latitude: 40, longitude: {east}, cell: {cell}}}
"""
    design_leakage(parse_yaml(document.encode(), "design.yaml"), folder)


def run(*words: object) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(word) for word in words]))


def test_a_head_is_read_back_as_it_was_written(learnt: Path) -> None:
    head = read_matrix_file(learnt / "F.csv", "forward").head
    assert head == MatrixHead("forward", 600.0, GRID)


def test_what_learn_writes_is_what_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = [f"{1_700_000_000 + 1234567 * k},{'ab'[k % 3 > 0]}" for k in range(20)]
    log.write_text("time,state\n" + "\n".join(rows) + "\n")
    words = ("learn", log, "--states", "--step", "1234567 s", "-o", tmp_path / "F.csv")
    assert run(*words, "--backward", tmp_path / "B.csv") == 0
    head = read_matrix_file(tmp_path / "B.csv", "backward").head
    assert head == MatrixHead("backward", 1234567.0, None)


def test_other_comments_and_no_head_say_nothing(tmp_path: Path) -> None:
    path = matrix(tmp_path, "P.csv", "from a colleague", "step by step", "step 1e s")
    assert read_matrix_file(path, "backward").head == MatrixHead()
    assert read_matrix_file(path, "forward").head == MatrixHead()
    with pytest.raises(LeakageError, match="two different values of the step"):
        parse_head(["step 60 s", "step 600 s"])


def test_a_design_like_the_head_passes(learnt: Path) -> None:
    design(learnt)


@pytest.mark.parametrize(
    ("change", "found", "expected"),
    [
        ({"step": "1 h"}, "found 1 h", "expected 10 min"),
        ({"cell": "500 m"}, "cell 500 m in the design", "cell 1000 m"),
        ({"east": "117"}, "longitude 117,", "longitude 116.5,"),
    ],
)
def test_a_design_unlike_the_head_is_refused(
    learnt: Path, change: dict[str, str], found: str, expected: str
) -> None:
    with pytest.raises(SfumatoError) as refused:
        design(learnt, **change)
    message = str(refused.value)
    assert found in message
    assert expected in message
    assert "B.csv" in message
    assert "\n" not in message


def test_a_design_with_swapped_files_is_refused(learnt: Path) -> None:
    (learnt / "B.csv").rename(learnt / "x")
    (learnt / "F.csv").rename(learnt / "B.csv")
    (learnt / "x").rename(learnt / "F.csv")
    with pytest.raises(SfumatoError, match=r"B\.csv: found a forward matrix.*expected a backward"):
        design(learnt)


@pytest.mark.parametrize(
    "action", [("quantify", "--epsilon", 0.1, "--steps", 3), ("allocate", "--alpha", 1)]
)
class TestCommands:
    def test_a_direction_that_is_not_the_file_s(
        self, learnt: Path, action: tuple[object, ...]
    ) -> None:
        with pytest.raises(LeakageError, match=r"F\.csv: found a forward matrix"):
            run(*action, "--backward", learnt / "F.csv")
        with pytest.raises(LeakageError, match=r"B\.csv: found a backward matrix"):
            run(*action, "--forward", learnt / "B.csv")

    @pytest.mark.parametrize(
        ("comments", "body", "reason"),
        [
            ((step_comment(3600),), BODY, "found a step of 1 h; expected that of .*, 10 min"),
            ((Grid(40.0, 117.0, 1000.0).comment(),), BODY, "found a grid of latitude 40, long"),
            ((), BODY.replace("e0n0", "e1n0"), "found 1 of 2 states with another name"),
        ],
    )
    def test_two_files_of_different_chains(
        self,
        learnt: Path,
        action: tuple[object, ...],
        comments: tuple[str, ...],
        body: str,
        reason: str,
    ) -> None:
        other = matrix(learnt, "other.csv", FORWARD_COMMENT, *comments, body=body)
        with pytest.raises(LeakageError, match=reason) as refused:
            run(*action, "--backward", learnt / "B.csv", "--forward", other)
        assert "e1n0" not in str(refused.value)

    def test_plain_numbers_go_with_names(self, learnt: Path, action: tuple[object, ...]) -> None:
        plain = matrix(learnt, "plain.csv", body=".8,.2\n.3,.7\n")
        assert run(*action, "--backward", learnt / "B.csv", "--forward", plain) == 0
