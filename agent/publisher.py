"""Hands stored rows to the broker, at least once, in order, few at a time.

Rows without a PUBACK when a connection ends go to the next one, oldest first: the very bytes of
the store. New rows wait behind them. agent.broker says why each connection has its own client.
"""

import random
import threading
from collections import deque
from collections.abc import Callable, Sequence

from agent.broker import (
    KEEPALIVE_SECONDS,
    MAX_UNACKNOWLEDGED,
    Acknowledged,
    BrokerEvent,
    Connected,
    Disconnected,
    Link,
    Unreachable,
)
from agent.store import OutboxRow

FIRST_DELAY_SECONDS = 1.0
LAST_DELAY_SECONDS = 60.0
GOODBYE_SECONDS = 1.0
REFUSED_FROM = 128  # MQTT 5 reason codes from here on are failures; 16 (no subscriber) is success


class Publisher:
    """The rows under way. Used from the loop's thread only.

    Args:
        connect: makes a started link from the number of its connection.
        clock: monotonic seconds.
        say: takes one line for the user.
        address: of the broker, for these lines.
        patience_seconds: how long a connected broker may leave rows without any PUBACK.
        jitter: uniform on 0...1, so that a fleet does not return to its broker in step.
    """

    def __init__(
        self,
        connect: Callable[[int], Link],
        clock: Callable[[], float],
        say: Callable[[str], None],
        *,
        address: str = "",
        patience_seconds: float = 2 * KEEPALIVE_SECONDS,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._connect = connect
        self._clock = clock
        self._say = say
        self._broker = f"the broker at {address}" if address else "the broker"
        self._jitter = jitter
        self._patience_seconds = patience_seconds
        self._heard_at = 0.0
        self._link: Link | None = None
        self._connection = 0
        self._limit = 0  # nothing is handed over before the broker said how much it takes
        self._again: deque[OutboxRow] = deque()
        self._under_way: dict[int, OutboxRow] = {}
        self._acknowledged: list[int] = []
        self._parked: list[int] = []
        self._delay = FIRST_DELAY_SECONDS
        self._retry_at = 0.0
        self._complained = False

    @property
    def room(self) -> int:
        """How many new rows :meth:`send` takes now."""
        return max(0, self._limit - len(self._under_way) - len(self._again))

    @property
    def under_way(self) -> int:
        """Rows taken and not yet settled."""
        return len(self._under_way) + len(self._again)

    @property
    def connected(self) -> bool:
        """Whether the broker has accepted the present connection."""
        return self._limit > 0

    def tick(self) -> None:
        """Opens a connection when there is none and the time has come."""
        now = self._clock()
        if self._link is None and now >= self._retry_at:
            self._connection += 1
            self._link = self._connect(self._connection)
        elif self._under_way and now - self._heard_at > self._patience_seconds:
            # A broker that answers pings but no PUBLISH, or a network thread that died.
            self._discard(f"no acknowledgement for {self._patience_seconds:g} s")

    def seconds_until_tick(self) -> float | None:
        """When :meth:`tick` has something to do, or None while nothing is awaited."""
        if self._link is None:
            return max(0.0, self._retry_at - self._clock())
        if self._under_way:
            return max(0.0, self._heard_at + self._patience_seconds - self._clock())
        return None

    def send(self, rows: Sequence[OutboxRow]) -> None:
        """Takes rows over, at most ``room`` of them, later ones after earlier ones."""
        assert len(rows) <= self.room
        self._again.extend(rows)
        self._hand_over()

    def handle(self, event: BrokerEvent) -> None:
        """Takes note of what happened on the wire."""
        if event.connection != self._connection or self._link is None:
            return
        match event:
            case Acknowledged(_, message_id, reason):
                self._settle(message_id, reason)
            case Connected(_, receive_maximum):
                self._limit = min(MAX_UNACKNOWLEDGED, receive_maximum)
                if self._complained:
                    self._say(f"connected to {self._broker}")
                self._complained = False
                self._hand_over()
            case Unreachable():
                self._discard("no answer")
            case Disconnected(_, why):
                self._discard(why)

    def take_settled(self) -> tuple[list[int], list[int]]:
        """Row ids to delete and row ids to park, each handed out once."""
        settled = self._acknowledged, self._parked
        self._acknowledged, self._parked = [], []
        return settled

    @property
    def settled(self) -> int:
        """How many row ids :meth:`take_settled` would hand out."""
        return len(self._acknowledged) + len(self._parked)

    def close(self) -> None:
        """Says goodbye; rows without a PUBACK stay in the store for the next time."""
        if self._link is not None:
            self._link.disconnect()
            # Joins paho's thread, which over a dead link may take long; it is a daemon.
            goodbye = threading.Thread(target=self._link.loop_stop, daemon=True)
            goodbye.start()
            goodbye.join(GOODBYE_SECONDS if self.connected else 0)
            self._link = None

    def _hand_over(self) -> None:
        while self._again and len(self._under_way) < self._limit and self._link is not None:
            row = self._again.popleft()
            if not self._under_way:
                self._heard_at = self._clock()
            message = self._link.publish(row.topic, row.payload, 1)
            self._under_way[message.mid] = row

    def _settle(self, message_id: int, reason: int) -> None:
        row = self._under_way.pop(message_id, None)
        if row is None:
            return
        self._delay = FIRST_DELAY_SECONDS
        self._heard_at = self._clock()
        if reason < REFUSED_FROM:
            self._acknowledged.append(row.row_id)
        else:
            self._parked.append(row.row_id)
            self._say(
                f"the broker refused {row.channel} number {row.sequence} on {row.topic} (reason "
                f"{reason}); it is parked; check the topic and the broker's access rules"
            )
        self._hand_over()

    def _discard(self, why: str) -> None:
        self._complain(f"no connection to {self._broker} ({why})")
        link, self._link = self._link, None
        if link is not None:
            link.disconnect()  # whatever is left of it must not come back under the same name
        self._again.extendleft(reversed(self._under_way.values()))
        self._under_way.clear()
        self._limit = 0
        self._retry_at = self._clock() + self._delay * (0.5 + 0.5 * self._jitter())
        self._delay = min(2 * self._delay, LAST_DELAY_SECONDS)

    def _complain(self, what: str) -> None:
        if not self._complained:
            self._say(f"{what}; releases are kept, trying again")
        self._complained = True
