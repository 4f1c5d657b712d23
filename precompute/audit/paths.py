"""How much longer the published path is than the real one: a figure of usefulness.

Independent noise turns every journey into a scribble; noise shaped like a trace leaves a path.
"""

import numpy as np

from agent.formats.designs import FloatArray


def path_length(points: FloatArray) -> FloatArray:
    """(..., n, 2) points -> (...) length of the line through them, same unit."""
    return np.asarray(np.sum(np.linalg.norm(np.diff(points, axis=-2), axis=-1), axis=-1))


def path_length_ratio(published: FloatArray, raw: FloatArray) -> FloatArray:
    """(..., n, 2) twice -> (...) published length over raw length; NaN where nothing moved."""
    length = path_length(raw)
    moved = length > 0
    return np.asarray(
        np.where(moved, path_length(published) / np.where(moved, length, 1.0), np.nan)
    )
