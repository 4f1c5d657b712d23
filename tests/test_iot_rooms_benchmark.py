"""The room's benchmark on a log made up here, short."""

import csv
import gzip
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

from benchmarks import iot_rooms
from benchmarks.room_log import NODES, read_log, split
from precompute.audit import sensor_attacks
from precompute.mapping.solution import Budgets

DAYS = ("2020-03-02", "2020-03-03", "2020-03-09")


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days, every 10 minutes, somebody there by day; a row lacks a number."""
    random = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("log") / "log.csv.gz"
    columns = [column for node in NODES.values() for column in node]
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Date", "Time", *columns, "Room_Occupancy_Count"])
        for day in DAYS:
            start = datetime.fromisoformat(day).replace(tzinfo=timezone.utc)
            for step in range(144):
                when = start + timedelta(minutes=10 * step)
                people = int(9 <= when.hour < 17 and random.random() < 0.9) * 2
                full = 400 + 200 * people * random.random() + 100 * (when.hour % 2)
                values = {
                    column: full if column == "S5_CO2" else round(random.normal() + people, 2)
                    for column in columns
                }
                if (day, step) == (DAYS[0], 7):
                    values["S1_Light"] = ""
                writer.writerow([f"{when:%Y-%m-%d}", f"{when:%H:%M:%S}", *values.values(), people])
    return path


def test_the_split_is_by_days_and_rows_that_lack_a_number_are_left_out(made_up: Path) -> None:
    log = read_log(made_up)
    assert log.left_out == 1
    both = split(log, days=DAYS[:2], choosing=DAYS[1:2], cells=4)
    assert both.train.public.size == 287
    assert both.test.public.size == 144
    assert both.train.choosing.sum() == 144
    assert len(both.sizes) == 7
    assert max(both.sizes) <= 4
    assert 0.2 < both.train.public.mean() <= 0.5  # above the median; many are equal to it
    assert len(np.unique(both.train.stretch)) == 287  # 600 s from row to row are gaps
    assert both.joint(both.test).weights.sum() == pytest.approx(1.0)


def test_the_benchmark_prints_a_line_for_every_method_and_a_picture(
    made_up: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [
        ("LDP only", "local", Budgets(local=0.5)),
        ("inf. only", "information", Budgets(0.1)),
        ("EPIC", "epic", Budgets(0.1, 2.0)),
    ]
    monkeypatch.setattr(iot_rooms, "_asked", lambda _: iter(asked))
    monkeypatch.setattr(iot_rooms, "WATCHED", (("EPIC", Budgets(0.1, 2.0)),))
    both = split(read_log(made_up), days=DAYS[:2], choosing=DAYS[1:2], cells=4)
    monkeypatch.setattr(iot_rooms, "COSTS", (1.0, 10.0))
    monkeypatch.setattr(sensor_attacks, "LEARNERS", ("logistic regression",))  # the quick one
    lines = list(iot_rooms.rooms(both, quick=True, pictures=tmp_path))
    text = "\n".join(lines)
    for method in ("raw", "cells", "DCA", "MDR", "RUCA", "LDP only", "inf. only", "EPIC"):
        assert any(line.startswith(method) for line in lines), method
    assert "fresh" in text
    assert "memoised" in text
    assert (tmp_path / "iot_rooms_co2.svg").stat().st_size > 1000
    epic = next(line for line in lines if line.startswith("EPIC ")).split()
    assert float(epic[5]) <= 0.1
