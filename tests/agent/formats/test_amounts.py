"""Amounts for people: rounded up, never past a limit that they keep, one form for one figure."""

import math
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.formats.amounts import amount_in_words, limit_in_words
from agent.formats.odds import certainty_in_words, odds_in_words

NATS = st.floats(0, 50, allow_subnormal=False)


@pytest.mark.parametrize(
    ("amount", "limit", "words"),
    [
        (0.4375, 0.5, "0.4375"),
        (0.43750000000000006, 0.5, "0.4375"),
        (math.log(5 / 3), None, "0.5109"),
        (1.0986122886681098, 1.125, "1.0987"),
        (0.15953124, None, "0.1596"),
        (0.15953124, 0.15955, "0.15954"),  # four digits would pass it
        (0.19999999, 0.2, "0.2000"),
        (0.2, 0.2, "0.2000"),
        (0.2000001, 0.2, "0.2001"),  # above it, and shown above it
        (4.7e-10, 1e-9, "4.7e-10"),
        (4.7123e-10, 1e-9, "4.72e-10"),
        (9.9999e-10, 1e-9, "1e-09"),
        (0.00099951, 0.001, "0.001"),
        (0.000123459, 0.0001234595, "0.000123459"),
        (0.0, 1e-9, "0.0000"),
        (22.18070977791825, None, "22.1808"),
    ],
    ids=range(16),
)
def test_worked_amounts(amount, limit, words):
    assert amount_in_words(amount, limit) == words


@given(NATS, NATS)
@example(1e-9, 1e-9)
def test_what_is_shown_is_no_less_and_keeps_the_limit_that_is_kept(amount, limit):
    shown = Decimal(amount_in_words(amount, limit))
    assert shown >= Decimal(repr(amount)) * (1 - Decimal("1e-11"))
    assert shown <= Decimal(repr(amount)) * Decimal("1.01") + Decimal("0.0001")
    if amount < limit * (1 - 1e-11):
        assert shown <= Decimal(limit_in_words(limit))
    if amount > limit * (1 + 1e-11):
        assert shown > Decimal(limit_in_words(limit))


def test_a_limit_is_shown_as_it_was_asked_for():
    shown = [limit_in_words(limit) for limit in (0.5, 1.0, 1e-9, 0.12345678, 0.1 + 0.2)]
    assert shown == ["0.5", "1", "1e-09", "0.12345678", "0.3"]


@pytest.mark.parametrize(
    ("epsilon", "odds", "certainty"),
    [
        (0.0, "1", "50 %"),
        (4.7e-10, "1 + 4.71e-10", "50 % + 1.18e-08 %"),
        (1e-9, "1 + 1.01e-09", "50 % + 2.5e-08 %"),
        (0.0001, "1.000101", "50.0025 %"),
        (0.005, "1.00502", "50.125 %"),
        (0.0099, "1.00995", "50.248 %"),
        (0.4375, "1.55", "61 %"),
        (1.0, "2.72", "74 %"),
        (10.0, "22,100", "99.996 %"),
    ],
    ids=range(9),
)
def test_small_odds_are_shown_by_what_they_are_above_even_ones(epsilon, odds, certainty):
    assert (odds_in_words(epsilon), certainty_in_words(epsilon)) == (odds, certainty)
