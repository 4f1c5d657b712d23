"""Projections that others compare with: DCA, MDR, RUCA. They promise no budget.

All three see the raw readings of all nodes side by side in one place, and release W'x, numbers that
hold no noise: nothing is promised about any reading, nor about any attacker but those whose scatter
they look at. They stand here to be compared with, not to be shipped.

With x standardised, S the scatter of all rows about their mean, B_H and B_G the scatter of the
class means of H and of G (weighted by class), the columns of W are the leading solutions of

    B_H w = μ M w,    with    DCA   M = S + ρ I
                              MDR   M = B_G + ρ I
                              RUCA  M = S + ρ I + κ B_G

so that RUCA is DCA at κ = 0. As κ grows it turns to MDR's aim, directions along which the class
means of G are alike, but among these it goes on choosing by S + ρ I where MDR goes by ρ I: its
limit is an MDR whose ridge has the readings' own scatter, in general not the MDR above. All
scatters are divided by the number of rows. B_H has rank |H| - 1, so that components beyond that
many have μ = 0: they tell nothing of H by their means, and their order means nothing.

Kung states DCA with the scatter within classes, (S + ρ' I) w = μ' (S - B_H + ρ I) w. With ρ' = ρ
that is the line above with μ' = 1/(1 - μ): the same directions in the same order, as far as μ > 0.
Another ρ' changes components; it is not offered.

Sources of the methods. That their ridge, weights and scale are just those above was not verified:
of the papers only RUCA's abstract was at hand, and a published program for DCA.
DCA: Kung,
"Discriminant component analysis for privacy protection and visualization of big data" (Multimed.
Tools Appl. 2017). MDR: Diamantaras & Kung, "Data privacy protection by kernel subspace projection
and generalized eigenvalue decomposition" (MLSP 2016). RUCA: Al, Wan & Kung, "Ratio utility and
cost analysis for privacy preserving subspace projection" (arXiv:1702.07976).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, IntArray

Method = Literal["dca", "mdr", "ruca"]


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """x -> ((x - mean) / scale) @ directions; means and scales are (d,), directions (d, k)."""

    mean: FloatArray
    scale: FloatArray
    directions: FloatArray

    def apply(self, values: FloatArray) -> FloatArray:
        """(n, k) of (n, d) readings."""
        return np.asarray((values - self.mean) / self.scale @ self.directions)


def project(
    method: Method,
    values: FloatArray,
    public: IntArray,
    private: IntArray,
    *,
    components: int = 1,
    ridge: float = 1e-2,
    cost: float = 1.0,
) -> Projection:
    """The projection that a method makes of labelled rows.

    Args:
        method: see the module's words.
        values: (n, d) raw readings of all nodes side by side, finite.
        public: (n,) H.
        private: (n,) G.
        components: k, 1 to d.
        ridge: ρ > 0.
        cost: κ >= 0 of ``ruca``.

    Raises:
        MappingError: a number outside its range.
    """
    if not 1 <= components <= values.shape[1]:
        raise MappingError(
            f"projection: components is {components}; expected 1 to {values.shape[1]}, the columns"
        )
    if not (ridge > 0 and cost >= 0):
        raise MappingError(
            f"projection: ridge is {ridge:g} and cost {cost:g}; expected above 0 and from 0"
        )
    from scipy.linalg import eigh

    mean, scale = values.mean(axis=0), values.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    scaled = (values - mean) / scale
    against = ridge * np.eye(values.shape[1])
    if method in ("dca", "ruca"):
        against += scaled.T @ scaled / scaled.shape[0]
    if method in ("mdr", "ruca"):
        against += (cost if method == "ruca" else 1.0) * between(scaled, private)
    _, found = eigh(between(scaled, public), against)
    return Projection(mean, scale, np.ascontiguousarray(found[:, ::-1][:, :components]))


def between(values: FloatArray, labels: IntArray) -> FloatArray:
    """(d, d) Σ_c p(c) (m_c - m)(m_c - m)' of the class means about the mean of all rows."""
    centre = values.mean(axis=0)
    found = np.zeros((values.shape[1], values.shape[1]))
    for label in np.unique(labels):
        ours = values[labels == label]
        away = ours.mean(axis=0) - centre
        found += ours.shape[0] / values.shape[0] * np.outer(away, away)
    return found
