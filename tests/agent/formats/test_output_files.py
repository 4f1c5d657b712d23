"""Targets: the user's files are left alone, and the disk never holds half a result."""

import os
import stat

import pytest

from agent.formats.bundle import write_bundle
from agent.formats.errors import FormatError
from agent.formats.geojson import ReceivedPlace, encode_geojson
from agent.formats.output_files import BUNDLE, GEOJSON, check_output, text_kind, write_output
from tests.agent.example_designs import window

NOTES = text_kind("notes", "# notes")


def check(path, kind=NOTES, inputs=()):
    check_output(path, kind, option="-o", inputs=inputs)


def test_a_new_an_empty_and_an_own_file_may_be_written(tmp_path):
    path = tmp_path / "n"
    check(path)
    path.touch()
    check(path)
    write_output(path, "# notes of today", option="-o")
    check(path)
    write_output(path, "# notes of tomorrow", option="-o")
    assert path.read_text() == "# notes of tomorrow"
    assert [child.name for child in tmp_path.iterdir()] == ["n"]


@pytest.mark.parametrize("content", [b"t,lat,lon\n", b"#", b"\0" * 9, b"PK\x03\x04 a document"])
@pytest.mark.parametrize("kind", [NOTES, BUNDLE, GEOJSON])
def test_a_file_of_another_kind_is_left_alone(tmp_path, content, kind):
    path = tmp_path / "diary"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"is not .*left alone"):
        check(path, kind)
    assert path.read_bytes() == content


def test_bundles_and_maps_are_known_again(tmp_path):
    places = [
        ReceivedPlace("t", str(n), f"2023-01-01T00:00:{n:02d}Z", 40.0, 116.0, 5.0) for n in range(3)
    ]
    for number in (0, 1, 3):
        (tmp_path / "map").write_text(encode_geojson(places[:number]))
        check(tmp_path / "map", GEOJSON)
    (tmp_path / "map").write_text('{"type":"FeatureCollection","features":[]}')
    with pytest.raises(FormatError):
        check(tmp_path / "map", GEOJSON)
    (tmp_path / "bundle").write_bytes(write_bundle([window()]))
    check(tmp_path / "bundle", BUNDLE)


def test_what_is_read_is_never_written_under_any_of_its_names(tmp_path):
    source = tmp_path / "source"
    source.write_text("# notes")
    (tmp_path / "link").symlink_to(source)
    os.link(source, tmp_path / "other-name")
    (tmp_path / "folder").mkdir()
    for name in ("source", "link", "other-name", "folder/../source"):
        with pytest.raises(FormatError, match="also read or written"):
            check(tmp_path / name, inputs=[tmp_path / "x", source])
    with pytest.raises(FormatError, match="also read or written"):
        check(tmp_path / "new", inputs=[tmp_path / "folder" / ".." / "new"])


def test_what_cannot_be_written_is_found_before_the_work(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        ("no/file", "no such folder"),
        ("folder", "is a folder"),
        ("n" * 300, "cannot be written"),
        ("loop", "loop"),
        ("pipe", "not a plain file"),
        ("/dev/null", "not a plain file"),
        ("/proc/sfumato", "cannot be written"),
        ("a\0b", "cannot be written"),
    ):
        with pytest.raises(FormatError, match=words) as caught:
            check(tmp_path / name)
        assert "\n" not in str(caught.value)
    assert sorted(child.name for child in tmp_path.iterdir()) == ["folder", "loop", "pipe"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "map.geojson"
    write_output(path, "old", option="-o")

    def fail(*_):
        raise OSError(28, "No space left on device")

    with pytest.raises(FormatError, match="No space left"):
        write_output(path, "new", option="-o", replace=fail)
    assert path.read_text() == "old"
    assert [child.name for child in tmp_path.iterdir()] == ["map.geojson"]


def test_modes_are_the_users_and_stay(tmp_path):
    path = tmp_path / "n"
    before = os.umask(0o027)
    try:
        write_output(path, b"x", option="-o")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        write_output(path, b"y", option="-o")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("# notes")
    (tmp_path / "link").symlink_to("real")
    write_output(tmp_path / "link", "# notes, new", option="-o")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "# notes, new"
