"""A broker of few lines that misbehaves on command and keeps every byte it was sent."""

import socket
import struct
import threading
from dataclasses import dataclass, field


def free_port():
    """A port that nothing uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Faults:
    """What goes wrong; may be changed while the broker runs.

    ``ack`` False: PUBLISH is never acknowledged. ``reset_after``: the connection is reset after so
    many PUBLISH packets, once. ``refuse_topic``: its PUBLISH gets reason 135. ``deaf``: bytes are
    taken and never answered, as over a half-open link. ``receive_maximum``: as CONNACK states it.
    """

    ack: bool = True
    reset_after: int | None = None
    refuse_topic: str | None = None
    deaf: bool = False
    receive_maximum: int | None = None
    connack_reason: int = 0


@dataclass
class Published:
    connection: int
    topic: str
    payload: bytes
    dup: bool


@dataclass
class FaultBroker:
    """Use as a context manager; ``port`` is bound on 127.0.0.1."""

    faults: Faults = field(default_factory=Faults)
    published: list[Published] = field(default_factory=list)
    received: bytearray = field(default_factory=bytearray)
    most_unacknowledged: int = 0
    connections: int = 0
    port: int = 0  # 0 for any free one

    def __enter__(self):
        self._server = socket.create_server(("127.0.0.1", self.port))
        self.port = self._server.getsockname()[1]
        self._open = []
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        # close() alone would leave accept() waiting, and the port answering once more.
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for link in self._open:
            link.close()

    def _accept(self):
        while True:
            try:
                link, _ = self._server.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(link)
            threading.Thread(target=self._serve, args=(link, self.connections), daemon=True).start()

    def _serve(self, link, connection):
        version = 4
        unacknowledged = 0
        try:
            while True:
                kind, body = self._packet(link)
                if kind >> 4 == 1:  # CONNECT
                    version = body[6]
                    link.sendall(self._connack(version))
                elif kind >> 4 == 3:  # PUBLISH
                    message_id, message = _publish(kind, body, version, connection)
                    self.published.append(message)
                    unacknowledged += 1
                    self.most_unacknowledged = max(self.most_unacknowledged, unacknowledged)
                    if self.faults.reset_after is not None:
                        self.faults.reset_after -= 1
                        if self.faults.reset_after <= 0:
                            self.faults.reset_after = None
                            link.setsockopt(
                                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                            )
                            link.close()
                            return
                    if self.faults.ack and not self.faults.deaf:
                        unacknowledged -= 1
                        refused = message.topic == self.faults.refuse_topic
                        tail = b"\x87" if refused and version == 5 else b""
                        link.sendall(bytes([0x40, 2 + len(tail)]) + message_id + tail)
                elif kind >> 4 == 12 and not self.faults.deaf:  # PINGREQ
                    link.sendall(b"\xd0\x00")
                elif kind >> 4 == 14:  # DISCONNECT
                    link.close()
                    return
        except OSError:
            return

    def _connack(self, version):
        maximum = self.faults.receive_maximum
        words = b"" if maximum is None else b"\x21" + struct.pack(">H", maximum)
        tail = bytes([len(words)]) + words if version == 5 else b""
        return bytes([0x20, 2 + len(tail), 0, self.faults.connack_reason]) + tail

    def _packet(self, link):
        kind = self._exactly(link, 1)[0]
        length = shift = 0
        while True:
            byte = self._exactly(link, 1)[0]
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return kind, self._exactly(link, length)

    def _exactly(self, link, count):
        content = b""
        while len(content) < count:
            more = link.recv(count - len(content))
            if not more:
                raise OSError("closed")
            self.received += more
            content += more
        return content


def _publish(kind, body, version, connection):
    (length,) = struct.unpack_from(">H", body)
    topic = body[2 : 2 + length].decode()
    message_id = body[2 + length : 4 + length]
    start = 4 + length + (1 if version == 5 else 0)  # MQTT 5: no properties, one byte of length 0
    return message_id, Published(connection, topic, body[start:], bool(kind & 8))
