"""Everything an attacker can be seen to learn from one published trace, measured.

The truth is known here, as it never is to an attacker; it is used to measure, and to choose the
``tuned`` kernel, which flatters the attacker.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray
from precompute.audit.grids import continuous_pieces
from precompute.audit.noise_covariance import draw_noise
from precompute.audit.paths import path_length
from precompute.audit.smoothing import build_smoother
from precompute.audit.stays import CovarianceAt, StayError, attack_stay
from precompute.audit.trace_attacks import AttackKernel, WindowAttack, attack_windows, kernel_grid

WINDOW_SECONDS = (7200.0, 3600.0, 1800.0, 900.0, 300.0)
LEAST_POINTS = 6
COVERED_SHARE = 0.7
MOST_WINDOW_POINTS = 241
MOST_REDRAWN = 500
MOST_DRAWS = 300
STRETCH_SECONDS = 3600.0
LEAST_MOVEMENT_METRES = 300.0


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class WindowPlan:
    """Which parts of a trace are attacked: ``windows`` of ``count`` successive points each."""

    count: int
    windows: tuple[slice, ...]


@dataclass(frozen=True, slots=True)
class Errors:
    """Mean distances from the truth in the windows, metres; see trace_attacks for the names."""

    released: float
    tuned: float
    honest: float
    clairvoyant: float

    @property
    def best(self) -> float:
        """The error of the better of the tuned and the honest attacker."""
        return min(self.tuned, self.honest)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Findings:
    """What the attackers learnt from one release of a trace.

    Attributes:
        errors: in this release, one draw of the noise.
        expected: on average over further draws, made in memory; what to quote, because noise
            that lasts longer than the trace makes one draw lucky or unlucky as a whole.
        tuned_kernel: the attacker behind ``tuned``.
        kernels: how many were tried.
        reconstruction: (n, 2), what the better of tuned and honest makes of it; NaN outside the
            windows.
        path_ratio: published length over raw length in the stretches under way; NaN if none.
        stays: one for each group of stays asked about.
    """

    errors: Errors
    expected: Errors
    tuned_kernel: AttackKernel
    kernels: int
    reconstruction: FloatArray
    path_ratio: float
    stays: tuple[StayError, ...]


def plan_windows(times_seconds: FloatArray, step_seconds: float) -> WindowPlan | None:
    """The longest common window that still covers most of the trace; None for too few points.

    A piece's last window ends with the piece, so it may overlap the one before.
    """
    pieces = continuous_pieces(times_seconds, 1.5 * step_seconds)
    longest = max((piece.stop - piece.start for piece in pieces), default=0)
    counts = [min(int(s / step_seconds) + 1, MOST_WINDOW_POINTS) for s in WINDOW_SECONDS]
    best: WindowPlan | None = None
    for count in sorted({c for c in (*counts, longest) if c <= longest}, reverse=True):
        if count < LEAST_POINTS or count > MOST_WINDOW_POINTS:
            continue
        windows = tuple(w for piece in pieces for w in _windows_of(piece, count))
        covered = sum(p.stop - p.start for p in pieces if p.stop - p.start >= count)
        best = WindowPlan(count, windows)
        if covered >= COVERED_SHARE * times_seconds.size:
            break
    return best


def examine(
    times_seconds: FloatArray,
    truth: FloatArray,
    released: FloatArray,
    noise: CovarianceAt,
    *,
    plan: WindowPlan,
    stays: Sequence[Sequence[slice]],
    rng: np.random.Generator,
) -> Findings:
    """Attack the windows and the stays of one release.

    Args:
        times_seconds: (n,) ascending, on a grid with gaps.
        truth: (n, 2) metres.
        released: (n, 2) metres.
        noise: the noise's covariance at given times, on one axis.
        plan: the windows.
        stays: groups of stays at one place; each group is averaged as a whole.
        rng: for the further draws of the noise.
    """
    step = float(np.min(np.diff(times_seconds)))
    grid = np.arange(plan.count, dtype=np.float64) * step
    truths = np.stack([truth[w] for w in plan.windows])
    releases = np.stack([released[w] for w in plan.windows])
    covariance = noise(grid)
    kernels = kernel_grid(step, float(grid[-1]))
    attack = attack_windows(grid, covariance, truths, releases, kernels)
    draws = max(1, min(MOST_DRAWS, -(-MOST_REDRAWN // len(plan.windows))))
    again = np.repeat(truths, draws, axis=0)[:MOST_REDRAWN]
    fresh = again + draw_noise(covariance, 2, again.shape[0], rng)
    redrawn = attack_windows(grid, covariance, again, fresh, kernels)
    if np.mean(attack.tuned) <= np.mean(attack.honest):
        chosen = np.full(len(plan.windows), attack.tuned_index)
    else:
        chosen = np.argmax(attack.log_likelihoods, axis=0)
    reconstruction = np.full_like(truth, np.nan)
    for kernel_index in np.unique(chosen):
        prior = attack.kernels[kernel_index].covariance(grid)
        smoother = build_smoother(prior, covariance)
        for w in np.flatnonzero(chosen == kernel_index):
            reconstruction[plan.windows[w]] = smoother.reconstruct(releases[w])
    return Findings(
        errors=_errors(attack),
        expected=_errors(redrawn),
        tuned_kernel=attack.kernels[attack.tuned_index],
        kernels=len(attack.kernels),
        reconstruction=reconstruction,
        path_ratio=_path_ratio(truth, released, stretches_under_way(truth, plan, step)),
        stays=tuple(_stay(times_seconds, truth, released, noise, group) for group in stays),
    )


def stretches_under_way(truth: FloatArray, plan: WindowPlan, step_seconds: float) -> list[slice]:
    """Hours of the windows (or whole windows, if shorter) in which the truth goes somewhere."""
    count = max(2, min(plan.count, int(STRETCH_SECONDS / step_seconds) + 1))
    return [
        slice(start, start + count)
        for window in plan.windows
        for start in range(window.start, window.stop - count + 1, count)
        if np.max(np.ptp(truth[start : start + count], axis=0)) >= LEAST_MOVEMENT_METRES
    ]


def _windows_of(piece: slice, count: int) -> list[slice]:
    length = piece.stop - piece.start
    if length < count:
        return []
    starts = [*range(piece.start, piece.stop - count + 1, count)]
    if starts[-1] + count < piece.stop:
        starts.append(piece.stop - count)
    return [slice(s, s + count) for s in starts]


def _errors(attack: WindowAttack) -> Errors:
    return Errors(
        released=float(np.mean(attack.released_error)),
        tuned=float(np.mean(attack.tuned)),
        honest=float(np.mean(attack.honest)),
        clairvoyant=float(np.mean(attack.clairvoyant)),
    )


def _path_ratio(truth: FloatArray, released: FloatArray, stretches: Sequence[slice]) -> float:
    raw = sum(float(path_length(truth[part])) for part in stretches)
    published = sum(float(path_length(released[part])) for part in stretches)
    return published / raw if raw > 0 else float("nan")


def _stay(
    times_seconds: FloatArray,
    truth: FloatArray,
    released: FloatArray,
    noise: CovarianceAt,
    group: Sequence[slice],
) -> StayError:
    rows = np.concatenate(
        [np.arange(s.start, s.stop) for s in sorted(group, key=lambda s: s.start)]
    )
    return attack_stay(times_seconds[rows], truth[rows], released[rows], noise)
