"""EPIC's classifier for fixed maps: a quadratic program, solved by OSQP and certified without it.

For classes i with weight w_i, sign h_i = ±1 and features φ_i
(:mod:`precompute.mapping.epic_kernel`)

    minimise  Σ_i w_i (1 - h_i φ_i'v)₊² + λ/2 |v|²,

as a program: minimise Σ_i ζ_i² + λ/2 |v|² subject to √w_i h_i φ_i'v + ζ_i ≥ √w_i.

Why the squared hinge and not the hinge: it is differentiable, so that a place where neither the
classifier nor any sensor's map can be bettered alone is stationary for each; the classifier is
unique and moves continuously with the maps; and its minimiser over all functions is 2 p(h=1|z) -
1, so that f orders outcomes by their certainty (Zhang, "Statistical behavior and consistency of
classification methods based on convex risk minimization", Ann. Stat. 2004, sec. 3). A loss for f
averaged over z is at most the average loss of f(z) (Jensen), as in Nguyen, Wainwright & Jordan
2005.

Certificate: any v bounds the minimum from above; with α_i = 2 w_i (1 - h_i φ_i'v)₊ Fenchel's dual
Σ α_i - Σ α_i²/(4 w_i) - |Σ α_i h_i φ_i|²/(2λ) bounds it from below. Their difference is
|λ v - Σ_i α_i h_i φ_i|² / (2λ), worked out from v alone: no answer of the solver but v is used.
"""

from dataclasses import dataclass

import numpy as np

from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray

# Relative to 1 + the minimum. The solver's own tolerance is looser: Newton steps on its set of
# classes inside the margin end the work exactly, up to rounding.
GAP_TOLERANCE = 1e-9
SOLVER_TOLERANCE = 1e-5
SOLVER_ITERATIONS = 4000
NEWTON_STEPS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """A certified answer.

    Attributes:
        weights: v.
        risk: the value of the program at v, penalty included.
        gap: at most so far above the minimum.
    """

    weights: FloatArray
    risk: float
    gap: float


def certify(
    phi: FloatArray, signs: FloatArray, mass: FloatArray, penalty: float, v: FloatArray
) -> Classifier:
    """Value and distance from the optimum of any v, by the module's certificate.

    Args:
        phi: (n, m) features.
        signs: (n,) ±1.
        mass: (n,) w_i > 0.
        penalty: λ > 0.
        v: (m,).
    """
    short = np.maximum(0.0, 1.0 - signs * (phi @ v))
    residual = penalty * v - phi.T @ (2.0 * mass * short * signs)
    risk = float(mass @ short**2 + 0.5 * penalty * (v @ v))
    return Classifier(v, risk, float(residual @ residual) / (2.0 * penalty))


def train(
    phi: FloatArray,
    signs: FloatArray,
    mass: FloatArray,
    penalty: float,
    start: FloatArray | None = None,
) -> Classifier:
    """The minimiser; arguments as of :func:`certify`; ``start`` a guess of v,
    from which Newton steps are tried before the solver is.

    Raises:
        MappingError: the answer could not be certified to GAP_TOLERANCE.
    """
    phi, signs, mass = _merged(phi, signs, mass)
    if start is not None:
        found = _newton(phi, signs, mass, penalty, start)
        if found.gap <= GAP_TOLERANCE * (1.0 + found.risk):
            return found
    found = _newton(phi, signs, mass, penalty, _solve(phi, signs, mass, penalty, start))
    if not found.gap <= GAP_TOLERANCE * (1.0 + found.risk):
        raise MappingError(
            f"epic: the classifier's certified gap is {found.gap:.3g}; expected at most "
            f"{GAP_TOLERANCE:g}; enlarge the regulariser (now {penalty:g})"
        )
    return found


def _merged(
    phi: FloatArray, signs: FloatArray, mass: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Classes that no map tells apart made one: cells that share a row of a map are common."""
    # Rows that are alike have the same product with any vector; different ones differ almost
    # surely.
    mark = np.random.default_rng(0).uniform(1.0, 2.0, phi.shape[1])
    keys = np.round(phi @ mark, 11) + 1e3 * signs
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    total = np.bincount(number.ravel(), weights=mass, minlength=first.size)
    return phi[first], signs[first], np.asarray(total, dtype=np.float64)


def _solve(
    phi: FloatArray,
    signs: FloatArray,
    mass: FloatArray,
    penalty: float,
    start: FloatArray | None,
) -> FloatArray:
    import osqp
    from scipy import sparse

    n, m = phi.shape
    root = np.sqrt(mass)
    solver = osqp.OSQP()
    solver.setup(
        sparse.diags(np.concatenate([np.full(m, penalty), np.full(n, 2.0)]), format="csc"),
        np.zeros(m + n),
        sparse.hstack(
            [sparse.csc_matrix((root * signs)[:, None] * phi), sparse.identity(n)], format="csc"
        ),
        root,
        np.full(n, np.inf),
        verbose=False,
        eps_abs=SOLVER_TOLERANCE,
        eps_rel=SOLVER_TOLERANCE,
        max_iter=SOLVER_ITERATIONS,
        polishing=False,
    )
    if start is not None:
        short = np.maximum(0.0, 1.0 - signs * (phi @ start))
        solver.warm_start(x=np.concatenate([start, root * short]), y=-2.0 * root * short)
    found = solver.solve(raise_error=False)
    if found.info.status_val == osqp.SolverStatus.OSQP_SIGINT:
        # While it works the solver catches Ctrl-C itself, and Python never hears of it.
        raise KeyboardInterrupt
    answer = found.x
    v = None if answer is None else np.asarray(answer[:m], dtype=np.float64)
    return v if v is not None and bool(np.all(np.isfinite(v))) else np.zeros(m)


def _newton(
    phi: FloatArray, signs: FloatArray, mass: FloatArray, penalty: float, v: FloatArray
) -> Classifier:
    """Steps to the minimum of the quadratic that holds while no class crosses its margin."""
    best = certify(phi, signs, mass, penalty, v)
    for _ in range(NEWTON_STEPS):
        if best.gap <= 1e-3 * GAP_TOLERANCE:
            break
        inside = signs * (phi @ best.weights) < 1.0
        near, load = phi[inside], 2.0 * mass[inside]
        normal = near.T @ (load[:, None] * near) + penalty * np.eye(phi.shape[1])
        target = np.linalg.solve(normal, near.T @ (load * signs[inside]))
        share, after = 1.0, best
        while share > 1e-6:
            after = certify(
                phi, signs, mass, penalty, best.weights + share * (target - best.weights)
            )
            if after.risk < best.risk or after.gap < best.gap:
                break
            share *= 0.5
        if not (after.risk < best.risk or after.gap < best.gap):
            break
        best = after
    return best
