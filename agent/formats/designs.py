"""Designs as values: what the workstation proves and the device samples.

Noise for numbers is described here, releases of states in leakage_design.py, mappings of sensor
nodes in mapping_design.py.

Conventions: covariances are per axis; axes are independent and share one factor. ``unit`` is the
channel's own unit (``m`` for location axes, ``1`` for none). ``grid`` is the step of the integer
release arithmetic, in that unit. ``information`` K is in 1/unit^2: the loss of a secret about
which two hypotheses differ by d is ``order * rho`` with ``rho = K d^2 / 2`` (docs/theory.md).
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from agent.formats.errors import FormatError, shown
from agent.formats.leakage_design import LeakageDesign
from agent.formats.mapping_design import MappingDesign

FloatArray: TypeAlias = npt.NDArray[np.float64]
ComponentFamily = Literal["matern12", "matern32", "matern52", "oscillator"]
COMPONENT_FAMILIES: tuple[ComponentFamily, ...] = ("matern12", "matern32", "matern52", "oscillator")

MAX_COMPONENTS = 64
MAX_WINDOW_ROWS = 20_000
MAX_FACTOR_ENTRIES = 8_000_000
MAX_AXES = 8


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What a design promises, in numbers; every ``worst`` is a certified upper bound.

    Attributes:
        prior: one sentence for each kernel of the class the promise covers.
        secrets: in words, which secrets it covers.
        radius: hypotheses about a secret differ by at most this (unit; Euclidean over axes).
        information_limit: K that the design was asked to stay below (1/unit^2).
        worst_information: the largest K over the class, rounded up (1/unit^2).
        segments: number of independent noise segments (cold starts, windows) the promise covers.
        rho: loss per order, ``loss(order) = order * rho``, for all segments together.
        epsilon: at ``delta``, from ``rho`` by epsilon = rho + 2 sqrt(rho log(1/delta)).
        delta: see ``epsilon``.
        variance_free: whether the promise holds for every variance of the prior.
    """

    prior: tuple[str, ...]
    secrets: str
    radius: float
    information_limit: float
    worst_information: float
    segments: int
    rho: float
    epsilon: float
    delta: float
    variance_free: bool

    def __post_init__(self) -> None:
        for name in ("radius", "information_limit", "worst_information", "rho", "epsilon"):
            _require_positive(name, getattr(self, name))
        if not 0 < self.delta < 1:
            raise FormatError("guarantee.delta is not between 0 and 1")
        if self.segments < 1:
            raise FormatError("guarantee.segments is below 1")


@dataclass(frozen=True, slots=True)
class Component:
    """One stationary state-space component of stream noise, per axis.

    Covariance at lag t >= 0, with c = variance and T = timescale_seconds:
    matern12 ``c exp(-t/T)``; matern32 ``c (1+x) exp(-x)``, x = sqrt(3) t/T;
    matern52 ``c (1+x+x^2/3) exp(-x)``, x = sqrt(5) t/T;
    oscillator ``c exp(-t/T) cos(2 pi t / period_seconds)``.
    """

    family: ComponentFamily
    variance: float
    timescale_seconds: float
    period_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.family not in COMPONENT_FAMILIES:
            raise FormatError(f"component.family {self.family!r} is unknown")
        _require_positive("component.variance", self.variance)
        _require_positive("component.timescale_seconds", self.timescale_seconds)
        if (self.period_seconds is not None) != (self.family == "oscillator"):
            raise FormatError("component.period_seconds belongs to oscillators, and only to them")
        if self.period_seconds is not None:
            _require_positive("component.period_seconds", self.period_seconds)


@dataclass(frozen=True, slots=True)
class StreamDesign:
    """Noise without end, exact at any irregular times: a sum of independent components."""

    name: str
    axes: tuple[str, ...]
    unit: str
    grid: float
    components: tuple[Component, ...]
    guarantee: Guarantee
    kind: Literal["stream"] = "stream"

    def __post_init__(self) -> None:
        _require_channel(self.name, self.axes, self.unit, self.grid)
        if not 1 <= len(self.components) <= MAX_COMPONENTS:
            raise FormatError(f"design {self.name!r} has not 1 to {MAX_COMPONENTS} components")

    @property
    def noise_variance(self) -> float:
        """Per axis, unit^2."""
        return math.fsum(component.variance for component in self.components)


@dataclass(frozen=True, slots=True)
class WindowDesign:
    """Noise for n readings ``step_ms`` apart: covariance ``factor @ factor.T`` per axis.

    ``factor`` is (n, m) float64, read-only. Row i may use only columns that earlier rows or
    itself need, so that noise is drawn row by row: a lower Cholesky factor (m = n) is causal in
    the strict sense, a low-rank factor (m < n) draws its m normals with the first row.
    """

    name: str
    axes: tuple[str, ...]
    unit: str
    grid: float
    step_ms: int
    factor: FloatArray
    guarantee: Guarantee
    kind: Literal["window"] = "window"

    def __post_init__(self) -> None:
        _require_channel(self.name, self.axes, self.unit, self.grid)
        if self.step_ms < 1:
            raise FormatError(f"design {self.name!r}: step_ms is below 1")
        shape = self.factor.shape
        if self.factor.ndim != 2 or not (1 <= shape[1] <= shape[0] <= MAX_WINDOW_ROWS):
            raise FormatError(
                f"design {self.name!r}: factor has the shape {shape}, not (n, m <= n)"
            )
        if self.factor.size > MAX_FACTOR_ENTRIES:
            raise FormatError(f"design {self.name!r}: factor has over {MAX_FACTOR_ENTRIES} entries")
        if self.factor.dtype != np.float64 or not bool(np.all(np.isfinite(self.factor))):
            raise FormatError(f"design {self.name!r}: factor is not finite float64")
        frozen = np.ascontiguousarray(self.factor).copy()
        frozen.setflags(write=False)
        object.__setattr__(self, "factor", frozen)

    @property
    def noise_variance(self) -> float:
        """Per axis, averaged over the rows, unit^2."""
        return float(np.mean(np.sum(self.factor * self.factor, axis=1)))


NoiseDesign: TypeAlias = StreamDesign | WindowDesign
"""Gaussian noise added to numbers."""

Design: TypeAlias = NoiseDesign | LeakageDesign | MappingDesign
"""Everything that a bundle can hold; only noise has axes and a unit."""


def segments_of(design: Design) -> int:
    """How many independent segments of noise, accounts or memories the promise covers."""
    if isinstance(design, (LeakageDesign, MappingDesign)):
        return design.segments
    return design.guarantee.segments


def _require_channel(name: str, axes: tuple[str, ...], unit: str, grid: float) -> None:
    if not name or not all(c.isalnum() or c in "-_" for c in name):
        raise FormatError(f"design name {shown(name)}: expected letters, digits, - and _")
    if not 1 <= len(axes) <= MAX_AXES or len(set(axes)) != len(axes):
        raise FormatError(f"design {shown(name)}: expected 1 to {MAX_AXES} different axes")
    if not unit:
        raise FormatError(f"design {shown(name)}: the unit is missing; write '1' for none")
    _require_positive(f"design {shown(name)}: grid", grid)


def _require_positive(what: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise FormatError(f"{what} is not finite and above zero")
