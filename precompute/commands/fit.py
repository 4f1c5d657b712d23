"""``sfumato fit``: learn a prior class from traces, or from a column of a table."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.formats.errors import FormatError, shown
from agent.formats.output_files import check_output, write_output
from agent.formats.quantities import parse_duration

if TYPE_CHECKING:
    from agent.formats.columns import Column
    from agent.formats.traces import Trace
    from precompute.priors.fit_report import FitReport, FitSettings

HELP = "learn a prior class from traces (GPX, GeoLife PLT, CSV, OwnTracks .rec)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("traces", metavar="TRACE", nargs="+", type=Path, help="one or more files")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write prior.yaml here")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--repair", action="store_true", help="drop unusable rows and sort, instead of refusing"
    )
    parser.add_argument(
        "--families",
        metavar="A,B",
        help="which of rbf, matern32, matern52, periodic to fit (default: all)",
    )
    parser.add_argument(
        "--columns",
        metavar="ROLE=NAME,...",
        help="columns of a table that are not guessed: time=4,latitude=1,longitude=2 "
        "(header names, or numbers from 1)",
    )
    cutting = parser.add_argument_group("how traces are cut")
    cutting.add_argument(
        "--gap",
        metavar="TIME",
        help="a longer step starts a new segment (default: 10 median steps, at least 5 min)",
    )
    cutting.add_argument(
        "--every",
        metavar="TIME",
        help="keep one point in every TIME (default: all; for --column: windows of four days)",
    )
    cutting.add_argument(
        "--points", metavar="N", type=int, help="most points of one window (default: 120)"
    )
    cutting.add_argument(
        "--windows", metavar="N", type=int, help="most windows, evenly spread (default: 40)"
    )
    cutting.add_argument(
        "--longest", metavar="TIME", help="the class reaches at least to here (default: 14 d)"
    )
    cutting.add_argument(
        "--every-family",
        action="store_true",
        help="a class of every smooth family, not just of the one that fits best",
    )
    series = parser.add_argument_group("a scalar column of a table, instead of positions")
    series.add_argument("--column", metavar="NAME", help="header name, or number from 1")
    series.add_argument(
        "--time-column", metavar="NAME", help="of the time; two, as date,time, are joined"
    )
    series.add_argument("--time-format", metavar="FORMAT", help="such as '%%d/%%m/%%Y %%H:%%M'")
    series.add_argument("--period", metavar="TIME", help="where to look first (default: 1 d)")


def run(arguments: argparse.Namespace) -> int:
    """Fit, print the distribution of lengthscales, write the class."""
    from precompute.priors.prior_text import PRIOR_FILE, fit_json, fit_table, prior_yaml

    settings = _settings(arguments)
    output: Path | None = arguments.output
    if output is not None:
        check_output(output, PRIOR_FILE, option="--output", inputs=arguments.traces)
    report = _fit(arguments, settings)
    said = json.dumps(fit_json(report), sort_keys=True) if arguments.json else fit_table(report)
    if output is not None:
        write_output(output, prior_yaml(report), option="--output")
    print(said)
    if output is not None and not arguments.json:
        print(f"written: {output}")
    return 0


def _fit(arguments: argparse.Namespace, settings: "FitSettings") -> "FitReport":
    from agent.formats.raw_rows import BY_OPTION, naming_way_out
    from agent.formats.trace_files import read_series, read_traces
    from precompute.priors.trace_fitting import fit_series, fit_traces

    if arguments.column is None:
        _refuse_series_options(arguments)
        traces: list[Trace] = []
        dropped: list[str] = []
        columns = _columns(arguments.columns)
        for path in arguments.traces:
            with naming_way_out(BY_OPTION):
                file = read_traces(path, repair=arguments.repair, columns=columns)
            _print_notes(path, file.notes)
            traces.extend(file.traces)
            dropped += _dropped(file.notes)
        with _progress_bar() as progress, _naming(dropped):
            return fit_traces(traces, settings, progress=progress)
    if len(arguments.traces) > 1:
        raise FormatError(
            f"--column: found {len(arguments.traces)} files; expected one table, run fit for each"
        )
    if arguments.columns is not None:
        raise FormatError("--columns: found with --column; it is for positions, leave one out")
    if arguments.time_column is None:
        raise FormatError("--column: --time-column is missing; name the column with the time")
    (path,) = arguments.traces
    times = [_column(word) for word in arguments.time_column.split(",")]
    with naming_way_out(BY_OPTION):
        table = read_series(
            path,
            columns={
                "time": times if len(times) > 1 else times[0],
                "value": _column(arguments.column),
            },
            time_format=arguments.time_format,
            repair=arguments.repair,
        )
    _print_notes(path, table.notes)
    with _progress_bar() as progress, _naming(_dropped(table.notes)):
        return fit_series(table.series, settings, progress=progress)


def _settings(arguments: argparse.Namespace) -> "FitSettings":
    from dataclasses import fields

    from precompute.priors.fit_report import FitSettings

    given = {
        "families": (
            None
            if arguments.families is None
            else tuple(word.strip() for word in arguments.families.split(","))
        ),
        "gap_seconds": _duration("--gap", arguments.gap),
        "every_seconds": _duration("--every", arguments.every),
        "window_points": arguments.points,
        "max_windows": arguments.windows,
        "longest_seconds": _duration("--longest", arguments.longest),
        "period_seconds": _duration("--period", arguments.period),
    }
    assert set(given) <= {field.name for field in fields(FitSettings)}
    given["every_family"] = True if arguments.every_family else None
    chosen = {name: value for name, value in given.items() if value is not None}
    return FitSettings(**chosen)


def _duration(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return parse_duration(text)
    except FormatError as error:
        raise FormatError(f"{option}: {error}") from None


def _columns(text: str | None) -> "dict[str, Column] | None":
    if text is None:
        return None
    columns = {}
    for item in text.split(","):
        role, equals, name = item.partition("=")
        if not (role.strip() and equals and name.strip()):
            raise FormatError(
                f"--columns: found {shown(item)}; expected role=name, for example "
                "time=4,latitude=1,longitude=2"
            )
        columns[role.strip()] = _column(name.strip())
    return columns


def _column(word: str) -> str | int:
    return int(word) if word.isdecimal() else word


def _refuse_series_options(arguments: argparse.Namespace) -> None:
    for option in ("time_column", "time_format"):
        if getattr(arguments, option) is not None:
            raise FormatError(
                f"--{option.replace('_', '-')}: found without --column; it belongs to a scalar "
                "column of a table"
            )


def _print_notes(path: Path, notes: tuple[str, ...]) -> None:
    for note in notes:
        print(f"{path.name}: {note}", file=sys.stderr)


def _dropped(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if note.startswith("dropped")]


@contextmanager
def _naming(dropped: list[str]) -> Iterator[None]:
    """What is too short to fit may be so only because rows were dropped: say that."""
    from precompute.errors import PriorError

    try:
        yield
    except PriorError as error:
        if not dropped:
            raise
        raise PriorError(f"{error} (--repair {'; '.join(dropped)})") from None


@contextmanager
def _progress_bar() -> Iterator[Callable[[int, int], None]]:
    from tqdm import tqdm

    with tqdm(desc="fitting", unit="window", disable=not sys.stderr.isatty()) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield progress
