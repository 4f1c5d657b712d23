"""``kind: stream``: noise without end (docs/theory.md, "Streams without end").

smooth: true          # prefer components whose paths a map can show
max_states: 24        # state variables an axis, while that costs at most 10 % more power
"""

from dataclasses import dataclass, replace

from agent.formats.designs import MAX_COMPONENTS, StreamDesign
from agent.formats.documents import Section, count, flag
from agent.formats.errors import shown
from precompute.cip.stream_design import StreamOptions, StreamSolution, design_stream
from precompute.cip.stream_pruning import Economy
from precompute.design_kinds.request import BuiltDesign, Report
from precompute.design_promise import Promise
from precompute.errors import DesignError

SECRETS = "every single reading, for ever, at whatever times readings are published"
SUMS = "any sum of these kernels, in any proportion"


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """A stream as asked for."""

    promise: Promise
    options: StreamOptions

    @property
    def name(self) -> str:
        """Of the design."""
        return self.promise.name

    def build(self, report: Report) -> BuiltDesign:
        """Solve for a limit of 1 and scale to what is asked."""
        solution = design_stream(self.promise.prior, 1.0, self.options, report)
        limit = self.promise.information_limit
        if limit is None:
            assert self.promise.power is not None
            solution = solution.for_power(self.promise.power)
        else:
            solution = solution.for_limit(limit)
        if len(solution.components) > MAX_COMPONENTS:
            raise DesignError(
                f"design {shown(self.promise.name)}: takes {len(solution.components)} components; "
                f"a bundle holds {MAX_COMPONENTS}; narrow the class of priors"
            )
        return BuiltDesign(
            self._design(solution), _figures(solution), _words(solution), self._warnings(solution)
        )

    def _design(self, solution: StreamSolution) -> StreamDesign:
        promise = self.promise
        return StreamDesign(
            name=promise.name,
            axes=promise.axes,
            unit=promise.unit,
            grid=promise.grid,
            components=solution.components,
            guarantee=promise.guarantee(
                prior=(*(_any_variance(line) for line in promise.prior.describe()), SUMS),
                secrets=SECRETS,
                information_limit=solution.information_limit,
                worst_information=solution.worst_information,
                power=solution.power,
                variance_free=True,
            ),
        )

    def _warnings(self, solution: StreamSolution) -> tuple[str, ...]:
        if solution.states > self.options.economy.states:
            return (
                f"takes {solution.states} state variables an axis, more than the "
                f"{self.options.economy.states} wished for: fewer would cost over "
                f"{100 * self.options.economy.most_loss:.0f} % more noise power",
            )
        return ()


def read(section: Section, promise: Promise) -> StreamRequest:
    """The keys of a stream.

    Raises:
        FormatError: anything unknown or of the wrong type, or a rho for each of several secrets.
    """
    if promise.rhos:
        raise section.fail(
            "protect",
            f"found {len(promise.rhos)} rho; expected one number: a stream keeps all moments alike",
        )
    smooth = section.take_or("smooth", flag, True)
    states = section.take_or("max_states", count, Economy().states)
    section.close()
    return StreamRequest(promise, StreamOptions(smooth, replace(Economy(), states=states)))


def _figures(solution: StreamSolution) -> dict[str, object]:
    worst = solution.worst_case
    return {
        "relative_power": solution.relative_power,
        "power_lower": solution.power_lower,
        "gap": 1 - solution.power_lower / solution.power,
        "states": solution.states,
        "shapes_checked": worst.shapes,
        "between_shapes_factor": worst.excess,
        "quadrature_error": worst.quadrature_error,
        "proved": worst.statement,
        "seconds": solution.seconds,
    }


def _words(solution: StreamSolution) -> tuple[str, ...]:
    return (
        f"{len(solution.components)} components, {solution.states} state variables an axis; "
        f"{solution.relative_power:.3g} times the power of noise for one known kernel",
        f"no stationary noise keeps this promise with less than "
        f"{100 * solution.power_lower / solution.power:.1f} % of this power",
        solution.worst_case.statement,
    )


def _any_variance(line: str) -> str:
    """A stated variance is not used: the promise holds for every one."""
    return line if line.endswith("any variance") else f"{line} or any other"
