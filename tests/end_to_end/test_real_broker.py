"""`sfumato run` and `sfumato listen` as processes, over a real mosquitto, on real data."""

import csv
import json
import math
import time

import pytest
from fakes.agents import finish, start, write_agent, write_walk
from fakes.designs import location_stream, temperature_window, write_designs


def start_listening(broker, *words):
    """A listener that is subscribed already."""
    listener = start("listen", "--port", broker.port, *words)
    line = listener.stderr.readline()
    assert "subscribed" in line, line + listener.stderr.read()
    return listener


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def releases_of(summary):
    return int(summary.split("releases ")[1].split(",")[0])


def stop_when_all_is_there(listener, path, expected):
    """The rows, once there are so many: the broker has acknowledged them but still delivers."""
    deadline = time.monotonic() + 20
    while len(rows_of(path)) < expected and time.monotonic() < deadline:
        time.sleep(0.05)
    listener.terminate()
    code, _, heard = finish(listener)
    assert code == 0, heard
    return rows_of(path)


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_a_geolife_user_reaches_a_subscriber(tmp_path, mosquitto, data_dir, protocol):
    config = write_agent(
        tmp_path,
        mosquitto.port,
        protocol=protocol,
        trace=str(data_dir / "geolife/users/u022.csv.gz"),
        every="2 min",
    )
    config.write_text(config.read_text().replace("speed: max", "speed: max, repair: true"))
    out, places = tmp_path / "out.csv", tmp_path / "out.geojson"
    listener = start_listening(
        mosquitto, "owntracks/#", "--protocol", protocol, "--csv", out, "--geojson", places
    )
    code, printed, words = finish(start("run", config))
    assert code == 0, words
    assert printed == ""
    released = releases_of(words)
    assert f"acknowledged {released}" in words
    assert released > 100
    rows = stop_when_all_is_there(listener, out, released)
    assert len(rows) == released
    assert len({row["id"] for row in rows}) == released
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    assert {row["topic"] for row in rows} == {"owntracks/alice/phone"}
    assert {row["accuracy_m"] for row in rows} == {"315"}  # 1.51 * 200 m, whatever the receiver
    assert all(row["time"].endswith(("0:00Z", "2:00Z", "4:00Z", "6:00Z", "8:00Z")) for row in rows)
    features = json.loads(places.read_text())["features"]
    assert [feature["geometry"]["type"] for feature in features].count("Point") == released


def test_a_house_temperature_reaches_a_subscriber(tmp_path, mosquitto, data_dir):
    digest = write_designs(tmp_path / "home.bundle", [temperature_window(), location_stream()])
    config = tmp_path / "agent.yaml"
    config.write_text(
        f"""
device: home
bundle: {{path: home.bundle, sha256: "{digest}"}}
broker: {{port: {mosquitto.port}}}
channels:
  - name: dining-room
    kind: scalar
    unit: Cel
    design: temperature
    source:
      kind: replay
      path: {data_dir / "sensors/sml2010_NEW-DATA-1.T15.txt"}
      columns: {{time: ["1:Date", "2:Time"], value: "3:Temperature_Comedor_Sensor"}}
      time_format: "%d/%m/%Y %H:%M"
      speed: max
    cadence: {{every: 15 min}}
    publish: {{topic: home/alice/dining-room, format: json}}
"""
    )
    out = tmp_path / "out.csv"
    listener = start_listening(mosquitto, "home/#", "--csv", out)
    code, _, words = finish(start("run", config))
    assert code == 0, words
    rows = stop_when_all_is_there(listener, out, releases_of(words))
    assert len(rows) > 2500
    assert {(row["unit"], row["std"]) for row in rows} == {("Cel", "2.0")}
    values = [float(row["value"]) for row in rows]
    assert all(math.isclose(value * 100, round(value * 100), abs_tol=1e-6) for value in values)
    assert 5 < sum(values) / len(values) < 35
    assert all(row["time"].endswith((":00:00Z", ":15:00Z", ":30:00Z", ":45:00Z")) for row in rows)


def test_a_listener_drops_repeats_also_after_its_own_restart(tmp_path, mosquitto):
    write_walk(tmp_path / "walk.csv", 40)
    config = write_agent(tmp_path, mosquitto.port)
    out = tmp_path / "out.csv"
    listener = start_listening(mosquitto, "owntracks/#", "--csv", out, "--count", "40")
    assert finish(start("run", config))[0] == 0
    code, _, words = finish(listener)
    assert (code, "kept 40" in words) == (0, True)
    payload = json.dumps(
        {
            "_id": rows_of(out)[7]["id"],
            "_type": "location",
            "acc": 302,
            "lat": 40.0,
            "lon": 116.0,
            "tst": 1_700_000_010,
        }
    )
    places = tmp_path / "out.geojson"
    listener = start_listening(
        mosquitto, "owntracks/#", "--csv", out, "--geojson", places, "--idle", "1.5"
    )
    publish(mosquitto, [payload, "nonsense", '{"_type":"location"}', "{}", "\x00"])
    code, _, words = finish(listener)
    assert code == 0
    assert "messages 5, kept 0, repeats 1, malformed 4" in words
    assert len(rows_of(out)) == 40
    assert len(json.loads(places.read_text())["features"]) == 41  # earlier rows are on the map too


def publish(broker, payloads):
    """Sends payloads from another client, and waits until the broker has them."""
    from paho.mqtt.client import Client
    from paho.mqtt.enums import CallbackAPIVersion

    client = Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    for payload in payloads:
        client.publish("owntracks/mallory/x", payload, qos=1).wait_for_publish(5)
    client.disconnect()
    client.loop_stop()
