"""States from text files: tables of times and states, logs of intervals."""

import gzip
from pathlib import Path

import pytest
from fakes.said import said

from agent.formats.errors import FormatError
from agent.formats.state_files import NOTHING, read_state_file

# 2030-01-01T00:00:00Z
YEAR = 1_893_456_000.0


def written(folder: Path, text: str) -> Path:
    path = folder / "states.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("time,state\n2030-01-01T00:00:00Z,bed\n2030-01-01T00:10:00Z,hall\n", {}),
        ("t;who;state\n1893456000;x;bed\n1893456600;y;hall\n", {}),
        ("1893456000\tbed\n1893456600\thall\n", {"columns": {"time": 1, "state": 2}}),
        (
            "day,hour,room\n01.01.2030,01:00,bed\n01.01.2030,01:10,hall\n",
            {
                "columns": {"time": ["day", "hour"], "state": "room"},
                "time_format": "%d.%m.%Y %H:%M",
                "utc_offset_seconds": 3600.0,
            },
        ),
    ],
    ids=range(4),
)
def test_a_table_of_times_and_states(tmp_path, text, more):
    file = read_state_file(written(tmp_path, text), **more)
    assert file.times_seconds.tolist() == [YEAR, YEAR + 600]
    assert file.states == ("bed", "hall")
    assert "bed" not in repr(file)


def test_a_log_of_intervals_says_none_between_them(tmp_path):
    path = tmp_path / "log.txt.gz"
    path.write_bytes(
        gzip.compress(
            b"Start\tEnd\tActivity\n-----\t----\t---\n"
            b"2030-01-01 02:00:00\t\t2030-01-01 02:10:00\tSleeping\n"
            b"2030-01-01 02:10:00\t\t2030-01-01 02:20:00\tTV\n"
            b"2030-01-01 03:00:00\t2030-01-01 03:05:00\tLunch\n"
        )
    )
    file = read_state_file(path, utc_offset_seconds=7200.0)
    assert file.times_seconds.tolist() == [YEAR, YEAR + 600, YEAR + 1200, YEAR + 3600, YEAR + 3900]
    assert file.states == ("Sleeping", "TV", NOTHING, "Lunch", NOTHING)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,state\n1893456000,bed\n1893455000,hall\n", "line 3: earlier than the row before"),
        (
            "time,state\n1893456000,bed\n1893456600,\n",
            "line 3: state missing or not readable text; correct the file$",
        ),
        ("time,state\n1893456000,bed\nsoon,hall\n", "line 3: time missing"),
        ("time,room\n1893456000,bed\n", "no column looks like the state"),
        ("\n\n", "has no rows"),
        (
            "2030-01-01 02:00:00,2030-01-01 01:00:00,bed\n",
            "line 1: the interval ends before it starts",
        ),
        (
            "2030-01-01 02:00:00,2030-01-01 03:00:00,bed\n2030-01-01 02:30:00,hall\n",
            "line 2: expected start, end and state",
        ),
        ("2030-01-01 02:00:00,2030-01-01 02:00:00,bed\n", "no interval lasts"),
    ],
    ids=range(8),
)
def test_what_cannot_be_read_is_refused_without_a_state(tmp_path, text, words):
    with pytest.raises(FormatError, match=words) as refusal:
        read_state_file(written(tmp_path, text))
    assert "bed" not in said(refusal.value, tmp_path)
    assert "hall" not in said(refusal.value, tmp_path)


def test_repair_drops_what_is_unusable_and_says_so(tmp_path):
    path = written(tmp_path, "time,state\n1893456000,bed\n1893456600,\n1893457200,hall\n")
    file = read_state_file(path, repair=True)
    assert file.states == ("bed", "hall")
    assert any("dropped 1 rows" in note for note in file.notes)
    path = written(
        tmp_path,
        "2030-01-01 00:00:00,2030-01-01 00:30:00,a\n2030-01-01 00:10:00,2030-01-01 00:40:00,b\n",
    )
    file = read_state_file(path, repair=True)
    assert file.states == ("a", NOTHING)
    assert any("dropped 1 intervals" in note for note in file.notes)


def test_a_real_home_is_read(data_dir):
    with pytest.raises(FormatError, match="starts before the one above it ends"):
        read_state_file(data_dir / "sensors/ordonezA_ADLs.txt")
    file = read_state_file(data_dir / "sensors/ordonezA_ADLs.txt", repair=True)
    assert len(set(file.states)) == 10
    assert (file.times_seconds[1:] > file.times_seconds[:-1]).all()
