"""Noise without end: a sum of state-space components, exact at any irregular times."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np

from agent.errors import RefusedError
from agent.formats.bundle import design_digest
from agent.formats.designs import FloatArray, StreamDesign
from agent.formats.errors import FormatError
from agent.sanitise.allowance import require_segment, require_time
from agent.sanitise.state_bytes import (
    FINGERPRINT_BYTES,
    STREAM,
    StateFields,
    decode_fields,
    encode_fields,
)
from agent.sanitise.state_space import (
    StepMatrices,
    covariance,
    dimension,
    first_step,
    readout,
    step_matrices,
)

# A steady cadence repeats a handful of steps; irregular times rebuild the matrices.
_REMEMBERED_STEPS = 16


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StreamState:
    """Where the noise stands. ``time_ms`` is None before the first reading of the segment.

    Attributes:
        segment: of independent noise; the first is 0.
        first_ms: time of the segment's first reading.
        time_ms: time of its last reading.
        values: (axes, states), in units in which the stationary covariance is known.
    """

    segment: int
    first_ms: int | None
    time_ms: int | None
    values: FloatArray


class StreamMechanism:
    """The :class:`NoiseMechanism` of a stream design. Uses axes * states normals per reading."""

    def __init__(self, design: StreamDesign) -> None:
        self._design = design
        self._fingerprint = design_digest(design)[:FINGERPRINT_BYTES]
        sizes = [dimension(component) for component in design.components]
        self._states = sum(sizes)
        ends = accumulate(sizes)
        self._blocks = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self._readout = np.concatenate([readout(component) for component in design.components])
        self._steps = lru_cache(maxsize=_REMEMBERED_STEPS)(self._build_step)

    @property
    def axes(self) -> int:
        """Number of axes."""
        return len(self._design.axes)

    def initial_state(self, segment: int) -> StreamState:
        """Nothing drawn yet in this segment.

        Raises:
            RefusedError: the design's guarantee does not cover that many segments.
        """
        require_segment(self._design, segment)
        return StreamState(segment, None, None, np.zeros((self.axes, self._states)))

    def segment(self, state: StreamState) -> int:
        """The segment of the state; a stream never advances it by itself."""
        return state.segment

    def normals_needed(self, state: StreamState, time_ms: int) -> int:
        """axes * states, at every time after the last one.

        Raises:
            RefusedError: the time is not after the last one. A second draw at one time would be
                a second look at one position; time has to move on first.
        """
        require_time(self._design, time_ms)
        if state.time_ms is not None and time_ms <= state.time_ms:
            raise RefusedError(
                f"design {self._design.name!r}: a reading {state.time_ms - time_ms} ms before the "
                "last release, or at the same time; expected a later one; it is dropped"
            )
        return self.axes * self._states

    def step(
        self, state: StreamState, time_ms: int, normals: FloatArray
    ) -> tuple[FloatArray, StreamState]:
        """Noise (axes,) in the design's unit, and the state after it.

        Raises:
            RefusedError: see :meth:`normals_needed`.
        """
        needed = self.normals_needed(state, time_ms)
        assert normals.shape == (needed,)
        matrices = self._steps(None if state.time_ms is None else time_ms - state.time_ms)
        fresh = normals.reshape(self.axes, self._states)
        values = state.values @ matrices.transition.T + fresh @ matrices.factor.T
        values.setflags(write=False)
        first_ms = time_ms if state.first_ms is None else state.first_ms
        return values @ self._readout, StreamState(state.segment, first_ms, time_ms, values)

    def encode(self, state: StreamState) -> bytes:
        """The state as bytes (state_bytes.py); payload axis by axis, in component order."""
        started = state.time_ms is not None
        return encode_fields(
            StateFields(
                kind=STREAM,
                fingerprint=self._fingerprint,
                segment=state.segment,
                started=started,
                first_ms=state.first_ms or 0,
                last_ms=state.time_ms or 0,
                payload=state.values.ravel() if started else np.empty(0),
            )
        )

    def decode(self, content: bytes) -> StreamState:
        """The inverse of encode.

        Raises:
            FormatError: not a state of this design.
        """
        fields = decode_fields(content, kind=STREAM, fingerprint=self._fingerprint)
        if fields.segment >= self._design.guarantee.segments:
            raise FormatError("noise state: a segment past the design's allowance")
        if not fields.started:
            return self.initial_state(fields.segment)
        if fields.payload.size != self.axes * self._states or fields.first_ms > fields.last_ms:
            raise FormatError("noise state: does not fit the design; start a new segment")
        values = fields.payload.reshape(self.axes, self._states)
        return StreamState(fields.segment, fields.first_ms, fields.last_ms, values)

    def materialize(self, times_ms: Sequence[int]) -> FloatArray:
        """The covariance (n, n) on one axis, from the closed forms; unit^2."""
        times = np.array(times_ms, dtype=np.int64)
        lags = times[:, None] - times[None, :]
        total: FloatArray = np.zeros(lags.shape)
        for component in self._design.components:
            total += covariance(component, lags)
        return total

    def _build_step(self, elapsed_ms: int | None) -> StepMatrices:
        """All components' matrices as one block-diagonal pair."""
        transition = np.zeros((self._states, self._states))
        factor = np.zeros((self._states, self._states))
        for block, component in zip(self._blocks, self._design.components, strict=True):
            step = (
                first_step(component)
                if elapsed_ms is None
                else step_matrices(component, elapsed_ms)
            )
            transition[block, block] = step.transition
            factor[block, block] = step.factor
        return StepMatrices(transition, factor)
