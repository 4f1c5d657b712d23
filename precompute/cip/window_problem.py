"""A window design as a problem: what is secret, for which priors, under which restrictions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from agent.formats.designs import FloatArray
from precompute.cip.covariance import checked_covariance, checked_secrets
from precompute.cip.posterior import require_uncertain
from precompute.errors import DesignError, PriorError

Structure = Literal["free", "block"]


@dataclass(frozen=True, slots=True)
class WindowProblem:
    """Checked input of every window solver.

    Attributes:
        priors: each (n, n), read-only.
        secrets: index tuples, basic (one index) or compound.
        weights: (secrets,), each secret's limit over the tightest one; 1 for equal limits.
        floor: (n, n) noise that lies under every answer, or None.
        blocks: index sets between which the noise is uncorrelated, or None.
        notes: what had to be repaired in the input.
    """

    priors: tuple[FloatArray, ...]
    secrets: tuple[tuple[int, ...], ...]
    weights: FloatArray
    floor: FloatArray | None
    blocks: tuple[tuple[int, ...], ...] | None
    notes: tuple[str, ...]

    @property
    def count(self) -> int:
        """Readings in the window."""
        return len(self.priors[0])

    @property
    def floor_power(self) -> float:
        """Trace of the floor."""
        return 0.0 if self.floor is None else float(np.trace(self.floor))

    @property
    def all_basic(self) -> bool:
        """Whether every secret is a single reading."""
        return all(len(secret) == 1 for secret in self.secrets)

    @property
    def every_reading_equally(self) -> bool:
        """Whether each reading is a basic secret and all limits are the same."""
        return (
            self.all_basic and len(self.secrets) == self.count and bool(np.all(self.weights == 1.0))
        )


def window_problem(
    priors: npt.ArrayLike | Sequence[npt.ArrayLike],
    secrets: Literal["all"] | Sequence[int | Sequence[int]],
    *,
    weights: npt.ArrayLike | None = None,
    floor: float = 0.0,
    structure: Structure = "free",
) -> WindowProblem:
    """Check and gather.

    Args:
        priors: one covariance (n, n) or several.
        secrets: ``"all"`` for every reading by itself, or index lists.
        weights: relative limits, one a secret; equal when left out.
        floor: multiple of the (average) prior covariance that lies under every answer.
        structure: ``block`` keeps the noise on the secrets' readings independent of the rest.

    Raises:
        PriorError, DesignError: one line each.
    """
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise PriorError(
            "refused priors: found matrices of different shapes, or what is no matrix of numbers; "
            "expected (n, n) each, for the same n readings"
        ) from None
    if given.ndim not in (2, 3) or given.size == 0:
        raise DesignError(
            f"refused priors: found the shape {given.shape}, expected (n, n) or (priors, n, n)"
        )
    checked = [checked_covariance(one) for one in (given[None] if given.ndim == 2 else given)]
    matrices = tuple(one.matrix for one in checked)
    for matrix in matrices:
        require_uncertain(np.diagonal(matrix))
    count = len(matrices[0])
    chosen = (
        tuple((i,) for i in range(count))
        if isinstance(secrets, str)
        else checked_secrets(secrets, count)
    )
    if isinstance(secrets, str) and secrets != "all":
        raise DesignError(f"refused secrets {secrets!r}: expected 'all' or lists of indices")
    return WindowProblem(
        matrices,
        chosen,
        _relative(weights, len(chosen)),
        _floor_matrix(floor, matrices, structure),
        _blocks(structure, chosen, count),
        tuple(one.note for one in checked if one.note is not None),
    )


def _relative(weights: npt.ArrayLike | None, count: int) -> FloatArray:
    if weights is None:
        return np.ones(count)
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim == 0:
        return np.ones(count)
    if given.shape != (count,):
        raise DesignError(
            f"refused limits: found {given.size}, expected one for each of the {count} secrets"
        )
    if not bool(np.all(np.isfinite(given) & (given > 0))):
        raise DesignError("refused limits: found one that is not above 0; no noise meets it")
    relative: FloatArray = given / np.min(given)
    return relative


def _floor_matrix(
    floor: float, matrices: tuple[FloatArray, ...], structure: Structure
) -> FloatArray | None:
    if not (math.isfinite(floor) and floor >= 0):
        raise DesignError(f"refused floor: found {floor:g}, expected 0 or more")
    if floor == 0:
        return None
    if structure == "block":
        raise DesignError(
            "refused floor with structure 'block': noise shaped like the prior is correlated "
            "across the blocks; use structure 'free' or floor 0"
        )
    result: FloatArray = floor * np.mean(matrices, axis=0)
    return result


def _blocks(
    structure: Structure, secrets: tuple[tuple[int, ...], ...], count: int
) -> tuple[tuple[int, ...], ...] | None:
    if structure == "free":
        return None
    if structure != "block":
        raise DesignError(f"refused structure {structure!r}: expected 'free' or 'block'")
    inside = sorted({index for secret in secrets for index in secret})
    rest = tuple(index for index in range(count) if index not in inside)
    return (tuple(inside), rest) if rest else None
