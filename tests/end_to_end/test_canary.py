"""Raw values never leave memory: canary coordinates are planted and searched for everywhere."""

import logging
import struct

import pytest
from fakes.agents import START, run_here, write_agent
from fakes.designs import location_stream
from fakes.fault_broker import FaultBroker

from agent.entropy import SeededNormals
from agent.formats.projection import LocalProjection
from agent.readings import Reading
from agent.sources.base import ReadingArrived

CANARIES = [(40.0312457, 116.4093218), (40.0787319, 116.5214693), (39.9517283, 116.6178429)]


def traces_of(latitude, longitude, grid=0.01):
    """Byte strings that would give the place away, each long enough not to occur by chance."""
    east, north = (float(v) for v in LocalProjection(40.0, 116.5).forward(latitude, longitude))
    for degrees in (latitude, longitude):
        for decimals in (5, 6, 7):
            yield f"{degrees:.{decimals}f}".encode()
            yield f"{degrees:.9f}"[: -9 + decimals].encode()  # cut off instead of rounded
        yield from doubles(degrees)
    for metres in (east, north):
        steps = round(metres / grid)
        yield str(steps).encode()
        yield f"{metres:.2f}".encode()
        yield from doubles(metres)
        yield from doubles(float(steps))
        for layout in ("<q", ">q"):
            yield struct.pack(layout, steps)


def doubles(value):
    yield struct.pack("<d", value)
    yield struct.pack(">d", value)


def search(content):
    """The traces of canaries that are found."""
    return [trace for place in CANARIES for trace in traces_of(*place) if trace in bytes(content)]


def plant(path):
    """A recording that stays at each canary for a while."""
    lines = ["t_unix,lat,lon"]
    for number in range(90):
        latitude, longitude = CANARIES[number // 30]
        lines.append(f"{START + 30 * number},{latitude},{longitude}")
    path.write_text("\n".join(lines) + "\n")


def run_planted(tmp_path, capfd, caplog, *, std):
    caplog.set_level(logging.DEBUG)
    plant(tmp_path / "planted.csv")
    stored = bytearray()

    def read_the_store():
        names = set()
        for path in sorted((tmp_path / "state").iterdir()):
            names.add(path.name)
            stored.extend(path.read_bytes())
        assert {"agent.sqlite", "agent.sqlite-wal", "agent.sqlite-shm"} <= names

    with FaultBroker() as broker:
        config = write_agent(
            tmp_path,
            broker.port,
            trace="planted.csv",
            design=location_stream(std=std),
        )
        summary, said = run_here(config, normals=SeededNormals(5), before_close=read_the_store)
    assert summary.counts["releases"] == 90
    captured = capfd.readouterr()
    words = "\n".join([*said, captured.out, captured.err, caplog.text]).encode()
    for path in sorted((tmp_path / "state").iterdir()):  # and once more, as the run left it
        stored.extend(path.read_bytes())
    return stored, words, broker.received


def test_nothing_raw_is_stored_said_or_sent(tmp_path, capfd, caplog):
    # So much noise that no release agrees with a canary to the metre by chance.
    stored, words, wire = run_planted(tmp_path, capfd, caplog, std=20_000.0)
    assert len(wire) > 90 * 50
    assert search(stored) == []
    assert search(words) == []
    assert search(wire) == []


def test_the_search_finds_a_leak_when_there_is_one(tmp_path, capfd, caplog):
    # Noise far below the grid: what is published is the raw place itself.
    stored, _, wire = run_planted(tmp_path, capfd, caplog, std=1e-7)
    assert search(stored)
    assert search(wire)


@pytest.mark.parametrize(
    "hidden", [Reading(1, (40.0312457,)), ReadingArrived(0, Reading(1, (40.03,)))]
)
def test_a_reading_does_not_show_its_values(hidden):
    assert "40" not in f"{hidden!r} {hidden!s} {hidden}"


def test_a_source_that_fails_does_not_tell_the_value_it_stumbled_on():
    from agent.sources.base import SourceEnded, SourceThread

    class Stumbling:
        can_wait = True

        def readings(self):
            raise ValueError("could not use 40.0312457")
            yield

        def close(self):
            pass

    posted = []
    thread = SourceThread(0, Stumbling(), posted.append, 1)
    thread._carry()
    assert isinstance(posted[0], SourceEnded)
    assert "ValueError" in posted[0].failure
    assert "40" not in posted[0].failure
