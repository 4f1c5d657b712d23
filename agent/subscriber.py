"""What a subscriber does with messages: verify, drop repeats, keep.

A sender delivers at least once, so repeats are normal; they are told by the release's identity,
also across restarts, because the identities in the CSV file are read first. Nothing that arrives
can stop the subscriber: what does not decode is counted.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import astuple, dataclass, fields
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path

from agent.csv_log import CsvLog
from agent.formats.errors import FormatError
from agent.formats.geojson import ReceivedPlace, encode_geojson
from agent.formats.mapping_json import decode_mapping_message
from agent.formats.owntracks import decode_location
from agent.formats.sensor_json import decode_sensor
from agent.formats.state_json import MAX_BYTES, decode_state_message

MAX_TOPIC = 1024
# Whoever sends rubbish must not fill the memory with kinds of it.
MAX_REASONS = 32
OTHER_REASONS = "other reasons"
NEW_STORE_GAP = 1_000_000
LATEST_MS = 4_102_444_800_000  # the year 2100


@dataclass(frozen=True, slots=True)
class ReceivedRow:
    """One line of the CSV file; what a kind of channel does not have is empty.

    ``state`` is a name, or a JSON list of names where the release is a set of states.
    """

    topic: str
    id: str
    time: str
    latitude: str = ""
    longitude: str = ""
    accuracy_m: str = ""
    value: str = ""
    unit: str = ""
    std: str = ""
    state: str = ""
    epsilon: str = ""
    design: str = ""
    node: str = ""
    symbol: str = ""


HEADER = tuple(field.name for field in fields(ReceivedRow))
FORMER_HEADER = HEADER[:-3]


def decode_message(topic: str, content: bytes) -> ReceivedRow:
    """A message of any of the formats.

    Raises:
        FormatError: none of them, or without an identity, by which repeats are told.
    """
    if len(topic) > MAX_TOPIC:
        raise FormatError(f"a topic of over {MAX_TOPIC} letters")
    keys = _keys(content)
    if "_type" in keys:
        place = decode_location(content)
        if place.identity is None:
            raise FormatError("an OwnTracks location without _id; expected sfumato's")
        return ReceivedRow(
            topic,
            place.identity,
            format_time(round(place.time_seconds * 1000)),
            latitude=f"{place.latitude:.7f}",
            longitude=f"{place.longitude:.7f}",
            accuracy_m="" if place.accuracy_m is None else f"{place.accuracy_m:g}",
        )
    if "state" in keys:
        state = decode_state_message(content)
        return ReceivedRow(
            topic,
            state.identity,
            format_time(state.time_ms),
            state=state.state
            if isinstance(state.state, str)
            else json.dumps(state.state, ensure_ascii=False),
            epsilon=repr(state.epsilon),
        )
    if "node" in keys:
        said = decode_mapping_message(content)
        return ReceivedRow(
            topic,
            said.identity,
            format_time(said.time_ms),
            design=said.design,
            node=said.node,
            symbol=str(said.symbol),
        )
    sensor = decode_sensor(content)
    return ReceivedRow(
        topic,
        sensor.identity,
        format_time(sensor.time_ms),
        value=repr(sensor.value),
        unit=sensor.unit,
        std=repr(sensor.std),
    )


def _keys(content: bytes) -> Collection[str]:
    """Of the object that the message is, whatever its spacing; by them its format is told.

    Raises:
        FormatError: too long for any format, or no JSON object.
    """
    if len(content) > MAX_BYTES:  # that of states, which may have the longest messages
        raise FormatError(f"over {MAX_BYTES} bytes")
    try:
        found = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        found = None
    if not isinstance(found, dict):
        raise FormatError("not a JSON object; expected what `sfumato run` sends")
    return found.keys()


def format_time(time_ms: int) -> str:
    """ISO 8601 UTC, milliseconds only where there are any.

    Raises:
        FormatError: not between 1970 and 2100.
    """
    if not 0 <= time_ms < LATEST_MS:
        raise FormatError("a time outside 1970 to 2100")
    seconds, rest = divmod(time_ms, 1000)
    text = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{rest:03d}Z" if rest else f"{text}Z"


class CsvFile:
    """Received rows, appended one by one.

    A file that an earlier sfumato began has no columns for nodes' symbols. It goes on as it is,
    and the first symbol for it is refused, rather than lost.

    Raises:
        FormatError: the file is there and is not one of ours.
        UnavailableError: it cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = CsvLog(path, HEADER, FORMER_HEADER)
        self.earlier = [ReceivedRow(*line) for line in self._log.earlier]

    def append(self, row: ReceivedRow) -> None:
        """One more line, out of our hands when this returns.

        Raises:
            FormatError: a symbol for a file without columns for it.
        """
        values = astuple(row)
        known = len(self._log.header)
        if any(values[known:]):
            raise FormatError(
                f"{self._path}: was begun by an earlier sfumato and has no columns for nodes' "
                "symbols; give a new file"
            )
        self._log.append(values[:known])

    def close(self) -> None:
        """No more lines."""
        self._log.close()


def count_missing(identities: Iterable[str]) -> int:
    """Sequence numbers that a device and channel skipped between those that were heard.

    A skip of over ``NEW_STORE_GAP`` is none: the device began with a fresh store, whose sequences
    start at random.
    """
    heard: dict[str, list[int]] = {}
    for identity in identities:
        channel, _, number = identity.rpartition("/")
        if number.isascii() and number.isdigit():
            heard.setdefault(channel, []).append(int(number))
    missing = 0
    for numbers in heard.values():
        numbers.sort()
        skipped = (after - before - 1 for before, after in pairwise(numbers))
        missing += sum(count for count in skipped if 0 < count <= NEW_STORE_GAP)
    return missing


class Receiver:
    """Decodes, drops repeats, keeps.

    Args:
        csv_file: where rows go as they come, or None.
        keep_places: whether :meth:`geojson` will be asked for.
    """

    def __init__(self, csv_file: CsvFile | None, *, keep_places: bool) -> None:
        self.counts: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._csv = csv_file
        self._keep_places = keep_places
        self._places: list[ReceivedPlace] = []
        self._seen: set[str] = set()
        for row in csv_file.earlier if csv_file else ():
            self._note(row)

    def take(self, topic: str, content: bytes) -> bool:
        """Whether the message was new; it is on file then."""
        self.counts["messages"] += 1
        try:
            row = decode_message(topic, content)
        except FormatError as error:
            self.counts["malformed"] += 1
            self._note_reason(str(error))
            return False
        if row.id in self._seen:
            self.counts["repeats"] += 1
            return False
        if self._csv is not None:
            self._csv.append(row)
        self._note(row)
        self.counts["kept"] += 1
        return True

    def geojson(self) -> str:
        """Every place received, also those of earlier runs that are in the CSV file."""
        return encode_geojson(self._places)

    def summary(self) -> str:
        """One line for the user."""
        names = ("messages", "kept", "repeats", "malformed")
        line = ", ".join(f"{name} {self.counts[name]}" for name in names)
        missing = count_missing(self._seen)
        why = " (the broker dropped them, or they are still on their way)" if missing else ""
        if missing and self._csv is not None and self._csv.earlier:
            why = " (nobody listened, the broker dropped them, or they are still on their way)"
        return f"{line}, missing {missing}{why}"

    def reasons(self) -> list[str]:
        """Why messages were refused, a line each, most frequent first; nothing of their content."""
        return [f"malformed {count}: {why}" for why, count in self._reasons.most_common()]

    def _note_reason(self, why: str) -> None:
        known = why in self._reasons or len(self._reasons) < MAX_REASONS
        self._reasons[why if known else OTHER_REASONS] += 1

    def _note(self, row: ReceivedRow) -> None:
        self._seen.add(row.id)
        if self._keep_places and row.latitude:
            try:
                numbers = (float(row.latitude), float(row.longitude), float(row.accuracy_m or 0))
            except ValueError:  # a line of an earlier file that was changed by hand
                self.counts["malformed"] += 1
                return
            self._places.append(ReceivedPlace(row.topic, row.id, row.time, *numbers))
