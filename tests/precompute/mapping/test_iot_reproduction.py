"""The reproduced figures: the joint as stated, the command, and verdicts that can fail."""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from precompute.commands import reproduce as command
from precompute.errors import PrecomputeError
from precompute.mapping.reproduction import figures, statements
from precompute.mapping.reproduction.made_up_joint import paper_like_joint


def test_the_joint_is_the_one_stated() -> None:
    joint = paper_like_joint()
    assert joint.sizes == (16,) * 6
    values = np.array([0.0, 1.0])
    prior = joint.prior
    assert prior.sum(axis=0).tolist() == prior.sum(axis=1).tolist() == [0.5, 0.5]
    covariance = values @ prior @ values - 0.25
    assert covariance / 0.25 == pytest.approx(0.2)
    # Class h = 1, g = 0 of sensor 1: a ~ B(3, .5 + .30 - .04), b ~ B(3, .5 + .04 - .15).
    number = int(np.flatnonzero((joint.public == 1) & (joint.private == 0))[0])
    table = joint.tables[0][number].reshape(4, 4)
    assert table.sum(axis=1) @ np.arange(4) == pytest.approx(3 * 0.76)
    assert table.sum(axis=0) @ np.arange(4) == pytest.approx(3 * 0.39)
    assert table[3, 0] == pytest.approx(0.76**3 * 0.61**3)


def test_the_first_sensor_may_be_independent_of_g_and_still_about_h() -> None:
    joint = paper_like_joint(first_is_public=True)
    of_h, of_g = np.zeros((2, 16)), np.zeros((2, 16))
    classes = zip(joint.public, joint.private, joint.weights, joint.tables[0], strict=True)
    for h, g, weight, row in classes:
        of_h[h] += weight * row
        of_g[g] += weight * row
    assert np.allclose(of_g[0], of_g[1], rtol=0, atol=1e-15)
    assert not np.allclose(of_h[0], of_h[1], rtol=0, atol=0.01)


@pytest.fixture(scope="module")
def found() -> dict[str, tuple[figures.Point, ...]]:
    """All figures on two or three sensors of four cells, and fewer points."""
    patch = pytest.MonkeyPatch()
    patch.setattr(figures, "paper_like_joint", _two)
    patch.setattr(figures, "STARTS", 1)
    patch.setitem(figures.GRIDS, "5", ((0.01, 2.0),))
    patch.setitem(figures.GRIDS, "6", ((0.005, 0.5), (0.18, 0.5)))
    patch.setitem(figures.GRIDS, "7", ((0.15, 0.5),))
    result = {figure: figures.points(figure) for figure in ("5", "6", "7")}
    patch.undo()
    return result


def _two(*, first_is_public: bool = False):
    """Counts told only as low or high, so that there are four cells."""
    halves = np.zeros((16, 4))
    for first in range(4):
        for second in range(4):
            halves[4 * first + second, 2 * (first // 2) + second // 2] = 1
    # Of two sensors one alone decides, and the other, the first in Figure 7, had better be silent.
    sensors = 3 if first_is_public else 2
    joint = paper_like_joint(first_is_public=first_is_public, sensors=sensors)
    return joint.after([halves] * sensors)


def test_every_statement_is_judged_on_the_points(found) -> None:
    all_of_them = statements.judge(found)
    assert len(all_of_them) == 8
    holds = [one.holds for one in all_of_them]
    # Stage by stage both orders show; refined, ILL is never ahead (docs/reproduce-iot.md).
    assert holds == [True, True, False, True, True, True, True, True]


def test_a_statement_that_is_not_so_is_told(found) -> None:
    (point,) = found["7"]
    quiet = replace(point.cells["information_only"], reading_information=0.0)
    broken = dict(
        found, **{"7": (replace(point, cells={**point.cells, "information_only": quiet}),)}
    )
    assert not _verdict(broken, "information privacy alone").holds
    (point,) = found["5"]
    worse = replace(point.cells["direct"], public_error=0.5, information=0.0101)
    broken = dict(found, **{"5": (replace(point, cells={**point.cells, "direct": worse}),)})
    assert not _verdict(broken, "ours").holds
    assert not _verdict(broken, "what is achieved").holds
    kind = replace(point.cells["ldp_only"], information=0.001)
    broken = dict(found, **{"5": (replace(point, cells={**point.cells, "ldp_only": kind}),)})
    assert not _verdict(broken, "LDP alone").holds


def _verdict(found, beginning: str) -> statements.Verdict:
    (one,) = [one for one in statements.judge(found) if one.statement.startswith(beginning)]
    return one


def test_the_command_writes_words_or_json_and_its_files(
    found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("precompute.mapping.reproduction.report.points", lambda one: found[one])
    assert command.run(_parse("iot", "-o", str(tmp_path / "out"))) == 0
    printed = capsys.readouterr().out
    assert "Figure 5" in printed
    assert "I(X1;Z1), nats: what sensor 1 tells of its reading; lower is better" in printed
    assert "does not hold ILL is ahead of LIP at small epsilon_I, refined" in printed
    for figure in "567":
        assert (tmp_path / "out" / f"iot-figure-{figure}.svg").stat().st_size > 5000
    assert command.run(_parse("iot", "--json")) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed) == json.loads((tmp_path / "out" / "results.json").read_text())
    assert command.run(_parse("iot", "--json", "--figure", "7")) == 0
    assert list(json.loads(capsys.readouterr().out)["figures"]) == ["7"]


def test_a_folder_that_cannot_be_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PrecomputeError, match=r"--output.*cannot be made"):
        command.run(_parse("iot", "-o", str(tmp_path / "file")))


def _parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)
