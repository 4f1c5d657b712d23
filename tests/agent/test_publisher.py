"""The publisher's rules on a fake link, and paho's behaviour against a broker that misbehaves."""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

import pytest
from fakes.clocks import FakeClock
from fakes.fault_broker import FaultBroker, Faults, free_port
from paho.mqtt.client import DisconnectFlags
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from agent.broker import (
    Acknowledged,
    BrokerSettings,
    Connected,
    Disconnected,
    Password,
    connect_client,
    describe_loss,
)
from agent.formats.errors import FormatError
from agent.publisher import Publisher
from agent.store import OutboxRow


def row(number, topic="t"):
    return OutboxRow(number, "c", number, topic, f"payload {number}".encode(), "waiting")


@dataclass
class Message:
    mid: int


class FakeLink:
    """Notes what it was given; message ids count from 1."""

    def __init__(self):
        self.sent = []
        self.disconnected = False

    def publish(self, topic, payload, qos):
        assert qos == 1
        self.sent.append(payload)
        return Message(len(self.sent))

    def disconnect(self):
        self.disconnected = True

    def loop_stop(self):
        pass


class Bench:
    """A publisher on fake links and a fake clock."""

    def __init__(self):
        self.clock = FakeClock()
        self.links = []
        self.said = []
        self.publisher = Publisher(
            self.connect, self.clock, self.said.append, patience_seconds=60, jitter=lambda: 1.0
        )

    def connect(self, connection):
        assert connection == len(self.links) + 1
        self.links.append(FakeLink())
        return self.links[-1]

    def connected(self, receive_maximum=100):
        self.publisher.tick()
        self.publisher.handle(Connected(len(self.links), receive_maximum))
        return self.links[-1]


def test_nothing_is_handed_over_before_the_broker_said_how_much_it_takes():
    bench = Bench()
    bench.publisher.tick()
    assert bench.publisher.room == 0
    bench.publisher.handle(Connected(1, 5))
    assert bench.publisher.room == 5


def test_at_most_sixteen_rows_are_under_way_whatever_the_broker_takes():
    bench = Bench()
    bench.connected(receive_maximum=65535)
    assert bench.publisher.room == 16


def test_reason_16_is_success_and_reasons_from_128_park_the_row():
    bench = Bench()
    bench.connected()
    bench.publisher.send([row(1), row(2), row(3)])
    for message_id, reason in ((1, 16), (2, 135), (3, 0)):
        bench.publisher.handle(Acknowledged(1, message_id, reason))
    assert bench.publisher.take_settled() == ([1, 3], [2])
    assert bench.publisher.take_settled() == ([], [])
    assert any("parked" in line for line in bench.said)


def test_rows_without_a_puback_go_to_the_next_connection_in_order_and_once():
    bench = Bench()
    first = bench.connected()
    bench.publisher.send([row(1), row(2), row(3)])
    bench.publisher.handle(Acknowledged(1, 2, 0))
    bench.publisher.handle(Disconnected(1, "reset"))
    assert bench.publisher.room == 0
    bench.publisher.tick()
    assert len(bench.links) == 1  # not before the delay is over
    bench.clock.sleep(1.0)
    second = bench.connected(receive_maximum=1)
    assert second.sent == [b"payload 1"]  # the new broker takes one at a time
    bench.publisher.handle(Acknowledged(2, 1, 0))
    assert second.sent == [b"payload 1", b"payload 3"]
    assert first.sent == [b"payload 1", b"payload 2", b"payload 3"]


def test_a_new_row_never_overtakes_one_that_is_sent_again():
    bench = Bench()
    bench.connected()
    bench.publisher.send([row(1), row(2)])
    bench.publisher.handle(Disconnected(1, "reset"))
    bench.clock.sleep(1.0)
    link = bench.connected(receive_maximum=3)
    bench.publisher.send([row(3)])
    assert link.sent == [b"payload 1", b"payload 2", b"payload 3"]


def test_late_words_of_a_discarded_connection_are_ignored():
    bench = Bench()
    bench.connected()
    bench.publisher.send([row(1)])
    bench.publisher.handle(Disconnected(1, "reset"))
    bench.publisher.handle(Acknowledged(1, 1, 0))
    bench.clock.sleep(1.0)
    link = bench.connected()
    assert link.sent == [b"payload 1"]
    bench.publisher.handle(Disconnected(1, "again"))
    assert bench.publisher.connected


def test_the_delay_doubles_up_to_a_minute_and_starts_anew_after_a_puback():
    bench = Bench()
    waits = []
    for _ in range(8):
        bench.connected()
        bench.publisher.handle(Disconnected(len(bench.links), "reset"))
        waits.append(bench.publisher.seconds_until_tick())
        bench.clock.sleep(waits[-1])
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    bench.connected()
    bench.publisher.send([row(1)])
    bench.publisher.handle(Acknowledged(len(bench.links), 1, 0))
    bench.publisher.handle(Disconnected(len(bench.links), "reset"))
    assert bench.publisher.seconds_until_tick() == 1


def test_a_connection_on_which_no_puback_comes_is_given_up():
    bench = Bench()
    link = bench.connected()
    bench.publisher.send([row(1)])
    bench.clock.sleep(59)
    bench.publisher.tick()
    assert bench.publisher.connected
    bench.clock.sleep(2)
    bench.publisher.tick()
    assert link.disconnected
    assert not bench.publisher.connected


def test_a_password_is_not_shown():
    settings = BrokerSettings(username="u", password=Password("secret"))
    assert "secret" not in repr(settings)
    with pytest.raises(FormatError, match="without a username"):
        BrokerSettings(password=Password("secret"))


# Against paho and a broker that misbehaves.


def deliver(
    broker,
    rows,
    *,
    protocol="5",
    seconds=10.0,
    keepalive=30,
    patience=60.0,
    enough=lambda: False,
    say=lambda _: None,
):
    """Sends rows until all are settled, it is enough, or the time is over.

    Returns:
        Row ids acknowledged and row ids parked.
    """
    settings = BrokerSettings(port=broker.port, protocol=protocol, keepalive_seconds=keepalive)
    events = SimpleQueue()
    publisher = Publisher(
        partial(connect_client, settings, "test", post=events.put),
        time.monotonic,
        say,
        address=settings.address,
        patience_seconds=patience,
        jitter=lambda: 0.0,
    )
    waiting = list(rows)
    done = []
    parked = []
    deadline = time.monotonic() + seconds
    while len(done) + len(parked) < len(rows) and time.monotonic() < deadline and not enough():
        publisher.tick()
        with suppress(Empty):
            publisher.handle(events.get(timeout=0.05))
        acknowledged, refused = publisher.take_settled()
        done += acknowledged
        parked += refused
        take = publisher.room
        if waiting and take:
            publisher.send(waiting[:take])
            waiting = waiting[take:]
    publisher.close()
    return done, parked


ROWS = [row(number) for number in range(1, 61)]


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_all_rows_arrive_in_order(protocol):
    with FaultBroker() as broker:
        done, parked = deliver(broker, ROWS, protocol=protocol)
    assert (done, parked) == (list(range(1, 61)), [])
    assert [message.payload for message in broker.published] == [one.payload for one in ROWS]


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_after_a_reset_the_same_bytes_come_again_in_order(protocol):
    with FaultBroker(Faults(reset_after=7)) as broker:
        done, _ = deliver(broker, ROWS, protocol=protocol)
    assert sorted(done) == list(range(1, 61))
    second = [message.payload for message in broker.published if message.connection == 2]
    # A reset may swallow PUBACKs that were on their way, so it is known only that row 7 has none.
    assert len(second) >= 54
    assert second == [one.payload for one in ROWS][-len(second) :]


@pytest.mark.parametrize(
    ("faults", "why"),
    [
        (Faults(reset_after=2), "the broker is gone, or closed it without a word"),
        (Faults(deaf=True), "the broker no longer answers"),
    ],
    ids=("reset", "deaf"),
)
def test_a_lost_connection_is_told_in_plain_words_with_the_address(faults, why):
    said = []
    with FaultBroker(faults) as broker:
        deliver(
            broker, ROWS[:4], keepalive=1, enough=lambda: broker.connections == 2, say=said.append
        )
    broker_is = f"the broker at 127.0.0.1:{broker.port}"
    assert said[0] == f"no connection to {broker_is} ({why}); releases are kept, trying again"
    assert said[1:] in ([], [f"connected to {broker_is}"])


def test_what_the_broker_says_itself_is_passed_on():
    gone = ReasonCode(PacketTypes.DISCONNECT, "Server shutting down")
    assert describe_loss(DisconnectFlags(True), gone) == "the broker ended it: Server shutting down"
    unknown = ReasonCode(PacketTypes.DISCONNECT, "Unspecified error")
    assert describe_loss(DisconnectFlags(True), unknown).startswith("the broker ended it")
    assert describe_loss(DisconnectFlags(False), gone) == "it ended: Server shutting down"


def test_receive_maximum_is_honoured():
    with FaultBroker(Faults(ack=False, receive_maximum=3)) as broker:
        deliver(broker, ROWS, seconds=0.7)
    assert len(broker.published) == 3


def test_without_any_puback_only_sixteen_rows_leave_the_store():
    with FaultBroker(Faults(ack=False)) as broker:
        done, _ = deliver(broker, ROWS, seconds=0.7)
    assert (done, len(broker.published)) == ([], 16)


def test_a_broker_that_stops_acknowledging_is_left_and_found_again():
    with FaultBroker(Faults(ack=False)) as broker:
        deliver(broker, ROWS[:2], patience=0.3, enough=lambda: broker.connections == 2)
    assert broker.connections == 2


def test_a_half_open_link_is_noticed_by_keepalive():
    with FaultBroker(Faults(deaf=True)) as broker:
        deliver(broker, ROWS[:1], keepalive=1, enough=lambda: broker.connections == 2)
    assert broker.connections == 2


def test_a_denied_topic_is_parked_and_the_others_go_on():
    rows = [row(1), row(2, topic="secret"), row(3)]
    with FaultBroker(Faults(refuse_topic="secret")) as broker:
        assert deliver(broker, rows) == ([1, 3], [2])


def test_a_broker_that_comes_up_later_gets_everything():
    broker = FaultBroker()
    opening = threading.Timer(0.5, broker.__enter__)
    broker.port = free_port()
    opening.start()
    try:
        assert deliver(broker, ROWS) == (list(range(1, 61)), [])
    finally:
        opening.join()
        broker.__exit__()


@pytest.mark.parametrize(("protocol", "reason"), [("5", 0x86), ("3.1.1", 5), ("3.1.1", 1)])
def test_a_refused_connection_hands_nothing_over(protocol, reason):
    with FaultBroker(Faults(connack_reason=reason)) as broker:
        deliver(broker, ROWS, protocol=protocol, enough=lambda: broker.connections == 2)
    assert broker.published == []
    assert broker.connections == 2
