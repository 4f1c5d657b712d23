"""``sfumato reproduce iot``: two-stage mappings of six sensors (Sun & Tay)."""

import argparse
import json
from pathlib import Path

from precompute.reproduce.results_folder import make_folder, write_text

HELP = "two-stage privacy mappings of sensor nodes (Sun & Tay, IEEE TIFS 2020), Figures 5 to 7"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The experiment's own arguments."""
    parser.add_argument(
        "--figure",
        action="append",
        choices=("5", "6", "7"),
        help="only this figure; may be given several times",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write pictures and results.json here"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compute, show, and write what was asked for."""
    from precompute.mapping.reproduction.report import FIGURES, describe, reproduce

    folder: Path | None = arguments.output
    if folder is not None:
        make_folder(folder)
    chosen = sorted(set(arguments.figure)) if arguments.figure else FIGURES
    results = reproduce(chosen, folder)
    text = json.dumps(results, sort_keys=True, allow_nan=False)
    if folder is not None:
        write_text(folder / "results.json", text + "\n")
    print(text if arguments.json else describe(results))
    return 0
