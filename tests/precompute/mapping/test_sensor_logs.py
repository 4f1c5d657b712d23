"""Labelled logs: readings of all nodes and both hypotheses in each row."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from fakes.said import said

from agent.formats.errors import FormatError
from precompute.mapping.errors import MappingError
from precompute.mapping.sensor_logs import Label, LogFiles, read_sensor_log

HEADER = "Date,Time,Light,CO2,Occupied,Count"
ROWS = (
    "2030-01-01,00:00:00,5,400,no,0",
    "2030-01-01,00:01:00,6,650,no,0",
    "2030-01-01,00:02:00,90,700,yes,2",
    "2030-01-01,00:03:00,91,900,yes,1",
)
COLUMNS = (("nodes.light", "Light"), ("nodes.air", "CO2"))


def write(path, rows=ROWS, header=HEADER):
    path.write_text("\n".join([*([header] if header else []), *rows]) + "\n")
    return path


def read(path, *, public=None, private=None, held_out=0.0, columns=COLUMNS, **more):
    paths = path if isinstance(path, tuple) else (path,)
    files = LogFiles(paths, more.pop("time", ("Date", "Time")), **more)
    return read_sensor_log(
        files,
        columns,
        public or Label("CO2", above="median"),
        private or Label("Occupied"),
        held_out=held_out,
    )


def test_a_log_gives_readings_and_both_hypotheses(tmp_path):
    log = read(write(tmp_path / "room.csv"))
    assert log.readings.tolist() == [[5, 400], [6, 650], [90, 700], [91, 900]]
    assert np.diff(log.times_seconds).tolist() == [60, 60, 60]
    assert (log.public.tolist(), log.public_names) == ([0, 0, 1, 1], ("low", "high"))
    assert (log.private.tolist(), log.private_names) == ([0, 0, 1, 1], ("no", "yes"))
    assert log.notes[-1] == "4 rows, the first 4 for the design"
    assert "nodes.light from 'Light'" in log.notes[0]


def test_the_median_is_that_of_the_rows_for_the_design(tmp_path):
    rows = (*ROWS, "2030-01-01,00:04:00,91,9000,yes,1", "2030-01-01,00:05:00,91,9000,yes,1")
    log = read(write(tmp_path / "room.csv", rows), held_out=0.34)
    assert log.design_rows == 4
    assert log.public.tolist() == [0, 0, 1, 1, 1, 1]  # above 675, not above 800


def test_thresholds_and_names_are_taken_as_given(tmp_path):
    log = read(
        write(tmp_path / "room.csv"),
        public=Label("Occupied", names=("yes", "no")),
        private=Label("Count", above=0.0, names=("empty", "in use")),
    )
    assert (log.public.tolist(), log.public_names) == ([1, 1, 0, 0], ("yes", "no"))
    assert (log.private.tolist(), log.private_names) == ([0, 0, 1, 1], ("empty", "in use"))


def test_a_gzipped_log_without_a_header_is_read_by_numbers(tmp_path):
    path = tmp_path / "room.csv.gz"
    path.write_bytes(gzip.compress("\n".join(ROWS).encode()))
    log = read(
        path,
        time=(1, 2),
        columns=(("nodes.light", 3), ("nodes.air", 4)),
        public=Label(4, above=675.0),
        private=Label(5),
    )
    assert log.readings[:, 0].tolist() == [5, 6, 90, 91]


def test_several_files_come_in_the_order_of_their_times(tmp_path):
    later = write(tmp_path / "a.csv", ROWS[2:])
    sooner = write(tmp_path / "b.csv", ROWS[:2])
    assert read((later, sooner)).readings[:, 0].tolist() == [5, 6, 90, 91]
    assert read((later, sooner)).private_names == ("no", "yes")
    with pytest.raises(MappingError, match="overlap in time"):
        read((write(tmp_path / "c.csv"), sooner))


@pytest.mark.parametrize(
    ("place", "cell"),
    [(place, cell) for place in (2, 3, 5) for cell in ("", "secret-4711", "nan")] + [(4, "")],
)
def test_a_faulty_cell_is_refused_by_line_and_never_shown(tmp_path, place, cell):
    rows = [row.split(",") for row in ROWS]
    rows[2][place] = cell
    path = write(tmp_path / "room.csv", [",".join(row) for row in rows])
    hypotheses = {"private": Label("Count", above=0.0)} if place == 5 else {}
    role = {2: "nodes.light", 3: "nodes.air", 4: "private", 5: "private"}[place]
    kind = "a finite number" if place in (2, 3) or hypotheses else "readable text"
    lacks = f"line 4: {role} missing or not {kind}; correct the file, or set repair: true under log"
    with pytest.raises(FormatError, match=lacks) as error:
        read(path, **hypotheses)
    assert "4711" not in said(error.value, tmp_path)
    log = read(path, repair=True, **hypotheses)
    assert len(log.times_seconds) == 3
    assert any(note.startswith("dropped 1 rows") for note in log.notes)


def test_a_column_that_is_not_there_is_named_with_the_nearest(tmp_path):
    path = write(tmp_path / "room.csv")
    with pytest.raises(FormatError, match=r"columns\.public.*did you mean 'Occupied'"):
        read(path, public=Label("Ocupied"))
    with pytest.raises(FormatError, match=r"columns\.nodes\.light.*did you mean 'Light'"):
        read(path, columns=(("nodes.light", "Lihgt"),))


def test_a_hypothesis_that_never_varies_teaches_nothing(tmp_path):
    path = write(tmp_path / "room.csv")
    with pytest.raises(MappingError, match=r"private hypothesis has one value.*state the joint"):
        read(path, private=Label("Count", above=5.0))
    with pytest.raises(MappingError, match="public hypothesis has one value"):
        read(path, public=Label("Occupied"), held_out=0.5)


def test_names_that_do_not_cover_the_log_are_refused_without_showing_what_is_there(tmp_path):
    with pytest.raises(MappingError, match=r"2 rows have a value.*complete names") as error:
        read(write(tmp_path / "room.csv"), private=Label("Occupied", names=("no", "maybe")))
    assert "yes" not in said(error.value, tmp_path)


def test_a_column_of_readings_is_no_column_of_names(tmp_path):
    rows = [f"2030-01-01,{i // 60:02}:{i % 60:02}:00,{i},400,{i / 7},0" for i in range(80)]
    with pytest.raises(MappingError, match="over 64 different values"):
        read(write(tmp_path / "room.csv", rows))


def test_a_real_log_is_read(data_dir):
    log = read_sensor_log(
        LogFiles(
            (Path(data_dir) / "sensors/room_occupancy_estimation.csv.gz",),
            ("Date", "Time"),
            repair=True,
        ),
        [("nodes.light", "S1_Light"), ("nodes.air", "S5_CO2")],
        Label("S5_CO2", above="median"),
        Label("Room_Occupancy_Count", above=0.0),
        held_out=0.3,
    )
    assert 9_000 < log.readings.shape[0] <= 10_129
    assert any(note.startswith("dropped") for note in log.notes)
    assert 0.1 < log.private.mean() < 0.3
