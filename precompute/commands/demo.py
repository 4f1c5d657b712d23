"""``sfumato demo``: the whole system on this machine, and what attackers make of it."""

import argparse
from pathlib import Path

HELP = "the whole system on this machine: fit, design, publish, listen, attack, report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="FILE",
        help="your own recording: GPX, GeoLife PLT, CSV or OwnTracks .rec, plain or .gz "
        "(default: a made-up week)",
    )
    parser.add_argument(
        "-o",
        dest="folder",
        type=Path,
        metavar="DIR",
        default=Path("demo-output"),
        help="where report.html goes (default: demo-output)",
    )
    parser.add_argument(
        "--repair", action="store_true", help="drop unusable rows of the file and sort it"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the report; exit code 0.

    Raises:
        FormatError: the recording cannot be used.
        PrecomputeError: a part of the system failed.
    """
    import signal

    from precompute.demo.progress import TerminalProgress
    from precompute.demo.run_demo import run_demo

    # As Ctrl-C and SIGTERM do: children are ended, files removed.
    earlier = signal.signal(signal.SIGHUP, _end)
    progress = TerminalProgress()
    try:
        outcome = run_demo(
            arguments.trace, arguments.folder, repair=arguments.repair, progress=progress
        )
    finally:
        progress.close()
        signal.signal(signal.SIGHUP, earlier)
    print(outcome.headline.replace("\u00a0", " "))
    print(f"report: {outcome.report_path}")
    return 0


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)
