"""Attacks on windows of a sanitised trace: how far from the truth is the best reconstruction?

One attacker is a kernel in a grid of kernels. Three ways of choosing it, all reported:

``tuned``        one kernel for all windows, the one with the smallest TRUE mean error: the figure
                 to quote. No real attacker can choose so well, because it needs the truth.
``clairvoyant``  for each window the kernel with the smallest true error. Choosing after the fact
                 among many kernels also picks lucky draws, so this falls below the tuned error
                 even when nothing can be learnt: a lower end, not an estimate.
``honest``       for each window the kernel with the largest restricted likelihood: what an
                 attacker can do from the release alone.

Errors are mean distances in the plane over a window (and root mean squares), in metres.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from agent.formats.designs import FloatArray
from precompute.audit.smoothing import build_smoother
from precompute.priors.algebra_threads import one_algebra_thread

AttackFamily: TypeAlias = Literal["rbf", "matern32"]


@dataclass(frozen=True, slots=True)
class AttackKernel:
    """What an attacker assumes about a trace; the audit's own, shared with no designer.

    Covariance at lag t: rbf ``s² exp(−t²/2l²)``; matern32 ``s² (1+x) exp(−x)``, x = √3 t/l.
    """

    family: AttackFamily
    lengthscale_seconds: float
    deviation_metres: float

    def covariance(self, times_seconds: FloatArray) -> FloatArray:
        """(n,) times -> (n, n), metres squared."""
        scaled = np.abs(times_seconds[:, None] - times_seconds[None, :]) / self.lengthscale_seconds
        variance = self.deviation_metres**2
        if self.family == "rbf":
            return np.asarray(variance * np.exp(-0.5 * scaled * scaled))
        x = np.sqrt(3.0) * scaled
        return np.asarray(variance * (1.0 + x) * np.exp(-x))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class WindowAttack:
    """How every kernel did on every window; the arrays are read-only.

    Attributes:
        kernels: k attackers.
        released_error: (w,) mean distance of the release itself from the truth.
        errors: (k, w) mean distance of each reconstruction from the truth.
        squared_errors: (k, w) mean squared distance.
        log_likelihoods: (k, w) by which the honest attacker chooses.
    """

    kernels: tuple[AttackKernel, ...]
    released_error: FloatArray
    errors: FloatArray
    squared_errors: FloatArray
    log_likelihoods: FloatArray

    def __post_init__(self) -> None:
        for array in (self.released_error, self.errors, self.squared_errors, self.log_likelihoods):
            array.setflags(write=False)

    @property
    def tuned_index(self) -> int:
        """The one kernel with the smallest mean true error over all windows."""
        return int(np.argmin(np.mean(self.errors, axis=1)))

    @property
    def tuned(self) -> FloatArray:
        """(w,) errors of the one best kernel."""
        return np.asarray(self.errors[self.tuned_index])

    @property
    def clairvoyant(self) -> FloatArray:
        """(w,) the smallest error over kernels in each window."""
        return np.asarray(np.min(self.errors, axis=0))

    @property
    def honest(self) -> FloatArray:
        """(w,) errors of the likeliest kernel of each window."""
        chosen = np.argmax(self.log_likelihoods, axis=0)
        return np.asarray(self.errors[chosen, np.arange(self.errors.shape[1])])

    @property
    def tuned_root_mean_square(self) -> float:
        """Over all windows, of the kernel that is best by that measure."""
        return float(np.sqrt(np.min(np.mean(self.squared_errors, axis=1))))


def kernel_grid(step_seconds: float, span_seconds: float) -> tuple[AttackKernel, ...]:
    """Both families, lengthscales from two steps to four spans, deviations from 30 m to 100 km."""
    longest = 4.0 * max(span_seconds, step_seconds)
    lengthscales = np.geomspace(2.0 * step_seconds, longest, 9)
    deviations = np.geomspace(30.0, 100_000.0, 8)
    families: tuple[AttackFamily, ...] = ("rbf", "matern32")
    return tuple(
        AttackKernel(family, float(lengthscale), float(deviation))
        for family in families
        for lengthscale in lengthscales
        for deviation in deviations
    )


def attack_windows(
    times_seconds: FloatArray,
    noise_covariance: FloatArray,
    truth: FloatArray,
    released: FloatArray,
    kernels: tuple[AttackKernel, ...],
) -> WindowAttack:
    """Let every kernel attack every window.

    Args:
        times_seconds: (n,) common to all windows.
        noise_covariance: (n, n) on one axis, metres squared.
        truth: (w, n, 2) metres.
        released: (w, n, 2) metres.
        kernels: the attackers.
    """
    errors, squares, likelihoods = [], [], []
    with one_algebra_thread():  # many small matrices
        for kernel in kernels:
            smoother = build_smoother(kernel.covariance(times_seconds), noise_covariance)
            distance = _distances(smoother.reconstruct(released), truth)
            errors.append(np.mean(distance, axis=1))
            squares.append(np.mean(distance * distance, axis=1))
            likelihoods.append(smoother.log_likelihood(released))
    return WindowAttack(
        kernels=kernels,
        released_error=np.mean(_distances(released, truth), axis=1),
        errors=np.array(errors),
        squared_errors=np.array(squares),
        log_likelihoods=np.array(likelihoods),
    )


def _distances(points: FloatArray, truth: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(points - truth, axis=-1))
