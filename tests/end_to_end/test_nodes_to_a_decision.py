"""Three nodes on two agents, a real broker, a fusion centre, and a restart in between."""

import csv
import json
import time
from datetime import datetime, timezone

import paho.mqtt.client as mqtt
from fakes.agents import finish, start
from fakes.designs import write_designs
from fakes.mapping_designs import STEP_MS, room_mapping

from agent.formats.mapping_json import MappingMessage, decode_mapping_message
from agent.fusion import Fusion

DAY = 1_700_006_400  # Unix seconds at which a day, and so a period of the memory, begins
ROWS = 40
DESIGN = room_mapping()
# Light, temperature, CO2, sound: digits that can be searched for, in all cells of each node.
READINGS = (
    ("13.371337", "21.212121", "417.41741", "1.1717171"),
    ("31.415926", "22.727272", "818.18181", "2.9393939"),
    ("57.721566", "27.182818", "2718.2818", "1.3535353"),  # CO2 beyond the design's largest
)


def row_at(number):
    return READINGS[number * 7 % 5 % 3]


def write_rows(path, numbers):
    lines = ["Date,Time,S1_Light,S1_Temp,S5_CO2,S1_Sound"]
    for number in numbers:
        moment = datetime.fromtimestamp(DAY + 60 * number, timezone.utc)
        lines.append(f"{moment:%Y-%m-%d,%H:%M:%S},{','.join(row_at(number))}")
    path.write_text("\n".join(lines) + "\n")


def write_agent(folder, name, port, digest, channels):
    """``<name>.yaml``: channels are (node, value columns)."""
    lines = [
        f"device: {name}",
        f'bundle: {{path: room.bundle, sha256: "{digest}"}}',
        f"state: state-{name}",
        f"broker: {{host: 127.0.0.1, port: {port}}}",
        "channels:",
    ]
    for node, columns in channels:
        lines += [
            f"  - name: {node}-channel",
            "    kind: mapping",
            "    design: room",
            f"    node: {node}",
            f"    source: {{kind: replay, path: {name}.csv, speed: max, "
            f"columns: {{time: [Date, Time], values: [{', '.join(columns)}]}}}}",
            "    cadence: {every: 1 min}",
            f"    publish: {{topic: home/room/{node}}}",
        ]
    path = folder / f"{name}.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def rows_of(path):
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def wait_for(path, number, seconds=20):
    deadline = time.monotonic() + seconds
    while len(rows_of(path)) < number and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(rows_of(path)) == number


class Wire:
    """Everything that passes the broker."""

    def __init__(self, port):
        self.payloads = []
        self.granted = False
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        self.client.on_message = lambda _c, _d, one: self.payloads.append((one.topic, one.payload))
        self.client.on_subscribe = self._note
        self.client.connect("127.0.0.1", port)
        self.client.subscribe("#", 1)
        self.client.loop_start()
        deadline = time.monotonic() + 10
        while not self.granted and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self.granted

    def _note(self, *_):
        self.granted = True

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()

    def on(self, topic):
        return [json.loads(payload) for name, payload in self.payloads if name == topic]


def run_agent(config):
    code, _, said = finish(start("run", config))
    assert code == 0, said
    return said


def test_nodes_of_two_agents_decide_together_across_a_restart(tmp_path, mosquitto):
    digest = write_designs(tmp_path / "room.bundle", [DESIGN])
    hub = write_agent(
        tmp_path,
        "hub",
        mosquitto.port,
        digest,
        [("light-1", ("S1_Light", "S1_Temp")), ("co2", ("S5_CO2",))],
    )
    ear = write_agent(tmp_path, "ear", mosquitto.port, digest, [("sound", ("S1_Sound",))])
    (tmp_path / "truth.csv").write_text(
        "time,state\n"
        + "".join(f"{DAY + 60 * n},{'fine' if n % 3 else 'stale'}\n" for n in range(ROWS))
    )
    received, decided = tmp_path / "received.csv", tmp_path / "decided.csv"
    wire = Wire(mosquitto.port)
    words = ["--decide", tmp_path / "room.bundle", "--publish", "home/decision"]
    words += ["--decisions", decided, "--truth", tmp_path / "truth.csv", "--wait", "60"]
    listener = start("listen", "home/room/#", "--port", mosquitto.port, "--csv", received, *words)
    try:
        assert "subscribed" in listener.stderr.readline()
        write_rows(tmp_path / "hub.csv", range(ROWS // 2))
        said = run_agent(hub)
        write_rows(tmp_path / "hub.csv", range(ROWS // 2, ROWS))
        said += run_agent(hub)
        write_rows(tmp_path / "ear.csv", [n for n in range(ROWS) if n != 5])
        said += run_agent(ear)
        wait_for(received, 3 * ROWS - 1)
        wait_for(decided, ROWS)
    finally:
        listener.terminate()
        code, out, words = finish(listener)
        wire.close()
    assert (code, out) == (0, "")
    said += words
    assert f"{ROWS} decisions compared" in words
    assert f"decisions {ROWS}, with nodes missing 1, symbols missing 1; symbols used 119" in words
    assert "outside the quantiser" in said

    messages = [decode_mapping_message(p) for topic, p in wire.payloads if "room" in topic]
    require_one_symbol_a_cell(messages)
    require_the_cores_decisions(messages, wire.on("home/decision"), rows_of(decided))
    health = finish(start("health", hub))
    assert health[0] == 0, health
    assert "outside the quantiser (taken for its end cells)" in health[1]
    assert "epsilon_LD for each different cell" in health[1]
    require_no_reading(tmp_path, wire, said + health[1] + mosquitto.log.read_text("latin-1"))


def require_one_symbol_a_cell(messages):
    """Over both runs of the hub: the memory survived."""
    said = {}
    assert len(messages) == 3 * ROWS - 1
    for message in messages:
        node = DESIGN.node(message.node)
        values = tuple(map(float, row_at((message.time_ms // 1000 - DAY) // 60)))
        own = {"light-1": values[:2], "co2": values[2:3], "sound": values[3:]}[message.node]
        said.setdefault((message.node, node.quantiser.cell(own)), set()).add(message.symbol)
    assert len(said) == 3 + 2 + 2
    assert all(len(symbols) == 1 for symbols in said.values())


def require_the_cores_decisions(messages, published, filed):
    core = Fusion(DESIGN, wait_seconds=1e9)
    made = [d for one in sorted(messages, key=lambda m: m.time_ms) for d in core.take(one, 0.0)]
    made = sorted(made + core.close(), key=lambda decision: decision.time_ms)
    assert len(made) == ROWS
    published.sort(key=lambda one: one["t"])
    filed.sort(key=lambda row: row["time"])
    for decision, sent, row in zip(made, published, filed, strict=True):
        name = DESIGN.public[decision.value]
        assert sent["t"] * 1000 == decision.time_ms
        assert (sent["decision"], sent["missing"]) == (name, list(decision.missing))
        assert sent["p"] == [round(part, 4) for part in decision.posterior]
        assert (row["decision"], row["missing"]) == (name, " ".join(decision.missing))
    assert [sent["missing"] for sent in published if sent["missing"]] == [["sound"]]


def require_no_reading(folder, wire, said):
    """Searched for in whatever was stored, said or sent; the recordings themselves left out."""
    stored = b"".join(
        path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("hub.csv", "ear.csv")
    )
    everything = stored + said.encode() + b"".join(payload for _, payload in wire.payloads)
    assert len(stored) > 10_000
    for number in {number for row in READINGS for number in row}:
        assert number.encode() not in everything
        assert number[:7].encode() not in everything


def test_a_step_that_waits_is_decided_without_the_missing(tmp_path, mosquitto):
    """By the clock, and what is not to be used is counted and changes nothing."""
    bundle = tmp_path / "room.bundle"
    write_designs(bundle, [DESIGN])
    listener = start(
        *("listen", "home/#", "--port", mosquitto.port, "--decide", bundle, "--wait", "0.2")
    )
    try:
        assert "subscribed" in listener.stderr.readline()
        wire = Wire(mosquitto.port)
        digits = Fusion(DESIGN, wait_seconds=1)._digits
        for number, (design, node, symbol) in enumerate(
            [(digits, "co2", 0), (digits, "co2", 1), ("0" * 16, "sound", 0), (digits, "attic", 0)]
        ):
            content = {"design": design, "id": f"d/c/{number}", "node": node, "t": DAY, "z": symbol}
            wire.client.publish("home/x", json.dumps(content, indent=number), qos=1)
        wire.client.publish("home/x", b'{"node":1}', qos=1)
        line = listener.stdout.readline()
        wire.close()
    finally:
        listener.terminate()
        code, out, said = finish(listener)
    assert (code, out) == (0, "")
    decision = json.loads(line)
    assert decision["t"] * 1000 % STEP_MS == 0
    assert decision["missing"] == ["light-1", "sound"]
    core = Fusion(DESIGN, wait_seconds=1)
    core.take(MappingMessage("d/c/0", DAY * 1000, digits, "co2", 0), 0.0)
    assert decision["p"] == [round(part, 4) for part in core.close()[0].posterior]
    for count in ("of another design 1", "of an unknown node 1", "contradicting an earlier one 1"):
        assert count in said
    assert "malformed 1," in said
    assert "malformed 1: mapping message: expected exactly the keys design, id, node" in said
