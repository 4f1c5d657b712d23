"""Several people in one command: the worst of them, personalised budgets, and small numbers."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from agent.formats.errors import SfumatoError
from precompute.commands import leakage as command
from precompute.leakage.printed import amount, plan_text


def run(*words: object) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Ann stays where she is more often than Bob; of Cem only the forward matrix is known."""
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(".95,.05\n.1,.9\n")
    Path("b.csv").write_text(".6,.4\n.5,.5\n")
    return ("--user", "ann=a.csv,a.csv", "--user", "bob=b.csv,b.csv", "--user", "cem=,b.csv")


def shown(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert run(*words, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def alone(file: str) -> tuple[str, ...]:
    return ("--backward", file, "--forward", file)


def test_quantify_tells_each_and_the_worst(
    users: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    budgets = ("quantify", "--epsilon", 0.2, "--steps", 5)
    found = shown(capsys, *budgets, *users)
    assert set(found["users"]) == {"ann", "bob", "cem"}
    for name, file in (("ann", "a.csv"), ("bob", "b.csv")):
        assert found["users"][name] == shown(capsys, *budgets, *alone(file))
    assert found["worst_user"] == "ann"
    assert found["tpl"] == [
        max(found["users"][name]["tpl"][t] for name in found["users"]) for t in range(5)
    ]
    assert found["worst_tpl"] == max(found["tpl"])
    assert found["supremum"] == found["users"]["ann"]["supremum"]
    assert found["unbounded"] is False
    assert run(*budgets, *users) == 0
    words = capsys.readouterr().out
    assert "user bob\n" in words
    assert f"worst over 3 users: TPL {found['worst_tpl']:.6f}, of user ann" in words


def test_one_user_without_a_bound_leaves_all_without_one(
    users: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sure.csv").write_text("1,0\n0,1\n")
    found = shown(
        capsys, "quantify", "--epsilon", 0.2, "--steps", 5, *users, "--user", "eve=sure.csv"
    )
    assert (found["supremum"], found["unbounded"]) == (None, True)
    assert found["worst_user"] == "eve"


@pytest.mark.parametrize("steps", [(), ("--steps", 6)])
def test_allocate_gives_each_a_plan_and_all_the_least(
    users: tuple[str, ...], steps: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("allocate", "--alpha", 1, *steps)
    found = shown(capsys, *words, *users, "--user-alpha", "bob=0.5")
    ann = shown(capsys, *words, *alone("a.csv"))
    bob = shown(capsys, "allocate", "--alpha", 0.5, *steps, *alone("b.csv"))
    assert found["users"]["ann"]["epsilons"] == ann["epsilons"]
    assert found["users"]["bob"]["epsilons"] == bob["epsilons"]
    assert found["users"]["bob"]["alpha"] == 0.5
    plans = [found["users"][name]["epsilons"] for name in found["users"]]
    assert found["epsilons"] == [min(budgets) for budgets in zip(*plans, strict=True)]
    assert max(found["tpl"]) <= 1
    if steps:  # one plan for all leaks what it leaks about the worst of them
        Path("plan.csv").write_text("\n".join(map(repr, found["epsilons"])))
        assert found["tpl"] == shown(capsys, "quantify", "--epsilons", "plan.csv", *users)["tpl"]
    else:
        again = ("quantify", "--epsilon", repr(found["epsilons"][0]), "--steps", 2, *users)
        assert found["tpl"] == [shown(capsys, *again)["supremum"]]
    assert all(max(user["tpl"]) <= user["alpha"] for user in found["users"].values())
    assert run(*words, *users) == 0
    text = capsys.readouterr().out
    assert "personalised budgets of" in text
    assert "one plan for all, the least of them: " in text
    assert "worst over 3 users under that plan: TPL " in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--user", "ann"), "expected NAME=BACKWARD"),
        (("--user", "=a.csv"), "expected NAME=BACKWARD"),
        (("--user", "ann=,"), "expected NAME=BACKWARD"),
        (("--user", "ann=a.csv,a.csv,a.csv"), "found 3 files for 'ann'"),
        (("--user", "ann=a.csv", "--user", "ann=b.csv"), "the name 'ann' twice"),
        (("--user", "ann=a.csv", "--backward", "a.csv"), "expected one of the two forms"),
        (("--user", "ann=a.csv", "--plot", "x.png"), "expected one person in a picture"),
        (("--user", "ann=gone.csv"), "gone.csv: no such file"),
        (("--user", "ann=a.csv", "--user-alpha", "eve=1"), "the name of a --user"),
        (("--user", "ann=a.csv", "--user-alpha", "ann=much"), "expected a number after"),
        (("--user", "ann=a.csv", "--user-alpha", "ann=-1"), "alpha: found -1"),
        (("--backward", "a.csv", "--user-alpha", "ann=1"), "found without --user"),
    ],
)
def test_wrong_users_are_refused_in_one_line(
    users: tuple[str, ...], words: tuple[str, ...], message: str
) -> None:
    assert users
    with pytest.raises(SfumatoError, match=message) as caught:
        run("allocate", "--alpha", 1, *words)
    assert "\n" not in str(caught.value)


def test_a_window_wider_than_the_releases_is_said(
    users: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert users
    words = ("quantify", "--epsilon", 0.1, "--steps", 3, "--backward", "b.csv", "--window")
    assert run(*words, 9) == 0
    out, err = capsys.readouterr()
    assert "--window 9: there are only 3 releases" in err
    assert "leakage about all 3 states: " in out
    assert run(*words, 3) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "leakage about any 3 successive states: " in out


def test_small_numbers_keep_their_digits(
    users: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert users
    assert run("quantify", "--epsilon", 1.25e-7, "--steps", 2, "--backward", "b.csv") == 0
    out = capsys.readouterr().out
    assert "1.25e-07" in out
    assert "0.000000" not in out
    assert run("allocate", "--alpha", 1e-6, *alone("b.csv")) == 0
    assert "for ever: 0.000000" not in capsys.readouterr().out
    assert [amount(value) for value in (0.0, 0.5, 0.001, 0.00012345678, 3e-9)] == [
        "0.000000",
        "0.500000",
        "0.001000",
        "0.0001235",
        "3e-09",
    ]
    assert plan_text([0.5, 0.25, 0.25, 0.5]) == "0.500000, 0.250000 (2 times), 0.500000"
