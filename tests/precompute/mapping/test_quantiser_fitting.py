"""Quantisers from readings: cells of equal frequency, nearest centres, and trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mapping_splits import best_gain
from sklearn.tree import DecisionTreeClassifier

from agent.formats.quantisers import Centres, Cuts
from precompute.mapping.errors import MappingError
from precompute.mapping.outward_ranges import outward_range
from precompute.mapping.quantiser_fitting import (
    METHODS,
    equal_frequency_cuts,
    fit_quantiser,
    kmeans_centres,
)
from precompute.mapping.quantiser_trees import best_split, grow_tree
from precompute.mapping.quantising import cells_of

SMALL = st.integers(0, 6)


def made_up(rows=600, seed=1):
    chance = np.random.default_rng(seed)
    values = chance.normal(size=(rows, 2)).round(2)
    labels = (values[:, 0] + 0.5 * chance.normal(size=rows) > 0.3).astype(np.intp)
    return values, labels


@pytest.mark.parametrize("method", METHODS)
def test_a_whole_log_gets_the_cells_that_the_device_finds(method):
    values, labels = made_up()
    values = values[:, :1] if method == "quantile" else values
    fitted = fit_quantiser(method, values, labels, 7, seed=3)
    cells = cells_of(fitted.quantiser, values)
    assert cells.tolist() == [fitted.quantiser.cell(tuple(row)) for row in values.tolist()]
    assert set(cells.tolist()) == set(range(fitted.quantiser.cells))
    ranges = [outward_range(column) for column in values.T]
    assert list(zip(fitted.low, fitted.high, strict=True)) == ranges


def test_cells_of_equal_frequency_hold_equally_many_rows():
    values = np.random.default_rng(0).normal(size=1600)
    cells = cells_of(Cuts(equal_frequency_cuts(values, 16)), values[:, None])
    assert np.bincount(cells).tolist() == [100] * 16


@given(st.lists(SMALL, min_size=1, max_size=40), st.integers(2, 9))
def test_there_are_as_many_cells_as_different_values_allow(numbers, cells):
    values = np.array(numbers, dtype=float)
    cuts = equal_frequency_cuts(values, cells)
    assert len(cuts) + 1 == min(cells, len(set(numbers)))
    found = cells_of(Cuts(cuts), values[:, None])
    assert len(set(found.tolist())) == len(cuts) + 1  # no cell is empty


@pytest.mark.parametrize("method", METHODS)
def test_fewer_different_values_than_cells_are_said(method):
    values = np.repeat([[1.0], [2.0], [5.0]], 20, axis=0)
    labels = np.repeat([0, 1, 0], 20)
    fitted = fit_quantiser(method, values, labels, 16)
    assert fitted.quantiser.cells == 3
    assert fitted.notes[0].startswith("3 cells instead of 16: ")


def test_a_column_that_never_changes_has_one_cell():
    values = np.ones((50, 1))
    for method in METHODS:
        quantiser = fit_quantiser(method, values, np.arange(50) % 2, 4).quantiser
        assert quantiser.cells == 1
        assert quantiser.cell((7.0,)) == 0


def test_centres_find_clusters_whatever_their_columns_scales_are():
    chance = np.random.default_rng(5)
    middles = np.array([[0, 0], [0, 9000], [7, 0], [7, 9000]])
    values = np.vstack([middle + chance.normal(size=(80, 2)) * [0.3, 300] for middle in middles])
    centres = kmeans_centres(values, 4, seed=2)
    off = np.array(centres.centres)[:, None, :] - middles
    near = np.all(np.abs(off) < [0.15, 150], axis=2)
    assert near.sum(axis=0).tolist() == near.sum(axis=1).tolist() == [1] * 4
    assert centres == kmeans_centres(values, 4, seed=2)
    assert isinstance(centres, Centres)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(SMALL, SMALL, st.integers(0, 2)), min_size=2, max_size=14),
    st.integers(1, 4),
)
def test_a_single_split_is_the_best_there_is(rows, least):
    values = np.array([row[:2] for row in rows], dtype=float)
    labels = np.array([row[2] for row in rows])
    split = best_split(values, labels, least)
    best = best_gain(values.tolist(), labels.tolist(), least)
    assert (split.gain if split else 0.0) == pytest.approx(best, abs=1e-8)
    if split:
        left = int((values[:, split.column] < split.cut).sum())
        assert least <= left <= len(rows) - least


@pytest.mark.parametrize("cells", [2, 5, 12])
def test_trees_grow_as_those_of_scikit_learn(cells):
    values, labels = made_up(900, seed=4)
    tree = grow_tree(values, labels, cells, 20)
    theirs = DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=cells, min_samples_leaf=20, random_state=0
    ).fit(values, labels)
    ours = cells_of(tree, values)
    pairs = set(zip(ours.tolist(), theirs.apply(values).tolist(), strict=True))
    assert len(pairs) == len(set(ours.tolist())) == tree.cells == theirs.get_n_leaves()


def test_every_cell_of_a_tree_keeps_enough_rows():
    values, labels = made_up()
    tree = grow_tree(values, labels, 16, 30)
    assert np.bincount(cells_of(tree, values)).min() >= 30


def test_what_a_method_cannot_do_is_refused():
    values, labels = made_up(50)
    with pytest.raises(MappingError, match="quantile takes one column; found 2"):
        fit_quantiser("quantile", values, labels, 4)
    with pytest.raises(MappingError, match="found 1 cells; expected 2 to 256"):
        fit_quantiser("tree", values, labels, 1)
    with pytest.raises(MappingError, match="no readings"):
        fit_quantiser("tree", np.empty((0, 1)), np.empty(0, np.intp), 4)
    with pytest.raises(MappingError, match="shape"):
        cells_of(Cuts((1.0,)), values)
