import numpy as np
import pytest

from agent.formats.errors import FormatError
from precompute.demo import material as module
from precompute.demo.material import made_up_material, own_material
from precompute.errors import PrecomputeError


def write_walk(path, count, step=5.0, begin=1_772_409_600):
    """A walk east at 1.5 m/s near 10° N, 20° E."""
    rows = [
        f"{begin + step * k},{10.1 + 1e-7 * k:.7f},{20.2 + 1.4e-5 * step * k:.7f}"
        for k in range(count)
    ]
    path.write_text("\n".join(["t,lat,lon", *rows]) + "\n")
    return path


def test_the_made_up_week_is_called_so_and_is_whole(tmp_path):
    week = made_up_material(tmp_path)
    assert week.made_up
    assert "made-up" in week.title
    assert "nobody lived it" in week.notes[0]
    assert week.times_seconds.size == 10_080
    assert week.every_seconds == 60
    assert week.replay_path.parent == tmp_path


def test_a_short_recording_is_released_more_often_and_read_where_it_is(tmp_path):
    path = write_walk(tmp_path / "walk.csv", 240)
    own = own_material(path, tmp_path, repair=False)
    assert own.every_seconds == 10
    assert own.replay_path == path
    assert own.extract_path is None
    assert list(tmp_path.iterdir()) == [path]
    np.testing.assert_allclose(np.diff(own.times_seconds), 10.0)
    # 1.5 m/s eastward; the true position is the fix before, here the one at the very time.
    assert np.median(np.diff(own.points[:, 0])) == pytest.approx(15.0, abs=0.5)


def test_the_origin_is_public_half_degrees(tmp_path):
    own = own_material(write_walk(tmp_path / "walk.csv", 100), tmp_path, repair=False)
    assert (own.origin.latitude, own.origin.longitude) == (10.0, 20.0)


def test_a_long_recording_is_cut_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_RELEASES", 50)
    path = write_walk(tmp_path / "walk.csv", 2000)
    own = own_material(path, tmp_path, repair=False)
    assert own.times_seconds.size <= 50
    assert own.extract_path == own.replay_path != path
    assert own.extract_path.stat().st_mode & 0o777 == 0o600
    assert "taken: the first" in own.notes[-1]


def test_too_little_is_refused_in_one_line(tmp_path):
    path = write_walk(tmp_path / "walk.csv", 3)
    with pytest.raises(PrecomputeError, match="expected at least 3") as refused:
        own_material(path, tmp_path, repair=False)
    assert "\n" not in str(refused.value)


def test_a_bad_file_keeps_its_readers_message(tmp_path):
    path = write_walk(tmp_path / "walk.csv", 30)
    path.write_text(path.read_text().replace(",10.1000005,", ",400,"))
    with pytest.raises(FormatError, match="line 7"):
        own_material(path, tmp_path, repair=False)
    assert own_material(path, tmp_path, repair=True).times_seconds.size > 10


def test_a_flight_to_another_continent_is_left_out_and_said(tmp_path):
    path = write_walk(tmp_path / "walk.csv", 240)
    with path.open("a") as stream:
        for k in range(20):
            stream.write(f"{1_772_500_000 + 30 * k},62.0,-120.0\n")
    own = own_material(path, tmp_path, repair=False)
    assert own.origin.reach_metres == 1_000_000.0
    assert own.times_seconds[-1] < 1_772_500_000
    assert any("left out: 20 fixes over 1000 km" in note for note in own.notes)
