"""Regimes: rows told apart by G and period, and the guard over every mixture of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.regime_mixtures import worst_of_mixtures

from precompute.mapping.achieved import achieved
from precompute.mapping.epic import design_epic
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import Joint
from precompute.mapping.metrics import inference_privacy, regime_privacy
from precompute.mapping.regimes import MOST_REGIMES, comparisons, periods, regimes
from precompute.mapping.row_generation import information_rows
from precompute.mapping.shipped_maps import ship
from precompute.mapping.solution import Architecture, Budgets, Options
from precompute.mapping.two_stage import design_mapping

VALUE_OF = (0, 0, 0, 1, 1)


def days(seed: int, *, value_of: tuple[int, ...] = VALUE_OF, sizes=(4, 3), classes=4) -> Joint:
    """Readings that follow G in another way in each regime; H goes with the first sensor."""
    random = np.random.default_rng(seed)
    count = classes * len(value_of)
    private = np.tile(np.arange(len(value_of)), classes)
    tables = tuple(random.dirichlet(np.ones(size) * 0.7, count) for size in sizes)
    public = (tables[0][:, 0] + 0.3 * random.random(count) > 0.4).astype(np.intp)
    public[:2] = (0, 1)
    weights = random.dirichlet(np.ones(count))
    values = max(value_of) + 1
    assert values >= 2
    return Joint(weights, public, private, tables, 2, len(value_of), value_of)


def said(joint: Joint, maps) -> np.ndarray:
    """(R, N) p(z|r)."""
    cells = joint.after(maps).outcomes().sum(axis=0).reshape(joint.privates, -1)
    return cells / cells.sum(axis=1, keepdims=True)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_no_mixture_of_regimes_tells_more_than_the_metric_and_corners_reach_it(seed) -> None:
    joint = days(seed, value_of=(0, 0, 1, 1, 2), classes=2)
    random = np.random.default_rng(seed)
    maps = tuple(random.dirichlet(np.ones(2), size) for size in joint.sizes)
    told = regime_privacy(joint.after(maps).outcomes().sum(axis=0).reshape(5, -1), joint.value_of)
    found = worst_of_mixtures(said(joint, maps).tolist(), joint.value_of, 30, seed)
    assert found <= told * (1 + 1e-9)
    assert found >= told - 1e-6
    assert achieved(joint, maps).across == pytest.approx(told, rel=1e-12)


def test_one_regime_for_each_value_is_inference_privacy() -> None:
    joint = days(3, value_of=(0, 1))
    cells = joint.outcomes().sum(axis=0).reshape(2, -1)
    assert regime_privacy(cells, (0, 1)) == pytest.approx(inference_privacy(cells), rel=1e-12)


def test_regimes_of_probability_zero_do_not_count_and_impossible_symbols_bound_nothing() -> None:
    cells = np.array([[0.2, 0.1], [0.0, 0.0], [0.3, 0.4]])
    told = regime_privacy(cells, (0, 0, 1))
    assert told == pytest.approx(max(math.log((2 / 3) / (3 / 7)), math.log((4 / 7) / (1 / 3))))
    assert math.isinf(regime_privacy(np.array([[0.2, 0.1], [0.3, 0.0], [0.2, 0.2]]), (0, 0, 1)))


def test_rows_hold_exactly_where_every_ratio_of_different_values_does() -> None:
    random = np.random.default_rng(5)
    for _ in range(100):
        tensor = random.dirichlet(np.ones(60)).reshape(5, 4, 3)
        one = random.dirichlet(np.ones(2) * 20, 3)
        cells = (tensor @ one).reshape(5, -1)
        given_regime = cells / cells.sum(axis=1, keepdims=True)
        budget = max(
            float(np.log(given_regime[a] / given_regime[b]).max()) for a, b in comparisons(VALUE_OF)
        )
        for limit, holds in ((budget * 1.001, True), (budget * 0.999, False)):
            rows = information_rows(tensor, limit, VALUE_OF)
            assert rows.shape == (12 * 4, 3)
            assert bool(np.all(rows @ one <= 0)) is holds


@pytest.mark.parametrize("architecture", ["direct", "ill", "lip", "information", "epic"])
def test_designs_keep_the_budget_in_every_mixture(architecture: Architecture) -> None:
    joint, budgets = days(11), Budgets(0.4, 1.5)
    if architecture == "information":
        budgets = Budgets(0.4)
    options = Options(starts=4, sweeps=20)
    found = (
        design_epic(joint, budgets, options)
        if architecture == "epic"
        else design_mapping(joint, budgets, architecture, options)
    )
    shipped = ship(joint, found, budgets)
    worst = worst_of_mixtures(said(joint, shipped.maps).tolist(), VALUE_OF, 200, 0)
    assert worst <= 0.4 + 1e-6  # priors of the oracle are 1e-9 from 0 and 1
    assert shipped.achieved.across == pytest.approx(worst, abs=1e-5)
    assert shipped.achieved.across <= 0.4 + 1e-9
    # Something is told, and the averages of the regimes promise no less.
    assert shipped.achieved.public_error < shipped.achieved.public_chance
    assert shipped.achieved.information <= shipped.achieved.across
    assert shipped.of_private.shape[0] == 2


def test_a_design_for_the_average_breaks_the_budget_in_some_regime() -> None:
    joint = days(11)
    average = design_mapping(
        joint.without_regimes(), Budgets(0.4, 1.5), "direct", Options(starts=4, sweeps=20)
    )
    assert average.achieved.information <= 0.4 + 1e-9
    assert average.achieved.across is None
    assert worst_of_mixtures(said(joint, average.maps).tolist(), VALUE_OF, 0, 0) > 0.5


def test_beyond_the_outcomes_that_are_looked_at_the_bound_is_above(monkeypatch) -> None:
    joint = days(2)
    maps = tuple(np.random.default_rng(0).dirichlet(np.ones(2) * 5, size) for size in joint.sizes)
    exact = achieved(joint, maps).across
    monkeypatch.setattr("precompute.mapping.achieved.MOST_OUTCOMES", 1)
    found = achieved(joint, maps)
    assert not found.information_exact
    assert exact <= found.across <= sum(found.local) + 1e-12


def test_the_stand_in_does_not_know_regimes_and_is_refused() -> None:
    with pytest.raises(MappingError, match=r"regimes: found 2 nodes.*leave regimes out"):
        design_mapping(days(1), Budgets(0.4, 1.0), "direct", Options(constraint="surrogate"))


def test_rows_are_numbered_by_value_and_period() -> None:
    private = np.array([0, 0, 1, 1, 0, 1, 0, 0])
    period = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    found = regimes(private, period, least=1)
    assert found.value_of == (0, 0, 0, 1, 1)
    assert found.number.tolist() == [0, 0, 3, 4, 1, 4, 2, 2]
    assert (found.periods, found.joined) == (3, 0)


def test_pairs_of_few_rows_join_their_neighbours_of_the_same_value() -> None:
    private = np.repeat([0, 1, 0, 1, 0], [40, 3, 2, 40, 40])
    period = np.repeat([0, 0, 1, 1, 2], [40, 3, 2, 40, 40])
    found = regimes(private, period, least=30)
    # G = 0: 40, 2 + 40; G = 1: 3 + 40.
    assert found.value_of == (0, 0, 1)
    assert np.bincount(found.number).tolist() == [40, 42, 43]
    assert found.joined == 2


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=60))
def test_groups_keep_order_and_have_enough_rows(rows) -> None:
    private = np.array([g for g, _ in rows])
    period = np.array([p for _, p in rows])
    found = regimes(private, period, least=4)
    counts = np.bincount(found.number, minlength=len(found.value_of))
    for value in set(private.tolist()):
        ours = [n for n, g in enumerate(found.value_of) if g == value]
        assert len(ours) == 1 or min(counts[ours]) >= 4
        order = [
            (p, n) for p, n, g in zip(period, found.number, private, strict=True) if g == value
        ]
        assert [n for _, n in sorted(order)] == sorted(n for _, n in order)
    assert all(found.value_of[n] == g for n, g in zip(found.number, private, strict=True))


def test_too_many_regimes_are_refused() -> None:
    private = np.tile([0, 1], 40 * 40)
    period = np.repeat(np.arange(40), 80)
    with pytest.raises(MappingError, match=rf"found 80 pairs.*at most {MOST_REGIMES}.*longer"):
        regimes(private, period)


def test_periods_are_of_local_time() -> None:
    times = np.array([0.0, 86_399.0, 86_400.0, 3 * 86_400.0])
    assert periods(times, 86_400.0, 0.0).tolist() == [0, 0, 1, 2]
    assert periods(times, 86_400.0, 3600.0).tolist() == [0, 1, 1, 2]
