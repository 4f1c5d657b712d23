"""``sfumato listen``: subscribe, verify, drop repeats, store."""

import argparse
import math
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from queue import SimpleQueue

    from paho.mqtt.client import Client

    from agent.broker import BrokerSettings
    from agent.subscriber import Receiver

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


@dataclass(frozen=True, slots=True)
class _Subscribed:
    """Every topic was granted."""


@dataclass(frozen=True, slots=True)
class _Received:
    """A message was dealt with."""

    new: bool


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Something to say; ``final`` if going on makes no sense."""

    words: str
    final: bool


@dataclass(frozen=True, slots=True)
class _End:
    """How it ended: well unless ``failure`` says why not.

    ``deaf``: it waited for so long without a subscription that it gave up.
    """

    failure: str | None = None
    deaf: bool = False


_Event = _Subscribed | _Received | _Trouble | None  # None: a signal asks to stop


def run(arguments: argparse.Namespace) -> int:
    """0 after a clean end, by signal, count or idleness; 1 if idle for want of a broker."""
    import secrets
    from queue import SimpleQueue

    from agent.broker import make_client
    from agent.errors import UnavailableError
    from agent.failing_threads import failing_threads
    from agent.formats.output_files import GEOJSON, check_output, write_output
    from agent.subscriber import CsvFile, Receiver
    from agent.topic_filters import require_topic_filter

    _require_positive(arguments, "count", "idle")
    for topic in arguments.topics:
        require_topic_filter(topic)
    if arguments.geojson is not None:
        others = (arguments.csv, arguments.password_file, arguments.ca_file)
        inputs = [path for path in others if path is not None]
        check_output(arguments.geojson, GEOJSON, option="--geojson", inputs=inputs)
    settings = _broker(arguments)
    client = make_client(settings, f"sfumato-listen-{secrets.token_hex(4)}", reconnect=True)
    csv_file = CsvFile(arguments.csv) if arguments.csv else None
    receiver = Receiver(csv_file, keep_places=arguments.geojson is not None)
    events: SimpleQueue[_Event] = SimpleQueue()
    _connect_callbacks(client, arguments.topics, receiver, events.put)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: events.put(None))
    with failing_threads(lambda words: events.put(_Trouble(words, final=True))):
        client.connect_async(settings.host, settings.port, settings.keepalive_seconds)
        client.loop_start()
        end = _until_done(events, arguments)
    failure = end.failure
    client.disconnect()
    if failure is None:
        client.loop_stop()
    if csv_file is not None:
        csv_file.close()
    if arguments.geojson is not None:
        write_output(arguments.geojson, receiver.geojson(), option="--geojson")
    _say(receiver.summary())
    if failure is not None:
        raise UnavailableError(f"stopped: {failure}")
    if end.deaf:
        _say(
            f"nothing could be heard: there is no subscription at {settings.host}:{settings.port}; "
            "check the broker's address and that it runs"
        )
        return 1
    return 0


def _until_done(events: "SimpleQueue[_Event]", arguments: argparse.Namespace) -> _End:
    """Waits for the end."""
    from queue import Empty

    kept = 0
    subscribed = False
    heard = time.monotonic()
    while arguments.count is None or kept < arguments.count:
        left = None if arguments.idle is None else heard + arguments.idle - time.monotonic()
        try:
            event = events.get(timeout=None if left is None else max(left, 0))
        except Empty:
            return _End(deaf=not subscribed)
        match event:
            case None:
                return _End()
            case _Received(new):
                heard = time.monotonic()
                kept += new
            case _Subscribed():
                _say(f"subscribed to {', '.join(arguments.topics)}")
                subscribed = True
                heard = time.monotonic()
            case _Trouble(words, final):
                if final:
                    return _End(failure=words)
                _say(words)
                subscribed = False
    return _End()


def _connect_callbacks(
    client: "Client",
    topics: list[str],
    receiver: "Receiver",
    post: Callable[[_Event], None],
) -> None:
    """Messages are on file before paho acknowledges them, which it does after the callback."""
    from agent.formats.errors import SfumatoError

    def on_connect(_client: "Client", _data: Any, _flags: Any, reason: Any, _words: Any) -> None:
        if reason.is_failure:
            post(_Trouble(f"the broker refused the connection: {reason}", final=True))
        else:
            client.subscribe([(topic, 1) for topic in topics])

    def on_subscribe(_client: "Client", _data: Any, _mid: int, reasons: Any, _words: Any) -> None:
        refused = [str(reason) for reason in reasons if reason.is_failure]
        if refused:
            post(_Trouble(f"the broker refused a subscription: {refused[0]}", final=True))
        else:
            post(_Subscribed())

    def on_message(_client: "Client", _data: Any, message: Any) -> None:
        try:
            post(_Received(receiver.take(message.topic, message.payload)))
        except SfumatoError as error:
            post(_Trouble(str(error), final=True))

    def on_disconnect(_client: "Client", _data: Any, _flags: Any, reason: Any, _words: Any) -> None:
        post(_Trouble(f"connection lost ({reason}); trying again", final=False))

    client.on_connect = on_connect
    client.on_subscribe = on_subscribe
    client.on_message = on_message
    client.on_disconnect = on_disconnect
    client.on_connect_fail = lambda _client, _data: post(
        _Trouble("the broker cannot be reached; trying again", final=False)
    )


def _require_positive(arguments: argparse.Namespace, *names: str) -> None:
    from agent.formats.errors import FormatError

    for name in names:
        value = getattr(arguments, name)
        if value is not None and not 0 < value < math.inf:
            raise FormatError(f"--{name} {value}: expected a number above zero")


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
