"""`sfumato reproduce cip`: the published programs give the published figure, and ours give more."""

import argparse
import json
from pathlib import Path

import pytest

from precompute.commands import reproduce
from precompute.errors import PrecomputeError
from precompute.reproduce.cip_panels import PANELS, row
from precompute.reproduce.cip_quartiles import BUILT_IN, quartiles

# Measured with the authors' program on the authors' solver, at the median lengthscale.
MEASURED = {"a": 0.420, "b": 0.0667, "c": 0.707, "e": 0.336, "f": 0.257, "g": 0.577}
TRACES = {"a": 1.0, "b": 1.0, "c": 17.20, "e": 0.96, "f": 0.96, "g": 10.43}


@pytest.fixture(scope="module")
def at_median() -> dict[str, dict[str, object]]:
    return {letter: row(panel, BUILT_IN[panel.kernel][1] ** 2) for letter, panel in PANELS.items()}


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    reproduce.add_arguments(parser)
    return reproduce.run(parser.parse_args(["cip", *words]))


def test_the_published_programs_give_the_published_figure(
    at_median: dict[str, dict[str, float]],
) -> None:
    for letter, expected in MEASURED.items():
        assert at_median[letter]["sdp"] == pytest.approx(expected, abs=6e-4), letter
        assert at_median[letter]["trace"] == pytest.approx(TRACES[letter], abs=5e-3), letter
    assert at_median["a"]["uniform"] == pytest.approx(0.123, abs=5e-4)


def test_ours_leaves_the_longer_interval_in_every_panel(
    at_median: dict[str, dict[str, float]],
) -> None:
    for letter, found in at_median.items():
        assert found["ours"] > 1.3 * max(found["sdp"], found["uniform"], found["concentrated"]), (
            letter
        )


def test_ours_keeps_it_when_the_lengthscale_was_wrong(
    at_median: dict[str, dict[str, dict[str, dict[str, float]]]],
) -> None:
    for letter in "dh":
        for lines in at_median[letter]["true_lengthscale"].values():
            assert lines["ours"] > 1.4 * max(lines["sdp"], lines["uniform"])


def test_two_secrets_as_published_depend_on_a_scaling(
    at_median: dict[str, dict[str, dict[str, float]]],
) -> None:
    scalings = at_median["b"]["sdp_by_scaling"]
    assert scalings["1"] < 1e-4
    assert 0.06 < scalings["1000"] < scalings["1e+06"]


def test_json_holds_a_row_for_every_lengthscale(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert _run("--panel", "a", "--panel", "c", "--json", "-o", str(tmp_path / "new")) == 0
    captured = capsys.readouterr()
    assert captured.err == ""  # no progress bar in a pipe
    found = json.loads(captured.out)
    assert json.loads((tmp_path / "new" / "results.json").read_text()) == found
    assert set(found["panels"]) == {"a", "c"}
    for rows in found["panels"].values():
        assert len(rows) == 21
        assert [r["lengthscale_sq"] for r in rows] == sorted(r["lengthscale_sq"] for r in rows)
        assert all(
            {"lengthscale_sq", "trace", "sdp", "uniform", "concentrated", "ours"} <= set(r)
            and r["ours"] >= r["sdp"]
            for r in rows
        )
    pictures = [Path(name) for name in found["pictures"]]
    assert {path.name for path in pictures} == {
        "panel_a.png",
        "panel_c.png",
        "figure_2.png",
        "covariances_rbf.png",
        "samples_rbf.png",
    }
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PrecomputeError, match="--output"):
        _run("-o", str(tmp_path / "file"))


def test_quartiles_are_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    assert quartiles().source == "built in"


def test_quartiles_of_the_data_are_those_built_in(data_dir: Path) -> None:
    found = quartiles()
    assert found.source == f"{data_dir / 'cip'}" or Path(found.source).resolve() == data_dir / "cip"
    for kernel, values in BUILT_IN.items():
        assert found.values[kernel] == pytest.approx(values, abs=1e-5)


def test_a_damaged_file_of_lengthscales_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cip").mkdir()
    for name in ("l_eff_x.npy", "l_eff_y.npy", "l_eff_temp.npy"):
        (tmp_path / "cip" / name).write_bytes(b"not an array")
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    with pytest.raises(PrecomputeError, match=r"l_eff_x\.npy"):
        quartiles()
