"""OwnTracks: the ``location`` JSON that is published, and the Recorder's ``.rec`` files.

Published bytes are deterministic: one line, no blanks, keys in ASCII order, and nothing that is
not on this list:

    {"_id":"d/c/7","_type":"location","acc":512,"lat":52.5000000,"lon":13.4000000,"tst":1772434800}
    {…,"lon":13.4000000,"tid":"ab","tst":1772434800}        with a tracker id

    _id    the release's stable identity, by which a subscriber drops repeats
    acc    metres, whole, rounded up: the radius that the noise makes true
    lat    degrees, 7 decimals (1.1 cm), lon the same
    tid    optional, one or two characters that a map shows
    tst    Unix time, whole seconds, rounded down

Read tolerantly, as apps write: ``acc`` may be fractional, missing or −1, ``tst`` a string, other
keys are ignored. A ``.rec`` line is ``ISO-time TAB * TAB JSON``, sometimes with blanks for the
tabs; lines with another ``_type`` (lwt, transition, waypoint, encrypted …) are passed over.
"""

import json
import math
import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agent.formats.clock_text import EARLIEST_SECONDS, LATEST_SECONDS
from agent.formats.errors import FormatError, shown
from agent.formats.raw_rows import NO_FAULT, NO_POSITION, NO_TIME, NOT_A_RECORD, RawRows
from agent.formats.tables import Table
from agent.formats.text_blocks import Batch

MAX_MESSAGE_BYTES = 1 << 16
MAX_IDENTITY = 512
MAX_ACCURACY_METRES = 40_075_017  # once around the Earth: "somewhere"
_RECORD = re.compile(r"\d{4}-\d\d-\d\dT\S+[ \t]+\S+[ \t]+(\{.*\})\s*", re.DOTALL)
_OPENING = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?[ \t]+\S+[ \t]+\{")


@dataclass(frozen=True, slots=True, repr=False)
class Location:
    """One OwnTracks position. Its repr is silent: it may be a raw one, read from a ``.rec``.

    Attributes:
        latitude, longitude: degrees, on Earth.
        time_seconds: Unix time.
        accuracy_m: radius in metres, None where unknown.
        identity: the release's identity (``_id``), None where the sender gives none.
        tracker_id: ``tid``, None where absent.
    """

    latitude: float
    longitude: float
    time_seconds: float
    accuracy_m: float | None
    identity: str | None
    tracker_id: str | None

    def __repr__(self) -> str:
        return "Location(…)"


def encode_location(
    *,
    latitude: float,
    longitude: float,
    accuracy_m: float,
    time_seconds: float,
    identity: str,
    tracker_id: str | None = None,
) -> bytes:
    """The bytes to publish for one release (see the module's docstring).

    Raises:
        FormatError: a position off the Earth, a negative or not finite accuracy, a time outside
            1970 to 2100, an empty or overlong identity, a tracker id that is not 1–2 characters.
    """
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise FormatError("a location to publish is not on Earth; expected ±90 and ±180 degrees")
    if not 0 <= accuracy_m <= MAX_ACCURACY_METRES:
        raise FormatError(f"acc to publish is not within 0 to {MAX_ACCURACY_METRES} metres")
    if not EARLIEST_SECONDS + 1 <= time_seconds < LATEST_SECONDS:
        raise FormatError("the time to publish is outside 1970 to 2100; expected Unix seconds")
    if not 1 <= len(identity) <= MAX_IDENTITY or not identity.isprintable():
        raise FormatError(
            f"the identity to publish is not 1 to {MAX_IDENTITY} printable characters"
        )
    if tracker_id is not None and not (1 <= len(tracker_id) <= 2 and tracker_id.isprintable()):
        raise FormatError(f"tid {shown(tracker_id)} is not one or two printable characters")
    members = [
        f'"_id":{json.dumps(identity)}',
        '"_type":"location"',
        f'"acc":{math.ceil(accuracy_m)}',
        f'"lat":{_fixed(latitude)}',
        f'"lon":{_fixed(longitude)}',
        *([] if tracker_id is None else [f'"tid":{json.dumps(tracker_id)}']),
        f'"tst":{math.floor(time_seconds)}',
    ]
    return ("{" + ",".join(members) + "}").encode("ascii")


def decode_location(content: bytes) -> Location:
    """The position in one message.

    Raises:
        FormatError: too long, not a JSON object, another ``_type``, or lat, lon or tst missing,
            unreadable or out of range.
    """
    if len(content) > MAX_MESSAGE_BYTES:
        raise FormatError(f"an OwnTracks message is longer than {MAX_MESSAGE_BYTES} bytes")
    members = _object(content)
    if members is None:
        raise FormatError("an OwnTracks message is not a JSON object; expected _type location")
    if members.get("_type") != "location":
        raise FormatError("an OwnTracks message is not a location; expected _type location")
    latitude, longitude = _number(members.get("lat")), _number(members.get("lon"))
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise FormatError("an OwnTracks location has no lat and lon on Earth")
    time_seconds = _time(members.get("tst"))
    if not EARLIEST_SECONDS < time_seconds < LATEST_SECONDS:
        raise FormatError("an OwnTracks location has no tst between 1970 and 2100")
    accuracy = _number(members.get("acc"))
    return Location(
        latitude=latitude,
        longitude=longitude,
        time_seconds=time_seconds,
        accuracy_m=accuracy if 0 <= accuracy <= MAX_ACCURACY_METRES else None,
        identity=_label(members.get("_id")),
        tracker_id=_label(members.get("tid")),
    )


def looks_like_recorder(opening: str) -> bool:
    """Whether a file that begins so is the Recorder's ``.rec``."""
    return _OPENING.match(opening) is not None


def read_recorder(batches: Iterable[Batch], where: str) -> Table:
    """All location lines of a ``.rec`` file; lines that cannot be read are marked.

    Raises:
        FormatError: no location at all.
    """
    rows = RawRows.empty(2)
    passed_over = 0
    for first, lines in batches:
        for number, line in enumerate(lines, first):
            if not line.strip():
                continue
            match = _RECORD.fullmatch(line)
            members = _object(match.group(1)) if match else None
            if members is None:
                rows.add(number, NOT_A_RECORD, math.nan, math.nan, math.nan)
            elif members.get("_type") != "location":
                passed_over += 1
            else:
                fault = NO_FAULT if "tst" in members else NO_TIME
                if "lat" not in members or "lon" not in members:
                    fault = NO_POSITION
                position = (_number(members.get("lat")), _number(members.get("lon")))
                rows.add(number, fault, _time(members.get("tst")), *position)
    if not len(rows):
        raise FormatError(
            f"{where}: has no location among its {passed_over:,} records; expected lines of "
            "_type location"
        )
    notes = ["OwnTracks Recorder"]
    if passed_over:
        notes.append(f"passed over {passed_over:,} records that are no location")
    return Table(rows, array("q"), (), tuple(notes))


def _object(content: bytes | str) -> dict[str, Any] | None:
    try:
        members = json.loads(content)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        return None
    return members if isinstance(members, dict) else None


def _number(value: object) -> float:
    """A JSON number as a float; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _time(value: object) -> float:
    """``tst``, which old apps wrote as a string."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,12}", value, re.ASCII):
        return float(value)
    return _number(value)


def _label(value: object) -> str | None:
    usable = isinstance(value, str) and 1 <= len(value) <= MAX_IDENTITY and value.isprintable()
    return str(value) if usable else None


def _fixed(degrees: float) -> str:
    text = f"{degrees:.7f}"
    return "0.0000000" if text == "-0.0000000" else text
