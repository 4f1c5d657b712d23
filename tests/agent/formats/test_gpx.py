"""GPX: versions, namespaces, segments, and files that are XML but no track."""

from pathlib import Path

import pytest

from agent.formats.errors import FormatError
from agent.formats.trace_files import TraceFile, read_traces

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
ONE_ONE = '<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1" xmlns:g="urn:garmin">'
POINTS = (
    '<trkpt lat="1.5" lon="2.5"><ele>3</ele><time>1970-01-01T00:01:40Z</time></trkpt>\n'
    '<trkpt lon="2.6" lat="1.6"><time>1970-01-01T01:01:45.500+01:00</time>'
    "<extensions><g:time>2033-01-01T00:00:00Z</g:time><g:hr>90</g:hr></extensions></trkpt>\n"
)


def gpx(tmp_path: Path, text: str, **options: bool) -> TraceFile:
    path = tmp_path / "ride.gpx"
    path.write_bytes(text.encode())
    return read_traces(path, **options)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + ONE_ONE + f"<trk><name>n</name><trkseg>{POINTS}</trkseg></trk></gpx>",
        "\ufeff" + HEAD + f"<gpx><trk><trkseg/><trkseg>{POINTS}</trkseg></trk></gpx>",
        '<x:gpx version="1.0" xmlns:x="http://www.topografix.com/GPX/1/0"><x:trk><x:trkseg>'
        + POINTS.replace("<trk", "<x:trk").replace("</trk", "</x:trk").replace("time>", "x:time>")
        .replace("g:x:time", "g:time").replace("<g:", "<").replace("</g:", "</")
        + "</x:trkseg></x:trk></x:gpx>",
    ],
    ids=["1.1", "mark and empty segment", "prefixed 1.0"],
)  # fmt: skip
def test_both_versions_read_the_same(tmp_path: Path, text: str) -> None:
    (trace,) = gpx(tmp_path, text).traces
    assert trace.times_seconds.tolist() == [100, 105.5]
    assert trace.latitude.tolist() == [1.5, 1.6]
    assert trace.longitude.tolist() == [2.5, 2.6]


def test_each_segment_is_a_trace_named_by_its_place(tmp_path: Path) -> None:
    track = f"<trk><name>12 High Street</name><trkseg>{POINTS}</trkseg></trk>"
    read = gpx(tmp_path, f"{ONE_ONE}{track}<trk><trkseg/><trkseg>{POINTS}</trkseg></trk></gpx>")
    assert [trace.name for trace in read.traces] == ["1.1", "2.2"]
    assert "High Street" not in repr(read)


def test_partly_timed_tracks_need_repair(tmp_path: Path) -> None:
    text = f'{HEAD}<gpx><trk><trkseg>\n<trkpt lat="9.875" lon="1"/>\n{POINTS}</trkseg></trk></gpx>'
    with pytest.raises(
        FormatError, match=r"ride\.gpx: line 3: without a time; correct the file$"
    ) as refused:
        gpx(tmp_path, text)
    assert "9.875" not in str(refused.value)
    repaired = gpx(tmp_path, text, repair=True)
    assert len(repaired.traces[0]) == 2
    assert "dropped 1 rows: without a time" in repaired.notes


WPT = '<gpx><wpt lat="1" lon="2"><time>1970-01-01T00:01:40Z</time></wpt></gpx>'
UNTIMED = '<gpx><trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="1" lon="2"/></trkseg></trk></gpx>'
BOMB = '<!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + WPT


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WPT, "has no track points"),
        (UNTIMED, "none of its 2 track points has a time"),
        (BOMB, "DOCTYPE"),
        ("<kml><Document/></kml>", "XML but not GPX"),
        ("<gpx><trk>", "line 1: is not well-formed"),
        ("<gpx>&nbsp;</gpx>", "is not well-formed"),
        ('<?xml version="1.0" encoding="klingon"?>' + WPT, "is not well-formed"),
        ("<gpx>" + "<a>" * 100, "nest over 64 deep"),
    ],
)
def test_what_is_no_track_is_refused(tmp_path: Path, text: str, message: str, repair: bool) -> None:
    with pytest.raises(FormatError, match=message) as refused:
        gpx(tmp_path, text, repair=repair)
    assert "\n" not in str(refused.value)


def test_columns_do_not_belong_to_gpx(tmp_path: Path) -> None:
    path = tmp_path / "ride.gpx"
    path.write_text(f"<gpx><trk><trkseg>{POINTS}</trkseg></trk></gpx>")
    with pytest.raises(FormatError, match="is a GPX file"):
        read_traces(path, columns={"time": 1, "latitude": 2, "longitude": 3})
