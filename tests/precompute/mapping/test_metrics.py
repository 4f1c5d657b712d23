"""The metrics against plain enumeration in fractions, and how they imply each other."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import mapping_metrics as oracle

from precompute.mapping import metrics
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import joint_of_cells, joint_of_independent_sensors

# Nats: sums of few terms of size one, a few units in the last place each.
EXACT = 1e-13


@st.composite
def rows(draw, count, size, zeros=True):
    """(count, size) floats, rows summing to 1, from whole numbers so that 0 and equals occur."""
    least = 0 if zeros else 1
    row = st.lists(st.integers(least, 8), min_size=size, max_size=size).filter(any)
    numbers = np.array([draw(row) for _ in range(count)], dtype=float)
    return numbers / numbers.sum(axis=1, keepdims=True)


@st.composite
def chains(draw, zeros=True):
    """G - X - Z: p(g, x) and p(z|x), every size from 1 to 4."""
    privates, cells, symbols = (draw(st.integers(1, 4)) for _ in range(3))
    prior = draw(rows(1, privates * cells)).reshape(privates, cells)
    return prior, draw(rows(cells, symbols, zeros))


def close(found, expected):
    return found == expected or abs(found - expected) <= EXACT * max(1.0, expected)


def no_more(found, bound):
    """Below, but for rounding; no bound lets everything pass."""
    return found <= bound + EXACT * max(1.0, bound)


@settings(deadline=None)
@given(chains())
def test_every_metric_is_what_enumeration_in_fractions_gives(chain) -> None:
    prior, table = chain
    for joint in (prior, prior @ table, prior.sum(axis=0)[:, None] * table):
        exact = oracle.fractions(joint)
        total = sum(map(sum, exact))
        exact = [[value / total for value in row] for row in exact]
        for name in ("information_privacy", "inference_privacy", "identifiability"):
            assert close(getattr(metrics, name)(joint), getattr(oracle, name)(exact)), name
        expected = oracle.mutual_information(exact)
        assert close(metrics.mutual_information(joint), expected)
        assert metrics.average_leakage(joint) == metrics.mutual_information(joint)
    assert close(metrics.local_privacy(table), oracle.local_privacy(oracle.fractions(table)))
    possible = prior.sum(axis=0) > 0
    for chosen in (None, possible):
        expected = oracle.maximal_leakage(oracle.fractions(table), chosen)
        assert close(metrics.maximal_leakage(table, chosen), expected)


@settings(deadline=None, max_examples=300)
@given(chains())
def test_what_implies_what(chain) -> None:
    """The table of docs/mapping-metrics.md, line by line."""
    prior, table = chain
    private, reading = prior @ table, prior.sum(axis=0)[:, None] * table
    possible = prior.sum(axis=0) > 0
    local, leakage = metrics.local_privacy(table), metrics.maximal_leakage(table, possible)
    of_reading, of_private = map(metrics.information_privacy, (reading, private))
    inference = metrics.inference_privacy(private)
    skew = metrics.identifiability(prior.sum(axis=0)[:, None])
    identified = metrics.identifiability(reading)
    told = metrics.mutual_information(reading)

    assert no_more(of_reading, local)
    assert no_more(of_private, of_reading)
    assert no_more(inference, local)
    assert no_more(metrics.local_privacy(table[possible]), 2 * of_reading)
    assert no_more(inference, 2 * of_private)
    assert no_more(of_private, inference)
    assert no_more(leakage, local)
    assert no_more(leakage, of_reading)
    assert no_more(told, leakage)
    assert no_more(told, of_reading)
    assert no_more(metrics.average_leakage(private), of_private)
    assert no_more(metrics.average_leakage(private), told)
    given_private = metrics.given_value(private)
    assert no_more(metrics.maximal_leakage(given_private), leakage)
    assert no_more(identified, local + skew)
    assert no_more(metrics.local_privacy(table[possible]), identified + skew)
    assert no_more(skew, identified)
    if math.isfinite(identified):
        others = int(possible.sum()) - 1
        exact = math.log((1 + others * math.exp(identified)) / (1 + others * math.exp(-identified)))
        assert no_more(of_reading, exact)
        assert no_more(exact, 2 * identified)


@settings(deadline=None)
@given(st.integers(20, 50), st.integers(2, 5))
def test_small_amounts_keep_their_digits(power, cells) -> None:
    """A map that says 2^-power more under one reading; all numbers are exact in floats."""
    step = 2.0**-power
    table = np.full((cells, 2), 0.5)
    table[0] += [step, -step]
    uniform = np.full(cells, 1.0)[:, None] * table / cells
    if cells in (2, 4):
        exact = oracle.mutual_information(oracle.fractions(uniform))
        assert metrics.mutual_information(uniform) == pytest.approx(exact, rel=1e-9, abs=0)
    exact = oracle.local_privacy(oracle.fractions(table))
    assert metrics.local_privacy(table) == pytest.approx(exact, rel=1e-14, abs=0)
    exact = oracle.maximal_leakage(oracle.fractions(table))
    assert metrics.maximal_leakage(table) == pytest.approx(exact, rel=1e-14, abs=0)


def test_tiny_probabilities_are_no_zeros() -> None:
    table = np.array([[1e-300, 1 - 1e-300], [1e-310, 1 - 1e-310]])
    assert metrics.local_privacy(table) == pytest.approx(math.log(1e10), rel=1e-6)
    joint = np.array([[1e-200, 0.5], [1e-205, 0.5]])
    assert metrics.information_privacy(joint) == pytest.approx(
        math.log(5e4) + math.log1p(1e-5), rel=1e-9
    )
    assert metrics.information_privacy(np.array([[1e-200, 0.0], [0.0, 1.0]])) == math.inf
    assert metrics.mutual_information(np.array([[1e-200, 0.0], [0.0, 1.0]])) < 1e-190


@pytest.mark.parametrize("size", [1, 3])
def test_one_possible_value_has_nothing_to_hide(size: int) -> None:
    joint = np.zeros((size, 2))
    joint[0] = [0.25, 0.75]
    for name in ("information_privacy", "inference_privacy", "identifiability"):
        assert getattr(metrics, name)(joint) == 0
    assert metrics.mutual_information(joint) == 0


def test_joints_are_written_out() -> None:
    """Two sensors that are the two halves of G: each alone says nothing, together all."""
    cells = np.zeros((2, 2, 2, 2))
    for first in range(2):
        for second in range(2):
            cells[first, first ^ second, first, second] = 0.25
    joint = joint_of_cells(cells)
    assert metrics.information_privacy(metrics.private_outcomes(joint)) == math.inf
    for sensor in range(2):
        alone = cells.sum(axis=(0, 3 - sensor))
        assert metrics.information_privacy(alone) == 0
        reading = metrics.reading_outcomes(joint, sensor, np.eye(2))
        assert reading.tolist() == [[0.5, 0], [0, 0.5]]
    assert metrics.mutual_information(metrics.public_outcomes(joint)) == pytest.approx(math.log(2))


@settings(deadline=None)
@given(st.data())
def test_outcomes_of_a_network_are_those_of_each_cell(data) -> None:
    prior = data.draw(rows(1, 4)).reshape(2, 2)
    tables = [data.draw(rows(4, 3)).reshape(2, 2, 3) for _ in range(2)]
    maps = [data.draw(rows(3, 2)) for _ in range(2)]
    said = joint_of_independent_sensors(prior, tables).after(maps)
    found = metrics.private_outcomes(said).reshape(2, 2, 2)
    for g in range(2):
        for first in range(2):
            for second in range(2):
                expected = sum(
                    Fraction(float(prior[h, g]))
                    * sum(
                        Fraction(float(tables[0][h, g, x])) * Fraction(float(maps[0][x, first]))
                        for x in range(3)
                    )
                    * sum(
                        Fraction(float(tables[1][h, g, x])) * Fraction(float(maps[1][x, second]))
                        for x in range(3)
                    )
                    for h in range(2)
                )
                assert found[g, first, second] == pytest.approx(float(expected), abs=1e-15)
    public = metrics.public_outcomes(said)
    assert public.sum() == pytest.approx(1)
    assert np.allclose(public.sum(axis=0), metrics.private_outcomes(said).sum(axis=0))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.array([[0.5, 0.6]]), r"a sum is 0.1 away from 1"),
        (np.array([[1.5, -0.5]]), "not a probability"),
        (np.array([[math.nan, 1.0]]), "not a probability"),
        (np.array([0.5, 0.5]), r"shape \(2,\)"),
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
    ],
)
def test_what_is_no_distribution_is_refused(wrong, words) -> None:
    for measure in (
        metrics.information_privacy,
        metrics.inference_privacy,
        metrics.identifiability,
        metrics.mutual_information,
        metrics.local_privacy,
        metrics.maximal_leakage,
    ):
        with pytest.raises(MappingError, match=words):
            measure(wrong)


def test_nothing_possible_is_refused() -> None:
    with pytest.raises(MappingError, match="one of them true"):
        metrics.maximal_leakage(np.eye(2), np.array([False, False]))
