"""GPX 1.0 and 1.1 tracks, read as a stream: each ``trkseg`` is one trace.

Elements are known by their local names, whatever their namespace, and only where GPX puts them
(``trk/trkseg/trkpt/time``; a ``time`` inside extensions is another thing). Waypoints, routes,
altitudes, names and extensions are not read: names hold addresses. A document type declaration
is refused where it starts, before any entity can be declared.
"""

import math
from array import array
from collections.abc import Iterable
from xml.parsers import expat

from agent.formats.clock_text import iso_seconds
from agent.formats.errors import FormatError
from agent.formats.raw_rows import NO_FAULT, NO_TIME, RawRows
from agent.formats.tables import MAX_GROUPS, Table

MAX_DEPTH = 64
MAX_TIME_TEXT = 64
_POINT = ["gpx", "trk", "trkseg", "trkpt"]
_TIME = [*_POINT, "time"]


def looks_like_xml(opening: str) -> bool:
    """Whether a file that begins so is XML, of which GPX alone is read."""
    return opening.lstrip().startswith("<")


def read_gpx(blocks: Iterable[bytes], where: str) -> Table:
    """All track points; those without a time are marked.

    Raises:
        FormatError: not well-formed, not GPX, a DOCTYPE, no track points, or none with a time.
    """
    reader = _GpxReader(where)
    try:
        for block in blocks:
            reader.parser.Parse(block, False)
        reader.parser.Parse(b"", True)
    # An encoding that does not exist is a LookupError, one that lies may be a ValueError.
    except (expat.ExpatError, LookupError, ValueError):
        raise FormatError(
            f"{where}: line {reader.parser.CurrentLineNumber}: is not well-formed XML; the file "
            "may be cut off; export it again"
        ) from None
    return reader.table()


class _GpxReader:
    """The parser's callbacks and what they have gathered."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.rows = RawRows.empty(2)
        self.group_of: array[int] = array("q")
        self.segments: list[str] = []
        self._path: list[str] = []
        self._track = 0
        self._segment = 0
        self._timed = 0
        self._point: tuple[int, float, float] | None = None
        self._time_text: str | None = None

    def table(self) -> Table:
        if not len(self.rows):
            raise FormatError(
                f"{self.where}: has no track points; expected a GPX track (waypoints and routes "
                "have no path in time)"
            )
        if not self._timed:
            raise FormatError(
                f"{self.where}: none of its {len(self.rows):,} track points has a time; export "
                "the track with times"
            )
        note = f"GPX, {len(set(self.group_of)):,} track segments with points"
        return Table(self.rows, self.group_of, tuple(self.segments), (note,))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if not self._path and local != "gpx":
            raise FormatError(f"{self.where}: is XML but not GPX; expected a GPX track")
        self._path.append(local)
        if len(self._path) > MAX_DEPTH:
            raise FormatError(
                f"{self.where}: line {self.parser.CurrentLineNumber}: elements nest over "
                f"{MAX_DEPTH} deep; expected a GPX track"
            )
        if self._path == ["gpx", "trk"]:
            self._track += 1
            self._segment = 0
        elif self._path == ["gpx", "trk", "trkseg"]:
            self._segment += 1
            self.segments.append(f"{self._track}.{self._segment}")
            if len(self.segments) > MAX_GROUPS:
                raise FormatError(f"{self.where}: has over {MAX_GROUPS} track segments")
        elif self._path == _POINT:
            position = (_degrees(attributes.get("lat")), _degrees(attributes.get("lon")))
            self._point = (self.parser.CurrentLineNumber, *position)
            self._time_text = None
        elif self._path == _TIME:
            self._time_text = ""

    def _text(self, text: str) -> None:
        if self._path == _TIME and self._time_text is not None:
            self._time_text = (self._time_text + text)[: MAX_TIME_TEXT + 1]

    def _end(self, _name: str) -> None:
        if self._path == _POINT and self._point is not None:
            line, latitude, longitude = self._point
            written = (self._time_text or "").strip()
            self._timed += bool(written)
            fault = NO_FAULT if written else NO_TIME
            self.rows.add(line, fault, iso_seconds(written), latitude, longitude)
            self.group_of.append(len(self.segments) - 1)
            self._point = None
        self._path.pop()

    def _doctype(self, *_declaration: object) -> None:
        raise FormatError(
            f"{self.where}: has a DOCTYPE, which may hide entities that grow; remove that line"
        )


def _degrees(text: str | None) -> float:
    try:
        return float(text) if text is not None and "_" not in text else math.nan
    except ValueError:
        return math.nan
