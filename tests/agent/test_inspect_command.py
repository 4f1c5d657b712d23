import json
import math
from pathlib import Path

import numpy as np
import pytest
from fakes.said import said
from hypothesis import given
from hypothesis import strategies as st

from agent.cli import main
from agent.formats.bundle import write_bundle
from agent.formats.design_summary import noise_std_range, typical_error
from agent.formats.designs import Component
from agent.formats.odds import (
    certainty_in_words,
    epsilon_at_distance,
    odds_factor,
    odds_in_words,
    rounded_up,
)
from tests.agent.example_designs import rooms, stream, window


@pytest.fixture
def bundle_path(tmp_path: Path) -> Path:
    path = tmp_path / "location.bundle"
    design = stream(
        Component("matern12", 3.0e4, 60.0), Component("matern32", 1.0e4, 86400.0), segments=2
    )
    path.write_bytes(write_bundle([design, window()]))
    return path


def test_in_words(bundle_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(bundle_path)]) == 0
    shown = capsys.readouterr().out
    words = " ".join(shown.split())
    # By hand: variance 40,000, so 200 m; 200 sqrt(pi/2) = 250.7; 200 sqrt(2 log 20) = 489.5.
    for sentence in (
        "standard deviation 200 m per axis",
        "off by 251 m on average; 95 % are off by less than 490 m",
        "where you are at any one time.",
        "the odds between the true place and any other within 500 m of it change by at most a "
        "factor 2.62 (e^0.96), except with probability 0.001",
        "ends up at most 73 % sure",
        "up to 2 starts of fresh noise",
        "- squared exponential, lengthscale 30 s to 14 d",
        "NOT promised - an observer who knows the road map",
        "matern12 173 m over 1 min; matern32 100 m over 1 d",
        "one window of 5 readings, one every 1 s (5 s); after that the agent refuses",
        "whoever deletes or replaces the whole folder starts anew and spends the promise once more",
        "the odds between the true value and any other within 500 Cel",
    ):
        assert sentence in words
    assert max(map(len, said(shown, bundle_path.parent).splitlines())) <= 96


def test_as_json(bundle_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(bundle_path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["sha256"]) == 64
    location, trip = shown["designs"]
    assert location["noise_power"] == 40_000.0
    assert location["odds_factor"] == pytest.approx(math.exp(0.96))
    assert (trip["rows"], trip["rank"], trip["step_seconds"]) == (5, 5, 1.0)
    # Row sums of squares run from 1 to 4/3, so no one figure describes every reading.
    assert trip["mean_error"] is None
    assert trip["noise_std_lowest"] == 1.0


@pytest.mark.parametrize("content", [None, b"", b"not a bundle", bytes(5000)])
def test_what_is_no_bundle_gives_one_line_and_exit_2(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.bundle"
    if content is not None:
        path.write_bytes(content)
    assert main(["inspect", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert str(path) in shown.err


def test_typical_errors_agree_with_simulation() -> None:
    draws = 3.0 * np.random.default_rng(1).standard_normal((400_000, 2))
    for axes in (1, 2):
        distances = np.linalg.norm(draws[:, :axes], axis=1)
        expected = typical_error(3.0, axes)
        assert expected is not None
        assert np.mean(distances) == pytest.approx(expected.mean, rel=5e-3)
        assert np.mean(distances < expected.within_95) == pytest.approx(0.95, abs=2e-3)
    assert typical_error(3.0, 3) is None


def test_epsilon_grows_with_distance_as_rho_does_with_its_square() -> None:
    # rho = 1, delta = e^-1: 1 + 2 = 3 at the radius; rho 4: 4 + 4 = 8 at twice the radius.
    delta = math.exp(-1.0)
    assert epsilon_at_distance(1.0, delta, 1.0) == pytest.approx(3.0)
    assert epsilon_at_distance(1.0, delta, 2.0) == pytest.approx(8.0)


def test_odds_that_no_number_holds_are_left_out() -> None:
    assert odds_factor(800.0) is None
    assert odds_factor(0.0) == 1.0


def test_a_stream_has_one_standard_deviation() -> None:
    lowest, highest = noise_std_range(stream(Component("matern12", 9.0, 1.0)))
    assert lowest == highest == 3.0


def test_a_leakage_design_in_words_and_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "home.bundle"
    path.write_bytes(write_bundle([stream(), rooms()]))
    assert main(["inspect", str(path)]) == 0
    shown = capsys.readouterr().out
    words = " ".join(shown.split())
    assert "rooms: one of 3 states, at most one release every 10 min" in words
    assert "by a factor of at most 2.72 (temporal leakage at most alpha = 1 nats)" in words
    assert max(map(len, said(shown, tmp_path).splitlines())) <= 96
    assert main(["inspect", str(path), "--json"]) == 0
    _, summary = json.loads(capsys.readouterr().out)["designs"]
    assert (summary["kind"], summary["alpha"], summary["segments"]) == ("leakage", 1.0, 4)


def test_upper_bounds_are_rounded_up() -> None:
    # 1/(1 + e^-x) at log 3 is 3/4 exactly, give or take the last bit of log.
    assert certainty_in_words(math.log(3.0)) == "75 %"
    assert certainty_in_words(0.96) == "73 %"  # 72.31
    assert certainty_in_words(5.0) == "99.331 %"  # 99.33071
    assert certainty_in_words(11.6) == "100 %"  # 99.99908 is 99.9991 and more
    assert certainty_in_words(11.0) == "99.999 %"  # 99.99833
    assert odds_in_words(math.log(3.0)) == "3"
    assert odds_in_words(0.96) == "2.62"  # 2.6117
    assert odds_in_words(9.0) == "8,110"  # 8103.08
    assert odds_in_words(800.0) == "more than 10^308: nothing is promised"


@given(st.floats(1e-9, 1e300))
def test_rounding_up_is_up_and_by_less_than_a_step(value: float) -> None:
    rounded = rounded_up(value)
    assert value * (1 - 1e-11) <= rounded <= value * 1.01000001
    assert float(f"{rounded:.3g}") == rounded
