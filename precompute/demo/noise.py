"""The demonstration's prior class and noise: fitted where the trace allows, default otherwise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from agent.formats.designs import StreamDesign
from agent.formats.quantities import SECONDS, format_duration
from precompute.build_bundle import build_bundle
from precompute.demo.material import Material
from precompute.design_config import load_requests
from precompute.errors import PriorError
from precompute.priors.fit_report import FitSettings
from precompute.priors.prior_class import KernelRange, PriorClass, load_prior
from precompute.priors.prior_text import prior_yaml
from precompute.priors.trace_fitting import fit_traces

LONGEST_SECONDS = 14 * SECONDS["d"]
DEFAULT_STEPS = 3
FIT_WINDOWS = 12
PRIOR_NAME = "prior.yaml"
DESIGN_NAME = "design.yaml"
BUNDLE_NAME = "location.bundle"

DEFAULT_PRIOR = """# A default class: this trace is too short to fit one.
prior:
  kernels:
    - {{family: rbf, lengthscale: [{shortest} s, 14 d]}}
    - {{family: matern32, lengthscale: [{shortest} s, 14 d]}}
"""

DESIGN = """# The demonstration's design. Make its bundle again with:
#   sfumato design design.yaml -o location.bundle
designs:
  - name: location
    kind: stream
    axes: [east, north]
    secret: {radius: 50 m}
    noise: {std: 200 m}
    prior: prior.yaml
"""

BarMaker: TypeAlias = Callable[[int], Callable[[int], None]]


@dataclass(frozen=True, slots=True)
class FittedClass:
    """The class to protect against, and in a sentence where it comes from."""

    prior: PriorClass
    origin_of_it: str


def fit_class(material: Material, folder: Path, bar: BarMaker) -> FittedClass:
    """Lengthscales from the trace up to 14 days; a stated default when it is too short to fit.

    Writes ``prior.yaml`` into ``folder``.
    """
    settings = FitSettings(
        families=("rbf", "matern32"),
        every_seconds=float(material.every_seconds),
        max_windows=FIT_WINDOWS,
        longest_seconds=LONGEST_SECONDS,
        every_family=True,
    )
    path = folder / PRIOR_NAME
    try:
        report = fit_traces(material.traces, settings, progress=_shown_on(bar))
    except PriorError as error:
        shortest = DEFAULT_STEPS * material.every_seconds
        path.write_text(DEFAULT_PRIOR.format(shortest=shortest), encoding="utf-8")
        return FittedClass(
            load_prior(path),
            f"the default, lengthscales from {format_duration(shortest)} to "
            f"{format_duration(LONGEST_SECONDS)}, because this trace cannot be fitted ({error})",
        )
    path.write_text(prior_yaml(report), encoding="utf-8")
    summary = report.summary(report.winner)
    least = min(member.lengthscale.low for member in report.prior.ranges() if not member.period)
    low, middle, high = (format_duration(float(f"{x:.3g}")) for x in summary.lengthscale)
    return FittedClass(
        report.prior,
        f"fitted to {len(report.windows)} windows and axes of the trace; {report.winner} fits most "
        f"of them best, with lengthscales of {middle} (quartiles {low} and {high}). The class "
        f"takes from {format_duration(least)} (the {100 * settings.low_quantile:.0f} % quantile of "
        "the fitted lengthscales, or one step where that is longer) up to "
        f"{format_duration(LONGEST_SECONDS)}, because a "
        "recording seldom shows how long people stay",
    )


def _shown_on(bar: BarMaker) -> Callable[[int, int], None]:
    show: Callable[[int], None] | None = None

    def progress(done: int, total: int) -> None:
        nonlocal show
        show = show or bar(total)
        show(done)

    return progress


def design_noise(folder: Path) -> tuple[StreamDesign, str]:
    """The design and its bundle's SHA-256.

    Writes ``design.yaml`` beside ``prior.yaml`` in ``folder``, and the bundle it describes.
    """
    path = folder / DESIGN_NAME
    path.write_text(DESIGN, encoding="utf-8")
    bundle = build_bundle(load_requests(path))
    (folder / BUNDLE_NAME).write_bytes(bundle.content)
    (built,) = bundle.designs
    assert isinstance(built.design, StreamDesign)
    return built.design, bundle.sha256


def independent_information(prior: PriorClass, step_seconds: float, variance: float) -> float:
    """K of independent noise for the class's longest smooth kernel, observed for ever (1/m²).

    Γ = s²I gives K₀ = Σ_j ρ(jΔ)²/s² over all readings, with ρ the kernel's correlation: the
    variance-free limit, summed here until the correlation has died away.
    """
    worst = 0.0
    for member in prior.kernels:
        if not isinstance(member, KernelRange) or member.family not in (
            "rbf",
            "matern32",
            "matern52",
        ):
            continue
        ratio = member.lengthscale.high / step_seconds
        worst = max(worst, ratio * SQUARED_CORRELATION_INTEGRALS[member.family])
    # For lengthscales of many steps the sum is the integral to machine precision.
    return worst / variance


# ∫ρ(t/l)² dt/l over the whole line. rbf: ∫e^{−x²} = √π. matern32, a = √3: 2∫(1+ax)²e^{−2ax} =
# 5/(2a). matern52, a = √5: 2∫(1+ax+a²x²/3)²e^{−2ax} = 63/(18a), see the tests.
SQUARED_CORRELATION_INTEGRALS = {
    "rbf": math.sqrt(math.pi),
    "matern32": 5.0 / (2.0 * math.sqrt(3.0)),
    "matern52": 63.0 / (18.0 * math.sqrt(5.0)),
}
