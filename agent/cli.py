"""The ``sfumato`` command: finds the subcommand, runs it, turns errors into one line and exit 2.

What stands on the command line is refused by agent.commands.parsing, in one line too.

A command is a module with ``HELP``, ``add_arguments(parser)`` and ``run(arguments) -> int``. Its
top level imports nothing heavy; only the chosen command's ``run`` does.
"""

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from agent.commands.ending import INTERRUPTED, TERMINATED, Terminated, sigterm_raises
from agent.commands.parsing import WRONG_USE, OneLineParser
from agent.formats.errors import SfumatoError

DEVICE_COMMANDS = {
    "health": "agent.commands.health",
    "inspect": "agent.commands.inspect",
    "listen": "agent.commands.listen",
    "run": "agent.commands.run",
}
# Which extra brings a module that the base install does not have.
EXTRA_OF = {
    "scipy": "precompute",
    "osqp": "precompute",
    "matplotlib": "precompute",
    "threadpoolctl": "precompute",
    "tqdm": "precompute",
    "sklearn": "audit",
    "dask": "audit",
    "amqtt": "demo",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    name = "sfumato"
    try:
        with sigterm_raises():
            modules = _modules(words)
            arguments = _parser(modules).parse_args(words)
            name = f"sfumato {arguments.command}"
            return int(modules[arguments.command].run(arguments))
    except SfumatoError as error:
        return _refuse(f"{name}: {error}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in EXTRA_OF:
            raise
        return _refuse(
            f"{name}: needs {missing}, which is not installed; "
            f"pip install 'sfumato[{EXTRA_OF[missing]}]'"
        )
    except KeyboardInterrupt:
        return _refuse(f"{name}: interrupted", code=INTERRUPTED)
    except Terminated:
        return _refuse(f"{name}: terminated", code=TERMINATED)
    except BrokenPipeError:
        # The reader of our output went away (for example `| head`); nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser(modules: dict[str, Any]) -> OneLineParser:
    parser = OneLineParser(
        prog="sfumato", description="Correlated noise with a proven bound for traces and sensors."
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show the version and the Python it runs on"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in sorted(modules):
        module = modules[name]
        module.add_arguments(commands.add_parser(name, help=module.HELP, description=module.HELP))
    return parser


class _Version(argparse.Action):
    """Looked up only when asked for: reading a package's metadata takes a device's time."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"sfumato {version('sfumato')} (Python {platform.python_version()})")
        parser.exit()


def _modules(words: list[str]) -> dict[str, Any]:
    """The command modules: only the one asked for when its name comes first, else all."""
    places = dict(DEVICE_COMMANDS)
    first = words[0] if words else ""
    if first == "--version":
        return {}
    if first not in places:
        from importlib.metadata import entry_points  # a megabyte that the device need not carry

        places |= {point.name: point.value for point in entry_points(group="sfumato.commands")}
    if first in places:
        places = {first: places[first]}
    return {name: import_module(place) for name, place in places.items()}


def _refuse(line: str, *, code: int = WRONG_USE) -> int:
    print(" ".join(line.split()), file=sys.stderr)
    return code
