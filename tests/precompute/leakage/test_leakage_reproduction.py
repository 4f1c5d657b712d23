"""The papers' experiments: the parts whose results do not depend on the machine."""

import argparse
import json
from pathlib import Path

import pytest
from matplotlib import rcParams

from precompute.commands import reproduce as command
from precompute.errors import PrecomputeError
from precompute.leakage import reproduce


def test_everything_is_computed_shown_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = reproduce.time_against_states(states=(4,), alphas=(1.0,))
    monkeypatch.setattr(reproduce, "time_against_states", lambda: short)
    results = reproduce.reproduce(tmp_path)
    assert results["bpl_as_quoted"]
    assert results["example"]["strongest"]["tpl"] == pytest.approx([1.0] * 10)
    assert results["example"]["none"]["tpl"] == pytest.approx([0.1] * 10)
    assert json.loads(json.dumps(results, allow_nan=False)) == json.loads(json.dumps(results))
    assert "Algorithm 3 (T = 10)" in reproduce.describe(results)
    for name in ("example", "times", "noise"):
        assert (tmp_path / f"tpl-{name}.svg").stat().st_size > 5000


def test_the_command_writes_words_or_json_and_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    short = reproduce.time_against_states(states=(4,), alphas=(1.0,))
    monkeypatch.setattr(reproduce, "time_against_states", lambda: short)
    run = _parse("tpl", "-o", str(tmp_path / "out"))
    assert command.run(run) == 0
    assert "BPL, paper" in capsys.readouterr().out
    assert command.run(_parse("tpl", "--json")) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed) == json.loads((tmp_path / "out" / "results.json").read_text())


def test_a_folder_that_cannot_be_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PrecomputeError, match=r"--output.*cannot be made"):
        command.run(_parse("tpl", "-o", str(tmp_path / "file")))


def _parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


def test_correlation_costs_noise_and_a_known_horizon_saves_some() -> None:
    rows = reproduce.noise_against_correlation(smoothings=(0.01, 0.1), alphas=(1.0,), states=10)
    strong, weak = rows
    assert strong.algorithm_2 > weak.algorithm_2 > weak.time_ignored
    assert strong.algorithm_3 < strong.algorithm_2


def test_extrapolated_times_say_so_in_the_table_and_in_the_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = reproduce.time_against_states(states=(4,), alphas=(1.0,))
    assert (short[0].program_pairs_timed, short[0].program_pairs) == (reproduce.PAIRS_TIMED, 12)
    monkeypatch.setattr(reproduce, "time_against_states", lambda: short)
    monkeypatch.setitem(rcParams, "svg.fonttype", "none")
    text = reproduce.describe(reproduce.reproduce(tmp_path))
    assert f"extrapolated to all pairs from {reproduce.PAIRS_TIMED} random ones" in text
    assert f"best of {reproduce.RUNS_TIMED} runs" in text
    picture = (tmp_path / "tpl-times.svg").read_text()
    assert "extrapolated" in picture
    assert f"from {reproduce.PAIRS_TIMED} random pairs" in picture


def test_the_best_run_is_the_one_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 3.0, 10.0, 11.0, 20.0, 25.0, 30.0, 37.0, 40.0, 42.0])
    monkeypatch.setattr(reproduce.time, "perf_counter", lambda: next(clock))
    assert reproduce._best(lambda: 7.0) == (1.0, 7.0)
