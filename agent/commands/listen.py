"""``sfumato listen``: subscribe, verify, drop repeats, store, and decide by what nodes say."""

import argparse
import math
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.commands.listen_decide import add_decide_arguments

if TYPE_CHECKING:
    from queue import SimpleQueue

    from paho.mqtt.client import Client

    from agent.broker import BrokerSettings
    from agent.commands.listen_events import Event

# How long the broker may take to acknowledge the last decisions.
GRACE_SECONDS = 5.0
HELP = "receive sanitised releases: verify, drop repeats, store as CSV and GeoJSON"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words after ``sfumato listen``."""
    parser.add_argument("topics", nargs="+", metavar="TOPIC", help="may hold wildcards: 'home/#'")
    parser.add_argument("--host", default="127.0.0.1", help="of the broker")
    parser.add_argument("--port", type=int, help="of the broker (1883, with --tls 8883)")
    parser.add_argument("--protocol", choices=("5", "3.1.1"), default="5", help="MQTT version")
    parser.add_argument("--username", help="for the broker")
    parser.add_argument("--password-file", type=Path, help="its first line; not world-readable")
    parser.add_argument("--tls", action="store_true", help="encrypt, and verify the broker")
    parser.add_argument("--ca-file", type=Path, help="authorities to trust, with --tls")
    parser.add_argument("--csv", type=Path, metavar="F", help="append rows here as they come")
    parser.add_argument(
        "--geojson", type=Path, metavar="F", help="write all places here at the end"
    )
    parser.add_argument("--count", type=int, metavar="N", help="stop after N new releases")
    parser.add_argument(
        "--idle", type=float, metavar="SECONDS", help="stop when nothing came for so long"
    )
    add_decide_arguments(parser)


@dataclass(frozen=True, slots=True)
class _End:
    """How it ended: well unless ``failure`` says why not.

    ``deaf``: it waited for so long without a subscription that it gave up.
    """

    failure: str | None = None
    deaf: bool = False


def run(arguments: argparse.Namespace) -> int:
    """0 after a clean end, by signal, count or idleness; 1 if idle for want of a broker."""
    import secrets
    from queue import SimpleQueue

    from agent.broker import make_client
    from agent.commands.listen_decide import require_decide_words
    from agent.commands.listen_events import Event, Trouble, connect_callbacks
    from agent.errors import UnavailableError
    from agent.failing_threads import failing_threads
    from agent.formats.output_files import GEOJSON, check_output, write_output
    from agent.subscriber import CsvFile, Receiver
    from agent.topic_filters import require_topic_filter

    _require_positive(arguments, "count", "idle")
    require_decide_words(arguments)
    for topic in arguments.topics:
        require_topic_filter(topic)
    others = (arguments.csv, arguments.password_file, arguments.ca_file, arguments.decide)
    inputs = [path for path in (*others, arguments.truth, arguments.decisions) if path is not None]
    if arguments.geojson is not None:
        check_output(arguments.geojson, GEOJSON, option="--geojson", inputs=inputs)
    _require_different(arguments.csv, arguments.decisions)
    settings = _broker(arguments)
    client = make_client(settings, f"sfumato-listen-{secrets.token_hex(4)}", reconnect=True)
    session = _Session(arguments, client)
    csv_file = CsvFile(arguments.csv) if arguments.csv else None
    receiver = Receiver(csv_file, keep_places=arguments.geojson is not None)
    events: SimpleQueue[Event] = SimpleQueue()
    connect_callbacks(
        client,
        arguments.topics,
        receiver,
        events.put,
        address=settings.address,
        with_content=session.decider is not None,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: events.put(None))
    with failing_threads(lambda words: events.put(Trouble(words, final=True))):
        client.connect_async(settings.host, settings.port, settings.keepalive_seconds)
        client.loop_start()
        end = session.until_done(events)
        words = session.finish(events)
    failure = end.failure
    client.disconnect()
    if failure is None:
        client.loop_stop()
    if csv_file is not None:
        csv_file.close()
    if arguments.geojson is not None:
        write_output(arguments.geojson, receiver.geojson(), option="--geojson")
    for line in (receiver.summary(), *receiver.reasons(), *words):
        _say(line)
    if failure is not None:
        raise UnavailableError(f"stopped: {failure}")
    if end.deaf:
        _say(
            f"nothing could be heard: there is no subscription at {settings.host}:{settings.port}; "
            "check the broker's address and that it runs"
        )
        return 1
    return 0


class _Session:
    """From the first event to the last: what is kept, what is decided, and when it ends."""

    def __init__(self, arguments: argparse.Namespace, client: "Client") -> None:
        from agent.commands.listen_decide import Decider

        self._arguments = arguments
        self._client = client
        self._sent = 0
        self._settled = 0
        self._refused: Counter[str] = Counter()
        self.decider = None if arguments.decide is None else Decider(arguments, self._publish)

    def until_done(self, events: "SimpleQueue[Event]") -> _End:
        """Waits for the end."""
        from queue import Empty

        from agent.commands.listen_events import Published, Received, Subscribed, Trouble

        wanted, idle = self._arguments.count, self._arguments.idle
        kept = 0
        subscribed = False
        heard = time.monotonic()
        while wanted is None or kept < wanted:
            due = None if self.decider is None else self.decider.next_due()
            ends = None if idle is None else heard + idle
            wakes = [moment for moment in (due, ends) if moment is not None]
            patience = max(min(wakes) - time.monotonic(), 0) if wakes else None
            try:
                event = events.get(timeout=patience)
            except Empty:
                now = time.monotonic()
                if ends is not None and now >= ends:
                    return _End(deaf=not subscribed)
                if self.decider is not None:
                    self.decider.pass_time(now)
                continue
            match event:
                case None:
                    return _End()
                case Received(new, content):
                    heard = time.monotonic()
                    kept += new
                    if self.decider is not None:
                        self.decider.pass_time(heard)
                        if content is not None:
                            self.decider.take(content, heard)
                case Subscribed():
                    _say(f"subscribed to {', '.join(self._arguments.topics)}")
                    subscribed = True
                    heard = time.monotonic()
                case Published(failure):
                    self._settle(failure)
                case Trouble(words, final):
                    if final:
                        return _End(failure=words)
                    _say(words)
                    subscribed = False
        return _End()

    def finish(self, events: "SimpleQueue[Event]") -> list[str]:
        """Decides the rest and waits a moment for the broker to take it; words for the user."""
        from queue import Empty

        from agent.commands.listen_events import Published

        if self.decider is None:
            return []
        lines = self.decider.close()
        deadline = time.monotonic() + GRACE_SECONDS
        while self._settled < self._sent and (left := deadline - time.monotonic()) > 0:
            try:
                event = events.get(timeout=left)
            except Empty:
                break
            if isinstance(event, Published):
                self._settle(event.failure)
        if self._settled < self._sent:
            lines.append(f"{self._sent - self._settled} decisions were not acknowledged")
        lines += [f"the broker refused {n} decisions: {why}" for why, n in self._refused.items()]
        return lines

    def _publish(self, topic: str, content: bytes) -> None:
        # Offline, paho queues it and delivers it later: sending again would send it twice.
        self._client.publish(topic, content, qos=1)
        self._sent += 1

    def _settle(self, failure: str | None) -> None:
        self._settled += 1
        if failure is not None:
            self._refused[failure] += 1


def _require_positive(arguments: argparse.Namespace, *names: str) -> None:
    from agent.formats.errors import FormatError

    for name in names:
        value = getattr(arguments, name)
        if value is not None and not 0 < value < math.inf:
            raise FormatError(f"--{name} {value}: expected a number above zero")


def _require_different(csv: Path | None, decisions: Path | None) -> None:
    from agent.formats.errors import FormatError

    if csv is not None and decisions is not None and csv.absolute() == decisions.absolute():
        raise FormatError("--csv and --decisions name the same file; give each its own")


def _broker(arguments: argparse.Namespace) -> "BrokerSettings":
    from agent.broker import BrokerSettings, TlsSettings
    from agent.config import read_password
    from agent.formats.errors import FormatError

    if arguments.ca_file is not None and not arguments.tls:
        raise FormatError("--ca-file without --tls; give both")
    return BrokerSettings(
        host=arguments.host,
        port=arguments.port or (8883 if arguments.tls else 1883),
        protocol=arguments.protocol,
        username=arguments.username,
        password=read_password(arguments.password_file) if arguments.password_file else None,
        tls=TlsSettings(ca_file=arguments.ca_file) if arguments.tls else None,
    )


def _say(line: str) -> None:
    print(f"sfumato listen: {line}", file=sys.stderr, flush=True)
