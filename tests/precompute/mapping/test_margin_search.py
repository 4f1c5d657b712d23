"""The model's budget is lowered until the log confirms the one asked for."""

import itertools

import pytest

from precompute.mapping.margin import Margin
from precompute.mapping.margin_search import DESIGNS, TRIES, confirmed_design


def search(upper_of, asked=0.2):
    """With maps that are their own budget."""
    seen = []

    def bound(budget, confidence):
        seen.append(confidence)
        return Margin(upper_of(budget), confidence, 5, 50, by_local=False)

    return confirmed_design(asked, lambda budget: budget, bound, 0.9), seen


def test_a_budget_that_the_log_confirms_at_once_is_taken():
    found, seen = search(lambda budget: budget)
    assert (found.shipped, found.kept, len(seen)) == (0.2, True, 1)
    assert seen == [pytest.approx(1 - 0.1 / DESIGNS)]
    assert found.margin.confidence == 0.9


def test_otherwise_the_largest_budget_tried_that_is_confirmed():
    found, seen = search(lambda budget: budget + 0.07)
    assert found.kept
    assert found.margin.upper <= 0.2
    assert 0.13 - 0.2 / 2 ** (TRIES - 1) < found.shipped <= 0.13
    assert len(seen) == len(found.tried) == TRIES


def test_where_nothing_is_confirmed_the_design_is_that_of_the_budget_asked_for():
    found, _ = search(lambda budget: budget + 0.3)
    assert (found.shipped, found.kept, found.margin.upper) == (0.2, False, 0.5)


def test_a_budget_of_zero_is_tried_once():
    found, seen = search(lambda budget: 0.1, asked=0.0)
    assert (found.kept, len(seen)) == (False, 1)


def test_the_risk_covers_every_design_that_any_course_of_verdicts_could_lead_to():
    """Later designs are picked by the rows that judge them: a union over tries would not do."""
    budgets, risks = set(), set()
    for verdicts in itertools.product([False, True], repeat=TRIES):
        course = iter(verdicts)

        def design(budget):
            budgets.add(budget)
            return budget

        def bound(budget, confidence, course=course):
            risks.add(round(1 - confidence, 12))
            return Margin(0.0 if next(course) else 1.0, confidence, 5, 50, by_local=False)

        confirmed_design(0.2, design, bound, 0.9)
    (each,) = risks
    assert len(budgets) == DESIGNS > TRIES
    assert each * len(budgets) <= 0.1 + 1e-9


def test_verdicts_that_point_at_the_design_that_is_wrongly_confirmed_do_not_break_the_confidence():
    """The worst case: at most one bound fails, and the verdicts on the others lead to it."""
    asked, confidence = 0.8, 0.6
    wrong = runs = 0
    for number in range(1000):
        failing = number / 1000  # a uniform number, so that design k fails in its own stretch

        def bound(budget, each, failing=failing):
            k = round(budget / asked * DESIGNS) - 1
            fails = k * (1 - each) <= failing < (k + 1) * (1 - each)
            target = (int(failing / (1 - each)) + 1) / DESIGNS * asked
            upper = 0.0 if fails or budget < target else 1.0
            return Margin(upper, each, 5, 50, by_local=False)

        found = confirmed_design(asked, lambda budget: budget, bound, confidence)
        k = round(found.shipped / asked * DESIGNS) - 1
        each = (1 - confidence) / DESIGNS
        wrong += found.kept and k * each <= failing < (k + 1) * each
        runs += 1
    assert 0.9 * (1 - confidence) * runs <= wrong <= (1 - confidence) * runs
