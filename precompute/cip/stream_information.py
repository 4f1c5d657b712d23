"""The worst information that stationary noise gives away about one reading, and its slopes.

With ``phi`` the spectrum of a prior of unit variance and ``S`` that of the noise, an adversary who
sees the whole path for ever, and whose prior may have any mean and any variance, has at most
``K = a^T Gamma^-1 a = (1/2pi) integral phi^2 / S dw`` (docs/theory.md): a is the correlation of
every moment with the secret, and a^T Gamma^-1 a is what the general K grows to as the prior's
variance falls.
K is convex in S, and homogeneous of degree -1.
"""

from collections.abc import Callable

import numpy as np

from agent.formats.designs import FloatArray
from precompute.cip.stream_quadrature import Quadrature, halved
from precompute.cip.stream_shapes import ShapeFamily

# Rows evaluated at once: bounds memory, nothing else.
BLOCK_ENTRIES = 4_000_000


def squared_spectra(
    family: ShapeFamily, parameters: FloatArray, quadrature: Quadrature
) -> FloatArray:
    """(m, N) rows ``weights * phi^2``: a row times 1/S is that shape's K."""
    phi = family.spectra(parameters, quadrature.omega)
    return np.asarray(quadrature.weights * phi * phi)


def information_over(
    family: ShapeFamily,
    parameters: FloatArray,
    quadrature: Quadrature,
    spectrum: FloatArray,
) -> FloatArray:
    """(m,) values of K for the shapes at ``parameters``.

    ``spectrum`` is that of the noise at the quadrature's frequencies.
    """
    inverse = 1 / spectrum
    block = max(1, BLOCK_ENTRIES // quadrature.omega.size)
    parts = [
        squared_spectra(family, parameters[start : start + block], quadrature) @ inverse
        for start in range(0, len(parameters), block)
    ]
    return np.concatenate(parts)


def quadrature_error(
    family: ShapeFamily,
    parameters: FloatArray,
    quadrature: Quadrature,
    spectrum: Callable[[FloatArray], FloatArray],
) -> float:
    """Largest relative change of K when every panel is halved, doubled to stay on the safe side."""
    finer = halved(quadrature)
    coarse = information_over(family, parameters, quadrature, spectrum(quadrature.omega))
    fine = information_over(family, parameters, finer, spectrum(finer.omega))
    return 2 * float(np.max(np.abs(coarse / fine - 1)))
