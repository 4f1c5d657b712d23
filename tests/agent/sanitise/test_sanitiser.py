import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.entropy import SeededNormals
from agent.errors import RefusedError
from agent.formats.designs import Component, FloatArray
from agent.formats.errors import FormatError
from agent.formats.sensor_json import value_on_grid
from agent.sanitise.rounding import MAX_STEPS, to_steps
from agent.sanitise.sanitiser import Sanitiser
from tests.agent.example_designs import lower_factor, stream, window


class CountedNormals:
    """Fixed normals that count how many were asked for."""

    def __init__(self, value: float = 1.0) -> None:
        self.value = value
        self.drawn = 0

    def normals(self, count: int) -> FloatArray:
        self.drawn += count
        return np.full(count, self.value)


def test_a_release_worked_by_hand() -> None:
    # Rows (1) and (1/2, 1) of the factor on normals of 1: noise 1 and 1.5, in steps of 0.01.
    sanitiser = Sanitiser(window(lower_factor(5)), CountedNormals())
    first, state = sanitiser.sanitise(sanitiser.cold_start(0), 0, (2100,))
    second, _ = sanitiser.sanitise(state, 1000, (2100,))
    assert (first, second) == ((2200,), (2250,))


@pytest.mark.parametrize(
    ("noise_in_steps", "rounded"),
    [(0.4, 0), (0.5, 0), (0.6, 1), (1.5, 2), (2.5, 2), (-0.6, -1), (-0.5, 0), (-2.5, -2)],
)
def test_noise_goes_to_the_nearest_step_ties_to_even(noise_in_steps: float, rounded: int) -> None:
    one_step = window(np.array([[0.01]]))
    sanitiser = Sanitiser(one_step, CountedNormals(noise_in_steps))
    (release,), _ = sanitiser.sanitise(sanitiser.cold_start(0), 0, (7,))
    assert release == 7 + rounded


@given(
    values=st.lists(st.integers(-MAX_STEPS, MAX_STEPS), min_size=2, max_size=2),
    seed=st.integers(0, 2**32),
)
def test_the_noise_does_not_depend_on_the_value(values: list[int], seed: int) -> None:
    design = stream(axes=("value",))
    results = []
    for value in (0, *values):
        sanitiser = Sanitiser(design, SeededNormals(seed))
        (release,), state = sanitiser.sanitise(sanitiser.cold_start(0), 7, (value,))
        assert type(release) is int
        results.append((release - value, state))
    assert results[0] == results[1] == results[2]


@given(value=st.integers(-MAX_STEPS, MAX_STEPS), noise=st.floats(-1e9, 1e9))
def test_rounding_the_noise_first_is_rounding_the_exact_sum(value: int, noise: float) -> None:
    exact = Fraction(noise)
    assume(exact % 1 != Fraction(1, 2))
    assert value + round(noise) == round(value + exact)


def test_a_refused_reading_draws_nothing() -> None:
    normals = CountedNormals()
    sanitiser = Sanitiser(stream(), normals)
    start = sanitiser.cold_start(0)
    _, state = sanitiser.sanitise(start, 1000, (0, 0))
    before = normals.drawn
    for time_ms, values in ((1000, (0, 0)), (2000, (0,)), (2000, (MAX_STEPS + 1, 0)), (0, (0, 0))):
        with pytest.raises(RefusedError):
            sanitiser.sanitise(state, time_ms, values)
    assert normals.drawn == before


def test_a_refusal_never_shows_the_value() -> None:
    sanitiser = Sanitiser(stream(), CountedNormals())
    canary = MAX_STEPS + 123_456_789
    with pytest.raises(RefusedError) as refusal:
        sanitiser.sanitise(sanitiser.cold_start(0), 0, (canary, 0))
    assert str(canary) not in str(refusal.value)
    with pytest.raises(RefusedError) as refusal:
        to_steps(1.25e300, 0.01)
    assert "1.25" not in str(refusal.value)


def test_the_largest_value_and_noise_still_fit_an_exact_sum() -> None:
    sanitiser = Sanitiser(stream(axes=("value",)), CountedNormals(9.5))
    (release,), _ = sanitiser.sanitise(sanitiser.cold_start(0), 0, (MAX_STEPS,))
    assert MAX_STEPS < release < 1 << 53
    assert int(float(release)) == release


def test_a_grid_too_fine_for_exact_steps_is_refused_at_once() -> None:
    with pytest.raises(RefusedError, match="coarser grid"):
        Sanitiser(stream(Component("matern12", 1e30, 60.0)), CountedNormals())


def test_a_damaged_state_is_refused_and_draws_nothing() -> None:
    normals = CountedNormals()
    sanitiser = Sanitiser(stream(), normals)
    state = bytearray(sanitiser.cold_start(0))
    state[20] ^= 1
    with pytest.raises(FormatError, match="damaged"):
        sanitiser.sanitise(bytes(state), 0, (0, 0))
    with pytest.raises(FormatError, match="not a noise state"):
        sanitiser.segment(b"")
    assert normals.drawn == 0


def test_segments_are_counted_through_the_bytes() -> None:
    sanitiser = Sanitiser(stream(segments=3), CountedNormals())
    assert [sanitiser.segment(sanitiser.cold_start(n)) for n in range(3)] == [0, 1, 2]
    with pytest.raises(RefusedError, match="allowance is spent"):
        sanitiser.cold_start(3)


@pytest.mark.parametrize(("value", "steps"), [(0.005, 0), (0.015, 2), (-0.026, -3), (21.5, 2150)])
def test_values_go_to_the_nearest_step(value: float, steps: int) -> None:
    assert to_steps(value, 0.01) == steps
    assert value_on_grid(steps, 0.01) == pytest.approx(value, abs=0.0051)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300])
def test_a_value_that_is_no_number_of_steps_is_refused(value: float) -> None:
    with pytest.raises(RefusedError, match="check the sensor"):
        to_steps(value, 0.01)


def test_sanitising_loads_nothing_heavy() -> None:
    program = (
        "import sys, numpy\n"  # numpy 1 brings numpy.random along by itself
        "before = set(sys.modules)\n"
        "import agent.sanitise.sanitiser, agent.entropy, agent.formats.bundle\n"
        "heavy = {'numpy.random', 'scipy', 'zipfile', 'paho'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
