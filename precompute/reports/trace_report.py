"""The report of a demonstration: one page that says what an attacker learns, and what not.

Pure: findings in, HTML out. It shows the raw trace, so it is as private as the trace itself.
"""

import math

from agent.formats.odds import certainty_in_words, epsilon_at_distance, odds_in_words
from agent.formats.quantities import format_duration
from precompute.audit.published_trace import Findings
from precompute.reports.page import bullets, heading, paragraph, render_page, table
from precompute.reports.trace_findings import TraceReport
from precompute.reports.trace_pictures import one_journey, one_stay, whole_trace

DISTANCES_METRES = (10.0, 25.0, 50.0, 100.0)


def render_report(report: TraceReport) -> str:
    """The page."""
    parts = [
        paragraph(f"sfumato · {report.title}", "brand"),
        heading(1, headline(report)),
        paragraph(_lead(report), "lead"),
        paragraph(_privacy(report), "private"),
        whole_trace(report),
        *_details(report),
        *_figures(report),
        *_guarantee(report),
        *_making(report),
    ]
    return render_page(f"sfumato: {report.title}", "\n".join(part for part in parts if part))


def headline(report: TraceReport) -> str:
    """The result in a sentence; also what the command line says at the end."""
    independent, shaped = report.independent.findings, report.shaped.findings
    noise = f"{_metres(report.deviation)} of noise"
    if independent is None or shaped is None:
        return f"{noise}, published: this trace is too short to be attacked."
    text = (
        f"With the same {noise}, an attacker finds this trace to within "
        f"{_metres(independent.expected.best)} if the noise is independent, and to within "
        f"{_metres(shaped.expected.best)} if it is sfumato's"
    )
    if report.stays:
        text += (
            "; the place of the longest stay to "
            f"{_metres(independent.stays[0].expected_weighted)} and "
            f"{_metres(shaped.stays[0].expected_weighted)}"
        )
    return text + "."


def _lead(report: TraceReport) -> str:
    seconds = report.times_seconds.size * report.step_seconds
    length = f"{seconds / 3600:,.1f} hours" if seconds >= 5400 else f"{seconds / 60:,.0f} minutes"
    return (
        f"{report.times_seconds.size:,} positions, one every "
        f"{format_duration(report.step_seconds)} ({length}), went from a recording "
        "through the agent and an MQTT broker to a subscriber on this machine. Beside them: the "
        "same positions with noise of the same size drawn afresh each time, which is what most "
        "tools do. The attacker is a Gaussian-process smoother that knows the noise exactly. "
        "Figures are averages over draws of the noise; the pictures show one draw."
    )


def _privacy(report: TraceReport) -> str:
    if report.made_up:
        return (
            "This week is made up: nobody lived it, so this page may be shared. A report on your "
            "own trace shows where you were: keep that one to yourself."
        )
    return (
        "This page is private. It shows the raw trace so that you can judge the result: do not "
        "share it. What may be shared is published.csv."
    )


def _details(report: TraceReport) -> list[str]:
    found = []
    journey = one_journey(report)
    if journey:
        found += [heading(2, "One journey, close up"), journey]
    found.append(heading(2, "Hours in one place"))
    stay = one_stay(report)
    if stay:
        found += [
            paragraph(
                "Independent noise averages away: the longer somebody stays, the better their "
                "place is known. Noise that lasts as long as the stay does not."
            ),
            stay,
        ]
    else:
        found.append(
            paragraph("This trace holds no stay of two hours, so there is none to average.")
        )
    return found


def _figures(report: TraceReport) -> list[str]:
    independent, shaped = report.independent.findings, report.shaped.findings
    if independent is None or shaped is None or report.plan is None:
        return [heading(2, "In metres"), paragraph("Too few releases in a row to attack.")]
    window = format_duration((report.plan.count - 1) * report.step_seconds)
    rows = [
        _row("Noise on each axis", "standard deviation", *2 * (_metres(report.deviation),)),
        _error_row("As published", "", "released", independent, shaped),
        _error_row(
            "Attacker, tuned",
            "one kernel for all windows, the one that truth shows to be best",
            "tuned",
            independent,
            shaped,
        ),
        _error_row(
            "Attacker, honest",
            "in each window the likeliest kernel, from the release alone",
            "honest",
            independent,
            shaped,
        ),
        _error_row(
            "Attacker, clairvoyant",
            "in each window the kernel that happens to come nearest to the truth",
            "clairvoyant",
            independent,
            shaped,
        ),
        [
            ("Floor for the class", "see below for what it covers"),
            (_metres(report.independent.floor), "can be reached"),
            (_metres(report.shaped.floor), "cannot be passed"),
        ],
        *_stay_rows(report, independent, shaped),
        _row(
            "Length of the path",
            "published over true, under way",
            *(_ratio(f.path_ratio) for f in (independent, shaped)),
        ),
    ]
    return [
        heading(2, "In metres"),
        table(("Mean distance from the truth", "independent", "sfumato"), rows),
        paragraph(
            f"Attacks on {_count(len(report.plan.windows), 'window')} of {window}, with "
            f"{independent.kernels} kernels. Large: on average over draws of the noise. Small: "
            "in the one draw that was published. Places in a stay: the mean weighted as the "
            "noise's covariance makes best.",
            "note",
        ),
    ]


def _stay_rows(
    report: TraceReport, independent: Findings, shaped: Findings
) -> list[list[tuple[str, str]]]:
    rows = []
    for k, group in enumerate(report.stays):
        one = independent.stays[k]
        name = "Longest stay" if len(group) == 1 else f"All {len(group)} stays there"
        cells = [
            (_metres(f.stays[k].expected_weighted), f"here {_metres(f.stays[k].weighted_mean)}")
            for f in (independent, shaped)
        ]
        rows.append([(name, f"mean place over {one.hours:.1f} h"), *cells])
    return rows


def _guarantee(report: TraceReport) -> list[str]:
    promise = report.design.guarantee
    rows = []
    for metres in DISTANCES_METRES:
        epsilon = epsilon_at_distance(promise.rho, promise.delta, metres / promise.radius)
        rows.append(
            [
                (f"{metres:.0f} m", ""),
                (f"× {odds_in_words(epsilon)}", f"ε = {epsilon:.2f}"),
                (certainty_in_words(epsilon), ""),
            ]
        )
    return [
        heading(2, "What is guaranteed"),
        paragraph(
            "Take any moment, the true place at it, and any other place that far away. Whatever "
            "an observer believed beforehand, everything that is ever published, before and after "
            "that moment, moves the odds between the two by at most the factor given, except with "
            "probability "
            f"{promise.delta:g}. It holds for the whole stream however long it runs, at any rate "
            "and with any gaps, for an observer who may know any mean (routes, places, "
            "timetables of the average) and who takes the deviations from it for one of:"
        ),
        bullets(promise.prior),
        table(("Two places", "odds change at most", "from 50 % to at most"), rows),
        paragraph(
            f"The floor of {_metres(report.shaped.floor)} in the table above follows from the same "
            "number K, information per axis. Whoever has a prior of the class, spread over "
            "σ metres keeps a variance of at least 1/(K + 1/σ²), and the floor is the mean "
            "distance that goes with it when σ is large. No method comes nearer on average over "
            "traces drawn from that prior. It says nothing about one given trace, about an "
            "observer who knew the place to within the floor beforehand, or about a prior outside "
            "the class. For independent noise of the same size the class's longest "
            f"lengthscale leaves {_metres(report.independent.floor)}."
        ),
        heading(2, "What is not"),
        bullets(
            (
                "An observer who knows the road map or a timetable, follows somebody else who "
                "travels along, or sees another source of the same position: no kernel holds that.",
                "Secrets that last longer than the longest lengthscale of the class, such as a "
                "home observed for months, or a daily routine repeated for weeks, unless the "
                "class names it (family damped_periodic).",
                "A prior outside the class: the bound weakens with the distance from it.",
                "That a position was published, and when.",
                "Larger differences: two ends of a town can be told apart, as they should be.",
            )
        ),
    ]


def _making(report: TraceReport) -> list[str]:
    design = report.design
    promise = design.guarantee
    components = "; ".join(
        f"{c.family} {math.sqrt(c.variance):.0f} m over {_span(c.timescale_seconds)}"
        + (f" every {_span(c.period_seconds)}" if c.period_seconds else "")
        for c in design.components
    )
    arrived = f"{report.times_seconds.size:,} of {report.expected:,} expected releases arrived."
    return [
        heading(2, "How this was made"),
        bullets(
            (
                *report.notes,
                f"Prior class: {report.class_origin}.",
                f"Noise: {components}. Information at most {promise.worst_information:.4g} per "
                f"square metre and axis; ρ = {promise.rho:.4g} at {promise.radius:g} m.",
                f"{arrived} The true position of a release is the last fix before it.",
                f"Independent noise: simulated in memory with seed {report.seed}, never published. "
                "sfumato's noise comes from the operating system's entropy and cannot be repeated.",
                "Beside this page: published.csv, prior.yaml, design.yaml, location.bundle and "
                "agent.yaml. Try `sfumato inspect location.bundle`.",
            )
        ),
    ]


def _error_row(
    name: str, small: str, which: str, independent: Findings, shaped: Findings
) -> list[tuple[str, str]]:
    cells = [
        (_metres(getattr(f.expected, which)), f"here {_metres(getattr(f.errors, which))}")
        for f in (independent, shaped)
    ]
    return [(name, small), *cells]


def _row(name: str, small: str, left: str, right: str) -> list[tuple[str, str]]:
    return [(name, small), (left, ""), (right, "")]


def _metres(value: float) -> str:
    # With a blank that no line is broken at.
    return f"{value:,.0f}\u00a0m" if value >= 10 else f"{value:.1f}\u00a0m"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _ratio(value: float) -> str:
    return "–" if math.isnan(value) else f"× {value:.1f}" if value < 100 else f"× {value:,.0f}"


def _span(seconds: float) -> str:
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
