"""From traces to a class: what is counted, what is left out, what the file says."""

import subprocess
import sys

import numpy as np
import pytest

from agent.formats.documents import parse_yaml
from agent.formats.traces import Series, Trace
from precompute.errors import PriorError
from precompute.priors.fit_report import FitSettings, round_down, round_up
from precompute.priors.fitting import fit_kernel
from precompute.priors.kernels import RBF, Periodic
from precompute.priors.prior_class import read_prior
from precompute.priors.prior_text import fit_json, fit_table, prior_yaml
from precompute.priors.trace_fitting import fit_series, fit_traces

METRES_PER_DEGREE = 111_195.0
QUICK = FitSettings(families=("rbf", "matern32"), window_points=40, max_windows=4)


def walk(
    points: int = 200, seed: int = 0, latitude: float = 48.2, longitude: float = 16.4
) -> Trace:
    """A made-up walk: an RBF process of lengthscale 30 s on each axis, a fix every 5 s."""
    rng = np.random.default_rng(seed)
    times = 1_764_000_000.0 + 5.0 * np.arange(points)
    root = np.linalg.cholesky(RBF(30.0, 2500.0).covariance(times, times) + np.eye(points))
    east, north = root @ rng.standard_normal((points, 2)).T[0], root @ rng.standard_normal(points)
    narrow = METRES_PER_DEGREE * np.cos(np.radians(latitude))
    wrapped = (longitude + east / narrow + 180) % 360 - 180
    return Trace("walk", times, latitude + north / METRES_PER_DEGREE, wrapped)


def test_a_walk_of_known_lengthscale_gives_a_class_that_holds_it() -> None:
    report = fit_traces([walk()], FitSettings(("rbf",), window_points=100))
    row = report.summary("rbf")
    assert row.lengthscale[1] == pytest.approx(30.0, rel=0.25)
    assert row.effective[1] == pytest.approx(row.lengthscale[1] / 5.0)
    (member,) = report.prior.ranges()
    assert member.lengthscale.low <= 30.0
    assert member.lengthscale.high == 14 * 86_400.0
    assert (report.winner, report.segments, report.still) == ("rbf", 1, 0)


def test_the_same_traces_give_the_same_bytes() -> None:
    first, second = (prior_yaml(fit_traces([walk()], QUICK)) for _ in range(2))
    assert first == second


def test_the_file_says_what_the_report_says() -> None:
    for settings in (QUICK, FitSettings(("rbf", "matern32"), window_points=40, every_family=True)):
        report = fit_traces([walk()], settings)
        document = parse_yaml(prior_yaml(report).encode(), "prior.yaml")
        assert read_prior(document.section("prior")) == report.prior
        assert all(len(line) <= 100 for line in prior_yaml(report).splitlines())


def test_every_family_can_be_put_into_the_class() -> None:
    settings = FitSettings(("rbf", "matern32"), window_points=40, every_family=True)
    report = fit_traces([walk()], settings)
    assert {member.family for member in report.prior.ranges()} == {"rbf", "matern32"}


def test_the_origin_is_rounded_to_half_a_degree_and_nothing_else_shows_the_place() -> None:
    report = fit_traces([walk()], QUICK)
    assert report.origin == (48.0, 16.5)
    shown = prior_yaml(report) + fit_table(report) + str(fit_json(report))
    assert "48.2" not in shown
    assert "16.4" not in shown


@pytest.mark.parametrize(
    ("latitude", "longitude", "origin"),
    [(-36.9, 179.9999, (-37.0, 180.0)), (0.1, -0.1, (0.0, 0.0)), (-0.1, 10.3, (0.0, 10.5))],
)
def test_the_origin_is_right_at_the_edges_of_the_map(latitude, longitude, origin) -> None:
    found = fit_traces([walk(latitude=latitude, longitude=longitude)], QUICK).origin
    assert found == origin
    assert "-0.0" not in str(found)


def test_a_walk_across_the_antimeridian_is_as_smooth_as_elsewhere() -> None:
    here = fit_traces([walk(latitude=10.0)], QUICK).summary("rbf", "east")
    there = fit_traces([walk(latitude=10.0, longitude=180.0)], QUICK).summary("rbf", "east")
    assert there.lengthscale == pytest.approx(here.lengthscale, rel=0.02)


def test_progress_is_told_from_nothing_to_everything() -> None:
    seen: list[tuple[int, int]] = []
    fit_traces([walk()], QUICK, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 4) for k in range(5)]


def test_a_trace_in_short_pieces_is_refused_with_their_number() -> None:
    trace = walk(27)
    times = trace.times_seconds + np.arange(27) // 9 * 1000.0
    broken = Trace("broken", times, trace.latitude.copy(), trace.longitude.copy())
    with pytest.raises(PriorError, match="segments between gaps: 3, the longest of 9 points"):
        fit_traces([broken], QUICK)


def test_someone_who_never_moves_is_refused_and_pauses_are_left_out() -> None:
    times = 1_764_000_000.0 + 5.0 * np.arange(80)
    still = Trace("still", times, np.full(80, 48.2), np.full(80, 16.4))
    with pytest.raises(PriorError, match="nothing moves in any of 2 windows"):
        fit_traces([still], QUICK)
    assert fit_traces([still, walk(80)], QUICK).still == 2


def test_no_trace_at_all_is_refused() -> None:
    with pytest.raises(PriorError, match="too short to fit: segments between gaps: 0"):
        fit_traces([], QUICK)


def test_a_series_is_thinned_to_show_days_and_its_routine_joins_the_class() -> None:
    times = 1_764_000_000.0 + 900.0 * np.arange(8 * 96)
    coarse = times[::4]
    kernel = Periodic(1.0, 86_400.0, 4.0)
    covariance = kernel.covariance(coarse, coarse) + RBF(40_000.0, 0.5).covariance(coarse, coarse)
    root = np.linalg.cholesky(covariance + 1e-4 * np.eye(coarse.size))
    values = np.interp(times, coarse, root @ np.random.default_rng(3).standard_normal(coarse.size))
    settings = FitSettings(families=("matern52", "periodic"))
    report = fit_series(Series("room", times, 20.0 + values), settings)
    assert report.settings.every_seconds == 3600.0
    assert report.origin is None
    routine = list(report.prior.ranges())[-1]
    assert (routine.family, routine.period) == ("damped_periodic", 86_400.0)
    document = parse_yaml(prior_yaml(report).encode(), "prior.yaml")
    assert read_prior(document.section("prior")) == report.prior


def test_the_winner_is_the_family_with_the_best_score_in_most_windows() -> None:
    report = fit_traces([walk()], QUICK)
    for window in report.windows:
        assert window.winner.score == max(fit.score for fit in window.fits)
    assert report.summary(report.winner).wins == max(report.summary(f).wins for f in QUICK.families)
    assert sum(report.summary(family).wins for family in QUICK.families) == len(report.windows)


def test_a_window_is_fitted_on_metres_about_its_own_place() -> None:
    trace = walk(40)
    report = fit_traces([trace], QUICK)
    north = fit_kernel(trace.times_seconds, trace.latitude * METRES_PER_DEGREE, "rbf")
    (window,) = [w for w in report.windows if w.axis == "north"]
    assert window.fits[0].lengthscale == pytest.approx(north.lengthscale, rel=0.02)


@pytest.mark.parametrize(
    ("value", "down", "up"),
    [(22.02, 22.0, 23.0), (267.1, 260.0, 270.0), (0.0123, 0.012, 0.013), (30.0, 30.0, 30.0)],
)
def test_a_range_is_rounded_outwards(value, down, up) -> None:
    assert (round_down(value), round_up(value)) == (down, up)


@pytest.mark.parametrize(
    "wrong",
    [
        {"families": ()},
        {"families": ("rbf", "gauss")},
        {"window_points": 5},
        {"max_windows": 0},
        {"low_quantile": 0.7},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong) -> None:
    with pytest.raises(PriorError, match="expected"):
        FitSettings(**wrong)


def test_a_window_that_stands_still_on_one_axis_is_left_out() -> None:
    trace = walk(40)
    north_only = Trace("n", trace.times_seconds, trace.latitude, np.full(40, 16.4))
    assert fit_traces([north_only, walk(80)], QUICK).still == 1


def test_a_class_never_starts_below_one_step() -> None:
    rng = np.random.default_rng(1)
    times = 1_764_000_000.0 + 60.0 * np.arange(80)
    places = rng.standard_normal((2, 80)) * 1e-3  # white: no lengthscale at all
    report = fit_traces([Trace("white", times, 48.2 + places[0], 16.4 + places[1])], QUICK)
    (member,) = report.prior.ranges()
    assert report.fitted_low < 60.0
    assert member.lengthscale.low == 60.0
    assert "raised to one step" in prior_yaml(report)


def test_every_library_of_linear_algebra_is_held_to_one_thread() -> None:
    """In a fresh process, where scipy's library would otherwise be loaded too late."""
    program = (
        "from precompute.priors.algebra_threads import one_algebra_thread\n"
        "with one_algebra_thread():\n"
        "    import numpy, scipy.linalg, threadpoolctl\n"
        "    print({i['num_threads'] for i in threadpoolctl.threadpool_info()})\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "{1}"
