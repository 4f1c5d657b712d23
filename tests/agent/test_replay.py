"""Replaying: order, pace and interruption."""

import math
import threading

import numpy as np
from fakes.clocks import FakeClock

from agent.sources.replay import ReplaySettings, ReplaySource, open_replay


def replay(times, speed, clock):
    values = np.arange(float(len(times)))
    return ReplaySource(np.array(times, float), (values,), speed, clock=clock, wait=clock.sleep)


def test_rows_of_several_traces_come_in_the_order_of_their_times():
    readings = list(replay([5.0, 7.0, 1.0, 6.0, 5.0], math.inf, FakeClock()).readings())
    assert [reading.time_ms for reading in readings] == [1000, 5000, 5000, 6000, 7000]
    assert [reading.values for reading in readings] == [(2.0,), (0.0,), (4.0,), (3.0,), (1.0,)]


def test_real_pace_and_faster():
    for speed, expected in ((1.0, 100.0), (10.0, 10.0), (math.inf, 0.0)):
        clock = FakeClock()
        begun = clock.now
        list(replay([1000.0, 1001.0, 1100.0], speed, clock).readings())
        assert clock.now - begun == expected


def test_a_slow_consumer_does_not_shift_the_pace():
    clock = FakeClock()
    begun = clock.now
    for _ in replay([0.0, 10.0, 20.0], 1.0, clock).readings():
        clock.sleep(3.0)
    assert clock.now - begun == 23.0


def test_close_ends_a_long_wait_at_once():
    source = ReplaySource(np.array([0.0, 3600.0]), (np.zeros(2),), 1.0)
    got = []
    thread = threading.Thread(target=lambda: got.extend(source.readings()))
    thread.start()
    source.close()
    thread.join(5)
    assert not thread.is_alive()
    assert len(got) <= 1


def test_a_series_and_a_trace_file_are_opened(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("time,temp\n1700000000,20.5\n1700000060,20.6\n")
    source, notes = open_replay(
        ReplaySettings(table, math.inf, columns={"time": "time", "value": "temp"}), positions=False
    )
    assert [reading.values for reading in source.readings()] == [(20.5,), (20.6,)]
    table.write_text("t,lat,lon\n1700000000,40.5,116.5\n1700000060,40.6,116.6\n")
    source, notes = open_replay(ReplaySettings(table, math.inf), positions=True)
    assert [reading.values for reading in source.readings()] == [(40.5, 116.5), (40.6, 116.6)]
    assert notes
