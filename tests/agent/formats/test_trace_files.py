"""All kinds of files together: told apart, packed, damaged at every offset, corrupted anywhere."""

import gzip
import random
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.formats.errors import FormatError
from agent.formats.text_blocks import BLOCK_BYTES, read_blocks, read_lines
from agent.formats.trace_files import read_series, read_traces

PLT = (
    "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n"
    "0,2,255,My Track,0,0,2,8421376\r\n0\r\n"
    "1.5,2.5,0,-777,25570.0011574074,1970-01-02,00:01:40\r\n"
    "1.6,2.6,0,492,25570.0012152778,1970-01-02,00:01:45\r\n"
)
FILES = {
    "plt": PLT,
    "gpx": '<gpx><trk><trkseg>\n<trkpt lat="1.5" lon="2.5"><time>1970-01-02T00:01:40Z</time>'
    '</trkpt>\n<trkpt lat="1.6" lon="2.6"><time>1970-01-02T00:01:45Z</time></trkpt>'
    "</trkseg></trk></gpx>\n",
    "rec": '2026-03-02T08:00:00Z\t*\t{"_type":"location","lat":1.5,"lon":2.5,"tst":86500}\n'
    '2026-03-02T08:00:02Z\t*\t{"_type":"location","lat":1.6,"lon":2.6,"tst":"86505"}\n',
    "csv": "trace,t,lat,lon\na,86500,1.5,2.5\na,86505,1.6,2.6\n",
}
COLUMNS = {"time": "t", "value": "lat"}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("kind", FILES)
def test_kinds_are_told_by_content_whatever_the_name(
    tmp_path: Path, kind: str, packed: bool
) -> None:
    path = tmp_path / "something.dat"
    content = FILES[kind].encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    (trace,) = read_traces(path).traces
    assert trace.times_seconds.tolist() == [86500, 86505]
    assert trace.latitude.tolist() == [1.5, 1.6]
    assert trace.longitude.tolist() == [2.5, 2.6]


def test_the_oddities_of_geolife(tmp_path: Path) -> None:
    path = tmp_path / "odd.plt"
    odd = "400.166666666667,2.5,0,0,0,1970-01-02,00:01:46\r\n"
    early = "1.4,2.4,0,0,0,1970-01-02,00:01:41\r\n"
    path.write_text(PLT + odd + early)
    with pytest.raises(FormatError, match=r"odd\.plt: line 9: latitude beyond ±90"):
        read_traces(path)
    repaired = read_traces(path, repair=True)
    assert repaired.traces[0].times_seconds.tolist() == [86500, 86501, 86505]
    assert "dropped 1 rows: latitude beyond ±90 degrees" in repaired.notes
    assert "sorted by time: 1 rows stood after later ones" in repaired.notes
    path.write_text("".join(PLT.splitlines(keepends=True)[:6]))
    with pytest.raises(FormatError, match="no fix after the six header lines"):
        read_traces(path)


def test_wrong_paths_are_refused(tmp_path: Path) -> None:
    for path, message in [
        (tmp_path / "none.csv", "no such file"),
        (tmp_path, "is not a file"),
        ("a\0b", "cannot be read|no such file"),
    ]:
        with pytest.raises(FormatError, match=message):
            read_traces(path)


def test_a_gzip_bomb_is_refused_after_the_limit_not_after_the_end(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    line = b"100,1.5,2.5\n" * 5_000
    with gzip.open(path, "wb") as stream:
        for _ in range(200):
            stream.write(line)
    taken: list[int] = []
    with pytest.raises(FormatError, match="more than the 1000000 bytes"):
        taken.extend(map(len, read_blocks(path, limit=1_000_000)))
    assert sum(taken) <= 1_000_000
    with pytest.raises(FormatError, match="more than the 1000000 bytes"):
        read_traces(path, columns={"time": 1, "latitude": 2, "longitude": 3}, limit_bytes=1_000_000)


def test_lines_do_not_depend_on_how_the_bytes_are_cut() -> None:
    content = "a\r\nÄb\n\ncd".encode()
    expected = [(1, "a"), (2, "Äb"), (3, ""), (4, "cd")]
    for size in range(1, len(content) + 1):
        blocks = [content[i : i + size] for i in range(0, len(content), size)]
        lines = [
            (first + i, line)
            for first, batch in read_lines(blocks, "x")
            for i, line in enumerate(batch)
        ]
        assert lines == expected


def _read_or_refuse(path: Path) -> None:
    for repair in (False, True):
        with suppress(FormatError):
            assert sum(map(len, read_traces(path, repair=repair).traces)) >= 2
        with suppress(FormatError):
            read_series(path, columns=COLUMNS, repair=repair)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("kind", FILES)
def test_a_file_cut_at_any_offset_is_read_or_refused(
    tmp_path: Path, kind: str, packed: bool
) -> None:
    content = FILES[kind].encode()
    content = gzip.compress(content) if packed else content
    path = tmp_path / "x.dat"
    for end in range(len(content)):
        path.write_bytes(content[:end])
        _read_or_refuse(path)
        if packed:
            with pytest.raises(FormatError):
                read_traces(path)


@pytest.mark.parametrize("kind", FILES)
def test_a_file_corrupted_anywhere_is_read_or_refused(tmp_path: Path, kind: str) -> None:
    rng = random.Random(kind)
    path = tmp_path / "x.dat"
    for base in (FILES[kind].encode(), gzip.compress(FILES[kind].encode())):
        for _ in range(150):
            content = bytearray(base)
            for _ in range(rng.randint(1, 6)):
                content[rng.randrange(len(content))] = rng.choice([rng.randrange(256), 44, 10, 57])
            path.write_bytes(content)
            _read_or_refuse(path)


@given(st.binary(max_size=300) | st.text(alphabet='0123456789.,;\t\n -#"etlaon_', max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_content_is_read_or_refused(tmp_path: Path, content: bytes | str) -> None:
    path = tmp_path / "x.dat"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    _read_or_refuse(path)


def test_a_long_trace_is_read_across_blocks_and_fast(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    count = 45_000
    places = rng.uniform(-80, 80, (count, 2)).round(6)
    rows = [f"{i // 9000},{1000 + i},{a:.6f},{b:.6f}" for i, (a, b) in enumerate(places.tolist())]
    path = tmp_path / "long.csv"
    path.write_text("trace,t,lat,lon\n" + "\n".join(rows))
    assert path.stat().st_size > 10 * BLOCK_BYTES
    begin = time.process_time()
    traces = read_traces(path).traces
    # 0.1 s here; the slack is for slow shared machines.
    assert time.process_time() - begin < 1.0
    assert [len(trace) for trace in traces] == [9000] * 5
    got = np.vstack([np.column_stack([t.latitude, t.longitude]) for t in traces])
    assert np.array_equal(got, places)
