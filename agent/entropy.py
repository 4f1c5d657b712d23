"""Standard normals: from the operating system on the device, from a seed in tests.

The device draws from ``os.urandom`` alone. Nothing is kept between calls, so a forked process
or a memory image never holds normals that another one will also use.
"""

import os
from collections.abc import Callable
from typing import Protocol

import numpy as np

from agent.formats.designs import FloatArray

_BYTES_PER_PAIR = 16
_LARGEST_BELOW_ONE = 1.0 - 2.0**-53


class NormalSource(Protocol):
    """Where fresh independent standard normals come from."""

    def normals(self, count: int) -> FloatArray:
        """(count,) independent draws from N(0, 1)."""
        ...


class OperatingSystemNormals:
    """Box-Muller on 64-bit uniforms from the operating system's generator.

    u = (k + 1/2) / 2^64 is never 0 and never 1, so every draw is finite, and the tails reach
    sqrt(-2 log 2^-65) = 9.49 standard deviations. What a true normal has beyond that, 2e-21, is
    the whole difference that an observer could look for there.

    Args:
        read: returns that many random bytes; replaced in tests only.
    """

    def __init__(self, read: Callable[[int], bytes] = os.urandom) -> None:
        self._read = read

    def normals(self, count: int) -> FloatArray:
        """(count,) independent draws from N(0, 1); the spare one of an odd count is dropped."""
        pairs = (count + 1) // 2
        words = np.frombuffer(self._read(_BYTES_PER_PAIR * pairs), dtype="<u8").reshape(2, pairs)
        # Rounding takes the largest words to 2^64; the minimum keeps u below 1.
        uniform = np.minimum((words.astype(np.float64) + 0.5) * 2.0**-64, _LARGEST_BELOW_ONE)
        radius = np.sqrt(-2.0 * np.log(uniform[0]))
        angle = 2.0 * np.pi * uniform[1]
        drawn: FloatArray = np.concatenate((radius * np.cos(angle), radius * np.sin(angle)))
        return drawn[:count]


class SeededNormals:
    """Repeatable normals for tests and demonstrations; never the default anywhere.

    The same seed gives the same noise, and whoever knows it can subtract it.
    """

    def __init__(self, seed: int) -> None:
        # numpy.random costs several megabytes, which the device need not carry.
        from numpy.random import PCG64, Generator

        self._generator = Generator(PCG64(seed))

    def normals(self, count: int) -> FloatArray:
        """(count,) draws from N(0, 1)."""
        drawn: FloatArray = self._generator.standard_normal(count)
        return drawn
