"""What counts as a covariance, a set of times and a secret; everything else is refused in one line.

A covariance that misses symmetry or positive semidefiniteness by no more than ``REPAIR_TOLERANCE``
of its scale is repaired, and the note says so; beyond that it is refused. Deviations at the level
of rounding (``ROUNDING`` of the scale, for n rows) are what every computed kernel matrix has: they
are left as they are, because nothing downstream inverts a prior.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from agent.formats.designs import FloatArray
from precompute.cip.factors import pivoted_factor
from precompute.cip.rounding import ROUNDING
from precompute.errors import DesignError, PriorError

REPAIR_TOLERANCE = 1e-8


@dataclass(frozen=True, slots=True)
class Covariance:
    """A checked covariance, read-only, and what had to be repaired (None for nothing)."""

    matrix: FloatArray
    note: str | None = None


def checked_covariance(matrix: npt.ArrayLike, what: str = "prior covariance") -> Covariance:
    """Check a covariance matrix.

    Args:
        matrix: (n, n), any real dtype.
        what: how messages call it.

    Returns:
        The matrix as read-only float64, exactly symmetric, with a note if it was repaired.

    Raises:
        PriorError: not square, not finite, not symmetric or not positive semidefinite.
    """
    given = np.asarray(matrix, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] == 0:
        raise PriorError(f"refused the {what}: found the shape {given.shape}, expected (n, n)")
    if not bool(np.all(np.isfinite(given))):
        raise PriorError(f"refused the {what}: found NaN or infinity, expected finite numbers")
    scale = float(np.max(np.abs(given)))
    notes = []
    asymmetry = float(np.max(np.abs(given - given.T)))
    if asymmetry > REPAIR_TOLERANCE * scale:
        raise PriorError(
            f"refused the {what}: found an asymmetry of {asymmetry:.3g}, expected at most "
            f"{REPAIR_TOLERANCE * scale:.3g}; average it with its transpose if that is meant"
        )
    symmetric = 0.5 * (given + given.T)
    if asymmetry > ROUNDING * scale:
        notes.append(f"{what}: asymmetry of {asymmetry:.3g} averaged away")
    result, note = _repaired_eigenvalues(symmetric, scale, what)
    if note is not None:
        notes.append(note)
    result.setflags(write=False)
    return Covariance(result, "; ".join(notes) or None)


def _repaired_eigenvalues(
    symmetric: FloatArray, scale: float, what: str
) -> tuple[FloatArray, str | None]:
    try:
        np.linalg.cholesky(symmetric)
    except np.linalg.LinAlgError:
        pass
    else:
        return symmetric, None
    # Pivoting tells a singular covariance from an indefinite one at a fraction of the cost of
    # eigenvalues: what it leaves of a positive semidefinite matrix is below rounding everywhere.
    half = pivoted_factor(symmetric)
    if float(np.max(np.abs(half @ half.T - symmetric))) <= ROUNDING * len(symmetric) * scale:
        return symmetric, None
    lowest, highest = np.linalg.eigvalsh(symmetric)[[0, -1]]
    if lowest >= -ROUNDING * len(symmetric) * highest:
        return symmetric, None
    if lowest < -REPAIR_TOLERANCE * highest:
        raise PriorError(
            f"refused the {what}: found the eigenvalue {lowest:.3g}, expected none below "
            f"{-REPAIR_TOLERANCE * max(highest, 0.0):.3g}; it is not a covariance"
        )
    values, vectors = np.linalg.eigh(symmetric)
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return 0.5 * (clipped + clipped.T), f"{what}: eigenvalues down to {lowest:.3g} set to 0"


def checked_times(times: npt.ArrayLike) -> FloatArray:
    """Times in seconds, (n,), strictly ascending. Raises PriorError otherwise."""
    given = np.asarray(times, dtype=np.float64)
    if given.ndim != 1 or given.size == 0:
        raise PriorError(f"refused times: found the shape {given.shape}, expected (n,)")
    if not bool(np.all(np.isfinite(given))):
        raise PriorError("refused times: found NaN or infinity, expected finite seconds")
    steps = np.diff(given)
    if bool(np.any(steps == 0)):
        first = int(np.argmax(steps == 0))
        raise PriorError(
            f"refused times: number {first} and {first + 1} are equal, expected different times; "
            "keep one of them"
        )
    if bool(np.any(steps < 0)):
        first = int(np.argmax(steps < 0)) + 1
        raise PriorError(f"refused times: number {first} goes back, expected ascending times")
    return given


class _Kernel(Protocol):
    def covariance(self, times_a: npt.ArrayLike, times_b: npt.ArrayLike) -> FloatArray: ...


def prior_covariance(kernel: _Kernel, times: npt.ArrayLike) -> FloatArray:
    """The kernel at these times, (n, n), as `information` and the designs take it.

    Args:
        kernel: of :mod:`precompute.priors.kernels`.
        times: seconds, strictly ascending; the steps need not be even.

    Raises:
        PriorError: times that are equal, go back or are not finite.
    """
    moments = checked_times(times)
    return kernel.covariance(moments, moments)


def checked_secret(secret: int | Sequence[int], count: int) -> tuple[int, ...]:
    """The indices of one secret among ``count`` times, ascending as given.

    Raises:
        DesignError: empty, repeated, not whole or out of range (negative indices are refused too).
    """
    given = np.atleast_1d(np.asarray(secret))
    if given.size == 0:
        raise DesignError("refused the secret []: found no index, expected at least one")
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise DesignError(f"refused the secret {secret!r}: expected whole numbers")
    indices = tuple(int(index) for index in given)
    outside = [index for index in indices if not 0 <= index < count]
    if outside:
        raise DesignError(
            f"refused the secret {list(indices)}: found the index {outside[0]}, "
            f"expected 0 to {count - 1}"
        )
    if len(set(indices)) != len(indices):
        raise DesignError(f"refused the secret {list(indices)}: an index is repeated; keep one")
    return indices


def checked_secrets(
    secrets: Sequence[int | Sequence[int]], count: int
) -> tuple[tuple[int, ...], ...]:
    """Several secrets, none twice. Raises DesignError."""
    if len(secrets) == 0:
        raise DesignError("refused secrets: found none, expected at least one, or 'all'")
    checked = tuple(checked_secret(secret, count) for secret in secrets)
    seen: set[frozenset[int]] = set()
    for secret in checked:
        if frozenset(secret) in seen:
            raise DesignError(f"refused secrets: {list(secret)} is listed twice; keep one")
        seen.add(frozenset(secret))
    return checked
