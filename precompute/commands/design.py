"""``sfumato design``: noise with a proven bound, from a design file to a bundle."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.formats.output_files import BUNDLE, check_output, write_output

HELP = "design noise with a proven bound, and write the bundle that a device needs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("design", metavar="DESIGN.yaml", type=Path, help="what to protect")
    parser.add_argument(
        "-o", "--output", metavar="BUNDLE", type=Path, required=True, help="write the bundle here"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of words")


def run(arguments: argparse.Namespace) -> int:
    """Build, write, and say what is guaranteed."""
    from precompute.build_bundle import build_bundle
    from precompute.design_config import load_requests
    from precompute.design_words import bundle_json, bundle_words

    check_output(arguments.output, BUNDLE, option="--output", inputs=[arguments.design])
    requests = load_requests(arguments.design)
    with _progress(len(requests)) as report:
        bundle = build_bundle(requests, report)
    # All that is said is worked out before anything is written: both, or neither.
    name = str(arguments.output)
    if arguments.json:
        said = json.dumps(bundle_json(bundle, name), sort_keys=True, allow_nan=False)
    else:
        said = bundle_words(bundle, name)
    write_output(arguments.output, bundle.content, option="--output")
    print(said)
    return 0


@contextmanager
def _progress(designs: int) -> Iterator[Callable[[str], None]]:
    """Words on a terminal, nothing in a pipe."""
    from tqdm import tqdm

    bar = tqdm(
        total=designs, unit="design", disable=not sys.stderr.isatty(), leave=False, delay=0.5
    )
    seen: list[str] = []

    def report(words: str) -> None:
        name = words.partition(":")[0]
        if seen and seen[-1] != name:
            bar.update()
        if not seen or seen[-1] != name:
            seen.append(name)
        bar.set_description_str(words)

    with bar:
        yield report
