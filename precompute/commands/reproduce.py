"""``sfumato reproduce NAME``: a paper's experiment computed again, with our columns beside theirs.

An experiment is a module with ``HELP``, ``add_arguments(parser)`` and ``run(arguments) -> int``,
like a command; its top level imports nothing heavy.
"""

import argparse
from importlib import import_module

HELP = "compute a paper's experiment again, with our columns beside theirs"

EXPERIMENTS = {
    "cip": "precompute.reproduce.cip",
    "iot": "precompute.reproduce.iot",
    "tpl": "precompute.reproduce.tpl",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One subcommand an experiment."""
    experiments = parser.add_subparsers(dest="experiment", metavar="NAME", required=True)
    for name in sorted(EXPERIMENTS):
        module = import_module(EXPERIMENTS[name])
        module.add_arguments(
            experiments.add_parser(name, help=module.HELP, description=module.HELP)
        )


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment that was named."""
    return int(import_module(EXPERIMENTS[arguments.experiment]).run(arguments))
