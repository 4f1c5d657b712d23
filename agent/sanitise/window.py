"""Noise for a window of n readings: rows of a shipped factor times normals drawn once.

The window's times are t0 + i * step, t0 the time of its first reading. Reading i releases
``factor[i] @ normals``; row i uses only normals that are drawn by then, and a reading that never
came (a dropout) leaves its normals drawn, so later rows keep their covariance. After row n - 1
the next segment begins by itself, with independent noise, until the allowance is spent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from agent.errors import RefusedError
from agent.formats.bundle import design_digest
from agent.formats.designs import FloatArray, WindowDesign
from agent.formats.errors import FormatError
from agent.sanitise.allowance import require_segment, require_time
from agent.sanitise.state_bytes import (
    FINGERPRINT_BYTES,
    WINDOW,
    StateFields,
    decode_fields,
    encode_fields,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WindowState:
    """Where the window stands. ``first_ms`` is None before its first reading.

    The normals are kept for the whole window, 8 bytes each: a long window costs that much in the
    store with every release.

    Attributes:
        segment: number of the window; the first is 0.
        first_ms: t0.
        row: of the last reading; -1 before the first.
        normals: (axes, drawn so far).
    """

    segment: int
    first_ms: int | None
    row: int
    normals: FloatArray


class WindowMechanism:
    """The :class:`NoiseMechanism` of a window design."""

    def __init__(self, design: WindowDesign) -> None:
        self._design = design
        self._fingerprint = design_digest(design)[:FINGERPRINT_BYTES]
        self._widths = _widths(design.factor)

    @property
    def axes(self) -> int:
        """Number of axes."""
        return len(self._design.axes)

    def initial_state(self, segment: int) -> WindowState:
        """Nothing drawn yet in this window.

        Raises:
            RefusedError: the design's guarantee does not cover that many windows.
        """
        require_segment(self._design, segment)
        return WindowState(segment, None, -1, np.empty((self.axes, 0)))

    def segment(self, state: WindowState) -> int:
        """Number of the window."""
        return state.segment

    def normals_needed(self, state: WindowState, time_ms: int) -> int:
        """axes * (columns up to this row that are not drawn yet).

        Raises:
            RefusedError: not after the last reading, off the window's times, or past the last
                window that the design allows.
        """
        current, row = self._place(state, time_ms)
        drawn: int = current.normals.shape[1]
        return self.axes * (self._widths[row] - drawn)

    def step(
        self, state: WindowState, time_ms: int, normals: FloatArray
    ) -> tuple[FloatArray, WindowState]:
        """Noise (axes,) in the design's unit, and the state after it.

        Raises:
            RefusedError: see :meth:`normals_needed`.
        """
        current, row = self._place(state, time_ms)
        width = self._widths[row]
        fresh = normals.reshape(self.axes, width - current.normals.shape[1])
        drawn = np.concatenate((current.normals, fresh), axis=1)
        drawn.setflags(write=False)
        noise: FloatArray = drawn @ self._design.factor[row, :width]
        first_ms = time_ms if current.first_ms is None else current.first_ms
        return noise, WindowState(current.segment, first_ms, row, drawn)

    def encode(self, state: WindowState) -> bytes:
        """The state as bytes (state_bytes.py); payload axis by axis, in column order."""
        started = state.first_ms is not None
        first_ms = state.first_ms or 0
        return encode_fields(
            StateFields(
                kind=WINDOW,
                fingerprint=self._fingerprint,
                segment=state.segment,
                started=started,
                first_ms=first_ms,
                last_ms=first_ms + state.row * self._design.step_ms if started else 0,
                payload=state.normals.ravel(),
            )
        )

    def decode(self, content: bytes) -> WindowState:
        """The inverse of encode.

        Raises:
            FormatError: not a state of this design.
        """
        fields = decode_fields(content, kind=WINDOW, fingerprint=self._fingerprint)
        if fields.segment >= self._design.guarantee.segments:
            raise FormatError("noise state: a segment past the design's allowance")
        if not fields.started:
            return self.initial_state(fields.segment)
        row, off_grid = divmod(fields.last_ms - fields.first_ms, self._design.step_ms)
        fits = not off_grid and 0 <= row < len(self._widths)
        if not fits or fields.payload.size != self.axes * self._widths[row]:
            raise FormatError("noise state: does not fit the design; start a new segment")
        normals = fields.payload.reshape(self.axes, self._widths[row])
        return WindowState(fields.segment, fields.first_ms, row, normals)

    def materialize(self, times_ms: Sequence[int]) -> FloatArray:
        """The covariance (k, k) on one axis at times of one window, the first of which is t0."""
        places = [divmod(time_ms - times_ms[0], self._design.step_ms) for time_ms in times_ms]
        assert all(0 <= row < len(self._widths) and not off_grid for row, off_grid in places)
        rows = [row for row, _ in places]
        picked = self._design.factor[rows]
        joint: FloatArray = picked @ picked.T
        return joint

    def _place(self, state: WindowState, time_ms: int) -> tuple[WindowState, int]:
        """The window that this time belongs to (perhaps the next one) and its row there."""
        require_time(self._design, time_ms)
        if state.first_ms is None:
            return state, 0
        row, off_grid = divmod(time_ms - state.first_ms, self._design.step_ms)
        if row >= len(self._widths):
            return self.initial_state(state.segment + 1), 0
        if off_grid:
            raise RefusedError(
                f"design {self._design.name!r}: a reading {off_grid} ms after one of the window's "
                f"times; expected readings every {self._design.step_ms} ms; set the cadence to it"
            )
        if row <= state.row:
            raise RefusedError(
                f"design {self._design.name!r}: a reading for row {row}, at or before the last "
                f"release's row {state.row}; expected a later one; it is dropped"
            )
        return state, row


def _widths(factor: FloatArray) -> list[int]:
    """How many columns are in use up to each row: the running maximum of its last nonzero."""
    last = [int(used[-1]) + 1 if (used := np.flatnonzero(row)).size else 0 for row in factor]
    return list(accumulate(last, max))
