"""One reading in, one release out: integer arithmetic on noise drawn without seeing the value.

**Why integers.** A float64 sum ``value + noise`` has low bits that only some values can produce,
and an observer who knows the sampler can rule values out by them (I. Mironov, *On significance
of the least significant bits for differential privacy*, CCS 2012). Here the value is quantised to
a grid first, the noise is drawn and rounded to the grid on its own, and two Python integers are
added. Every release is possible for every value, and the noise's distribution over the integers
is the same whatever the value is.

**Why nothing is lost.** Let v be the quantised value in steps, an integer, and G the continuous
noise in steps. Rounding to the nearest integer commutes with adding an integer:
``v + round(G) = round(v + G)``, except at ties G = k + 1/2, which have probability 0 for a
Gaussian G (where rounding half to even may differ by one step). So the release is a function of
``v + G`` alone: post-processing of the continuous Gaussian mechanism applied to v, which cannot
weaken its guarantee. Quantising moves two hypotheses apart by at most one grid diagonal, which
the design's radius already includes.

**Once.** :meth:`Sanitiser.sanitise` returns the release together with the state after it. The
caller stores both in one transaction before anything is sent, and resends what it stored.
"""

import math

from agent.entropy import NormalSource
from agent.errors import RefusedError
from agent.formats.designs import NoiseDesign
from agent.sanitise.mechanisms import mechanism_for
from agent.sanitise.rounding import MAX_STEPS

# Root mean square noise. A window's largest row may exceed it by sqrt(MAX_WINDOW_ROWS) < 142, and
# normals reach 9.5: together below 2^52.
_MAX_STD_STEPS = 2.0**40


class Sanitiser:
    """A design and a source of normals, as a function on (state bytes, time, value).

    Args:
        design: what to sample.
        normals: the operating system's on a device; seeded ones in tests.

    Raises:
        RefusedError: the grid is so fine that noise would not be exact in grid steps.
    """

    def __init__(self, design: NoiseDesign, normals: NormalSource) -> None:
        self._design = design
        self._normals = normals
        self._mechanism = mechanism_for(design)
        if not math.sqrt(design.noise_variance) / design.grid <= _MAX_STD_STEPS:
            raise RefusedError(
                f"design {design.name!r}: noise of {math.sqrt(design.noise_variance):.3g} "
                f"{design.unit} on a grid of {design.grid:.3g}; expected at most 2^40 grid steps; "
                "make a design with a coarser grid"
            )

    def cold_start(self, segment: int) -> bytes:
        """The state of a segment of noise in which nothing is drawn yet; the first is 0.

        Raises:
            RefusedError: the design's guarantee does not cover that many segments.
        """
        return self._mechanism.encode(self._mechanism.initial_state(segment))

    def segment(self, state: bytes) -> int:
        """The segment that the state is in.

        Raises:
            FormatError: damaged, or of another design or version.
        """
        return self._mechanism.segment(self._mechanism.decode(state))

    def sanitise(
        self, state: bytes, time_ms: int, value_steps: tuple[int, ...]
    ) -> tuple[tuple[int, ...], bytes]:
        """Release value + noise, in grid steps, and the state after it.

        Args:
            state: from :meth:`cold_start` or the last call.
            time_ms: the release's time, Unix milliseconds.
            value_steps: the value per axis, in steps of the design's grid.

        Raises:
            RefusedError: wrong number of axes, a value out of range, a time at which no noise may
                be drawn, or the allowance is spent. Nothing has changed then.
            FormatError: the state is damaged, or of another design or version.
        """
        if len(value_steps) != self._mechanism.axes:
            raise RefusedError(
                f"design {self._design.name!r}: a reading with {len(value_steps)} axes; expected "
                f"{self._mechanism.axes}; check the channel's kind"
            )
        # The range is checked on the value alone, never on its sum with the noise: the noise is
        # bounded by the design, so the sum cannot overflow.
        if any(abs(steps) > MAX_STEPS for steps in value_steps):
            raise RefusedError(
                f"design {self._design.name!r}: a reading beyond 2^52 grid steps; expected a "
                "plausible one; check the sensor and the channel's unit"
            )
        before = self._mechanism.decode(state)
        fresh = self._normals.normals(self._mechanism.normals_needed(before, time_ms))
        noise, after = self._mechanism.step(before, time_ms, fresh)
        noise_steps = [round(float(amount) / self._design.grid) for amount in noise]
        assert all(abs(steps) <= MAX_STEPS for steps in noise_steps)
        release = tuple(
            value + steps for value, steps in zip(value_steps, noise_steps, strict=True)
        )
        return release, self._mechanism.encode(after)

    def last_budget(self, state: bytes) -> None:
        """None: the design's promise covers all releases together."""

    def account(self, state: bytes) -> None:
        """None: there is nothing to count."""
