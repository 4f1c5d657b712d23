"""Where a picture looks: a square of ground and the pixels that show it.

Pictures that are to be compared share one frame, so that a metre is as long in each.
"""

import math
from dataclasses import dataclass

import numpy as np

from agent.formats.designs import FloatArray

PIXELS = 600.0


@dataclass(frozen=True, slots=True)
class Frame:
    """A square of ``side`` metres around (east, north); one metre is as long both ways."""

    east: float
    north: float
    side: float

    @property
    def centre(self) -> tuple[float, float]:
        """East and north, metres."""
        return self.east, self.north

    def to_pixels(self, points: FloatArray) -> FloatArray:
        """(n, 2) metres -> (n, 2) pixels, y downwards."""
        scale = PIXELS / self.side
        x = (points[:, 0] - self.east) * scale + PIXELS / 2.0
        y = (self.north - points[:, 1]) * scale + PIXELS / 2.0
        return np.column_stack([x, y])

    @property
    def scale_bar(self) -> tuple[float, str]:
        """A round length for a bar of about a quarter of the picture: (metres, label)."""
        target = self.side / 4.0
        decade = 10.0 ** math.floor(math.log10(target))
        metres = max(step * decade for step in (1.0, 2.0, 5.0) if step * decade <= target)
        return metres, f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"


def frame_around(
    points: FloatArray, *, margin: float, largest: float = math.inf, smallest: float = 100.0
) -> Frame:
    """The square that holds these (n, 2) points and a margin, between two sizes, all in metres.

    A square cut down to ``largest`` looks at where most points are.
    """
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    side = float(np.max(high - low)) + 2.0 * margin
    if side > largest:
        east, north = np.median(points, axis=0)
        return Frame(float(east), float(north), largest)
    centre = (low + high) / 2.0
    return Frame(float(centre[0]), float(centre[1]), max(side, smallest))
