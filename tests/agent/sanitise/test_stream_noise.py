import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from agent.entropy import SeededNormals
from agent.errors import RefusedError
from agent.formats.designs import Component, FloatArray, StreamDesign
from agent.sanitise import stream as stream_module
from agent.sanitise.state_space import StepMatrices, first_step, step_matrices
from agent.sanitise.stream import StreamMechanism
from tests.agent.example_designs import FAMILIES, stream
from tests.agent.linear_map import linear_map

TEN_YEARS_MS = 315_576_000_000
EXACT = 1e-12  # relative to the variance; rounding alone gives about 1e-15
RUNS = 100_000
FALSE_ALARM = 1e-6

gaps = st.one_of(st.just(1), st.integers(1, 100_000), st.integers(1, 10**9), st.just(TEN_YEARS_MS))


@pytest.mark.parametrize(
    "components",
    [*[(component,) for component in FAMILIES.values()], tuple(FAMILIES.values())],
    ids=[*FAMILIES, "all four"],
)
@settings(max_examples=25, deadline=None)
@given(steps=st.lists(gaps, min_size=1, max_size=8), start=st.integers(-(10**12), 2 * 10**12))
def test_the_map_from_normals_to_noise_has_exactly_the_closed_form_covariance(
    components: tuple[Component, ...], steps: list[int], start: int
) -> None:
    times = [start + int(offset) for offset in np.cumsum([0, *steps])]
    mechanism = StreamMechanism(stream(*components, axes=("value",)))
    matrix = linear_map(mechanism, times)
    expected = mechanism.materialize(times)
    assert bool(np.all(np.isfinite(matrix)))
    error = np.max(np.abs(matrix @ matrix.T - expected)) / expected[0, 0]
    assert error < EXACT


def test_axes_are_independent_and_alike() -> None:
    times = [0, 1, 30_000, 31_000]
    mechanism = StreamMechanism(stream(axes=("east", "north")))
    matrix = linear_map(mechanism, times)
    joint = (matrix @ matrix.T).reshape(4, 2, 4, 2)
    expected = mechanism.materialize(times)
    np.testing.assert_allclose(joint[:, 0, :, 0], expected, rtol=1e-12)
    np.testing.assert_allclose(joint[:, 1, :, 1], expected, rtol=1e-12)
    np.testing.assert_array_equal(joint[:, 0, :, 1], 0.0)


def many_runs(component: Component) -> tuple[StreamDesign, int]:
    """A design of RUNS axes: they are independent and alike, so one run gives RUNS traces."""
    design = stream(component, axes=("value",))
    object.__setattr__(design, "axes", tuple(str(i) for i in range(RUNS)))
    return design, RUNS


def irregular_times(component: Component) -> list[int]:
    """11 times at 1/50 to 1/5 of the timescale from each other."""
    spread = np.random.default_rng(3).uniform(0.02, 0.2, size=10)
    return [0, *np.cumsum(np.ceil(spread * component.timescale_seconds * 1000.0)).astype(int)]


def covariance_statistic(component: Component) -> tuple[float, float]:
    """Wilks's likelihood-ratio statistic of the sampled covariance, and its rejection limit.

    With S the sample covariance of N traces of n readings and C the closed form,
    N (tr(C^-1 S) - log det(C^-1 S) - n) is chi-square with n(n+1)/2 degrees of freedom when the
    sampler is right. A right sampler is rejected with probability 1e-6.
    """
    design, runs = many_runs(component)
    mechanism = StreamMechanism(design)
    times = irregular_times(component)
    normals = SeededNormals(20261129)
    state = mechanism.initial_state(0)
    rows: list[FloatArray] = []
    for time_ms in times:
        noise, state = mechanism.step(
            state, time_ms, normals.normals(mechanism.normals_needed(state, time_ms))
        )
        rows.append(noise)
    factor = np.linalg.cholesky(mechanism.materialize(times))
    whitened = np.linalg.solve(factor, np.stack(rows))
    sample = whitened @ whitened.T / runs
    n = len(times)
    statistic = runs * (np.trace(sample) - np.linalg.slogdet(sample)[1] - n)
    return float(statistic), float(chi2.isf(FALSE_ALARM, n * (n + 1) / 2))


@pytest.mark.parametrize("family", FAMILIES)
def test_sampled_noise_has_the_closed_form_covariance(family: str) -> None:
    statistic, limit = covariance_statistic(FAMILIES[family])
    assert statistic < limit


Step = Callable[[Component, int], StepMatrices]


def with_wrong_timescale(component: Component, elapsed_ms: int) -> StepMatrices:
    wrong = Component(
        component.family,
        component.variance,
        1.02 * component.timescale_seconds,
        component.period_seconds,
    )
    return step_matrices(wrong, elapsed_ms)


def with_weak_noise(component: Component, elapsed_ms: int) -> StepMatrices:
    step = step_matrices(component, elapsed_ms)
    return StepMatrices(step.transition, math.sqrt(0.98) * step.factor)


def without_memory(component: Component, elapsed_ms: int) -> StepMatrices:
    return first_step(component)


def as_if_readings_were_regular(component: Component, elapsed_ms: int) -> StepMatrices:
    return step_matrices(component, 5_000)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "wrong", [with_wrong_timescale, with_weak_noise, without_memory, as_if_readings_were_regular]
)
def test_the_same_test_rejects_a_wrong_sampler(
    family: str, wrong: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A timescale off by two percent and noise weaker by two percent are among them."""
    monkeypatch.setattr(stream_module, "step_matrices", wrong)
    statistic, limit = covariance_statistic(FAMILIES[family])
    assert statistic > limit


@pytest.mark.parametrize("family", FAMILIES)
def test_the_exact_comparison_rejects_a_millionth(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    component = FAMILIES[family]
    slower = Component(
        component.family,
        component.variance,
        (1.0 + 1e-6) * component.timescale_seconds,
        component.period_seconds,
    )
    monkeypatch.setattr(stream_module, "step_matrices", lambda _, ms: step_matrices(slower, ms))
    mechanism = StreamMechanism(stream(component, axes=("value",)))
    times = irregular_times(component)
    matrix = linear_map(mechanism, times)
    expected = mechanism.materialize(times)
    assert np.max(np.abs(matrix @ matrix.T - expected)) / expected[0, 0] > 1000 * EXACT


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(gaps, min_size=1, max_size=12), seed=st.integers(0, 2**32))
def test_saving_and_restoring_at_every_step_changes_nothing(steps: list[int], seed: int) -> None:
    mechanism, other = StreamMechanism(stream()), StreamMechanism(stream())
    through, saved = SeededNormals(seed), SeededNormals(seed)
    state = mechanism.initial_state(0)
    content = other.encode(other.initial_state(0))
    for time_ms in np.cumsum(steps).tolist():
        count = mechanism.normals_needed(state, time_ms)
        noise, state = mechanism.step(state, time_ms, through.normals(count))
        again, restored = other.step(other.decode(content), time_ms, saved.normals(count))
        content = other.encode(restored)
        np.testing.assert_array_equal(noise, again)
    assert content == mechanism.encode(state)


@pytest.mark.parametrize("later", [1_000, 999, -5])
def test_no_second_noise_at_the_same_time_or_before(later: int) -> None:
    mechanism = StreamMechanism(stream())
    state = mechanism.initial_state(0)
    count = mechanism.normals_needed(state, 1_000)
    _, state = mechanism.step(state, 1_000, np.zeros(count))
    with pytest.raises(RefusedError, match="expected a later one"):
        mechanism.normals_needed(mechanism.decode(mechanism.encode(state)), later)
    with pytest.raises(RefusedError, match="expected a later one"):
        mechanism.step(state, later, np.zeros(count))


def test_segments_beyond_the_guarantee_are_refused() -> None:
    mechanism = StreamMechanism(stream(segments=2))
    assert mechanism.segment(mechanism.initial_state(1)) == 1
    for segment in (2, 3, -1):
        with pytest.raises(RefusedError, match="the guarantee covers 2"):
            mechanism.initial_state(segment)


def test_a_time_that_is_not_exact_in_float64_is_refused() -> None:
    mechanism = StreamMechanism(stream())
    with pytest.raises(RefusedError, match="check the clock"):
        mechanism.normals_needed(mechanism.initial_state(0), 1 << 60)
