"""The pictures of `sfumato reproduce iot`: every panel says what it is, every curve can be seen."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from precompute.mapping.reproduction import pictures, report
from precompute.mapping.reproduction.figures import COLUMNS, GRIDS

GOOD = {
    "Bayes error of H": "lower",
    "Bayes error of G": "higher",
    "I(X1;Z1), nats": "lower",
    "I(G;Z), nats": "lower",
    "I(H;Z), nats": "higher",
}


def _rows(figure: str, *, same: bool = False):
    """The figure's own points, last first; a curve of its own for each column unless ``same``."""
    keys = {panel.key for panel in report._SHOWN[figure]}
    return [
        {
            "information": information,
            "local": local,
            "cells": {
                column: dict.fromkeys(keys, local * information * (1 if same else 1 + n))
                for n, column in enumerate(COLUMNS)
            },
        }
        for information, local in reversed(GRIDS[figure])
    ]


def _drawn(figure: str, **how):
    shown, over = report._SHOWN[figure], report._axis(figure)
    return pictures.draw(report._TITLES[figure], _rows(figure, **how), shown, over=over)


@pytest.mark.parametrize(("figure", "panels"), [("5", 4), ("6", 4), ("7", 3)])
def test_every_panel_has_its_own_title_and_says_which_way_is_good(figure, panels) -> None:
    drawn = _drawn(figure)
    assert drawn.get_suptitle().startswith(f"Figure {figure}: ")
    titles = [place.get_title() for place in drawn.axes]
    assert len(set(titles)) == len(titles) == panels
    for letter, title in zip("abcd", titles, strict=False):
        assert title.startswith(f"({letter}) ")
    for place in drawn.axes:
        assert f"; {GOOD[place.get_ylabel()]} is better" in place.get_title()
        assert place.get_xlabel() in ("epsilon_LD (nats)", "epsilon_I (nats)")


def test_the_panels_of_figure_7_say_what_they_show() -> None:
    titles = [place.get_title() for place in _drawn("7").axes]
    names = [place.get_ylabel() for place in _drawn("7").axes]
    assert titles == [
        "(a) what sensor 1 tells of its reading\nepsilon_I = 0.15; lower is better",
        "(b) what all symbols tell of G\nepsilon_I = 0.15; lower is better",
        "(c) what all symbols tell of H\nepsilon_I = 0.15; higher is better",
    ]
    assert names == ["I(X1;Z1), nats", "I(G;Z), nats", "I(H;Z), nats"]


def test_curves_are_the_points_of_the_results() -> None:
    place = _drawn("7").axes[1]
    assert len(place.lines) == len(COLUMNS)
    for n, line in enumerate(place.lines):
        locals_ = [local for _, local in GRIDS["7"]]
        assert list(line.get_xdata()) == locals_
        assert list(line.get_ydata()) == [local * 0.15 * (1 + n) for local in locals_]
    assert [tick.get_text() for tick in place.get_xticklabels()] == [
        *("0.07", "0.25", "0.5", "1", "2")
    ]


def test_curves_that_lie_on_each_other_are_all_seen() -> None:
    drawn = _drawn("7", same=True)
    drawn.canvas.draw()
    image = np.asarray(drawn.canvas.buffer_rgba())[..., :3] / 255.0
    place = drawn.axes[0]
    lines = place.lines
    for thicker, thinner in pairwise(lines):
        assert thicker.get_linewidth() > 1.2 * thinner.get_linewidth()
        assert thicker.get_markersize() > thinner.get_markersize()
        assert thicker.get_zorder() < thinner.get_zorder()
    box = place.get_window_extent()
    height = image.shape[0]
    inside = image[height - int(box.y1) + 2 : height - int(box.y0) - 2, int(box.x0) + 2 :]
    inside = inside[:, : int(box.width) - 4]
    for line in lines:
        near = np.abs(inside - np.array(to_rgb(line.get_color()))).max(axis=-1) < 0.02
        assert int(near.sum()) > 40, line.get_label()


def test_no_two_curves_share_marker_and_dashes() -> None:
    """In black and white there is nothing else to tell them by but their widths."""
    seen = {(marker, str(dashes)) for _, _, dashes, marker, _, _ in pictures._STYLES.values()}
    assert len(seen) == len(pictures._STYLES) == len(COLUMNS)
