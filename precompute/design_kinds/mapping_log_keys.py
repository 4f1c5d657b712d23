"""The keys of what is learnt from: the log, which of its columns are H and G, and its margin."""

from dataclasses import dataclass
from pathlib import Path

from agent.formats.columns import Column
from agent.formats.documents import Section, flag, list_of, positive, text
from agent.formats.quantities import parse_duration
from precompute.design_kinds import mapping_values as values
from precompute.mapping.learning import Smoothing
from precompute.mapping.sensor_logs import Label, LogFiles

DEFAULT_HOLDOUT = 0.3
DEFAULT_BLOCK_SECONDS = 3600.0
DEFAULT_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class MarginKeys:
    """How the log bounds what the maps tell; ``enforced`` when the user asked for it."""

    confidence: float
    block_seconds: float
    enforced: bool


def read_log(section: Section, folder: Path) -> tuple[LogFiles, float]:
    """The section ``log``: its files, and the share of the rows that is held out.

    Raises:
        FormatError: unknown, missing, of the wrong type, or that does not fit the rest.
    """
    paths = section.take("path", values.texts)
    columns = section.section("columns")
    time = columns.take("time", values.columns)
    columns.close()
    if len(time) > 2:
        raise columns.fail("time", "expected one column, or two: date and time")
    holdout = section.take_or("holdout", values.share, DEFAULT_HOLDOUT)
    files = LogFiles(
        tuple(folder / path for path in paths),
        time,
        section.take_or("time_format", text, "") or None,
        section.take_or("utc_offset", values.signed_duration, 0.0),
        section.take_or("repair", flag, False),
    )
    section.close()
    return files, holdout


def read_label(section: Section, key: str, *, by_joint: bool) -> Label:
    """``public`` or ``private``.

    Raises:
        FormatError: unknown, missing, of the wrong type, or that does not fit the rest.
    """
    if by_joint and not section.has(key):
        return Label("")
    label = section.section(key)
    names = tuple(label.take("names", list_of(values.plain))) if label.has("names") else ()
    if len(set(names)) != len(names):
        raise label.fail("names", "a name stands twice")
    column: Column = "" if by_joint else label.take("column", values.column)
    above = None if by_joint or not label.has("above") else label.take("above", values.threshold)
    if above is not None and names and len(names) != 2:
        raise label.fail("names", f"found {len(names)}; a threshold makes two values")
    label.close()
    return Label(column, above, names)  # type: ignore[arg-type] # threshold gives median or a number


def read_smoothing(section: Section, *, by_joint: bool) -> Smoothing:
    """What is not given is chosen by the log.

    Raises:
        FormatError: unknown, missing, of the wrong type, or that does not fit the rest.
    """
    if not section.has("smoothing"):
        return Smoothing()
    if by_joint:
        raise section.fail("smoothing", "a stated joint is taken as it is; leave it out")
    smoothing = section.section("smoothing")
    found = Smoothing(
        smoothing.take("weight", positive) if smoothing.has("weight") else None,
        smoothing.take("count", positive) if smoothing.has("count") else None,
    )
    smoothing.close()
    return found


def read_margin(section: Section, holdout: float) -> MarginKeys:
    """Without the key the bound is shown, and nothing is held to it.

    Raises:
        FormatError: unknown, missing, of the wrong type, or that does not fit the rest.
    """
    if not section.has("margin"):
        return MarginKeys(DEFAULT_CONFIDENCE, DEFAULT_BLOCK_SECONDS, enforced=False)
    if holdout == 0:
        raise section.fail(
            "margin", "needs rows that the design does not see; use a log with holdout: 0.3"
        )
    margin = section.section("margin")
    found = MarginKeys(
        margin.take_or("confidence", values.confidence, DEFAULT_CONFIDENCE),
        margin.take_or("block", parse_duration, DEFAULT_BLOCK_SECONDS),
        enforced=True,
    )
    margin.close()
    return found
