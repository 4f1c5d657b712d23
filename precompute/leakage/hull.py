"""The chain of a convex hull that the best (D, Q) runs along as alpha grows.

A piece (D, Q) of the loss function has the value log[(Q u + 1)/(D u + 1)], u = e^alpha - 1. Its
level sets in the plane of (D, Q) are the lines through (-1/u, -1/u), so the best piece for one
alpha is where the tangent from that point touches the hull of all pieces. As alpha runs from 0 to
infinity the tangent's slope c = e^L rises and it rolls along one chain: from the largest Q - D
(slope 1) to the largest Q / D (through the origin).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
MANY_POINTS = 4000
SEED_SLOPES = 48


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Vertices of the hull from the largest Q - D to the largest Q / D: D and Q both fall."""

    losses: FloatArray
    gains: FloatArray

    def extended(self, losses: FloatArray, gains: FloatArray) -> "Chain":
        """The chain of the union with more points (flat arrays of equal length)."""
        above = self._above(losses, gains)
        losses, gains = losses[above], gains[above]
        if losses.size == 0:
            return self
        if losses.size > MANY_POINTS:
            # The farthest points in a few directions leave few others outside their chain.
            chosen = _farthest(losses, gains)
            seeded = self._joined(losses[chosen], gains[chosen])
            above = seeded._above(losses, gains)
            return seeded._joined(losses[above], gains[above])
        return self._joined(losses, gains)

    def _joined(self, losses: FloatArray, gains: FloatArray) -> "Chain":
        return chain_of(np.concatenate([self.losses, losses]), np.concatenate([self.gains, gains]))

    def support(self, slopes: FloatArray) -> FloatArray:
        """max over the vertices of Q - c D, for each slope c >= 1; at least 0."""
        if self.losses.size == 0:
            return np.zeros_like(slopes)
        heights = self.gains[:, None] - slopes[None, :] * self.losses[:, None]
        return np.asarray(np.maximum(heights.max(axis=0), 0.0))

    def slopes(self) -> FloatArray:
        """Slope dQ/dD of each edge (they rise along the chain)."""
        return np.asarray(np.diff(self.gains) / np.diff(self.losses))

    def _above(self, losses: FloatArray, gains: FloatArray) -> BoolArray:
        """Which points could be vertices: above the chain, or beyond one of its two ends."""
        if self.losses.size == 0:
            return np.asarray(gains > losses)
        heights = np.interp(losses, self.losses[::-1], self.gains[::-1])
        last_loss, last_gain = self.losses[-1], self.gains[-1]
        # Left of the chain: above its last tangent, through the origin. Right: Q - D larger.
        left = losses < last_loss
        if last_loss > 0:
            heights = np.where(left, losses * (last_gain / last_loss), heights)
        right = losses > self.losses[0]
        heights = np.where(right, losses + (self.gains[0] - self.losses[0]), heights)
        return np.asarray(gains > heights)


def chain_of(losses: FloatArray, gains: FloatArray) -> Chain:
    """The chain of any set of points; empty when no point has Q > D."""
    useful = gains > losses
    # By D rising; of equal D only the largest Q.
    order = np.lexsort((-gains[useful], losses[useful]))
    d_sorted, q_sorted = losses[useful][order], gains[useful][order]
    vertices: list[tuple[float, float]] = []
    previous = -1.0
    for d, q in zip(d_sorted.tolist(), q_sorted.tolist(), strict=True):
        if d == previous or (vertices and q <= vertices[-1][1]):
            continue
        previous = d
        while len(vertices) >= 2 and _not_left_of(vertices[-2], vertices[-1], (d, q)):
            vertices.pop()
        vertices.append((d, q))
    # The hull's concave chain by D rising; keep the part between the tangent through the origin
    # and the tangent of slope 1.
    first = 0
    while first + 1 < len(vertices) and _ratio_grows(vertices[first], vertices[first + 1]):
        first += 1
    last = len(vertices) - 1
    while last > first and _difference_falls(vertices[last - 1], vertices[last]):
        last -= 1
    kept = vertices[first : last + 1][::-1]
    return Chain(np.array([d for d, _ in kept]), np.array([q for _, q in kept]))


def _not_left_of(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or below the line from a to c (D rising from a to c)."""
    return (b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0])


def _ratio_grows(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return b[1] * a[0] >= a[1] * b[0] and a[0] > 0


def _difference_falls(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return b[1] - a[1] <= b[0] - a[0]


def _farthest(losses: FloatArray, gains: FloatArray) -> list[int]:
    """Numbers of the points that maximise Q - c D, for slopes c from 1 to the largest Q / D."""
    ratios = gains / np.where(losses > 0, losses, np.inf)
    steepest = max(float(np.max(ratios)), 2.0)
    slopes = np.geomspace(1.0, 2 * steepest, SEED_SLOPES)
    return sorted({int(np.argmax(gains - slope * losses)) for slope in slopes})
