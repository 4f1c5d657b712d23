"""``sfumato reproduce tpl``: the experiments on temporal privacy leakage (Cao et al.)."""

import argparse
import json
from pathlib import Path

from precompute.reproduce.results_folder import make_folder, write_text

HELP = "temporal privacy leakage: example, running time, noise (Cao et al., ICDE 2017, TKDE 2019)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The experiment's own arguments."""
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write pictures and results.json here"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compute, show, and write what was asked for."""
    from precompute.leakage.reproduce import describe, reproduce

    folder: Path | None = arguments.output
    if folder is not None:
        make_folder(folder)
    results = reproduce(folder)
    text = json.dumps(results, sort_keys=True, allow_nan=False)
    if folder is not None:
        write_text(folder / "results.json", text + "\n")
    print(text if arguments.json else describe(results))
    return 0
