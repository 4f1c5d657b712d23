"""Every kind of real file that the readers are for, in place (never copied here)."""

from pathlib import Path

import pytest

from agent.formats.errors import FormatError
from agent.formats.trace_files import read_series, read_traces


def test_geolife_people_are_read_strictly(data_dir: Path) -> None:
    for person in ("u000", "u078", "u104"):
        read = read_traces(data_dir / f"geolife/users/{person}.csv.gz")
        assert sum(map(len, read.traces)) > 38_000
        assert len(read.traces) > 50
    everyone = read_traces(data_dir / "geolife/users_5min.csv.gz")
    assert len(everyone.traces) == 91


def test_untouched_plt_files_are_read(data_dir: Path) -> None:
    files = sorted((data_dir / "geolife/plt_raw").glob("*.plt"))
    assert len(files) >= 6
    for path in files:
        lines = path.read_text().splitlines()
        assert 0.9 * (len(lines) - 6) < len(read_traces(path, repair=True).traces[0])


def test_gpx_files_are_read_or_say_why_not(data_dir: Path) -> None:
    folder = data_dir / "tracks/gpx"
    assert len(read_traces(folder / "gpxpy_around-visnjan-with-car.gpx").traces[0]) > 100
    assert len(read_traces(folder / "gpxpy_track-with-empty-segment.gpx").traces) == 1
    assert len(read_traces(folder / "gpxpy_track-with-less-sec-time.gpx").traces[0]) == 2
    with pytest.raises(FormatError, match="no track points"):
        read_traces(folder / "gpxpy_unicode_with_bom.gpx")
    for untimed in ("gpxpy_cerknicko-without-times.gpx", "gpxpy_korita-zbevnica.gpx"):
        with pytest.raises(FormatError, match="without a time"):
            read_traces(folder / untimed)
    assert sum(map(len, read_traces(folder / untimed, repair=True).traces)) > 500


def test_cabs_are_read_by_column_numbers(data_dir: Path) -> None:
    for path in sorted((data_dir / "cabs").glob("new_*.txt.gz")):
        read = read_traces(path, columns={"latitude": 1, "longitude": 2, "time": 4})
        assert len(read.traces) == 1


def test_a_house_and_a_room_are_read_as_series(data_dir: Path) -> None:
    house = read_series(
        data_dir / "sensors/sml2010_NEW-DATA-1.T15.txt",
        columns={"time": ["1:Date", "2:Time"], "value": "3:Temperature_Comedor_Sensor"},
        time_format="%d/%m/%Y %H:%M",
    )
    assert len(house.series) == 2_764
    room = data_dir / "sensors/room_occupancy_estimation.csv.gz"
    columns = {"time": ["Date", "Time"], "value": "S1_Temp"}
    with pytest.raises(FormatError, match="value missing"):
        read_series(room, columns=columns)
    assert len(read_series(room, columns=columns, repair=True).series) > 10_000


def test_what_is_no_trace_is_refused_in_one_line(data_dir: Path) -> None:
    for pattern in ("tracks/nmea/*", "tracks/gpsd_json/*", "sensors/*", "cip/*", "cabs/*.npz"):
        for path in sorted(data_dir.glob(pattern)):
            for repair in (False, True):
                with pytest.raises(FormatError) as refused:
                    read_traces(path, repair=repair)
                assert "\n" not in str(refused.value)
