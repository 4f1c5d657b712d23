"""The margin against its wager written out over a grid of ratios and priors; G of three values."""

import math

import numpy as np
import pytest
from oracles import margin_by_grid as oracle

from precompute.mapping import margin
from precompute.mapping.learning import Rows
from precompute.mapping.margin import implied_by_local, information_upper, mean_interval

PRIOR = np.array([0.5, 0.3, 0.2])
SENSORS = (
    np.array([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6]]),
    np.array([[0.7, 0.3], [0.5, 0.5], [0.3, 0.7]]),
)
WIDE = (np.array([[1.0, 0.0], [0.5, 0.5], [0.1, 0.9]]), np.array([[0.9, 0.1], [0.2, 0.8]]))
BETWEEN = (np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]), np.array([[0.7, 0.3], [0.4, 0.6]]))
BLOCK = 600.0


def draw(blocks, chance, *, stay=0.7, most=7):
    """Blocks of 1 to ``most`` rows; within one G and readings each last, between them nothing."""
    times, private, cells = [], [], ([], [])
    for block in range(blocks):
        g = chance.choice(3, p=PRIOR)
        x = [chance.choice(table.shape[1], p=table[g]) for table in SENSORS]
        for row in range(chance.integers(1, most + 1)):
            if row and chance.random() > stay:  # G and readings are drawn anew: still stationary
                g = chance.choice(3, p=PRIOR)
                x = [chance.choice(table.shape[1], p=table[g]) for table in SENSORS]
            times.append(block * BLOCK + row)
            private.append(g)
            for column, cell in zip(cells, x, strict=True):
                column.append(cell)
    return Rows(
        np.array(times, dtype=float),
        np.zeros(len(times), np.intp),
        np.array(private),
        tuple(np.array(column) for column in cells),
        (3, 2),
        2,
        3,
    )


def exact(maps):
    """epsilon_I by the definition."""
    said = [table @ one for table, one in zip(SENSORS, maps, strict=True)]
    both = np.einsum("g,gy,gz->gyz", PRIOR, *said)
    posterior = both / both.sum(axis=0)
    return float(np.abs(np.log(posterior / PRIOR[:, None, None])).max())


@pytest.mark.parametrize(
    ("maps", "seed", "blocks", "sides"),
    [
        (WIDE, 1, 120, (1, -1)),
        (BETWEEN, 2, 120, (1, -1)),
        (BETWEEN, 3, 120, (-1,)),
        (BETWEEN, 5, 15, (1, -1)),  # so few that some ratios are not refused but impossible
    ],
)
def test_the_bound_is_the_furthest_ratio_that_the_wager_does_not_refuse(
    maps, seed, blocks, sides, monkeypatch
):
    risk = 0.2
    if 1 not in sides:  # which otherwise reach further
        monkeypatch.setattr(margin._Tests, "_refuses_above", lambda *_: True)
    rows = draw(blocks, np.random.default_rng(seed))
    upper = information_upper(maps, rows, block_seconds=BLOCK, confidence=1 - risk).upper
    assert upper < implied_by_local(maps)
    outcomes, number = oracle.statements(maps, 3)
    assert number == 2 * 3 * 4
    bar = number / (0.9 * risk)
    furthest = 0.0
    for g in range(3):
        shares = oracle.block_means([int(v == g) for v in rows.private], rows.times_seconds, BLOCK)
        ends = oracle.prior_kept(shares, 0.1 * risk / 3, steps=400)
        low, high = mean_interval(np.array(shares), 0.1 * risk / 3)
        assert ends[0] - 1 / 400 <= low <= ends[0] < ends[1] <= high <= ends[1] + 1 / 400
        for z in outcomes:
            for side in sides:
                for pi in (low, *np.linspace(*ends, 3), high):
                    for epsilon in (*np.linspace(0.1, 1.5, 8) * upper, upper - 1e-4, upper + 1e-4):
                        if epsilon > furthest and oracle.kept(
                            maps,
                            rows,
                            z,
                            g,
                            theta=math.exp(side * epsilon),
                            pi=pi,
                            seconds=BLOCK,
                            bar=bar,
                        ):
                            furthest = epsilon
    assert furthest == pytest.approx(upper - 1e-4, abs=1e-9)


@pytest.mark.parametrize("theta", [0.5, 0.9, 1.1, 1.6])
def test_the_capital_moves_with_ratio_and_prior_as_the_proof_says(theta):
    """Above 1 it rises with both, below 1 it falls with both; checked where both are possible."""
    rows = draw(15, np.random.default_rng(4))
    f, m, most = oracle.likelihoods(BETWEEN, rows, (0, 1))
    side = 1 if theta > 1 else -1

    def capital(theta, pi):
        def payoff(here, value):
            return side * ((theta * pi - here) * value + m * (here - pi))

        lost = -min(payoff(here, value) for here in (0, 1) for value in (m, most))
        assert lost > 0
        row = [payoff(int(g == 1), value) for g, value in zip(rows.private, f, strict=True)]
        return oracle.capital(oracle.block_means(row, rows.times_seconds, BLOCK), lost)

    for pi in (0.1, 0.2, 0.3):
        for other_theta, other_pi in ((theta * 1.05, pi), (theta, pi + 0.05)):
            step = capital(other_theta, other_pi) - capital(theta, pi)
            assert side * step > 0


@pytest.mark.parametrize("maps", [WIDE, BETWEEN])
def test_with_three_values_and_rows_that_last_it_fails_no_more_often_than_it_says(maps):
    chance = np.random.default_rng(8)
    runs, risk, truth = 40, 0.2, exact(maps)
    allowed = risk * runs + 3 * math.sqrt(runs * risk * (1 - risk))
    failed = 0
    for _ in range(runs):
        rows = draw(60, chance)
        found = information_upper(maps, rows, block_seconds=BLOCK, confidence=1 - risk)
        failed += found.upper < truth
    assert failed <= allowed


def test_maps_that_vary_by_rounding_only_are_bounded_by_that():
    hair = np.array([[0.5, 0.5], [0.5 + 1e-13, 0.5 - 1e-13], [0.5, 0.5]])
    maps = (hair, np.full((2, 2), 0.5))
    rows = draw(20, np.random.default_rng(9))
    found = information_upper(maps, rows, block_seconds=BLOCK, confidence=0.9)
    assert 0 < found.upper == implied_by_local(maps) < 1e-12
