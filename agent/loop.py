"""The running agent: readings in, batches committed, rows to the broker, until told to stop.

One thread does everything but wait: sources and paho post events into one mailbox, and a turn of
the loop takes what is there, commits it in one transaction, and hands rows over. Under load a
turn finds more in the mailbox, so commits group by themselves.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from agent.broker import Acknowledged, BrokerEvent, Connected, Disconnected, Unreachable
from agent.cadence import STALE
from agent.channels import Channel
from agent.mapping_kind import OUTSIDE
from agent.publisher import Publisher
from agent.sources.base import ReadingArrived, SourceEnded, SourceThread
from agent.store import OutboxRow, Store

MAX_EVENTS_PER_TURN = 2048
OUTBOX_HIGH_WATER = 2000  # rows; a replay waits while there are more
SETTLE_AT_ONCE = 256  # acknowledged rows that are deleted in a transaction of their own
IDLE_SECONDS = 0.2
GRACE_SECONDS = 1.0
REPORT_SECONDS = 10.0  # how often counts alone are worth a write to the disk


@dataclass(frozen=True, slots=True)
class StopRequested:
    """SIGTERM or SIGINT."""


Event = ReadingArrived | SourceEnded | StopRequested | BrokerEvent
Mailbox = SimpleQueue[Event]


@dataclass(frozen=True, slots=True)
class Feed:
    """A source's thread, and whether the source can wait without losing anything."""

    thread: SourceThread
    can_wait: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did.

    ``complete``: the sources ended well, everything is acknowledged, and no channel is barren.
    ``barren``: a line for each channel that refused all its readings and never released any.
    """

    counts: Counter[str]
    complete: bool
    barren: tuple[str, ...] = ()

    def line(self) -> str:
        """One line for the user."""
        order = ("readings", "releases", "acknowledged", "left in the outbox", "parked", STALE)
        known = [f"{name} {self.counts[name]}" for name in order]
        refused = [
            f"{name} {self.counts[name]}"
            for name in sorted(self.counts)
            if name.startswith("refused") and self.counts[name]
        ]
        outside = [f"{OUTSIDE} {self.counts[OUTSIDE]}"] if self.counts[OUTSIDE] else []
        return ", ".join(known + outside + refused)


class Agent:
    """Everything assembled. :meth:`run` may be called once."""

    def __init__(
        self,
        *,
        channels: Sequence[Channel],
        feeds: Sequence[Feed],
        store: Store,
        publisher: Publisher,
        mailbox: Mailbox,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._channels = channels
        self._feeds = feeds
        self._store = store
        self._publisher = publisher
        self._mailbox = mailbox
        self._say = say
        self._clock = clock
        self._running = set(range(len(feeds)))
        self._owed = [0] * len(feeds)
        self._next: deque[OutboxRow] = deque()
        self._handed = 0
        self._waiting = store.count("waiting")
        self._acknowledged = 0
        self._parked = store.count("parked")
        self._stopping = False
        self._failed = False
        self._reported_at = clock()

    def run(self) -> Summary:
        """Until the sources have ended and the outbox is empty, or until a stop is requested."""
        for feed in self._feeds:
            feed.thread.start()
        try:
            while not self._stopping and (self._running or self._waiting):
                self._turn()
            self._close_feeds()
            # PUBACKs on their way are waited for a moment: each saves a resend at the next start.
            deadline = self._clock() + GRACE_SECONDS
            while self._publisher.connected and self._publisher.under_way:
                if self._clock() >= deadline:
                    break
                self._turn()
            self._commit(idle=True, final=True)
        finally:
            self._close_feeds()
            self._publisher.close()
        return self._summary()

    def _turn(self) -> None:
        self._publisher.tick()
        events = self._events()
        for event in events:
            self._take(event)
        self._commit(idle=not events)
        self._hand_over()
        self._let_in()

    def _events(self) -> list[Event]:
        """What is in the mailbox, waiting a little if that is nothing."""
        until_tick = self._publisher.seconds_until_tick()
        patience = IDLE_SECONDS if until_tick is None else min(IDLE_SECONDS, until_tick)
        events: list[Event] = []
        try:
            events.append(self._mailbox.get(timeout=patience))
            while len(events) < MAX_EVENTS_PER_TURN:
                events.append(self._mailbox.get_nowait())
        except Empty:
            pass
        return events

    def _take(self, event: Event) -> None:
        match event:
            case ReadingArrived(channel, reading):
                self._owed[channel] += 1
                if not self._stopping:
                    self._channels[channel].take(reading)
            case SourceEnded(channel, failure):
                self._running.discard(channel)
                self._channels[channel].end(failure)
                if failure is not None:
                    self._failed = True
                    self._say(f"channel {self._channels[channel].name!r}: {failure}")
            case StopRequested():
                self._stopping = True
            case Acknowledged() | Connected() | Disconnected() | Unreachable():
                self._publisher.handle(event)

    def _commit(self, *, idle: bool, final: bool = False) -> None:
        """One transaction for all releases, the noise after them, and what the broker settled.

        Reports of what the channels did go with it; without a release they can wait a little.
        """
        outgoing, advances = [], []
        for channel in self._channels:
            released, advance = channel.take_batch()
            outgoing += released
            if advance is not None:
                advances.append(advance)
            if (complaint := channel.take_complaint()) is not None:
                self._say(f"channel {channel.name!r}: {complaint}; its readings are counted")
        settled = self._publisher.settled
        enough = 1 if idle or settled == self._waiting else SETTLE_AT_ONCE
        now = self._clock()
        late = final or now - self._reported_at >= REPORT_SECONDS
        reporting = [channel for channel in self._channels if channel.report_changed]
        if not outgoing and settled < enough and not (late and reporting):
            return
        self._reported_at = now
        acknowledged, parked = self._publisher.take_settled()
        self._store.commit(
            advances=advances,
            outgoing=outgoing,
            acknowledged=acknowledged,
            parked=parked,
            reports={channel.name: channel.take_report() for channel in reporting},
        )
        self._waiting += len(outgoing) - len(acknowledged) - len(parked)
        self._acknowledged += len(acknowledged)
        self._parked += len(parked)

    def _hand_over(self) -> None:
        """Stored rows to the publisher, as many as it takes, in order."""
        room = self._publisher.room
        if not room or self._stopping:
            return
        taken = self._publisher.under_way + self._publisher.settled + len(self._next)
        if len(self._next) < room and self._waiting > taken:
            after = self._next[-1].row_id if self._next else self._handed
            self._next.extend(self._store.waiting(after, 4 * room))
        rows = [self._next.popleft() for _ in range(min(room, len(self._next)))]
        if rows:
            self._handed = rows[-1].row_id
            self._publisher.send(rows)

    def _let_in(self) -> None:
        """Makes replays wait while the outbox is long; a live source is never held up."""
        full = self._waiting >= OUTBOX_HIGH_WATER
        for number, feed in enumerate(self._feeds):
            if not (full and feed.can_wait):
                feed.thread.permit(self._owed[number])
                self._owed[number] = 0

    def _close_feeds(self) -> None:
        for feed in self._feeds:
            feed.thread.close()

    def _summary(self) -> Summary:
        counts: Counter[str] = Counter()
        for channel in self._channels:
            counts.update(channel.counts)
        counts["acknowledged"] = self._acknowledged
        counts["left in the outbox"] = self._waiting
        counts["parked"] = self._parked
        barren = tuple(
            f"channel {channel.name!r}: nothing was released: {why}"
            for channel in self._channels
            if (why := channel.barren()) is not None
        )
        unsent = self._waiting and not self._stopping
        complete = not (self._failed or self._parked or unsent or barren)
        return Summary(counts, complete, barren)
