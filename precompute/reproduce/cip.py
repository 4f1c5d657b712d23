"""``sfumato reproduce cip``: Figure 2 of Meehan & Chaudhuri 2021, with our designs beside it."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from precompute.reproduce.results_folder import make_folder, write_text

HELP = "posterior intervals over effective lengthscale (Meehan & Chaudhuri 2021, Figure 2)"
LETTERS = "abcdefgh"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The experiment's own arguments."""
    parser.add_argument(
        "--panel", choices=LETTERS, action="append", help="only this panel (may be repeated)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write pictures and results.json here"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compute, draw if asked to, and print the rows at the median lengthscale or everything."""
    from tqdm import tqdm

    from precompute.priors.algebra_threads import one_algebra_thread
    from precompute.reproduce.cip_panels import GRID_POINTS, PANELS, rows
    from precompute.reproduce.cip_quartiles import quartiles

    if arguments.output is not None:
        make_folder(arguments.output)
    letters = sorted(set(arguments.panel or LETTERS))
    band = quartiles()
    began = time.perf_counter()
    panels: dict[str, list[dict[str, Any]]] = {}
    bar = tqdm(total=len(letters) * (GRID_POINTS + 1), unit="row", disable=not sys.stderr.isatty())
    with bar, one_algebra_thread():
        for letter in letters:
            bar.set_description(f"panel {letter}")
            median = band.values[PANELS[letter].kernel][1]
            panels[letter] = rows(PANELS[letter], median, bar.update)
        written = []
        if arguments.output is not None:
            from precompute.reproduce.cip_pictures import draw_everything

            bar.set_description("pictures")
            written = draw_everything(arguments.output, panels, band.values)
    at_median = {
        letter: _at_median(rows, band.values[PANELS[letter].kernel][1])
        for letter, rows in panels.items()
    }
    document = {
        "panels": panels,
        "at_median": at_median,
        "titles": {letter: PANELS[letter].title for letter in letters},
        "quartiles": {kernel: list(values) for kernel, values in band.values.items()},
        "quartiles_from": band.source,
        "pictures": [str(path) for path in written],
        "seconds": time.perf_counter() - began,
    }
    text = json.dumps(document, sort_keys=True, allow_nan=False)
    if arguments.output is not None:
        write_text(arguments.output / "results.json", text + "\n")
    if arguments.json:
        print(text)
        return 0
    _print_table({letter: PANELS[letter].title for letter in letters}, at_median)
    print(f"effective lengthscales of the data: {band.source}")
    if arguments.output is not None:
        print(f"{len(written)} pictures and results.json in {arguments.output}")
    return 0


def _at_median(rows: list[dict[str, Any]], median: float) -> dict[str, Any]:
    return min(rows, key=lambda row: abs(row["lengthscale_sq"] - median * median))


def _print_table(titles: dict[str, str], at_median: dict[str, dict[str, Any]]) -> None:
    print("Posterior interval of the secret at the data's median lengthscale, all at one power.")
    print("Larger is more private; the prior alone leaves an interval of 2.")
    print()
    print(
        f"{'panel':44} {'l_eff':>7} {'power':>8} {'paper':>8} {'uniform':>8} {'on secret':>9} "
        f"{'ours':>8}"
    )
    for letter, row in at_median.items():
        print(_line(f"{letter}  {titles[letter]}", row["lengthscale_sq"] ** 0.5, row["trace"], row))
        for factor, wrong in row.get("true_lengthscale", {}).items():
            print(_line(f"     true lengthscale {factor} times that", None, None, wrong))
    print()


def _line(name: str, lengthscale: float | None, power: float | None, row: dict[str, Any]) -> str:
    first = " " * 16 if lengthscale is None or power is None else f"{lengthscale:7.3f} {power:8.4f}"
    return (
        f"{name:44} {first} {row['sdp']:8.4f} {row['uniform']:8.4f} {row['concentrated']:9.4f} "
        f"{row['ours']:8.4f}"
    )
