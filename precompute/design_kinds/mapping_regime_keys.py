"""The key ``regimes``: in which parts of the log G is guarded, each by itself."""

from dataclasses import dataclass

from agent.formats.columns import Column
from agent.formats.documents import Section
from agent.formats.errors import FormatError
from agent.formats.quantities import parse_duration
from precompute.design_kinds import mapping_values as values
from precompute.mapping.solution import Architecture


@dataclass(frozen=True, slots=True)
class RegimeKeys:
    """How the log's rows are told apart: by periods of time, or by a column of names."""

    every_seconds: float | None
    column: Column | None


def read_regimes(
    section: Section, *, by_joint: bool, architecture: Architecture
) -> RegimeKeys | None:
    """None without the key: then the log's average is guarded.

    Raises:
        FormatError: unknown, missing, of the wrong type, or that does not fit the rest.
    """
    if not section.has("regimes"):
        return None
    if by_joint or architecture == "local":
        why = "a stated joint has none" if by_joint else "local does not guard G"
        raise section.fail(
            "regimes",
            f"they are parts of a log in which G is hidden, and {why}; leave the key out",
        )
    regimes = section.section("regimes")
    if regimes.has("every") == regimes.has("column"):
        found = "both" if regimes.has("every") else "neither"
        raise FormatError(
            f"{regimes.where}: found {found} of every and column; expected one: {{every: 1 d}} or "
            "{column: season}"
        )
    keys = RegimeKeys(
        regimes.take("every", parse_duration) if regimes.has("every") else None,
        regimes.take("column", values.column) if regimes.has("column") else None,
    )
    regimes.close()
    return keys
