"""GeoLife and OziExplorer track files (.plt): six header lines, then one fix a line.

    latitude,longitude,0,altitude in feet,days since 1899-12-30,date,time

Date and time are GMT with whole seconds; the days column repeats them with more digits and is
not read. GeoLife's files hold latitudes of 400, dates of the year 2000 and runs of equal times.
"""

from collections.abc import Iterable, Iterator

from agent.formats.clock_text import ClockReader
from agent.formats.columns import POSITION_ROLES, ColumnPlan
from agent.formats.errors import FormatError
from agent.formats.tables import Layout, Table, read_rows
from agent.formats.text_blocks import Batch

HEADER_LINES = 6
_LAYOUT = Layout(separator=",", names=None, fields=7, names_in_row=False)
_PLAN = ColumnPlan(
    time=(5, 6), values=(0, 1), roles=POSITION_ROLES, keys=(), note="GeoLife PLT, times in GMT"
)


def looks_like_plt(opening: str) -> bool:
    """Whether a file that begins so is a PLT file."""
    return opening.startswith(("Geolife trajectory", "OziExplorer Track Point File"))


def read_plt(batches: Iterable[Batch], where: str) -> Table:
    """All fixes, faulty ones marked.

    Raises:
        FormatError: no fix after the header.
    """
    try:
        table = read_rows(_without_header(batches), where, _LAYOUT, _PLAN, ClockReader())
    except FormatError:
        raise FormatError(f"{where}: has no fix after the six header lines of a PLT file") from None
    return Table(table.rows, table.group_of, table.group_names, (_PLAN.note,))


def _without_header(batches: Iterable[Batch]) -> Iterator[Batch]:
    for first, lines in batches:
        skip = max(0, HEADER_LINES + 1 - first)
        if skip < len(lines):
            yield first + skip, lines[skip:]
