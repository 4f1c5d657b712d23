import socket
import threading
from pathlib import Path

import pytest
from paho.mqtt.client import CallbackAPIVersion, Client, MQTTv311

from precompute.demo.children import wait_until
from precompute.demo.local_broker import LocalBroker, broker_config


def listening_addresses(port):
    """Local addresses, in hexadecimal, on which something listens at this port."""
    found = []
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if table.exists():
            for line in table.read_text().splitlines()[1:]:
                local, state = line.split()[1], line.split()[3]
                address, _, hexadecimal = local.partition(":")
                if int(hexadecimal, 16) == port and state == "0A":
                    found.append(address)
    return found


def test_it_listens_on_the_loopback_address_only_and_leaves_nothing_behind():
    before = threading.active_count()
    with LocalBroker() as broker:
        client = Client(CallbackAPIVersion.VERSION2, "tester", protocol=MQTTv311)
        client.connect("127.0.0.1", broker.port)
        client.loop_start()
        assert wait_until(client.is_connected, 10.0)
        client.disconnect()
        client.loop_stop()
        if Path("/proc/net/tcp").exists():
            assert listening_addresses(broker.port) == ["0100007F"]
    assert threading.active_count() == before
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", broker.port), 0.5)


def test_it_ends_when_the_work_fails():
    with pytest.raises(RuntimeError, match="work"), LocalBroker() as broker:
        raise RuntimeError("work")
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", broker.port), 0.5)


def test_its_configuration_names_one_listener():
    listeners = broker_config(1234)["listeners"]
    assert listeners == {"default": {"type": "tcp", "bind": "127.0.0.1:1234"}}
