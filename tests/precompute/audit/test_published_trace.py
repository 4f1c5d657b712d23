import math

import numpy as np
import pytest

from precompute.audit.noise_covariance import IndependentNoise
from precompute.audit.published_trace import examine, plan_windows, stretches_under_way

STEP = 60.0


def route(count):
    """(times, points): an hour still, an hour at 3 m/s, and so on."""
    times = np.arange(count) * STEP
    moving = (np.arange(count) // 60) % 2
    east = np.cumsum(moving * 3.0 * STEP)
    return times, np.column_stack([east, np.zeros(count)])


def test_windows_are_the_longest_that_cover_most():
    assert plan_windows(np.arange(1000) * STEP, STEP).count == 121
    lengths = [40] * 20 + [100]
    pieces = [k * 86400 + np.arange(n) * STEP for k, n in enumerate(lengths)]
    assert plan_windows(np.concatenate(pieces), STEP).count == 31
    assert plan_windows(np.concatenate(pieces[:20]), STEP).count == 40
    assert plan_windows(np.arange(8) * STEP, STEP).count == 8
    assert plan_windows(np.arange(4) * STEP, STEP) is None
    assert plan_windows(np.arange(20) * 3 * STEP, STEP) is None


@pytest.mark.parametrize("count", [121, 130, 400])
def test_windows_cover_every_point_of_a_piece_and_cross_no_gap(count):
    times = np.concatenate([np.arange(count) * STEP, 1e6 + np.arange(count) * STEP])
    plan = plan_windows(times, STEP)
    covered = np.zeros(times.size, dtype=bool)
    for window in plan.windows:
        covered[window] = True
        assert window.stop - window.start == plan.count
        assert np.all(np.diff(times[window]) == STEP)
    assert covered.all()


def test_stretches_under_way_are_those_that_go_somewhere():
    times, points = route(244)
    plan = plan_windows(times, STEP)
    parts = stretches_under_way(points, plan, STEP)
    assert parts
    for part in parts:
        assert np.ptp(points[part, 0]) >= 300.0
    assert stretches_under_way(np.zeros_like(points), plan, STEP) == []


def test_findings_on_independent_noise():
    times, truth = route(366)
    rng = np.random.default_rng(3)
    released = truth + rng.normal(0.0, 200.0, truth.shape)
    plan = plan_windows(times, STEP)
    stay = (slice(0, 60),)
    found = examine(
        times, truth, released, IndependentNoise(4e4), plan=plan, stays=(stay,), rng=rng
    )
    assert found.expected.released == pytest.approx(200 * math.sqrt(math.pi / 2), rel=0.05)
    assert found.errors.best < 0.6 * found.errors.released
    assert found.expected.clairvoyant <= found.expected.best
    assert np.all(np.isfinite(found.reconstruction))
    off = np.linalg.norm(found.reconstruction - truth, axis=1)
    assert np.mean(off) == pytest.approx(found.errors.best, rel=0.15)
    assert found.path_ratio > 1.5
    assert found.stays[0].hours == pytest.approx(59 / 60)


def test_a_trace_that_goes_nowhere_has_no_path_ratio():
    times = np.arange(130) * STEP
    truth = np.zeros((130, 2))
    rng = np.random.default_rng(4)
    released = truth + rng.normal(0.0, 10.0, truth.shape)
    plan = plan_windows(times, STEP)
    found = examine(times, truth, released, IndependentNoise(100.0), plan=plan, stays=(), rng=rng)
    assert math.isnan(found.path_ratio)
