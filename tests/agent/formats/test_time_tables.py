"""What every reader of a table over time does alike."""

import gzip
import math

import pytest

from agent.formats.clock_text import ClockReader
from agent.formats.column_files import read_column_file
from agent.formats.errors import FormatError
from agent.formats.time_tables import read_time_table
from agent.formats.trace_files import read_series

ROWS = "time,co2,state\n1700000000,1.5,a\n1700000060,2.5,b\n1700000120,3.5,a\n"
LIMIT = 1 << 16


def _read(path, *, repair=False, limit=LIMIT):
    return read_time_table(
        path,
        ("value", "state"),
        columns={"time": "time", "value": "co2", "state": "state"},
        clock=ClockReader(None, 0.0),
        repair=repair,
        limit_bytes=limit,
        parse=(None, lambda cells: [float(ord(cell)) if cell else math.nan for cell in cells]),
    )


def test_each_role_is_read_in_its_own_way(tmp_path):
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(ROWS.encode()))
    table = _read(path)
    assert list(table.times_seconds - 1_700_000_000) == [0, 60, 120]
    assert [list(values) for values in table.values] == [[1.5, 2.5, 3.5], [97, 98, 97]]


def test_a_faulty_row_is_refused_or_dropped_and_counted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(ROWS.replace(",b", ","))
    with pytest.raises(FormatError, match=r"log\.csv: line 3: "):
        _read(path)
    table = _read(path, repair=True)
    assert list(table.values[0]) == [1.5, 3.5]
    assert any("dropped 1" in note for note in table.notes)
    with pytest.raises(FormatError, match=r"log\.csv"):
        _read(path, repair=True, limit=20)


def test_series_and_columns_are_the_same_rows(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(ROWS)
    series = read_series(path, columns={"time": "time", "value": "co2"})
    columns = read_column_file(path, columns={"time": "time", "values": ["co2"]})
    assert list(series.series.times_seconds) == list(columns.times_seconds)
    assert list(series.series.values) == list(columns.values[0])
    assert series.notes[-1] == "3 values"
    assert columns.notes[-1] == "3 rows"
