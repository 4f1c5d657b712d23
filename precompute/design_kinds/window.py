"""``kind: window``: noise for a stated number of readings at even steps.

    times: {count: 50, step: 1 s}
    secrets: all          # every single reading (default), or index lists: [[24, 25], [40]]
    structure: free       # or block: noise on the secrets' readings independent of the rest
    protect: {radius: 1, rho: [0.5, 1.0]}   # a list: each listed secret has its own, in their order
    floor: 0              # least noise under everything, as a multiple of the prior's covariance

Several kernels in the prior are a robust class: the promise covers each of them. A range of
lengthscales is taken at some points (:mod:`precompute.design_kinds.window_prior`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agent.formats.designs import (
    MAX_FACTOR_ENTRIES,
    MAX_WINDOW_ROWS,
    FloatArray,
    WindowDesign,
)
from agent.formats.documents import Section, count, list_of, number, one_of
from agent.formats.errors import FormatError, shown
from agent.formats.quantities import format_duration, parse_duration
from precompute.cip.window_design import design_window
from precompute.cip.window_evaluation import worst_ratio
from precompute.cip.window_problem import window_problem
from precompute.cip.window_solution import WindowSolution
from precompute.cip.working_precision import rounding_variance
from precompute.design_kinds.request import BuiltDesign, Report
from precompute.design_kinds.window_check import (
    lifted_to,
    stretched_to,
    worst_information,
)
from precompute.design_kinds.window_exchange import exchanged
from precompute.design_kinds.window_prior import WindowPrior, scaled_priors, window_prior
from precompute.design_promise import Promise
from precompute.errors import DesignError

# The factor has a column for each reading unless the prior is degenerate, which shows only after
# the work; so what a bundle holds of a square factor is the limit, and known before it.
MAX_ROWS = min(MAX_WINDOW_ROWS, math.isqrt(MAX_FACTOR_ENTRIES))
MAX_SECRETS = 10_000
MAX_FLOOR = 1e6
Structure = Literal["free", "block"]


@dataclass(frozen=True, slots=True)
class WindowRequest:
    """A window as asked for; ``secrets`` None means every single reading."""

    promise: Promise
    rows: int
    step_ms: int
    secrets: tuple[tuple[int, ...], ...] | None
    structure: Structure
    floor: float

    @property
    def name(self) -> str:
        """Of the design."""
        return self.promise.name

    def build(self, report: Report) -> BuiltDesign:
        """Closed forms where they are exact, else the iterative solver; then the last check."""
        report("building the prior's covariance")
        prior = window_prior(
            self.promise.prior, self._times(), variance_needed=not self._variance_free
        )
        report("choosing the noise")
        solution, worst, limit = self._solve(prior, report)
        if solution.factor.size > MAX_FACTOR_ENTRIES:
            raise DesignError(
                f"design {shown(self.promise.name)}: a factor of {solution.factor.shape} numbers; "
                f"a bundle takes {MAX_FACTOR_ENTRIES}; lower the count of readings"
            )
        sentences = prior.sentences
        if solution.fragile:
            sentences = (*sentences[:-1], f"{sentences[-1]}; {solution.fragile}")
        design = WindowDesign(
            name=self.promise.name,
            axes=self.promise.axes,
            unit=self.promise.unit,
            grid=self.promise.grid,
            step_ms=self.step_ms,
            factor=solution.factor,
            guarantee=self.promise.guarantee(
                prior=(*sentences, self._error_in_words()),
                secrets=self._secrets_in_words(),
                information_limit=max(limit, worst),
                worst_information=worst,
                power=solution.noise_power,
                variance_free=self._variance_free,
            ),
        )
        warnings = tuple(note.removeprefix("warning: ") for note in solution.notes)
        if prior.checked:
            warnings += (
                f"the range of the prior was checked at {len(prior.checked)} kernels; what lies "
                "between them is not proved (kind: stream proves it)",
            )
        return BuiltDesign(design, _figures(solution), _words(solution), warnings)

    @property
    def _variance_free(self) -> bool:
        """Noise in proportion to the prior gives K = 1/noise variance, whatever the prior's own."""
        whole = self.secrets is None and self.structure == "free"
        return whole and self.promise.prior.is_point

    def _solve(self, prior: WindowPrior, report: Report) -> tuple[WindowSolution, float, float]:
        """The solution, its worst information over everything, and the limit it was made for."""
        limits = self.promise.information_limits
        limit = min(limits, default=self.promise.information_limit)
        weights = tuple(one / limit for one in limits) if limit is not None else ()
        axes = len(self.promise.axes)
        secrets: Literal["all"] | tuple[tuple[int, ...], ...] = (
            "all" if self.secrets is None else self.secrets
        )
        solution, designed = exchanged(
            prior.designed,
            prior.checked,
            lambda priors: design_window(
                priors,
                secrets,
                mse=self.promise.power if limit is None else None,
                information_limit=limits or limit,
                floor=self.floor,
                structure=self.structure,
                covariance_at=self._covariance_at(),
                progress=lambda stage, gap: report(f"{stage}, gap {100 * gap:.2g} %"),
            ),
            lambda matrix, noise: worst_ratio(
                window_problem(matrix, secrets, weights=weights or None), noise
            ),
        )
        several = axes > 1 and any(len(secret) > 1 for secret in self.secrets or ())
        error = rounding_variance(self.promise.grid)
        priors = designed + prior.checked
        report("checking the noise")
        if not (prior.checked or several or weights):
            solution, worst = lifted_to(limit, priors, self.secrets, solution, error)
        elif limit is None:
            worst = worst_information(priors, self.secrets, solution.noise_cov, axes, error)
            solution = solution.restated(1.0, worst, None)
        else:
            solution, worst = stretched_to(
                limit, priors, self.secrets, solution, axes, error, weights
            )
        if weights:
            # The promise in numbers is that of the secret that may be told most about.
            noise = solution.noise_cov
            worst = worst_information(priors, self.secrets, noise, axes, error)
            limit = max(limits)
        return solution, worst, worst if limit is None else limit

    def _covariance_at(self) -> Callable[[float], FloatArray] | None:
        """The prior's covariances for a multiple of the assumed lengthscales, if it has any."""
        times = self._times()
        if scaled_priors(self.promise.prior, times[:1], 1.0) is None:
            return None

        def scaled(factor: float) -> FloatArray:
            found = scaled_priors(self.promise.prior, times, factor)
            assert found is not None
            return found

        return scaled

    def _times(self) -> FloatArray:
        return np.arange(self.rows, dtype=np.float64) * (self.step_ms / 1000)

    def _error_in_words(self) -> str:
        """What keeps the promise in exact arithmetic: docs/theory.md, "Working precision"."""
        error = math.sqrt(rounding_variance(self.promise.grid))
        unit = "" if self.promise.unit == "1" else f" {self.promise.unit}"
        return (
            f"in each case with readings that carry an independent error of {error:.2g}{unit} or "
            "more, which rounding alone brings"
        )

    def _secrets_in_words(self) -> str:
        span = f"of {self.rows} readings {format_duration(self.step_ms / 1000)} apart"
        if self.secrets is None:
            return f"every single reading {span}"
        named = ["+".join(str(i) for i in secret) for secret in self.secrets[:8]]
        more = f" and {len(self.secrets) - 8} more" if len(self.secrets) > 8 else ""
        rhos = self.promise.rhos
        if rhos:
            named = [f"{name} (rho {rho:.4g})" for name, rho in zip(named, rhos, strict=False)]
            more += f" (rho {min(rhos[8:]):.4g} to {max(rhos[8:]):.4g})" if more else ""
        return (
            f"reading {', '.join(named)}{more} {span} (counted from 0; "
            "those joined by + together, each moving by up to the radius)"
        )


def read(section: Section, promise: Promise) -> WindowRequest:
    """The keys of a window.

    Raises:
        FormatError: anything missing, unknown, out of range or without its unit.
    """
    times = section.section("times")
    rows = times.take("count", count)
    if rows > MAX_ROWS:
        raise times.fail(
            "count",
            f"found {rows}; expected at most {MAX_ROWS}: a bundle holds {MAX_FACTOR_ENTRIES:,} "
            "numbers of count x count; use kind: stream, or a longer step",
        )
    step_ms = times.take("step", _milliseconds)
    times.close()
    secrets = section.take_or("secrets", _secrets, None)
    _require_inside(section, secrets or (), rows)
    if promise.rhos and len(promise.rhos) != len(secrets or ()):
        raise section.fail(
            "protect",
            f"found {len(promise.rhos)} rho for "
            f"{'secrets: all' if secrets is None else f'{len(secrets)} secrets'}; expected one "
            "number, or one for each listed secret, in their order",
        )
    structure = section.take_or("structure", one_of("free", "block"), "free")
    floor = section.take_or("floor", _nonnegative, 0.0)
    section.close()
    return WindowRequest(
        promise, rows, step_ms, secrets, "block" if structure == "block" else "free", floor
    )


def _secrets(value: object) -> tuple[tuple[int, ...], ...] | None:
    if value == "all":
        return None
    if not isinstance(value, list) or not all(isinstance(one, list) and one for one in value):
        raise FormatError(
            f"found {shown(value)}; expected all, or one or more lists of readings counted from "
            "0, such as [[24, 25], [40]]"
        )
    lists = list_of(list_of(_index))(value)
    if len(lists) > MAX_SECRETS:
        raise FormatError(f"found {len(lists)} secrets; expected at most {MAX_SECRETS}")
    return tuple(tuple(secret) for secret in lists)


def _require_inside(section: Section, secrets: tuple[tuple[int, ...], ...], rows: int) -> None:
    for secret in secrets:
        if max(secret) >= rows:
            raise section.fail(
                "secrets", f"found reading {max(secret)}; expected 0 to {rows - 1}, counted from 0"
            )
        if len(set(secret)) != len(secret):
            raise section.fail(
                "secrets", f"found {shown(list(secret))}; a reading stands twice in it"
            )
    if len({frozenset(secret) for secret in secrets}) != len(secrets):
        raise section.fail("secrets", "a secret is repeated; write it once")


def _index(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FormatError(f"found {shown(value)}; expected indices of readings, counted from 0")
    return value


def _milliseconds(value: object) -> int:
    seconds = parse_duration(value)
    step = round(seconds * 1000)
    if step < 1 or abs(seconds * 1000 - step) > 1e-6 * step:
        raise FormatError(
            f"{shown(value)} is not a whole number of milliseconds; write for example 1 s"
        )
    return step


def _nonnegative(value: object) -> float:
    amount = number(value)
    if not 0 <= amount <= MAX_FLOOR:
        raise FormatError(f"found {amount:g}; expected 0 or more, at most {MAX_FLOOR:g}")
    return amount


def _figures(solution: WindowSolution) -> dict[str, Any]:
    return {
        "information_lower_bound": solution.information_lower_bound,
        "power_lower": solution.power_lower_bound,
        "gap": solution.gap,
        "rank": solution.rank,
        "factor_error": solution.factor_error,
        "seconds": solution.seconds,
    }


def _words(solution: WindowSolution) -> tuple[str, ...]:
    # The gap is a part of what was reached; over the best possible it is a little more.
    over = solution.gap / (1 - solution.gap) if solution.gap < 1 else math.inf
    return (
        f"rank {solution.rank} for {len(solution.factor)} readings; "
        f"the factor gives the covariance to {solution.factor_error:.1g}",
        f"within {100 * over:.2g} % of the best possible (certificate)",
    )
