"""``sfumato listen --decide`` where it must not begin."""

import signal
from pathlib import Path

import pytest
from fakes.designs import location_stream, write_designs
from fakes.fault_broker import free_port
from fakes.mapping_designs import room_mapping

from agent.cli import main
from agent.formats.bundle import load_bundle


@pytest.fixture
def here(monkeypatch, tmp_path):
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    write_designs(tmp_path / "one.bundle", [room_mapping(), location_stream()])
    write_designs(tmp_path / "two.bundle", [room_mapping(), room_mapping(name="hall")])
    write_designs(tmp_path / "none.bundle", [location_stream()])
    (tmp_path / "truth.csv").write_text("time,state\n1700006400,fine\n1700006460,clinic\n")
    (tmp_path / "notes.csv").write_text("date,thought\n")
    monkeypatch.chdir(tmp_path)
    return lambda words: main(
        ["listen", "home/+/x", "--port", str(free_port()), "--idle", "0.1", *words.split()]
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--publish home/decision", "--publish without --decide"),
        ("--wait 5", "--wait without --decide"),
        ("--truth truth.csv", "--truth without --decide"),
        ("--decisions d.csv", "--decisions without --decide"),
        ("--design room", "--design without --decide"),
        ("--decide one.bundle --wait -1", "expected a number of seconds"),
        ("--decide one.bundle --wait nan", "expected a number of seconds"),
        ("--sha256 " + "0" * 64, "--sha256 without --decide"),
        ("--decide one.bundle --sha256 abc", "--sha256 'abc': expected the 64 hexadecimal digits"),
        (f"--decide one.bundle --sha256 {'0' * 64}", f"expected {'0' * 64}; put the pinned file"),
        ("--decide lost.bundle", "no such file"),
        ("--decide truth.csv", "bundle refused"),
        ("--decide none.bundle", "its mappings: none"),
        ("--decide two.bundle", "its mappings: room, hall; say which with --design"),
        ("--decide two.bundle --design attic", "no such mapping"),
        ("--decide one.bundle --design location", "no such mapping"),
        ("--decide one.bundle --publish home/#", "without '+'"),
        ("--decide one.bundle --publish home/a/x", "is among the topics listened to"),
        ("--decide one.bundle --truth truth.csv", "1 rows have a state that is not one of fine"),
        ("--decide one.bundle --truth notes.csv", "notes.csv"),
        ("--decide one.bundle --decisions notes.csv", "is not a file that `sfumato listen` wrote"),
        ("--decide one.bundle --decisions d.csv --csv d.csv", "name the same file"),
    ],
    ids=range(22),
)
def test_what_cannot_be_done_is_refused_in_one_line(here, capsys, words, message):
    assert here(words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "clinic" not in said
    assert said.count("\n") == 1


@pytest.mark.usefixtures("here")
def test_a_shared_subscription_is_seen_through(capsys):
    words = ["listen", "$share/g/home/#", "--decide", "one.bundle", "--publish", "home/decision"]
    assert main(words) == 2
    assert "$share/g/home/#" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["one.bundle", "two.bundle --design hall --publish decision"])
def test_a_bundle_with_one_mapping_or_a_name_will_do(here, capsys, words):
    assert here(f"--decide {words} --decisions d.csv") == 1  # no broker
    assert "decisions 0; symbols used 0" in capsys.readouterr().err


def test_a_bundle_that_is_not_pinned_decides_and_its_digest_is_told(here, capsys):
    assert here("--decide one.bundle --decisions d.csv") == 1  # no broker
    (line,) = (line for line in capsys.readouterr().err.splitlines() if "--sha256" in line)
    digest = load_bundle(Path("one.bundle")).sha256
    assert line == (
        f"sfumato listen: decided by one.bundle as it was found; --sha256 {digest} makes sure of "
        "it next time"
    )
    assert here(f"--decide one.bundle --decisions d.csv --sha256 {digest.upper()}") == 1
    assert "--sha256" not in capsys.readouterr().err
