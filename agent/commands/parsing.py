"""The command line's parser: a mistake is answered in one line that says what was expected.

argparse prints a usage of many lines, and its words differ from one release of Python to the next.
Here every command, and every command of a command, says

    sfumato listen: --wait: found 'abc'; expected a number; see sfumato listen --help

and ends with 2. ``type=float``, ``type=int`` and ``choices`` of a command's arguments are all that
it needs for that.
"""

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from agent.formats.errors import MAX_SHOWN, shown

WRONG_USE = 2
# argparse's own words, where they do not say what was expected; those of no row stay as they are.
_REWORDED = (
    (r"argument (.*)", r"\1"),
    (r"(.*): expected one argument", r"\1: found no value; expected one"),
    (r"(.*): expected at least one argument", r"\1: found no value; expected at least one"),
    (r"the following arguments are required: (.*)", r"expected also \1"),
    (r"one of the arguments (.*) is required", r"expected one of \1"),
    (r"(.*): not allowed with argument (.*)", r"\1: found with \2; expected one of the two"),
    (r"(.*): ignored explicit argument .*", r"\1: found with a value; expected none"),
    (r"ambiguous option: (\S+) could match (.*)", r"\1: is ambiguous; expected one of \2"),
)


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line; its subcommands' parsers are too."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        super().__init__(*words, **settings)
        self.register("type", int, _whole_number)
        self.register("type", float, _number)

    # typeshed has overloads for the namespace's type, which this does not touch.
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse's, but words that are left over are refused by whose they are."""
        found, left = super().parse_known_args(args, namespace)
        if left:
            self.error(self._unknown(left[0]))
        return found, left

    def error(self, message: str) -> NoReturn:
        """One line on stderr; exit code 2."""
        for pattern, words in _REWORDED:
            message = re.sub(f"^{pattern}$", words, message, flags=re.DOTALL)
        line = f"{self.prog}: {message}; see {self.prog} --help"
        print(" ".join(line.split()), file=sys.stderr)
        sys.exit(WRONG_USE)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        # A list: in a text of letters, "abc" would count as one of "abcd".
        if action.choices is None or value in list(action.choices):
            return
        names = [str(name) for name in action.choices]
        near = difflib.get_close_matches(str(value)[:MAX_SHOWN], names, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise argparse.ArgumentError(
            action, f"found {shown(value)}; expected one of {', '.join(names)}{hint}"
        )

    def _unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"found the word {shown(word)} too many; expected no further one"
        option = word.partition("=")[0]
        known = [name for name in self._option_string_actions if name.startswith("--")]
        near = difflib.get_close_matches(option[:MAX_SHOWN], known, n=1)
        expected = f"{near[0]}" if near else f"one of {', '.join(known)}"
        return f"found the unknown option {shown(option)}; expected {expected}"


def _whole_number(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {shown(word)}; expected a whole number") from None


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {shown(word)}; expected a number") from None
