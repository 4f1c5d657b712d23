"""The space that EPIC's classifier lives in: Gaussian kernel over what all sensors say.

Outcomes z = (z_1…z_s), each z_t one of |Z| symbols, as unit vectors:
K(z, z') = exp(-|z - z'|² / (2 σ²)) = Π_t k(z_t, z_t'), with k = 1 where the symbols are the same
and exp(-1/σ²) where they differ. So K = k ⊗ … ⊗ k, and with the Cholesky factor k = L L' every
f = Σ_z' β_z' K(·, z') is v = (L' ⊗ … ⊗ L') β with |f|² = β'Kβ = |v|², and a class of readings that
says z with Q(z) = Π_t q_t(z_t) has

    Σ_z Q(z) f(z) = φ'v,    φ = (q_1 L) ⊗ … ⊗ (q_s L).

That is the kernel on decisions marginalised over what is said, of Nguyen, Wainwright & Jordan,
"Nonparametric decentralized detection using kernel methods" (IEEE TSP 2005), eq. (13)-(15); here
never as a matrix between samples. Order of outcomes: C order, the last sensor fastest.
"""

import math
from collections.abc import Sequence

import numpy as np

from precompute.mapping.joint import FloatArray


def factor(symbols: int, bandwidth: float) -> FloatArray:
    """(|Z|, |Z|) L, lower, of k = L L'.

    Args:
        symbols: |Z| of one sensor.
        bandwidth: σ > 0; the squared distance of outcomes that differ in d sensors is 2 d.
    """
    other = math.exp(-1.0 / bandwidth**2)
    same = np.full((symbols, symbols), other) + (1.0 - other) * np.eye(symbols)
    return np.asarray(np.linalg.cholesky(same))


def products(tables: Sequence[FloatArray], rows: int) -> FloatArray:
    """(K, Π_t n_t) row by row the products of the tables' entries; tables are (K, n_t).

    Without a table: ones, (rows, 1).
    """
    found = np.ones((rows, 1))
    for table in tables:
        found = (found[:, :, None] * table[:, None, :]).reshape(rows, -1)
    return found


def features(said: Sequence[FloatArray], lower: FloatArray) -> FloatArray:
    """(K, |Z|^s) φ of each class.

    Args:
        said: for each sensor (K, |Z|), what each class says.
        lower: L of :func:`factor`.
    """
    return products([table @ lower for table in said], said[0].shape[0])


def values(weights: FloatArray, lower: FloatArray, sensors: int) -> FloatArray:
    """(|Z|, …, |Z|) f(z) = ((L ⊗ … ⊗ L) v)(z) at every outcome."""
    symbols = lower.shape[0]
    found = weights.reshape((symbols,) * sensors)
    for axis in range(sensors):
        found = np.moveaxis(np.tensordot(lower, found, axes=(1, axis)), 0, axis)
    return np.ascontiguousarray(found)
