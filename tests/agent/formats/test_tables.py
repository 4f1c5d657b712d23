"""Tables: every layout that loggers write, what is guessed, what is refused."""

from pathlib import Path

import numpy as np
import pytest
from fakes.said import said
from hypothesis import given
from hypothesis import strategies as st

from agent.formats.errors import FormatError
from agent.formats.trace_files import TraceFile, read_series, read_traces

CAB = {"latitude": 1, "longitude": 2, "time": 4}


def traces(tmp_path: Path, text: str, **options: object) -> TraceFile:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    return read_traces(path, **options)  # type: ignore[arg-type]


LAYOUTS = {
    "commas": "t,lat,lon\n100,1.5,2.5\n105,1.6,2.6\n",
    "windows": "t,lat,lon\r\n100,1.5,2.5\r\n105,1.6,2.6\r\n",
    "mark": "\ufefft,lat,lon\n100,1.5,2.5\n105,1.6,2.6",
    "semicolons with decimal commas": "tst;Latitude;LNG\n100;1,5;2,5\n105;1,6;2,6\n",
    "tabs": "lon\tlat\tt_unix\n2.5\t1.5\t100\n2.6\t1.6\t105\n",
    "blanks": "time  lat   lon\n100   1.5  2.5\n105   1.6 2.6\n",
    "hashed header": "# t lat lon\n100 1.5 2.5\n105 1.6 2.6\n",
    "comments": "# made by hand\n#\nt,lat,lon\n# more\n100,1.5,2.5\n\n105,1.6,2.6\n",
    "quotes": '"Time (UTC)","lat","long","note"\n"100","1.5","2.5","a, b"\n105,1.6,2.6,""\n',
    "iso": "timestamp,lat,lon\n1970-01-01T00:01:40Z,1.5,2.5\n1970-01-01T01:01:45+01:00,1.6,2.6\n",
    "two columns": "date,time,lat,lon\n1970-01-01,00:01:40,1.5,2.5\n1970-01-01,00:01:45,1.6,2.6\n",
    "blank inside": "utc,lat,lon\n1970-01-01 00:01:40,1.5,2.5\n1970-01-01 00:01:45,1.6,2.6\n",
    "row numbers as R writes": '"t","lat","lon"\n"1",100,1.5,2.5\n"2",105,1.6,2.6\n',
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_reads_the_same(tmp_path: Path, layout: str) -> None:
    (trace,) = traces(tmp_path, LAYOUTS[layout]).traces
    assert trace.times_seconds.tolist() == [100, 105]
    assert trace.latitude.tolist() == [1.5, 1.6]
    assert trace.longitude.tolist() == [2.5, 2.6]


def test_the_guess_is_shown(tmp_path: Path) -> None:
    notes = traces(tmp_path, LAYOUTS["semicolons with decimal commas"]).notes
    assert notes[0] == "time from 'tst', latitude from 'Latitude', longitude from 'LNG'"


def test_local_times_and_milliseconds_are_noted(tmp_path: Path) -> None:
    assert any("taken as UTC" in note for note in traces(tmp_path, LAYOUTS["two columns"]).notes)
    milli = traces(tmp_path, "t,lat,lon\n1700000000000,1,2\n1700000000500,1,2\n")
    assert milli.traces[0].times_seconds.tolist() == [1_700_000_000, 1_700_000_000.5]
    assert "times are in milliseconds" in milli.notes


def test_a_file_without_header_is_read_by_numbers_from_one(tmp_path: Path) -> None:
    text = "1.5 2.5 0 100\n1.6 2.6 1 160\n"
    (trace,) = traces(tmp_path, text, columns=CAB).traces
    assert trace.times_seconds.tolist() == [100, 160]
    assert trace.longitude.tolist() == [2.5, 2.6]
    with pytest.raises(FormatError, match="no header line") as refused:
        traces(tmp_path, text)
    assert "1.5" not in said(refused.value, tmp_path)


def test_traces_and_users_split_a_file_and_ascend_each_for_itself(tmp_path: Path) -> None:
    text = "user,t,lat,lon\na,100,1,1\nb,50,2,2\na,110,1,1\nb,60,2,2\n"
    split = traces(tmp_path, text)
    assert [(t.name, t.times_seconds.tolist()) for t in split.traces] == [
        ("a", [100, 110]),
        ("b", [50, 60]),
    ]
    both = traces(tmp_path, "trace,user,t,lat,lon\n1,a,100,1,1\n1,b,50,2,2\n2,a,9,1,1\n")
    assert [t.name for t in both.traces] == ["a/1", "b/1", "a/2"]
    named = traces(
        tmp_path,
        "trip,t,lat,lon\n7,100,1,1\n8,50,2,2\n",
        columns={"time": "t", "latitude": "LAT", "longitude": "lon", "trace": "trip"},
    )
    assert [t.name for t in named.traces] == ["7", "8"]


FAULTY = {
    "latitude": ("100,1,2\n105,400.17,2\n106,1,2\n", "line 3: latitude beyond"),
    "longitude": ("100,1,2\n105,1,180.5\n106,1,2\n", "line 3: longitude beyond"),
    "nan": ("100,1,2\n105,nan,2\n106,1,2\n", "line 3: latitude or longitude missing"),
    "words": ("100,1,2\n105,north,2\n106,1,2\n", "line 3: latitude or longitude missing"),
    "underscore": ("100,1,2\n105,1_0,2\n106,1,2\n", "line 3: latitude or longitude missing"),
    "no time": ("100,1,2\n,1,2\n106,1,2\n", "line 3: time missing"),
    "time off": ("100,1,2\n-5,1,2\n106,1,2\n", "line 3: time missing"),
    "fields": ("100,1,2\n105,1\n106,1,2\n", "line 3: more or fewer fields"),
    "order": ("100,1,2\n106,1,2\n105,3,4\n", "line 4: earlier than"),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_strict_names_the_line_and_repair_drops_or_sorts(tmp_path: Path, fault: str) -> None:
    rows, message = FAULTY[fault]
    with pytest.raises(FormatError, match=message) as refused:
        traces(tmp_path, "t,lat,lon\n" + rows)
    line = said(refused.value, tmp_path)
    assert line.endswith("; correct the file")
    assert "\n" not in line
    assert not any(raw in line for raw in ("400.17", "180.5", "north", "1_0", "-5"))
    repaired = traces(tmp_path, "t,lat,lon\n" + rows, repair=True)
    expected = [100, 105, 106] if fault == "order" else [100, 106]
    assert repaired.traces[0].times_seconds.tolist() == expected
    assert any(note.startswith(("dropped 1 rows", "sorted")) for note in repaired.notes)


def test_equal_times_keep_the_first_and_are_counted(tmp_path: Path) -> None:
    read = traces(tmp_path, "t,lat,lon\n100,1,2\n100,3,4\n100,5,6\n105,7,8\n")
    assert read.traces[0].latitude.tolist() == [1, 7]
    assert any("left out 2 rows" in note for note in read.notes)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "is empty"),
        ("\n\n", {}, "no rows"),
        ("t,lat,lon\n", {}, "no rows"),
        ("t,lat,lon\n100,1,2\n", {}, "has 1 usable fix"),
        ("t,lat,lon\n100,x,2\n101,y,2\n", {"repair": True}, "0 usable fixes .dropped 2 rows"),
        ("when,lat,lon\n100,1,2\n", {}, "looks like the time"),
        ("t,breadth,lon\n100,1,2\n", {}, "looks like the latitude"),
        ("hello\nworld\n", {}, "1 columns"),
        ("t,lat,lon\n1,1,2\n", {"columns": {"time": 0, "latitude": 2, "longitude": 3}}, "from 1"),
        ("t,lat,lon\n1,1,2\n", {"columns": {"time": "tt", "latitude": 2, "longitude": 3}}, "'t'"),
        ("t,lat,lon\n1,1,2\n", {"columns": {"time": 1, "latitude": 2}}, "lacks 'longitude'"),
        ("t,lat,lon\n1,1,2\n", {"columns": {"tme": 1}}, "'tme'"),
        ("1,1,2\n2,1,2\n", {"columns": {"time": "t", "latitude": 2, "longitude": 3}}, "no header"),
        ('{"a": 1}\n', {}, "looks like JSON"),
        ("# log\n$GPRMC,1\n", {}, "looks like NMEA"),
        ("t,lat,lon\n1,1,2\0\n", {}, "not UTF-8 text"),
        ("x" * 70_000, {}, "line 1 is longer"),
        ("t,lat,lon\n1,1,2\n" + "x" * 140_000, {}, "line 3 is longer"),
    ],
)
def test_what_cannot_be_a_trace_is_one_clear_line(
    tmp_path: Path, text: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(FormatError, match=message) as refused:
        traces(tmp_path, text, **options)
    assert "\n" not in str(refused.value)


def test_a_row_taken_for_a_header_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as refused:
        traces(tmp_path, "N52.51234,E13.41234,home\nN52.51235,E13.41235,home\n")
    assert "52" not in said(refused.value, tmp_path)


def test_a_house_with_dates_as_spaniards_write_them(tmp_path: Path) -> None:
    path = tmp_path / "house.txt"
    path.write_text("#  1:Date 2:Time 3:Room\n13/03/2012 11:45 18.2\n13/03/2012 12:00 18.4\n")
    read = read_series(
        path,
        columns={"time": ["1:Date", "2:Time"], "value": "3:Room"},
        time_format="%d/%m/%Y %H:%M",
        utc_offset_seconds=3600,
    )
    assert read.series.times_seconds.tolist() == [1331635500, 1331636400]
    assert read.series.values.tolist() == [18.2, 18.4]
    assert read.series.name == "house"


def test_a_series_without_values_or_with_a_strange_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("t,v\n1,\n2,3\n3,4\n")
    with pytest.raises(FormatError, match="line 2: value missing"):
        read_series(path, columns={"time": "t", "value": "v"})
    repaired = read_series(path, columns={"time": "t", "value": "v"}, repair=True)
    assert repaired.series.values.tolist() == [3, 4]
    with pytest.raises(FormatError, match="'trace'"):
        read_series(path, columns={"time": "t", "value": "v", "trace": "t"})


@given(
    st.lists(
        st.tuples(st.integers(1, 4_000_000_000), st.floats(-90, 90), st.floats(-180, 180)),
        min_size=2,
        max_size=30,
        unique_by=lambda row: row[0],
    ),
    st.sampled_from([",", ";", "\t", " "]),
)
def test_what_is_written_is_read_exactly(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, float, float]], sign: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.csv"
    body = "".join(sign.join(map(repr, row)) + "\n" for row in sorted(rows))
    path.write_text(sign.join(["t", "lat", "lon"]) + "\n" + body)
    (trace,) = read_traces(path).traces
    got = np.column_stack([trace.times_seconds, trace.latitude, trace.longitude])
    assert np.array_equal(got, np.array(sorted(rows)))
