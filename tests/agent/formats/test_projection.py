"""Degrees to metres: hand values, the exact inverse, the antimeridian, the poles."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.formats.errors import FormatError
from agent.formats.projection import LocalProjection, wrap_degrees

latitudes = st.floats(-90, 90)
longitudes = st.floats(-180, 180, exclude_max=True)
origins = st.builds(LocalProjection, st.floats(-85, 85), st.floats(-180, 180))


def test_a_degree_at_the_equator_and_at_45_has_the_published_length() -> None:
    # NGA's tables for WGS 84: 111,319.5 m of longitude and 110,574.3 m of latitude at 0°;
    # 78,846.8 m and 111,131.8 m at 45°.
    assert LocalProjection(0, 0).metres_per_degree == pytest.approx((111_319.5, 110_574.3), abs=0.1)
    assert LocalProjection(45, 0).metres_per_degree == pytest.approx((78_846.8, 111_131.8), abs=0.1)


@given(origins, latitudes, longitudes)
def test_inverse_undoes_forward(origin: LocalProjection, lat: float, lon: float) -> None:
    back_lat, back_lon = origin.inverse(*origin.forward(lat, lon))
    assert abs(float(back_lat) - lat) < 1e-12 * 360
    assert abs(float(wrap_degrees(back_lon - lon))) < 1e-12 * 360


@given(origins, st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_any_metres_come_back_as_a_place_on_earth(
    origin: LocalProjection, east: float, north: float
) -> None:
    lat, lon = origin.inverse(east, north)
    assert -90 <= lat <= 90
    assert -180 <= lon < 180


def test_the_antimeridian_is_crossed_the_short_way() -> None:
    east, north = LocalProjection(0, 179.5).forward([0, 0], [179.9, -179.9])
    assert np.allclose(east, [0.4 * 111_319.49, 0.6 * 111_319.49], atol=0.1)
    assert not north.any()


@given(st.floats(-720, 720))
def test_wrapping_keeps_the_direction(degrees: float) -> None:
    wrapped = float(wrap_degrees(np.float64(degrees)))
    assert -180 <= wrapped < 180
    assert math.cos(math.radians(wrapped)) == pytest.approx(
        math.cos(math.radians(degrees)), abs=1e-12
    )


def test_the_scale_error_is_that_of_the_cosines() -> None:
    origin = LocalProjection(52.5, 13.4)
    assert origin.scale_error(52.5) == 0
    assert origin.scale_error(53.5) == pytest.approx(-0.0228, abs=2e-4)
    cosines = math.cos(math.radians(53.5)) / math.cos(math.radians(52.5)) - 1
    assert origin.scale_error(53.5) == pytest.approx(cosines, abs=1e-3)


@pytest.mark.parametrize(("lat", "lon"), [(86, 0), (0, 181), (math.nan, 0), (0, math.inf)])
def test_an_impossible_origin_is_refused(lat: float, lon: float) -> None:
    with pytest.raises(FormatError, match="origin"):
        LocalProjection(lat, lon)


@pytest.mark.parametrize("latitude", [-60.0, -1.0, 0.0, 40.0, 70.0])
def test_within_reach_no_map_distance_is_longer_than_on_the_ground(latitude: float) -> None:
    reach = 300_000.0
    plane = LocalProjection(latitude, 10.0, reach)
    half = reach / 111_000.0
    for offset in np.linspace(-half, half, 41):
        here = latitude + float(offset)
        around = LocalProjection(here, 10.0)  # measures degrees at this very latitude
        for east, north in [(500.0, 0.0), (0.0, 500.0), (300.0, -400.0)]:
            there = around.inverse(east, north)
            mapped = np.subtract(plane.forward(*there), plane.forward(here, 10.0))
            assert 500.0 * 0.6 < float(np.hypot(*mapped)) <= 500.0 * (1 + 1e-6)
    assert plane.scale_error(latitude) > 0


def test_a_reach_beyond_the_last_latitude_is_refused() -> None:
    with pytest.raises(FormatError, match="beyond ±85 degrees"):
        LocalProjection(80.0, 0.0, 600_000.0)
