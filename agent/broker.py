"""Connections to an MQTT broker, as paho makes them, and what happens on them, as events.

One connection, one paho client. paho would reconnect by itself and resend what it holds, but then
two parties decide what is sent again, and a row handed over between the reconnect and paho's
resend overtakes older ones. So paho's reconnect is off for publishing; a client that lost its
connection is thrown away with everything in it.

paho calls back while holding its own locks; the callbacks therefore only post an event to the
loop's mailbox, and everything else happens in the loop's thread. Events carry the number of their
connection, so that a discarded client's late words are ignored.
"""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTv5, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from agent.formats.errors import FormatError, shown

DEFAULT_HOST = "127.0.0.1"
MAX_UNACKNOWLEDGED = 16
KEEPALIVE_SECONDS = 30
_LOSSES = {
    "Unspecified error": "the broker is gone, or closed it without a word",
    "Keep alive timeout": "the broker no longer answers",
    "Protocol error": "what came was not MQTT",
}
PROTOCOLS = {"5": MQTTv5, "3.1.1": MQTTv311}


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Verification is on unless ``insecure``; ``ca_file`` None means the system's authorities."""

    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Where the broker is and how to speak with it; the password has a silent repr."""

    host: str = DEFAULT_HOST
    port: int = 1883
    protocol: str = "5"
    username: str | None = None
    password: "Password | None" = None
    tls: TlsSettings | None = None
    keepalive_seconds: int = KEEPALIVE_SECONDS

    def __post_init__(self) -> None:
        if not 1 <= self.port <= 65535:
            raise FormatError(f"port {self.port} is not between 1 and 65535")
        if self.protocol not in PROTOCOLS:
            raise FormatError(f"protocol {shown(self.protocol)} is unknown; expected 5 or 3.1.1")
        if self.password is not None and self.username is None:
            raise FormatError("a password without a username; give both or neither")

    @property
    def address(self) -> str:
        """For messages."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, repr=False)
class Password:
    """Kept out of every repr and message."""

    text: str

    def __repr__(self) -> str:
        return "Password(…)"


@dataclass(frozen=True, slots=True)
class Connected:
    """The broker accepted the connection and takes ``receive_maximum`` unacknowledged rows."""

    connection: int
    receive_maximum: int


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection was refused or lost; ``why`` in plain words."""

    connection: int
    why: str


@dataclass(frozen=True, slots=True)
class Unreachable:
    """No connection came about."""

    connection: int


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A PUBACK; ``reason`` is 0 under MQTT 3.1.1."""

    connection: int
    message_id: int
    reason: int


BrokerEvent = Connected | Disconnected | Unreachable | Acknowledged


class Link(Protocol):
    """The part of paho's Client that is used; a fake stands in for it in tests."""

    def publish(self, topic: str, payload: bytes, qos: int) -> Any: ...

    def disconnect(self) -> Any: ...

    def loop_stop(self) -> Any: ...


def connect_client(
    settings: BrokerSettings,
    client_id: str,
    connection: int,
    post: Callable[[BrokerEvent], None],
) -> Link:
    """A started paho client that posts its events, and never reconnects once connected."""
    client = make_client(settings, client_id)

    def on_connect(
        _client: Client,
        _data: Any,
        _flags: ConnectFlags,
        reason: ReasonCode,
        words: Properties | None,
    ) -> None:
        if not reason.is_failure:
            maximum = getattr(words, "ReceiveMaximum", MAX_UNACKNOWLEDGED)
            post(Connected(connection, int(maximum)))
        else:
            post(Disconnected(connection, f"the broker refused the connection: {reason}"))

    def on_publish(
        _client: Client, _data: Any, message_id: int, reason: ReasonCode, _words: Properties
    ) -> None:
        post(Acknowledged(connection, message_id, reason.value))

    client.on_connect = on_connect
    client.on_publish = on_publish
    client.on_disconnect = lambda _c, _d, flags, reason, _p: post(
        Disconnected(connection, describe_loss(flags, reason))
    )
    client.on_connect_fail = lambda _c, _d: post(Unreachable(connection))
    client.connect_async(settings.host, settings.port, settings.keepalive_seconds)
    client.loop_start()
    return client


def describe_loss(flags: DisconnectFlags, reason: ReasonCode) -> str:
    """Why a connection ended, in plain words.

    A broker may say so itself. Else the reason is paho's guess, whose most frequent one, a closed
    or reset connection, it calls an unspecified error.
    """
    if flags.is_disconnect_packet_from_server:
        return f"the broker ended it: {reason}"
    return _LOSSES.get(str(reason), f"it ended: {reason}")


def make_client(settings: BrokerSettings, client_id: str, *, reconnect: bool = False) -> Client:
    """A paho client with credentials and TLS set, not yet connecting.

    ``reconnect`` is for subscribers, which have nothing to send.

    Raises:
        FormatError: a TLS file cannot be used.
    """
    version = PROTOCOLS[settings.protocol]
    client = Client(
        CallbackAPIVersion.VERSION2,
        client_id=client_id,
        protocol=version,
        clean_session=None if version == MQTTv5 else True,
        reconnect_on_failure=reconnect,
    )
    client.max_inflight_messages_set(MAX_UNACKNOWLEDGED + 4)
    if settings.username is not None:
        client.username_pw_set(
            settings.username, settings.password.text if settings.password else None
        )
    if settings.tls is not None:
        tls = settings.tls
        try:
            context = ssl.create_default_context(cafile=str(tls.ca_file) if tls.ca_file else None)
            if tls.certificate_file is not None:
                context.load_cert_chain(tls.certificate_file, tls.key_file)
        except (OSError, ssl.SSLError) as error:
            raise FormatError(
                f"tls: a certificate or key file cannot be used ({error.strerror or error}); "
                "check ca_file, certificate_file and key_file"
            ) from None
        if tls.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        client.tls_set_context(context)
    return client
