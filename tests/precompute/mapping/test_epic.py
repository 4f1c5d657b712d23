import math

import numpy as np
import pytest
from oracles.epic_by_enumeration import gram, least_risk, outcomes, risk, worst_ratio

from precompute.mapping.epic import classifier_error, design_epic
from precompute.mapping.epic_block import block_of, improve
from precompute.mapping.epic_block import risk as block_risk
from precompute.mapping.epic_classifier import certify, train
from precompute.mapping.epic_kernel import factor, features, products, values
from precompute.mapping.epic_starts import start_maps
from precompute.mapping.epic_training import EpicSettings, classifiers, kernel_factor, signs_of
from precompute.mapping.errors import MappingError
from precompute.mapping.joint import Joint, joint_of_rows
from precompute.mapping.solution import Budgets, Options

QUICK = Options(starts=4, sweeps=12)


def log(seed: int, rows: int = 60, sensors: int = 2, cells: int = 3, publics: int = 2):
    """(H, G, cells) of rows that tell of both."""
    random = np.random.default_rng(seed)
    h = random.integers(publics, size=rows)
    g = np.where(random.random(rows) < 0.4, h % 2, random.integers(2, size=rows))
    found = []
    for t in range(sensors):
        heard = h + (g if t % 2 else 0) + random.normal(size=rows)
        found.append(
            np.searchsorted(np.quantile(heard, np.arange(1, cells) / cells), heard, side="right")
        )
    return h, g, found


def joint_of(h: np.ndarray, g: np.ndarray, found: list[np.ndarray], cells: int = 3) -> Joint:
    return joint_of_rows(h, g, found, [cells] * len(found), publics=int(h.max()) + 1, privates=2)


def plain(h: np.ndarray, found: list[np.ndarray]) -> list[tuple[int, tuple[int, ...]]]:
    """Rows for the oracle: +1 for h = 0."""
    cells = zip(*(one.tolist() for one in found), strict=True)
    return [(1 if own == 0 else -1, row) for own, row in zip(h.tolist(), cells, strict=True)]


def random_maps(seed: int, sensors: int, cells: int = 3, symbols: int = 2) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.dirichlet(np.ones(symbols), size=cells) for _ in range(sensors)]


@pytest.mark.parametrize(("sensors", "symbols", "bandwidth"), [(1, 2, 0.7), (3, 2, 1.3), (2, 3, 1)])
def test_the_factored_kernel_is_the_double_sum(sensors, symbols, bandwidth) -> None:
    random = np.random.default_rng(1)
    said = [random.dirichlet(np.ones(symbols), size=5) for _ in range(sensors)]
    every = outcomes(sensors, symbols)
    chances = np.array(
        [
            [math.prod(q[i, s] for q, s in zip(said, z, strict=True)) for z in every]
            for i in range(5)
        ]
    )
    k = gram(sensors, symbols, bandwidth)
    lower = factor(symbols, bandwidth)
    phi = features(said, lower)
    np.testing.assert_allclose(phi @ phi.T, chances @ k @ chances.T, atol=1e-12)
    v = random.normal(size=len(every))
    np.testing.assert_allclose(chances @ values(v, lower, sensors).ravel(), phi @ v, atol=1e-12)


@pytest.mark.parametrize("loss", ["mean", "each"])
@pytest.mark.parametrize("penalty", [1e-3, 0.1])
def test_the_classifier_reaches_the_least_risk_that_another_solver_finds(loss, penalty) -> None:
    h, g, found = log(3)
    joint, maps = joint_of(h, g, found).merged(), random_maps(4, 2)
    settings = EpicSettings(regulariser=penalty, bandwidth=0.9, loss=loss)
    weights, reached = classifiers(
        joint, joint.after(maps).tables, kernel_factor(joint, 2, settings), settings, None
    )
    asked = least_risk(plain(h, found), maps, 0.9, penalty, loss == "each")
    assert reached == pytest.approx(asked, rel=1e-6)
    f = dict(
        zip(
            outcomes(2, 2),
            values(weights[0], kernel_factor(joint, 2, settings), 2).ravel(),
            strict=True,
        )
    )
    alone = risk(plain(h, found), maps, f, loss == "each")
    assert reached == pytest.approx(alone + penalty / 2 * weights[0] @ weights[0], rel=1e-9)


def test_the_certificate_bounds_the_distance_from_the_optimum() -> None:
    random = np.random.default_rng(5)
    phi = random.normal(size=(40, 6))
    signs = np.where(random.random(40) < 0.5, 1.0, -1.0)
    mass = np.full(40, 1 / 40)
    best = train(phi, signs, mass, 0.01)
    assert best.gap < 1e-9
    for scale in (1e-3, 0.1, 1.0):
        other = certify(phi, signs, mass, 0.01, best.weights + scale * random.normal(size=6))
        assert best.risk < other.risk <= best.risk + other.gap + 1e-12


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize(
    "budgets", [Budgets(), Budgets(0.3, 1.0), Budgets(0.1), Budgets(local=0.5)]
)
def test_a_block_is_no_worse_than_a_fine_grid_of_its_maps(each, budgets) -> None:
    h, g, found = log(6, cells=2)
    joint = joint_of(h, g, found, 2).merged()
    maps = start_maps(joint, budgets, 2, 1, np.random.default_rng(0))
    said = joint.after(maps).tables
    scores = np.random.default_rng(7).normal(size=(1, 2, 2))
    block = block_of(
        joint,
        1,
        distinct=tuple(np.unique(joint.tables[1], axis=0, return_inverse=True)),
        others=products(said[:1], joint.weights.size),
        signs=signs_of(joint),
        scores=scores,
        each=each,
        budgets=budgets,
    )
    chosen, bound = improve(block, maps[1])
    f = {(a, b): float(scores[0, a, b]) for a in range(2) for b in range(2)}
    rows = plain(h, found)
    assert block_risk(block, chosen) == pytest.approx(risk(rows, [maps[0], chosen], f, each))
    assert block_risk(block, chosen) <= block_risk(block, maps[1]) + 1e-12
    assert worst_ratio(rows, g.tolist(), [maps[0], chosen]) <= budgets.information + 1e-9
    grid = [k / 25 for k in range(26)]
    least = math.inf
    for p in grid:
        for q in grid:
            one = np.array([[p, 1 - p], [q, 1 - q]])
            low, high = one.min(axis=0), one.max(axis=0)
            if np.all(high <= math.exp(min(budgets.local, 50)) * low + 1e-15) or math.isinf(
                budgets.local
            ):
                held = [maps[0], np.maximum(one, 1e-300)]
                if math.isinf(budgets.information) or (
                    worst_ratio(rows, g.tolist(), held) <= budgets.information
                ):
                    least = min(least, block_risk(block, one))
    began = block_risk(block, maps[1])
    # Blocks stop a tenth of their progress short.
    assert block_risk(block, chosen) <= least + 0.15 * max(began - least, 0.0) + 1e-5
    assert bound <= least + 1e-6 + 1e-4 * least  # budgets shrink by a hair


@pytest.mark.parametrize("loss", ["mean", "each"])
@pytest.mark.parametrize(
    "budgets", [Budgets(0.2, 1.0), Budgets(0.2), Budgets(local=0.7), Budgets()]
)
def test_budgets_hold_by_enumeration_and_the_error_is_never_above_chance(loss, budgets) -> None:
    h, g, found = log(8, sensors=3)
    joint = joint_of(h, g, found)
    options = QUICK if loss == "each" else Options(starts=2, sweeps=6)
    solution = design_epic(joint, budgets, options, EpicSettings(loss=loss))
    for one in solution.maps:
        np.testing.assert_allclose(one.sum(axis=1), 1.0, atol=1e-12)
        if not math.isinf(budgets.local):
            assert np.all(one.max(axis=0) <= math.exp(budgets.local) * one.min(axis=0) + 1e-9)
    if not math.isinf(budgets.information):
        held = worst_ratio(plain(h, found), g.tolist(), list(solution.maps))
        assert held <= budgets.information + 1e-9
        assert solution.achieved.information == pytest.approx(held, abs=1e-9)
    assert solution.achieved.public_error < solution.achieved.public_chance
    assert list(solution.found) == sorted(solution.found)
    assert solution.found[0] == pytest.approx(solution.achieved.public_error, abs=1e-9)
    assert solution.outcomes.shape == (2, 2, 2, 2)
    rule = classifier_error(joint, solution.maps, EpicSettings(loss=loss))
    assert rule >= solution.achieved.public_error - 1e-12


def test_the_same_seed_gives_the_same_maps() -> None:
    joint = joint_of(*log(9))
    one, other = (design_epic(joint, Budgets(0.3, 1.0), QUICK) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one.maps, other.maps, strict=True))


def test_more_values_of_the_public_hypothesis_and_more_symbols() -> None:
    h, g, found = log(10, rows=120, cells=4, publics=3)
    joint = joint_of(h, g, found, 4)
    solution = design_epic(joint, Budgets(0.3, 2.0), Options(symbols=3, starts=3, sweeps=8))
    assert solution.outcomes.shape == (3, 3, 3)
    assert solution.achieved.information <= 0.3 + 1e-9
    assert max(solution.achieved.local) <= 2.0 + 1e-9
    assert solution.achieved.public_error < solution.achieved.public_chance


@pytest.mark.parametrize("budgets", [Budgets(0.0), Budgets(local=0.0)])
def test_a_budget_of_zero_is_the_constant_map_and_a_warning(budgets) -> None:
    solution = design_epic(joint_of(*log(11)), budgets, QUICK)
    assert all(np.ptp(one, axis=0).max() == 0 for one in solution.maps)
    assert solution.achieved.information < 1e-12
    assert "constant" in solution.warnings[0]


def test_too_many_outcomes_and_bad_settings_are_refused() -> None:
    joint = joint_of(*log(12, sensors=4))
    with pytest.raises(MappingError, match="more than"):
        design_epic(joint, Budgets(), Options(symbols=60))
    with pytest.raises(MappingError, match="regulariser"):
        EpicSettings(regulariser=0.0)
