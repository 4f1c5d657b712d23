import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from precompute.reports.frames import Frame, frame_around
from precompute.reports.pictures import Layer, draw_picture

FRAME = Frame(east=1000.0, north=2000.0, side=600.0)


def test_a_frame_by_hand():
    # 600 px for 600 m: the middle is (300, 300), north is up.
    pixels = FRAME.to_pixels(np.array([[1000.0, 2000.0], [1100.0, 2100.0]]))
    np.testing.assert_allclose(pixels, [[300.0, 300.0], [400.0, 200.0]])


def test_a_metre_is_as_long_both_ways_and_everything_fits():
    points = np.array([[0.0, 0.0], [4000.0, 100.0]])
    frame = frame_around(points, margin=200.0)
    assert frame.side == 4400.0
    pixels = frame.to_pixels(points)
    assert np.all((pixels > 0) & (pixels < 600))
    assert frame_around(points, margin=0.0, largest=1000.0).side == 1000.0
    assert frame_around(points[:1], margin=0.0).side == 100.0


@pytest.mark.parametrize(
    ("side", "label"), [(100.0, "20 m"), (4400.0, "1 km"), (900.0, "200 m"), (30_000.0, "5 km")]
)
def test_scale_bars_are_round_and_true(side, label):
    frame = Frame(0.0, 0.0, side)
    metres, text = frame.scale_bar
    assert text == label
    assert metres <= side / 4
    drawn = float(
        re.search(r'class="bar" d="M18 576v6h([\d.]+)v-6"', draw_picture((), frame, "")).group(1)
    )
    assert drawn == pytest.approx(metres * 600 / side, abs=0.06)


def positions(path):
    """The absolute points of one drawn line: M x y l dx dy …"""
    start, _, steps = path.partition("l")
    numbers = [float(n) for n in steps.split()]
    here = np.array([float(n) for n in start[1:].split()])
    found = [here]
    for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
        here = here + np.array([dx, dy])
        found.append(here)
    return np.array(found)


def test_a_line_keeps_its_place_to_a_tenth_of_a_pixel_whatever_its_length():
    rng = np.random.default_rng(1)
    points = np.array([1000.0, 2000.0]) + np.cumsum(rng.normal(0.0, 2.0, (5000, 2)), axis=0)
    text = draw_picture((Layer("line", "raw", points),), FRAME, "a walk")
    (path,) = re.findall(r'class="line raw" d="([^"]+)"', text)
    drawn = positions(path)
    last = FRAME.to_pixels(points[-1:])[0]
    # The last point is drawn, or lies within the least distance of the last one drawn.
    assert np.sum(np.abs(drawn[-1] - last)) < 0.9
    assert len(drawn) <= 5000


def test_a_line_breaks_where_nothing_is_known():
    nan = [np.nan, np.nan]
    points = np.array([[900.0, 2000.0], [950.0, 2000.0], nan, [1000.0, 2000.0], [1050.0, 2000.0]])
    text = draw_picture((Layer("line", "ours", points),), FRAME, "")
    assert len(re.findall(r'class="line ours"', text)) == 1
    assert text.count("M") - text.count('"M18 ') == 2


def test_layers_without_anything_to_show_are_left_out():
    nothing = np.full((3, 2), np.nan)
    for kind in ("line", "dots"):
        assert "ours" not in draw_picture((Layer(kind, "ours", nothing),), FRAME, "")


def test_a_picture_is_well_formed_and_its_description_escaped():
    points = np.array([[1000.0, 2000.0], [1100.0, 2050.0]])
    layers = tuple(Layer(kind, "raw", points) for kind in ("line", "dots", "ring", "cross"))
    root = ET.fromstring(draw_picture(layers, FRAME, 'a "walk" <home> & back'))
    assert root.get("aria-label") == 'a "walk" <home> & back'
