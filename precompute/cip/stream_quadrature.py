"""One set of frequencies and weights for every integral of a stream design.

Gauss-Legendre panels, even in log frequency, with panels halving towards each narrow line; the
panel at zero is plain and the one at infinity is in 1/frequency, so nothing is cut off. The
integrands are analytic with their nearest singularities as far from a panel as it is long, so
the error falls geometrically with the order; :func:`halved` gives the grid with which it is
measured, and the tests compare both with adaptive quadrature.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray
from precompute.cip.stream_shapes import Line

PANEL_LOG_WIDTH = 0.5
PANEL_ORDER = 10
# The end panels begin where every shape and component is already flat, or falls by a power.
MARGIN = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Quadrature:
    """``(1/2pi) integral over all w of f = sum weights * f(omega)``, f even; omega > 0.

    Attributes:
        omega: (N,) rad/s.
        weights: (N,) rad/s, 1/pi included.
        edges: of the panels, for :func:`halved`.
    """

    omega: FloatArray
    weights: FloatArray
    edges: FloatArray


def frequency_grid(shortest: float, longest: float, lines: Sequence[Line]) -> Quadrature:
    """Panels for times from ``shortest`` to ``longest`` seconds and for the given narrow lines."""
    low, high = 1 / (MARGIN * longest), MARGIN / shortest
    high = max([high, *(2 * line.centre for line in lines)])
    count = math.ceil(math.log(high / low) / PANEL_LOG_WIDTH)
    places = [np.geomspace(low, high, count + 1)]
    for line in lines:
        reach = np.arange(math.ceil(math.log2(max(2.0, line.spacing / line.width))))
        distance = np.concatenate([[0.0], line.width * 2.0**reach])
        places += [line.centre + distance, line.centre - distance]
    edges = np.unique(np.concatenate(places))
    edges = edges[(edges >= low) & (edges <= high)]
    # Edges of different lines nearly coincide; a panel much thinner than its place is wasted.
    thinnest = 0.4 * min([line.width for line in lines], default=0.0)
    keep = np.concatenate([[True], np.diff(edges) > thinnest])
    keep[-1] = True
    return _panels(edges[keep])


def halved(quadrature: Quadrature) -> Quadrature:
    """Every panel cut in two, those at zero and at infinity too."""
    edges = quadrature.edges
    middles = 0.5 * (edges[1:] + edges[:-1])
    ends = [0.5 * edges[0], 2 * edges[-1]]
    return _panels(np.sort(np.concatenate([edges, middles, ends])))


def _panels(edges: FloatArray) -> Quadrature:
    nodes, weights = np.polynomial.legendre.leggauss(PANEL_ORDER)
    nodes, weights = (nodes + 1) / 2, weights / 2
    starts = np.concatenate([[0.0], edges[:-1]])
    lengths = np.diff(np.concatenate([[0.0], edges]))
    omega = (starts[:, np.newaxis] + lengths[:, np.newaxis] * nodes).ravel()
    measure = (lengths[:, np.newaxis] * weights).ravel()
    inverse = nodes[::-1] / edges[-1]
    omega = np.concatenate([omega, 1 / inverse])
    measure = np.concatenate([measure, weights[::-1] / edges[-1] / inverse**2])
    return Quadrature(omega, measure / math.pi, edges)
