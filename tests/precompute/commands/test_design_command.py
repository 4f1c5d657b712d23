"""``sfumato design`` as a user meets it."""

import hashlib
import json

import pytest
from numpy.linalg import LinAlgError

from agent.cli import main
from agent.formats.bundle import load_bundle, write_bundle
from tests.agent.example_designs import window

DESIGN = """
designs:
  - name: location
    kind: stream
    axes: [east, north]
    secret: {radius: 500 m}
    protect: {epsilon: 1.0, delta: 1.0e-3}
    prior: {kernels: [{family: rbf, lengthscale: [30 s, 1 h]}]}
  - name: trip
    kind: window
    times: {count: 50, step: 1 s}
    prior: {kernels: [{family: rbf, variance: 1.0, lengthscale: 6 s}]}
    secrets: all
    budget: {mse: 0.02}
"""


@pytest.fixture
def design_file(tmp_path):
    path = tmp_path / "design.yaml"
    path.write_text(DESIGN)
    return path


def test_words_state_the_promise_and_the_digest_to_pin(design_file, tmp_path, capsys):
    bundle = tmp_path / "location.bundle"
    assert main(["design", str(design_file), "-o", str(bundle)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    digest = hashlib.sha256(bundle.read_bytes()).hexdigest()
    assert digest in out
    assert "any other up to 500 m from it" in " ".join(out.split())
    assert set(load_bundle(bundle, digest).designs) == {"location", "trip"}
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["design.yaml", "location.bundle"]


def test_json_is_one_object_with_the_figures(design_file, tmp_path, capsys):
    bundle = tmp_path / "b"
    assert main(["design", str(design_file), "-o", str(bundle), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sha256"] == hashlib.sha256(bundle.read_bytes()).hexdigest()
    stream, window = found["designs"]
    shared = {"name", "kind", "noise_power", "noise_std", "worst_information", "information_limit"}
    shared |= {"rho", "epsilon", "delta", "radius", "segments", "seconds", "power_lower", "gap"}
    assert shared <= set(stream)
    assert shared <= set(window)
    assert {"components", "relative_power"} <= set(stream)
    assert {"rank", "information_lower_bound"} <= set(window)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.yaml", "-o", "b"], "no such file"),
        (["design.yaml", "-o", "nowhere/b"], "no such folder"),
        (["design.yaml", "-o", "."], "is a folder"),
    ],
)
def test_bad_paths_are_refused_in_one_line_before_any_work(
    design_file, monkeypatch, capsys, arguments, words
):
    monkeypatch.chdir(design_file.parent)
    assert main(["design", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


def test_a_refused_design_leaves_an_older_bundle_alone(design_file, tmp_path, capsys):
    bundle = tmp_path / "b"
    old = write_bundle([window()])
    bundle.write_bytes(old)
    design_file.write_text(DESIGN.replace("500 m", "500"))
    assert main(["design", str(design_file), "-o", str(bundle)]) == 2
    assert "no unit" in capsys.readouterr().err
    assert bundle.read_bytes() == old
    assert len(list(tmp_path.iterdir())) == 2


ROOMS = """
designs:
  - name: rooms
    kind: leakage
    knowledge: {backward: P.csv}
    protect: {alpha: 1}
    step: 10 min
"""


def test_a_leakage_design_is_built_from_its_matrix(tmp_path, capsys):
    (tmp_path / "P.csv").write_text(",bed,hall\nbed,.8,.2\nhall,.1,.9\n")
    path, bundle = tmp_path / "design.yaml", tmp_path / "rooms.bundle"
    path.write_text(ROOMS)
    assert main(["design", str(path), "-o", str(bundle)]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "rooms: one of 2 states" in words
    assert "alpha = 1 nats" in words
    assert main(["design", str(path), "-o", str(bundle), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["designs"]
    assert (found["kind"], found["alpha"], found["warnings"]) == ("leakage", 1.0, [])
    assert load_bundle(bundle).design("rooms").states == ("bed", "hall")


@pytest.mark.parametrize(
    "line", ["axes: [east, north]", "unit: m", "secret: {radius: 1 m}", "prior: p.yaml"]
)
def test_what_belongs_to_noise_is_refused_for_states(tmp_path, capsys, line):
    (tmp_path / "P.csv").write_text(",bed,hall\nbed,.8,.2\nhall,.1,.9\n")
    path = tmp_path / "design.yaml"
    path.write_text(f"{ROOMS}    {line}\n")
    assert main(["design", str(path), "-o", str(tmp_path / "b")]) == 2
    assert f"unknown key '{line.partition(':')[0]}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("protect: {epsilon: 1.0, delta: 1.0e-3}", "noise: {std: 10 m}"),
        ("protect: {epsilon: 1.0, delta: 1.0e-3}", "protect: {rho: 1.0e+4}"),
        ("epsilon: 1.0", "epsilon: 800"),
        ("epsilon: 1.0", "epsilon: 1e6"),
    ],
)
def test_a_promise_of_nothing_is_said_to_be_one(design_file, tmp_path, capsys, old, new):
    assert old in DESIGN
    design_file.write_text(DESIGN.replace(old, new))
    bundle = tmp_path / "b"
    assert main(["design", str(design_file), "-o", str(bundle)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "a factor of more than 10^308: nothing is promised" in said
    assert "WARNING epsilon " in said
    assert "promises practically nothing at 500 m" in said
    assert main(["design", str(design_file), "-o", str(bundle), "--json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["designs"][0]["odds_factor"] is None
    assert len(found["designs"][0]["warnings"]) == 1
    assert main(["inspect", str(bundle)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "WARNING epsilon " in said
    assert "at most 100 % sure" in said


@pytest.mark.parametrize("std", ["1e-200 m", "1e200 m", "1e29 m"])
def test_noise_of_a_size_that_nothing_has_is_refused_and_nothing_written(
    design_file, tmp_path, capsys, std
):
    design_file.write_text(
        DESIGN.replace("protect: {epsilon: 1.0, delta: 1.0e-3}", f"noise: {{std: {std}}}")
    )
    assert main(["design", str(design_file), "-o", str(tmp_path / "b")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [design_file]


def test_nothing_is_written_before_everything_is_worked_out(design_file, tmp_path, monkeypatch):
    def fail(*_):
        raise OverflowError

    monkeypatch.setattr("precompute.design_words.bundle_words", fail)
    with pytest.raises(OverflowError):
        main(["design", str(design_file), "-o", str(tmp_path / "b")])
    assert list(tmp_path.iterdir()) == [design_file]


@pytest.mark.parametrize("error", [OverflowError, ZeroDivisionError, LinAlgError])
def test_arithmetic_that_breaks_down_is_refused_in_one_line(design_file, monkeypatch, error):
    from precompute.build_bundle import build_bundle
    from precompute.design_config import load_requests
    from precompute.design_kinds.window import WindowRequest
    from precompute.errors import DesignError

    def fail(*_):
        raise error("math range error")

    monkeypatch.setattr(WindowRequest, "build", fail)
    with pytest.raises(DesignError, match=rf"'trip': its figures leave .*{error.__name__}"):
        build_bundle(load_requests(design_file))


def test_the_design_itself_is_never_the_output(design_file, capsys):
    assert main(["design", str(design_file), "-o", str(design_file)]) == 2
    assert "also read or written" in capsys.readouterr().err
    assert design_file.read_text() == DESIGN
