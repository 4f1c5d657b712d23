"""The matrix that a mechanism multiplies fresh normals with, found by feeding unit vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from agent.formats.designs import FloatArray
from agent.sanitise.interface import NoiseMechanism


def linear_map(mechanism: NoiseMechanism[Any], times_ms: Sequence[int]) -> FloatArray:
    """(readings * axes, normals): noise = map @ normals, readings outermost."""
    counts = _counts(mechanism, times_ms)
    columns = [_run(mechanism, times_ms, counts, unit) for unit in np.eye(sum(counts))]
    return np.stack(columns, axis=1)


def _counts(mechanism: NoiseMechanism[Any], times_ms: Sequence[int]) -> list[int]:
    state = mechanism.initial_state(0)
    counts = []
    for time_ms in times_ms:
        counts.append(mechanism.normals_needed(state, time_ms))
        _, state = mechanism.step(state, time_ms, np.zeros(counts[-1]))
    return counts


def _run(
    mechanism: NoiseMechanism[Any], times_ms: Sequence[int], counts: list[int], normals: FloatArray
) -> FloatArray:
    state = mechanism.initial_state(0)
    rows = []
    at = 0
    for time_ms, count in zip(times_ms, counts, strict=True):
        noise, state = mechanism.step(state, time_ms, normals[at : at + count])
        at += count
        rows.append(noise)
    return np.concatenate(rows)
