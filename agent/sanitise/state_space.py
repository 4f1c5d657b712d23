"""Stationary state-space components, exact over any time step.

Each component's state is a small vector with a known stationary covariance; over a step of any
length it moves as ``next = transition @ state + factor @ normals`` with
``factor @ factor.T = stationary - transition @ stationary @ transition.T``. The noise of the
component is ``readout @ state``.

**Matern of order p = 1, 2, 3 (1/2, 3/2, 5/2)** as a chain of p one-pole filters driven by white
noise w of unit intensity, in the time s = rate * t, rate = sqrt(2p - 1) / T:

    du_1 = -u_1 ds + dw,   du_k = (u_{k-1} - u_k) ds,   g = u_p * sqrt(c / Var u_p).

The impulse response of u_k is s^(k-1)/(k-1)! e^(-s). Hence, for a step x = rate * dt,

    transition_ij = x^(i-j)/(i-j)! e^(-x)  for i >= j, else 0,
    Q_ij = integral_0^x s^(i+j-2) e^(-2s) ds / ((i-1)! (j-1)!),
    stationary_ij = Q_ij(infinity) = binomial(i+j-2, i-1) / 2^(i+j-1).

Why this basis: no entry is a difference of nearly equal numbers, so each is accurate in the
relative sense from milliseconds to years. Q is graded (x, x^3, x^5 on its diagonal); with
D = diag(x^(i-1/2)), Q = D q D where q tends to a scaled Hilbert matrix (condition about 500 at
p = 3), so D @ cholesky(q) is accurate too, and no jitter is ever added. In the more common basis
(g, g', g'') the first entry of Q is 1 - e^(-2x)(1 + 2x + 2x^2), about 4x^3/3, which loses every
digit at small x.

**Oscillator** exp(-t/T) cos(2 pi t / P): a rotating vector of two independent unit
Ornstein-Uhlenbeck processes; transition = e^(-dt/T) R(2 pi dt/P), Q = (1 - e^(-2 dt/T)) I.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agent.formats.designs import Component, FloatArray

_ORDER = {"matern12": 1, "matern32": 2, "matern52": 3}
# exp(-x) is zero in float64 beyond this, so the past is forgotten to the last bit.
_FORGOTTEN = 750.0


@dataclass(frozen=True, slots=True)
class StepMatrices:
    """One step: ``next = transition @ state + factor @ normals``; both (k, k)."""

    transition: FloatArray
    factor: FloatArray


def dimension(component: Component) -> int:
    """Number of states, and of normals per step: p for Matern, 2 for an oscillator."""
    return _ORDER.get(component.family, 2)


def readout(component: Component) -> FloatArray:
    """(k,) weights that turn the state into noise of the component's variance."""
    if component.family == "oscillator":
        return np.array([math.sqrt(component.variance), 0.0])
    order = _ORDER[component.family]
    weights = np.zeros(order)
    stationary_variance = math.comb(2 * order - 2, order - 1) / 2.0 ** (2 * order - 1)
    weights[-1] = math.sqrt(component.variance / stationary_variance)
    return weights


def first_step(component: Component) -> StepMatrices:
    """The step out of nothing: a draw from the stationary law."""
    size = dimension(component)
    if component.family == "oscillator":
        return StepMatrices(np.zeros((2, 2)), np.eye(2))
    stationary = np.array(
        [[math.comb(i + j, i) / 2.0 ** (i + j + 1) for j in range(size)] for i in range(size)]
    )
    return StepMatrices(np.zeros((size, size)), np.linalg.cholesky(stationary))


def step_matrices(component: Component, elapsed_ms: int) -> StepMatrices:
    """The exact step over ``elapsed_ms`` > 0 milliseconds."""
    assert elapsed_ms > 0
    if component.family == "oscillator":
        return _oscillator_step(component, elapsed_ms)
    order = _ORDER[component.family]
    x = math.sqrt(2 * order - 1) * (elapsed_ms / 1000.0) / component.timescale_seconds
    return _matern_step(order, x) if x < _FORGOTTEN else first_step(component)


def covariance(component: Component, lags_ms: npt.NDArray[np.int64]) -> FloatArray:
    """The closed form at lags of whole milliseconds, any shape; unit^2."""
    lags = np.abs(lags_ms)
    scaled = lags / 1000.0 / component.timescale_seconds
    if component.family == "oscillator":
        turns = np.fmod(lags.astype(np.float64), _period_ms(component)) / _period_ms(component)
        shape = np.exp(-scaled) * np.cos(2.0 * np.pi * turns)
    else:
        # Beyond _FORGOTTEN the exponential is 0; the cut keeps 0 * infinity out.
        order = _ORDER[component.family]
        x = np.minimum(math.sqrt(2 * order - 1) * scaled, _FORGOTTEN)
        polynomial = {1: np.ones_like(x), 2: 1.0 + x, 3: 1.0 + x + x * x / 3.0}[order]
        shape = polynomial * np.exp(-x)
    result: FloatArray = component.variance * shape
    return result


def _matern_step(order: int, x: float) -> StepMatrices:
    decay = math.exp(-x)
    transition = np.zeros((order, order))
    scaled_noise = np.empty((order, order))
    for i in range(order):
        for j in range(order):
            if i >= j:
                transition[i, j] = decay * x ** (i - j) / math.factorial(i - j)
            scaled_noise[i, j] = _moment(i + j + 1, 2.0 * x) / (
                math.factorial(i) * math.factorial(j)
            )
    scale = np.array([x ** (i + 0.5) for i in range(order)])
    return StepMatrices(transition, scale[:, None] * np.linalg.cholesky(scaled_noise))


def _moment(n: int, y: float) -> float:
    """integral_0^1 t^(n-1) e^(-y t) dt = (n-1)! P(n, y) / y^n, to full relative accuracy.

    P is the regularised lower incomplete gamma function (DLMF 8.4.9, 8.7.1 with the exponential
    taken out). Below y = n its series has positive terms only; above, P > 1/2 and its complement
    is a short sum.
    """
    if y > n:
        term = total = 1.0
        for k in range(1, n):
            term *= y / k
            total += term
        return math.factorial(n - 1) * (1.0 - math.exp(-y) * total) / y**n
    term = total = 1.0
    k = n
    while term > total * 1e-17:
        k += 1
        term *= y / k
        total += term
    return math.exp(-y) * total / n


def _oscillator_step(component: Component, elapsed_ms: int) -> StepMatrices:
    elapsed = elapsed_ms / 1000.0 / component.timescale_seconds
    # fmod is exact, so whole turns leave no error behind however long the gap is.
    angle = 2.0 * math.pi * math.fmod(elapsed_ms, _period_ms(component)) / _period_ms(component)
    decay = math.exp(-elapsed)
    cos, sin = decay * math.cos(angle), decay * math.sin(angle)
    spread = math.sqrt(-math.expm1(-2.0 * elapsed))
    return StepMatrices(np.array([[cos, -sin], [sin, cos]]), spread * np.eye(2))


def _period_ms(component: Component) -> float:
    """The period that both the sampler and the closed form use, rounded once."""
    assert component.period_seconds is not None
    return 1000.0 * component.period_seconds
