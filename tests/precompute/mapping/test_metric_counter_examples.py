"""Where no metric implies the other: hand-worked examples, and the page that shows them."""

import math
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from fakes.documents import section_of
from oracles import mapping_metrics as oracle

from precompute.mapping import metrics

PAGE = section_of("docs/mapping-metrics.md", "### Examples that break the missing ones")
BITS = range(2)
PAIRS = list(product(BITS, BITS))
F = Fraction


def diagonal(*values):
    """p(g, x) where the reading is the hypothesis."""
    return [
        [v if row == column else F(0) for column, v in enumerate(values)]
        for row in range(len(values))
    ]


# Name -> p(g, x), p(z|x).
EXAMPLES = {
    "the other half": (
        [[F(1, 4) if a == g else F(0) for a, _ in PAIRS] for g in BITS],
        [[F(b == z) for z in BITS] for _, b in PAIRS],
    ),
    "a rare tell-tale": (
        diagonal(F(1, 2), F(1, 2)),
        [[F(1), F(0)], [F(999, 1000), F(1, 1000)]],
    ),
    "a rare reading": (diagonal(F(999, 1000), F(1, 1000)), [[F(1), F(0)], [F(0), F(1)]]),
    "nothing said": (diagonal(F(9, 10), F(1, 10)), [[F(1)], [F(1)]]),
    "two keys": (
        [[F(1, 4) if a ^ b == g else F(0) for a, b in PAIRS] for g in BITS],
        [[F(x == z) for z in PAIRS] for x in PAIRS],
    ),
    "two witnesses": (
        [[F(1, 2) if (a, b) == (g, g) else F(0) for a, b in PAIRS] for g in BITS],
        [
            [(F(3, 4) if a == y else F(1, 4)) * (F(3, 4) if b == z else F(1, 4)) for y, z in PAIRS]
            for a, b in PAIRS
        ],
    ),
    "twice is reached": (
        diagonal(F(2, 3), F(1, 3)),
        [[F(19, 20), F(1, 20)], [F(4, 5), F(1, 5)]],
    ),
}

# What hand gives: (metric, value) in the order of the columns of the page.
COLUMNS = (
    "information privacy of G",
    "inference DP of G",
    "I(G;Z)",
    "LDP of X",
    "identifiability of X",
    "maximal leakage of X",
    "I(X;Z)",
)
LN2 = math.log(2)
BY_HAND = {
    "the other half": (0, 0, 0, math.inf, math.inf, LN2, LN2),
    "a rare tell-tale": (
        math.inf,
        math.inf,
        # p(z = 1) = 1/2000, and it tells; z = 0 is 1/1999 from even.
        LN2 / 2000 + (math.log(2000 / 1999) + 0.999 * math.log(1998 / 1999)) / 2,
        math.inf,
        math.inf,
        math.log(1.001),
        LN2 / 2000 + (math.log(2000 / 1999) + 0.999 * math.log(1998 / 1999)) / 2,
    ),
    "a rare reading": (
        math.inf,
        math.inf,
        -0.999 * math.log(0.999) - 0.001 * math.log(0.001),
        math.inf,
        math.inf,
        LN2,
        -0.999 * math.log(0.999) - 0.001 * math.log(0.001),
    ),
    "nothing said": (0, 0, 0, 0, math.log(9), 0, 0),
    "two keys": (math.inf, math.inf, LN2, math.inf, math.inf, 2 * LN2, 2 * LN2),
    "two witnesses": (
        math.log(5),
        math.log(9),
        # 11 and 00 (together 5/8) leave odds of 9 to 1, 01 and 10 leave even ones.
        5 / 8 * (LN2 + 0.9 * math.log(0.9) + 0.1 * math.log(0.1)),
        math.log(9),
        math.log(9),
        # Of the possible readings 00 and 11: 9/16 twice, 3/16 twice.
        math.log(3 / 2),
        5 / 8 * (LN2 + 0.9 * math.log(0.9) + 0.1 * math.log(0.1)),
    ),
    "twice is reached": (
        LN2,
        2 * LN2,
        # p(z = 1) = 1/10.
        (19 / 30) * math.log(19 / 18)
        + (1 / 30) * math.log(1 / 2)
        + (4 / 15) * math.log(8 / 9)
        + (1 / 15) * LN2,
        2 * LN2,
        # At z = 0: 19/30 against 4/15.
        math.log(19 / 8),
        math.log(1.15),
        (19 / 30) * math.log(19 / 18)
        + (1 / 30) * math.log(1 / 2)
        + (4 / 15) * math.log(8 / 9)
        + (1 / 15) * LN2,
    ),
}


def spread(prior, table):
    """p(g, z) and p(x, z) in fractions."""
    symbols = range(len(table[0]))
    private = [[sum(p * table[x][z] for x, p in enumerate(row)) for z in symbols] for row in prior]
    cells = [sum(column) for column in zip(*prior, strict=True)]
    return private, [[p * table[x][z] for z in symbols] for x, p in enumerate(cells)]


def exactly(name):
    prior, table = EXAMPLES[name]
    private, reading = spread(prior, table)
    possible = [sum(row) > 0 for row in reading]
    return (
        oracle.information_privacy(private),
        oracle.inference_privacy(private),
        oracle.mutual_information(private),
        oracle.local_privacy(table),
        oracle.identifiability(reading),
        oracle.maximal_leakage(table, possible),
        oracle.mutual_information(reading),
    )


def measured(name):
    prior, table = (np.array(rows, dtype=float) for rows in EXAMPLES[name])
    private, reading = prior @ table, prior.sum(axis=0)[:, None] * table
    return (
        metrics.information_privacy(private),
        metrics.inference_privacy(private),
        metrics.average_leakage(private),
        metrics.local_privacy(table),
        metrics.identifiability(reading),
        metrics.maximal_leakage(table, prior.sum(axis=0) > 0),
        metrics.mutual_information(reading),
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_is_as_worked_out_by_hand(name: str) -> None:
    for column, hand, exact, found in zip(
        COLUMNS, BY_HAND[name], exactly(name), measured(name), strict=True
    ):
        assert exact == pytest.approx(hand, abs=1e-15, rel=1e-12), column
        assert found == pytest.approx(hand, abs=1e-15, rel=1e-12), column


def test_each_sensor_alone_of_the_two_keys_says_nothing_of_g() -> None:
    for sensor in BITS:
        alone = [
            [sum(F(1, 4) for a, b in PAIRS if a ^ b == g and (a, b)[sensor] == z) for z in BITS]
            for g in BITS
        ]
        assert oracle.information_privacy(alone) == 0
        assert metrics.information_privacy(np.array(alone, dtype=float)) == 0


def test_each_of_the_two_witnesses_keeps_ln_3() -> None:
    one = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    assert oracle.local_privacy(one) == pytest.approx(math.log(3))
    assert oracle.information_privacy(EXAMPLES["two witnesses"][0]) == math.inf
    together = spread(*EXAMPLES["two witnesses"])[0]
    assert oracle.information_privacy(together) > math.log(3)


def test_the_page_shows_these_numbers() -> None:
    lines = re.findall(r"^\| (.+?) \|$", PAGE, re.M)
    shown = {cells[0]: cells[1:] for cells in (line.split(" | ") for line in lines)}
    header = lines[0]
    assert tuple(header.split(" | ")[1:]) == COLUMNS
    assert list(shown)[1:] == list(EXAMPLES)
    for name in EXAMPLES:
        expected = ["unbounded" if v == math.inf else f"{v:.4f}" for v in exactly(name)]
        assert shown[name] == expected
