"""A fit's result as text: the table on the terminal, the JSON object, and ``prior.yaml``."""

from typing import Any

from agent.formats.output_files import text_kind
from agent.formats.quantities import SECONDS, format_duration
from precompute.priors.fit_report import FamilySummary, FitReport
from precompute.priors.prior_class import KernelRange, Range

FIRST_LINE = "# Prior class fitted by sfumato fit; use it in a design with: prior: prior.yaml"
PRIOR_FILE = text_kind("a prior by `sfumato fit`", "# Prior class fitted by sfumato fit")

_TITLES = {
    "rbf": "RBF",
    "matern32": "Matérn-3/2",
    "matern52": "Matérn-5/2",
    "periodic": "periodic",
}


def fit_table(report: FitReport) -> str:
    """The distribution of lengthscales, one line for each family and axis."""
    lines = [
        f"{len(report.windows) // len(report.axes)} windows of at most "
        f"{report.settings.window_points} points from {report.segments} segments, "
        f"median step {format_duration(report.step_seconds)}"
        + (f"; {report.still} windows without movement left out" if report.still else ""),
        "",
        f"{'kernel':<11}{'axis':<7}{'lengthscale (quartiles)':<32}"
        f"{'lengthscale/step':<22}{'loglik/point':>13}{'best in':>9}",
    ]
    lines += [_row(summary) for summary in report.summaries]
    if any(summary.family == "periodic" for summary in report.summaries):
        lines.append("(a periodic lengthscale is relative to the period and has no unit)")
    lines += ["", f"class: {'; '.join(report.prior.describe())}"]
    return "\n".join(lines)


def _row(summary: FamilySummary) -> str:
    if summary.period is None:
        lengths = " / ".join(_about(seconds) for seconds in summary.lengthscale)
        effective = " / ".join(f"{x:.3g}" for x in summary.effective)
    else:
        lengths = " / ".join(f"{x:.2g}" for x in summary.lengthscale)
        effective = f"period {_about(summary.period)}"
    share = f"{summary.wins}/{summary.windows}"
    return (
        f"{_TITLES[summary.family]:<11}{summary.axis:<7}{lengths:<32}{effective:<22}"
        f"{summary.likelihood_per_point:>13.3f}{share:>9}"
    )


def fit_json(report: FitReport) -> dict[str, Any]:
    """The same, and the fits of each trace, as plain values; times in seconds."""
    return {
        "sources": list(report.sources),
        "step_seconds": report.step_seconds,
        "segments": report.segments,
        "windows": len(report.windows) // len(report.axes),
        "windows_without_movement": report.still,
        "families": [_summary_json(summary) for summary in report.summaries],
        "winner": report.winner,
        "fitted_low": report.fitted_low,
        "fitted_high": report.fitted_high,
        "prior": list(report.prior.describe()),
        "origin": (
            None
            if report.origin is None
            else {"latitude": report.origin[0], "longitude": report.origin[1]}
        ),
        "fits": [
            {
                "trace": window.trace,
                "axis": window.axis,
                "points": window.points,
                "step_seconds": window.step_seconds,
                "lengthscales": {fit.family: fit.lengthscale for fit in window.fits},
                "log_likelihoods": {fit.family: fit.log_likelihood for fit in window.fits},
            }
            for window in report.windows
        ],
    }


def _summary_json(summary: FamilySummary) -> dict[str, Any]:
    return {
        "family": summary.family,
        "axis": summary.axis,
        "windows": summary.windows,
        "lengthscale": list(summary.lengthscale),
        "effective_lengthscale": list(summary.effective),
        "period": summary.period,
        "log_likelihood_per_point": summary.likelihood_per_point,
        "wins": summary.wins,
        "at_bound": summary.at_bound,
    }


def prior_yaml(report: FitReport) -> str:
    """A file for ``prior: prior.yaml`` in a design; the same fit gives the same bytes."""
    members = list(report.prior.ranges())
    best = report.summary(report.winner)
    share = round(100 * report.settings.low_quantile)
    lines = [
        FIRST_LINE,
        f"# From {len(report.windows)} fits (windows x axes) at a median step of "
        f"{format_duration(report.step_seconds)}.",
        f"# family: {_TITLES[report.winner]} explains most of them best ({best.wins} of "
        f"{best.windows}).",
    ]
    if members[0].damping is None:
        lines += _smooth_comments(report, members[0], share)
    if report.settings.every_family:
        lines.append("# The other families' ranges are made in the same way from their own fits.")
    if members[-1].damping is not None:
        lines += _routine_comments(report, share)
    lines.append("# variance: none is written, so a stream design holds for every variance.")
    if report.origin is not None:
        latitude, longitude = report.origin
        lines += [
            "# A public origin for the agent's configuration, rounded to half a degree; any round",
            "# place in the region does as well:",
            f"#   origin: {{latitude: {latitude:.1f}, longitude: {longitude:.1f}}}",
        ]
    lines += ["prior:", "  kernels:", *(f"    - {{{_fields(member)}}}" for member in members)]
    return "\n".join(lines) + "\n"


def _fields(member: KernelRange) -> str:
    if member.damping is None or member.period is None:
        return f"family: {member.family}, lengthscale: {_times(member.lengthscale)}"
    return (
        f"family: {member.family}, lengthscale: {_numbers(member.lengthscale)}, "
        f"period: {_exact(member.period)}, damping: {_times(member.damping)}"
    )


def _smooth_comments(report: FitReport, member: KernelRange, share: int) -> list[str]:
    quartiles = ", ".join(_about(x) for x in report.summary(report.winner).lengthscale)
    low = f"{share} % of the fitted lengthscales are shorter than {_about(report.fitted_low)}"
    if member.lengthscale.low > report.fitted_low:
        low += ", raised to one step, below which a lengthscale cannot be told from white noise"
    high = f"{share} % are longer than {_about(report.fitted_high)}"
    lines = [f"# lengthscale: quartiles {quartiles}.", f"#   from: {low}.", f"#   to: {high}."]
    if member.lengthscale.high > 1.1 * report.fitted_high:
        lines.append(
            "#   A log hardly shows how long its owner stays in one place; "
            f"{_exact(member.lengthscale.high)} covers it."
        )
    return lines


def _routine_comments(report: FitReport, share: int) -> list[str]:
    routine = report.summary("periodic")
    assert routine.period is not None
    quartiles = ", ".join(f"{x:.2g}" for x in routine.lengthscale)
    return [
        f"# A routine shows, of period {_about(routine.period)} as fitted: averaging over its",
        "# repeats is an attack of its own, so it is in the class.",
        f"#   lengthscale: relative to the period; quartiles {quartiles}; the range leaves out",
        f"#   {share} % on either side.",
        "#   damping: assumed, not fitted: over how long a routine drifts away.",
    ]


def _times(span: Range) -> str:
    if span.is_point:
        return _exact(span.low)
    return f"[{_exact(span.low)}, {_exact(span.high)}]"


def _numbers(span: Range) -> str:
    return f"{span.low:g}" if span.is_point else f"[{span.low:g}, {span.high:g}]"


def _exact(seconds: float) -> str:
    """Text that reads back as the very number (format_duration may round)."""
    for unit in ("d", "h", "min", "s", "ms"):
        amount = seconds / SECONDS[unit]
        text = f"{amount:.4g}"
        if amount >= 1 and float(text) * SECONDS[unit] == seconds:
            return f"{text} {unit}"
    return f"{seconds!r} s"


def _about(seconds: float) -> str:
    """Two significant digits in the largest unit that leaves one or more."""
    for unit in ("d", "h", "min", "s"):
        if seconds >= SECONDS[unit]:
            return f"{float(f'{seconds / SECONDS[unit]:.2g}'):g} {unit}"
    return f"{seconds * 1e3:.2g} ms"
