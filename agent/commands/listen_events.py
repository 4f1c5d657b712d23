"""What happens to ``sfumato listen``: the client's callbacks as events, in the order they came.

paho calls back in a thread of its own, and while it holds a lock in ``on_publish``. So callbacks
only store what was received and post; everything else is done by whoever takes the events.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paho.mqtt.client import Client

    from agent.subscriber import Receiver


@dataclass(frozen=True, slots=True)
class Subscribed:
    """Every topic was granted."""


@dataclass(frozen=True, slots=True)
class Received:
    """A message was dealt with; ``content`` only where it was new and is asked for."""

    new: bool
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """The broker acknowledged a decision; ``failure`` says why it did not take it."""

    failure: str | None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something to say; ``final`` if going on makes no sense."""

    words: str
    final: bool


Event = Subscribed | Received | Published | Trouble | None  # None: a signal asks to stop


def connect_callbacks(
    client: "Client",
    topics: list[str],
    receiver: "Receiver",
    post: Callable[[Event], None],
    *,
    address: str,
    with_content: bool,
) -> None:
    """Messages are on file before paho acknowledges them, which it does after the callback."""
    from agent.broker import describe_loss
    from agent.formats.errors import SfumatoError

    def on_connect(_client: "Client", _data: Any, _flags: Any, reason: Any, _words: Any) -> None:
        if reason.is_failure:
            post(Trouble(f"the broker refused the connection: {reason}", final=True))
        else:
            client.subscribe([(topic, 1) for topic in topics])

    def on_subscribe(_client: "Client", _data: Any, _mid: int, reasons: Any, _words: Any) -> None:
        refused = [str(reason) for reason in reasons if reason.is_failure]
        if refused:
            post(Trouble(f"the broker refused a subscription: {refused[0]}", final=True))
        else:
            post(Subscribed())

    def on_message(_client: "Client", _data: Any, message: Any) -> None:
        try:
            new = receiver.take(message.topic, message.payload)
        except SfumatoError as error:
            post(Trouble(str(error), final=True))
            return
        post(Received(new, bytes(message.payload) if new and with_content else None))

    def on_publish(_client: "Client", _data: Any, _mid: int, reason: Any, _words: Any) -> None:
        post(Published(str(reason) if reason.is_failure else None))

    def on_disconnect(_client: "Client", _data: Any, flags: Any, reason: Any, _words: Any) -> None:
        why = describe_loss(flags, reason)
        post(Trouble(f"no connection to the broker at {address} ({why}); trying again", False))

    client.on_connect = on_connect
    client.on_subscribe = on_subscribe
    client.on_message = on_message
    client.on_publish = on_publish
    client.on_disconnect = on_disconnect
    client.on_connect_fail = lambda _client, _data: post(
        Trouble(f"the broker at {address} cannot be reached; trying again", final=False)
    )
