import dataclasses
import html.parser
import math

import numpy as np
import pytest

from agent.formats.designs import Component, Guarantee, StreamDesign
from precompute.audit.noise_covariance import IndependentNoise, StreamNoise
from precompute.audit.published_trace import examine, plan_windows
from precompute.reports.trace_findings import Side, TraceReport
from precompute.reports.trace_report import headline, render_report

STEP = 60.0
DESIGN = StreamDesign(
    "location",
    ("east", "north"),
    "m",
    0.01,
    (Component("matern32", 2e4, 600.0), Component("matern12", 2e4, 86400.0)),
    Guarantee(("RBF of any lengthscale",), "each", 50.0, 1e-4, 1e-4, 1, 0.125, 1.98, 1e-3, True),
)


def make_report(count=300, *, plan=True):
    rng = np.random.default_rng(2)
    times = np.arange(count) * STEP
    truth = np.column_stack([np.maximum(0.0, times - 9000.0) * 1.2, np.zeros(count)])
    windows = plan_windows(times, STEP) if plan else None
    groups = ((slice(0, 120),), (slice(0, 120), slice(121, 140))) if plan else ()
    sides = []
    for noise in (IndependentNoise(4e4), StreamNoise(DESIGN)):
        released = truth + np.linalg.cholesky(noise(times)) @ rng.normal(size=truth.shape)
        found = (
            examine(times, truth, released, noise, plan=windows, stays=groups, rng=rng)
            if windows
            else None
        )
        sides.append(Side(released, found, 125.0))
    return TraceReport(
        title="walk",
        made_up=False,
        times_seconds=times,
        truth=truth,
        step_seconds=STEP,
        independent=sides[0],
        shaped=sides[1],
        plan=windows,
        journey=slice(150, 200) if plan and count >= 200 else None,
        stays=groups,
        design=DESIGN,
        class_origin="stated",
        notes=("a note",),
        seed=1,
        expected=count,
    )


class Checker(html.parser.HTMLParser):
    """Every tag that opens closes, and none can run or fetch."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attributes):
        assert tag not in {"script", "link", "img", "iframe", "object", "use"}
        for name, _ in attributes:
            assert name not in {"href", "src", "onload", "onerror"}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check(page):
    checker = Checker()
    checker.feed(page)
    assert checker.open == []


@pytest.fixture(scope="module")
def report():
    return make_report()


def test_the_page_is_well_formed_and_has_every_section(report):
    page = render_report(report)
    check(page)
    for words in (
        "In metres",
        "What is guaranteed",
        "What is not",
        "How this was made",
        "road map",
        "One journey",
        "Hours in one place",
        "do not share",
    ):
        assert words in page
    assert page.count("<svg") == 8


def test_the_headline_gives_what_attackers_reach_on_average(report):
    said = headline(report).replace("\u00a0", " ")
    assert f"{report.independent.findings.expected.best:.0f} m if the noise is independent" in said
    assert f"{report.shaped.findings.expected.best:.0f} m if it is sfumato's" in said


def test_a_title_cannot_break_out_of_the_page(report):
    page = render_report(dataclasses.replace(report, title="<script>alert(1)</script>\"'&"))
    check(page)
    assert "&lt;script&gt;" in page


def test_what_is_missing_is_said(report):
    short = render_report(make_report(count=5, plan=False))
    check(short)
    assert "Too few releases in a row" in short
    assert "too short to be attacked" in short
    no_stay = render_report(dataclasses.replace(report, stays=()))
    check(no_stay)
    assert "no stay of two hours" in no_stay


def test_a_made_up_trace_may_be_shared(report):
    page = render_report(dataclasses.replace(report, made_up=True))
    assert "nobody lived it" in page
    assert "do not share" not in page


def test_odds_in_the_table_are_those_of_the_design(report):
    # ρ = 0.125 at 50 m: at 100 m it is 0.5, ε = 0.5 + 2√(0.5 log 1000).
    epsilon = 0.5 + 2 * math.sqrt(0.5 * math.log(1000.0))
    assert f"ε = {epsilon:.2f}" in render_report(report)
