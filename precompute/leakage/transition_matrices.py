"""Transition matrices: what an observer knows of how the state moves from step to step.

Convention: row i is a distribution over columns. Of a *forward* matrix, entry (i, j) is
Pr(next = j | now = i); of a *backward* one, Pr(before = j | now = i). Both are row-stochastic.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from precompute.leakage.errors import LeakageError

FloatArray = npt.NDArray[np.float64]
MAX_STATES = 2000
REPAIRABLE = 1e-6
WORTH_A_NOTE = 1e-12
ROUNDED = 1e-14  # the certificates of hull and pruning allow for more than this


@dataclass(frozen=True, slots=True, eq=False)
class TransitionMatrix:
    """A row-stochastic matrix (n, n), read-only, with a name for each state.

    Rows whose sum is off by at most 1e-6 (rounded figures in a file) are scaled to 1, which
    ``notes`` says; further off they are refused.
    """

    probabilities: FloatArray
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        matrix = np.array(self.probabilities, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
            shape = " by ".join(str(n) for n in matrix.shape)
            raise LeakageError(f"transition matrix: found {shape}; expected a square one")
        n = matrix.shape[0]
        if n > MAX_STATES:
            raise LeakageError(
                f"transition matrix: {n} states; at most {MAX_STATES} are taken: use larger cells"
            )
        _refuse_entries(matrix)
        sums = matrix.sum(axis=1)
        error = np.abs(sums - 1)
        worst = int(np.argmax(error))
        if error[worst] > REPAIRABLE:
            raise LeakageError(
                f"transition matrix: row {worst + 1} sums to {sums[worst]:.9g}; expected 1 "
                f"(off by at most {REPAIRABLE:g}): complete or divide the row"
            )
        if error[worst] > WORTH_A_NOTE:
            repaired = int(np.sum(error > WORTH_A_NOTE))
            note = (
                f"{repaired} rows summed to 1 only within {error[worst]:.1e} and were scaled to 1"
            )
            object.__setattr__(self, "notes", (*self.notes, note))
        if error[worst] > ROUNDED:
            matrix /= sums[:, None]
        names = self.names or tuple(str(i + 1) for i in range(n))
        if len(names) != n or len(set(names)) != n:
            raise LeakageError(
                f"transition matrix: {len(set(names))} different state names for {n} states"
            )
        matrix.setflags(write=False)
        object.__setattr__(self, "probabilities", matrix)
        object.__setattr__(self, "names", names)

    def __len__(self) -> int:
        return int(self.probabilities.shape[0])

    def index(self, name: str) -> int:
        """The row of a state.

        Raises:
            LeakageError: no state has that name.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise LeakageError(
                f"transition matrix: no such state among its {len(self)}; learn it with more data"
            ) from None


def stationary_distribution(forward: TransitionMatrix) -> FloatArray:
    """The distribution (n,) that one step leaves as it is.

    Raises:
        LeakageError: there is more than one (the chain falls into separate parts).
    """
    n = len(forward)
    # (P^T - I) pi = 0 and sum(pi) = 1. The rank tells whether that has just one solution.
    system = np.vstack([forward.probabilities.T - np.eye(n), np.ones(n)])
    target = np.zeros(n + 1)
    target[n] = 1.0
    solution, _, rank, _ = np.linalg.lstsq(system, target, rcond=None)
    if rank < n:
        raise LeakageError(
            "transition matrix: more than one stationary distribution, because not every state "
            "can be reached; give the distribution of the states"
        )
    solution = np.clip(solution, 0.0, None)
    return np.asarray(solution / solution.sum(), dtype=np.float64)


def backward_by_bayes(
    forward: TransitionMatrix, distribution: FloatArray | None = None
) -> TransitionMatrix:
    """Pr(before = j | now = i) = pi_j P_ji / sum_k pi_k P_ki.

    Args:
        forward: Pr(next | now).
        distribution: pi (n,) of the earlier step; the stationary one when it is not given.

    Raises:
        LeakageError: pi is no distribution, or some state is never reached from it.
    """
    if distribution is None:
        before = stationary_distribution(forward)
    else:
        before = np.asarray(distribution, dtype=np.float64)
        valid = before.shape == (len(forward),) and bool(np.all(np.isfinite(before)))
        if not valid or bool(np.any(before < 0)) or abs(float(before.sum()) - 1) > REPAIRABLE:
            raise LeakageError(
                f"distribution of the states: expected {len(forward)} numbers >= 0 that sum to 1"
            )
    joint = forward.probabilities.T * before[None, :]
    reached = joint.sum(axis=1)
    if bool(np.any(reached <= 0)):
        raise LeakageError(
            f"backward matrix: {int(np.sum(reached <= 0))} states are never reached, so their "
            "past is undefined; smooth the forward matrix or drop those states"
        )
    return TransitionMatrix(joint / reached[:, None], forward.names, forward.notes)


def strongest_correlation(states: int, seed: int) -> TransitionMatrix:
    """One certain next state for each state: a permutation, as experiments start from."""
    order = np.random.default_rng(seed).permutation(states)
    return TransitionMatrix(np.eye(states)[order])


def smoothed(matrix: TransitionMatrix, smoothing: float) -> TransitionMatrix:
    """Weaker correlation: (P_ij + s) / sum_j (P_ij + s), TPL section 6. s = 0 leaves P alone.

    Raises:
        LeakageError: s is negative or not finite.
    """
    if not (np.isfinite(smoothing) and smoothing >= 0):
        raise LeakageError(f"smoothing: found {smoothing:g}; expected a number >= 0")
    if smoothing == 0:
        return matrix
    raised = matrix.probabilities + smoothing
    return TransitionMatrix(raised / raised.sum(axis=1, keepdims=True), matrix.names, matrix.notes)


def _refuse_entries(matrix: FloatArray) -> None:
    """Name the first entry that is no probability by its place."""
    for wrong, what in (
        (~np.isfinite(matrix), "not a finite number"),
        (matrix < 0, "negative"),
    ):
        if bool(np.any(wrong)):
            row, column = (int(i) + 1 for i in np.argwhere(wrong)[0])
            raise LeakageError(
                f"transition matrix: row {row}, column {column} is {what}; "
                "expected probabilities between 0 and 1"
            )
