"""Stays: how well the place where somebody spent hours is found by averaging.

Independent noise averages away over a night; correlated noise does not. The attacker is told
when the stay began and ended and that its place did not move: more than any real one knows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from agent.formats.designs import FloatArray
from precompute.audit.attack_bound import MEAN_DISTANCE_PER_DEVIATION
from precompute.audit.noise_covariance import IndependentNoise

STRAYS_THAT_END = 3
MOST_POINTS = 1500

CovarianceAt = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StayError:
    """Metres, for one stay or several at one place.

    Attributes:
        hours: of all its parts together.
        weighted_place: (2,) metres, the generalised-least-squares mean of the release.
        plain_mean: distance of the release's mean from the true mean place.
        weighted_mean: distance of the generalised-least-squares mean, given the noise covariance.
        expected_weighted: what ``weighted_mean`` is on average over draws of the noise,
            √(π/2) (1ᵀΓ⁻¹1)^(−1/2), if the place did not move.
    """

    hours: float
    weighted_place: FloatArray
    plain_mean: float
    weighted_mean: float
    expected_weighted: float


def find_stays(
    times_seconds: FloatArray,
    points: FloatArray,
    *,
    least_seconds: float = 2 * 3600.0,
    radius: float = 150.0,
) -> list[slice]:
    """The parts of a TRUE trace on a grid that keep within ``radius`` of their running mean.

    Up to two successive strays (a receiver's jumps) do not end a stay, nor does a silence, but
    only the time that was published counts.
    """
    stays, start, n = [], 0, int(times_seconds.size)
    while start < n:
        end = _end_of_stay(points, start, radius)
        if _observed(times_seconds[start:end]) >= least_seconds:
            stays.append(slice(start, end))
        start = end
    return stays


def _end_of_stay(points: FloatArray, start: int, radius: float) -> int:
    """One past the last point that belongs to the stay which begins at ``start``."""
    total, members, strays = points[start].copy(), 1, 0
    for i in range(start + 1, points.shape[0]):
        if math.dist(points[i], total / members) <= radius:
            total, members, strays = total + points[i], members + 1, 0
            continue
        strays += 1
        if strays == STRAYS_THAT_END:
            return i - STRAYS_THAT_END + 1
    return int(points.shape[0]) - strays


def _observed(times_seconds: FloatArray) -> float:
    """Seconds from the first to the last, a silence counted as one step."""
    if times_seconds.size < 2:
        return 0.0
    gaps = np.diff(times_seconds)
    return float(np.sum(np.minimum(gaps, np.median(gaps))))


def group_by_place(points: FloatArray, stays: list[slice], *, radius: float) -> list[list[slice]]:
    """Stays whose mean places lie within ``radius`` of a group's first, most hours first."""
    groups: list[list[slice]] = []
    for stay in sorted(stays, key=lambda s: s.start - s.stop):
        place = np.mean(points[stay], axis=0)
        for group in groups:
            if math.dist(place, np.mean(points[group[0]], axis=0)) <= radius:
                group.append(stay)
                break
        else:
            groups.append([stay])
    return sorted(groups, key=lambda group: -sum(s.stop - s.start for s in group))


def attack_stay(
    times_seconds: FloatArray, truth: FloatArray, released: FloatArray, noise: CovarianceAt
) -> StayError:
    """Average the releases of one stay, or of several at one place.

    Args:
        times_seconds: (n,) ascending.
        truth: (n, 2) metres; its mean is the place to be found.
        released: (n, 2) metres.
        noise: the noise's covariance at given times, on one axis.
    """
    place = np.mean(truth, axis=0)
    plain = np.mean(released, axis=0)
    # Beyond some thousands of points the weighted mean takes every k-th: noise that lasts longer
    # than k steps loses next to nothing by it. Independent noise has its plain mean.
    thin = slice(None, None, -(-times_seconds.size // MOST_POINTS))
    if isinstance(noise, IndependentNoise):
        precision = times_seconds.size / noise.variance
        weighted = plain
    else:
        t = times_seconds[thin]
        column = cho_solve(cho_factor(noise(t), lower=True), np.ones(t.size))
        precision = float(np.sum(column))
        weighted = column @ released[thin] / precision
    return StayError(
        hours=_observed(times_seconds) / 3600.0,
        weighted_place=np.asarray(weighted),
        plain_mean=math.dist(plain, place),
        weighted_mean=math.dist(weighted, place),
        expected_weighted=MEAN_DISTANCE_PER_DEVIATION / math.sqrt(precision),
    )
