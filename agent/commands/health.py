"""``sfumato health``: how an agent is doing, running or stopped."""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.health import ChannelReport
    from agent.state_reading import Snapshot

HELP = "say how an agent is doing, running or stopped (exit code 0: healthy, 1: not)"
# Of fewer readings, most may lie outside a range that is right.
LEAST_READINGS = 20
# Rounding along a step may leave the sum this much above the limit (agent.ledger).
_ROUNDING = 1e-12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument(
        "place", type=Path, metavar="AGENT.yaml|STATE_DIR", help="the agent, or its state folder"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def run(arguments: argparse.Namespace) -> int:
    """0 if nothing is wrong, else 1.

    Raises:
        SfumatoError: there is no such agent, or its state cannot be read.
    """
    from agent.config import load_agent
    from agent.state_reading import read_snapshot

    expected: tuple[str, ...] = ()
    folder = arguments.place
    if not folder.is_dir():
        settings = load_agent(arguments.place, os.environ)
        folder, expected = settings.state, tuple(channel.name for channel in settings.channels)
    snapshot = read_snapshot(folder)
    problems = list(find_problems(snapshot, expected))
    if arguments.json:
        document = {
            "state": str(folder),
            "running": snapshot.running,
            "healthy": not problems,
            "problems": problems,
            "channels": [_summary(name, snapshot) for name in _names(snapshot)],
        }
        print(json.dumps(document, indent=2, sort_keys=True, allow_nan=False))
    else:
        print("\n".join(_lines(folder, snapshot, problems)))
    return 1 if problems else 0


def find_problems(snapshot: "Snapshot", expected: Sequence[str] = ()) -> Iterator[str]:
    """What somebody should look at, a sentence each.

    Args:
        snapshot: of the state folder.
        expected: names of the channels that the configuration has.
    """
    if snapshot.mode & 0o077:
        yield f"the state folder has the mode {snapshot.mode:04o}, open to others; chmod 700 it"
    for name in expected:
        if name not in snapshot.reports:
            yield f"channel {name!r}: nothing is known of it; has the agent run with it?"
    for name in _names(snapshot):
        where = f"channel {name!r}"
        report = snapshot.reports.get(name)
        outbox = snapshot.outbox.get(name, {})
        if report is not None and report.failure is not None:
            yield f"{where}: its source failed: {report.failure}"
        if report is not None and report.standing is not None:
            yield f"{where}: readings are refused: {report.standing}"
        if outbox.get("parked"):
            yield f"{where}: the broker refused {outbox['parked']} releases for good (parked)"
        if snapshot.running is False and outbox.get("waiting"):
            yield f"{where}: stopped with {outbox['waiting']} releases that no broker acknowledged"
        if report is not None and (astray := _astray(report)) is not None:
            yield f"{where}: {astray}"
        account = None if report is None else report.account
        if account is not None and account.worst > account.limit * (1 + _ROUNDING):
            yield f"{where}: temporal leakage {account.worst!r} has passed its limit"


def _astray(report: "ChannelReport") -> str | None:
    """A node that reads what its design was not made from; None where that cannot be said."""
    from agent.mapping_kind import OUTSIDE

    readings, outside = report.counts.get("readings", 0), report.counts.get(OUTSIDE, 0)
    if readings < LEAST_READINGS or 2 * outside <= readings:
        return None
    return (
        f"{outside:,} of {readings:,} readings lay {OUTSIDE}, and were taken for its end cells: "
        "check that the source's columns are the node's, in their order and unit, and that the "
        "design was made for this place (counted since the state folder was made)"
    )


def _names(snapshot: "Snapshot") -> list[str]:
    return sorted({*snapshot.reports, *snapshot.outbox})


def _lines(folder: Path, snapshot: "Snapshot", problems: Sequence[str]) -> Iterator[str]:
    words = {
        True: "an agent is running",
        False: "no agent is running",
        None: "whether an agent runs is not known",
    }
    yield f"{folder}: {words[snapshot.running]}"
    for name in _names(snapshot):
        report = snapshot.reports.get(name)
        outbox = snapshot.outbox.get(name, {})
        released = "no release yet"
        if report is not None and report.released_ms is not None:
            count = report.counts.get("releases", 0)
            released = f"{count:,} releases, the last one for {_time(report.released_ms)}"
        yield f"{name}: {released}"
        waiting, parked = outbox.get("waiting", 0), outbox.get("parked", 0)
        yield f"  outbox: {waiting:,} waiting, {parked:,} parked"
        if report is not None:
            yield from _details(report)
    yield from (f"PROBLEM {problem}" for problem in problems)
    yield "not healthy" if problems else "healthy"


def _details(report: "ChannelReport") -> Iterator[str]:
    from agent.cadence import STALE
    from agent.formats.amounts import limit_in_words
    from agent.mapping_kind import OUTSIDE

    yield f"  readings: {report.counts.get('readings', 0):,}"
    for reason, number in _refused(report).items():
        last = " (the last reason)" if reason == report.last_refusal else ""
        yield f"  refused: {number:,} {reason}{last}"
    if report.counts.get(STALE):
        yield f"  {STALE}: {report.counts[STALE]:,}"
    if report.counts.get(OUTSIDE):
        yield f"  {OUTSIDE} (taken for its end cells): {report.counts[OUTSIDE]:,}"
    yield f"  design {report.design}: {report.segments_used} of {report.segments_allowed} segments"
    if report.account is not None:
        yield (
            f"  temporal leakage: TPL {_up(report.account.worst, report.account.limit)} of "
            f"{limit_in_words(report.account.limit)} (each release followed for "
            f"{report.account.horizon:,} releases; now "
            f"{_up(report.account.recent, report.account.limit)})"
        )
    if report.unaccounted is not None:
        yield f"  temporal leakage: {report.unaccounted}"


def _up(amount: float, limit: float) -> str:
    """Rounded up, but never to a limit that it keeps; without idle zeros."""
    from agent.formats.amounts import amount_in_words

    words = amount_in_words(amount, limit, reach=False)
    return words.rstrip("0").rstrip(".") if "." in words and "e" not in words else words


def _summary(name: str, snapshot: "Snapshot") -> dict[str, Any]:
    """One channel as JSON values; what is not stored is null."""
    from agent.cadence import STALE
    from agent.mapping_kind import OUTSIDE

    outbox = snapshot.outbox.get(name, {})
    summary: dict[str, Any] = {
        "name": name,
        "waiting": outbox.get("waiting", 0),
        "parked": outbox.get("parked", 0),
    }
    report = snapshot.reports.get(name)
    if report is None:
        return summary
    account = report.account
    return summary | {
        "design": report.design,
        "design_sha256": report.design_sha256,
        "readings": report.counts.get("readings", 0),
        "releases": report.counts.get("releases", 0),
        "last_release": None if report.released_ms is None else _time(report.released_ms),
        "refused": _refused(report),
        "last_refusal": report.last_refusal,
        "refuses_now": report.standing,
        "source_failure": report.failure,
        "slots_without_reading": report.counts.get(STALE, 0),
        "outside_quantiser": report.counts.get(OUTSIDE, 0),
        "segments_used": report.segments_used,
        "segments_allowed": report.segments_allowed,
        "tpl_worst": None if account is None else account.worst,
        "tpl_recent": None if account is None else account.recent,
        "tpl_limit": None if account is None else account.limit,
        "tpl_horizon": None if account is None else account.horizon,
        "no_account": report.unaccounted,
    }


def _refused(report: "ChannelReport") -> dict[str, int]:
    from agent.channels import REFUSED

    return {
        name.removeprefix(REFUSED): number
        for name, number in report.counts.items()
        if name.startswith(REFUSED)
    }


def _time(time_ms: int) -> str:
    from agent.subscriber import format_time

    return format_time(time_ms)
