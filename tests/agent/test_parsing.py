"""A mistake on the command line: one line that says what was expected, and exit code 2."""

import argparse
from collections.abc import Iterator

import pytest

from agent import cli
from agent.commands.parsing import OneLineParser


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _parsers(inner)


EVERY = {parser.prog: parser for parser in _parsers(cli._parser(cli._modules([])))}
LEAVES = sorted(
    prog
    for prog, parser in EVERY.items()
    if not any(isinstance(action, argparse._SubParsersAction) for action in parser._actions)
)
VALUES = [
    (prog, action.option_strings[-1])
    for prog in LEAVES
    for action in EVERY[prog]._actions
    if action.option_strings and (action.type in (int, float) or action.choices)
]


def _positionals(prog: str) -> list[str]:
    return ["x" for action in EVERY[prog]._actions if not action.option_strings]


def _refusal(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        cli.main(words)
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err.rstrip("\n")


def test_all_commands_are_among_those_tried():
    assert {prog.split()[1] for prog in LEAVES} >= {"design", "listen", "run", "leakage", "demo"}
    assert len(LEAVES) >= 14
    assert ("sfumato listen", "--wait") in VALUES
    assert ("sfumato reproduce iot", "--figure") in VALUES
    assert all(isinstance(parser, OneLineParser) for parser in EVERY.values())


@pytest.mark.parametrize("prog", LEAVES)
def test_an_unknown_option_is_answered_in_one_line(prog, capsys):
    required = [
        word
        for action in EVERY[prog]._actions
        if action.option_strings and action.required
        for word in (action.option_strings[-1], "1")
    ]
    for group in EVERY[prog]._mutually_exclusive_groups:
        if group.required:
            required += [group._group_actions[0].option_strings[-1], "1"]
    words = [*prog.split()[1:], *_positionals(prog), *required, "--no-such-option"]
    said = _refusal(words, capsys)
    assert said.startswith(f"{prog}: found the unknown option '--no-such-option'; expected ")
    assert said.endswith(f"; see {prog} --help")


@pytest.mark.parametrize(("prog", "option"), VALUES, ids=lambda value: value.replace(" ", "-"))
def test_a_wrong_value_is_answered_in_one_line(prog, option, capsys):
    said = _refusal([*prog.split()[1:], *_positionals(prog), option, "abc"], capsys)
    assert said.startswith(f"{prog}: ")
    assert option in said.partition(";")[0]
    assert "found 'abc'; expected " in said
    assert said.endswith(f"; see {prog} --help")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "sfumato: expected also COMMAND"),
        ("lsten home/x", "(did you mean listen?)"),
        ("listen", "sfumato listen: expected also TOPIC"),
        ("listen a --wait", "sfumato listen: --wait: found no value; expected one"),
        ("listen a --tls=3", "sfumato listen: --tls: found with a value; expected none"),
        ("listen a --de b", "--de: is ambiguous; expected one of --decide"),
        ("listen a --treuth b", "'--treuth'; expected --truth"),
        ("run a b", "sfumato run: found the word 'b' too many; expected no further one"),
        ("leakage", "sfumato leakage: expected also ACTION"),
        ("leakage quantify", "expected one of --epsilon --epsilons"),
        ("leakage quantify --epsilon 1 --epsilons f", "--epsilons: found with --epsilon; expected"),
        (f"listen a --wait {'9' * 5000}x", "--wait: found '999"),
        ("listen a --wait a\nb", r"found 'a\nb'; expected a number"),
    ],
    ids=range(13),
)
def test_other_mistakes_say_what_was_expected_too(words, message, capsys):
    said = _refusal(words.split(" ") if words else [], capsys)
    assert message in said
    assert "expected" in said
    assert " --help" in said
    assert len(said) < 300


def test_numbers_are_still_numbers():
    found = EVERY["sfumato"].parse_args(["listen", "a", "--wait", "1.5", "--count", "3"])
    assert (found.wait, found.count, found.topics) == (1.5, 3, ["a"])
