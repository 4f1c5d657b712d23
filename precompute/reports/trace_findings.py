"""What a report on one trace is made of: everything measured, nothing drawn yet."""

from dataclasses import dataclass

from agent.formats.designs import FloatArray, StreamDesign
from precompute.audit.published_trace import Findings, WindowPlan


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Side:
    """One of the two noises compared.

    Attributes:
        released: (n, 2) metres, what was published with it.
        findings: what attackers made of it; None where the trace is too short to attack.
        floor: metres of mean distance that no attacker of the class gets below; for independent
            noise: that one who assumes the longest lengthscale of the class gets down to.
    """

    released: FloatArray
    findings: Findings | None
    floor: float


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TraceReport:
    """Attributes:
    title: of the trace, plain text.
    made_up: whether nobody lived it.
    times_seconds: (n,) of the releases.
    truth: (n, 2) metres.
    step_seconds: cadence.
    independent, shaped: the two noises, of one standard deviation.
    plan: the windows that were attacked; None where the trace is too short.
    journey: a stretch under way, or None.
    stays: the longest stay and all stays at its place, or nothing.
    design: what the agent used.
    class_origin: where its class comes from, one sentence.
    notes: how the file was read and what of it was taken.
    seed: of the independent noise.
    expected: releases that the recording should have given.
    """

    title: str
    made_up: bool
    times_seconds: FloatArray
    truth: FloatArray
    step_seconds: float
    independent: Side
    shaped: Side
    plan: WindowPlan | None
    journey: slice | None
    stays: tuple[tuple[slice, ...], ...]
    design: StreamDesign
    class_origin: str
    notes: tuple[str, ...]
    seed: int
    expected: int

    @property
    def deviation(self) -> float:
        """Of the noise, per axis, metres."""
        return float(self.design.noise_variance**0.5)
