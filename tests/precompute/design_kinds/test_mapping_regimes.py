"""What a mapping tells across regimes by counting rows, and what is said of it."""

import math

import numpy as np
import pytest

from precompute.design_kinds.mapping_regimes import (
    AcrossRegimes,
    across_regimes,
    across_warnings,
    across_words,
)
from precompute.mapping.joint import joint_of_rows

MAPS = (np.array([[0.75, 0.25], [0.25, 0.75]]),)


def days(share_when_in_use, number=8):
    """Two days of each value of G; one node, whose cell 1 has these shares of the rows."""
    shares = {0: (0.5, 0.5), 1: share_when_in_use}
    rows = [
        (value, day, int(place < share * number))
        for value, pair in shares.items()
        for day, share in enumerate(pair)
        for place in range(number)
    ]
    private = np.array([2 * value + day for value, day, _ in rows])
    cells = np.array([cell for _, _, cell in rows])
    public = np.arange(len(rows)) % 2
    return joint_of_rows(
        public, private, (cells,), (2,), publics=2, privates=4, value_of=(0, 0, 1, 1)
    )


def test_both_figures_are_counted_by_hand():
    # p(z = 1) is 0.5 on empty days; 0.25 + 0.5 share on days in use.
    found = across_regimes(MAPS, days((0.5, 0.75)), days((0.25, 0.75)))
    assert found.rows == pytest.approx(math.log(0.5 / 0.375))
    assert found.held_out == pytest.approx(math.log(0.5 / 0.375))
    wider = across_regimes(MAPS, days((0.5, 0.5)), days((0.5, 1.0)))
    assert wider.rows == pytest.approx(0, abs=1e-12)
    # Days that take opposite turns, whose average tells nothing of G.
    assert wider.held_out == pytest.approx(math.log(0.5 / 0.25))
    assert across_regimes(MAPS, days((0.5, 0.5)), None).held_out is None


def test_what_the_rows_show_beyond_what_was_asked_for_is_a_warning():
    assert across_warnings(AcrossRegimes(0.3, 0.3), 0.3) == ()
    (smoothed,) = across_warnings(AcrossRegimes(0.4626, None), 0.4)
    assert "own rows show epsilon_I 0.4626 over their regimes, asked for was 0.4" in smoothed
    assert "smoothing: {weight: 0.02}" in smoothed
    (later,) = across_warnings(AcrossRegimes(0.3, 0.705), 0.3)
    assert "later rows show epsilon_I 0.7050 over their regimes, asked for was 0.3" in later
    assert "not bounded" in across_warnings(AcrossRegimes(math.inf, None), 1.0)[0]


def test_the_words_call_counts_counts():
    said = across_words(AcrossRegimes(0.25, 0.705))
    assert "epsilon_I over their regimes is 0.2500, and 0.7050 in the later rows" in said
    assert "not bounds" in said
    assert "later" not in across_words(AcrossRegimes(0.25, None))
