"""Seeded window problems of many kinds, well conditioned enough for a general SDP solver."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RandomWindow:
    priors: list[np.ndarray]
    secrets: list[list[int]]
    limits: np.ndarray


def random_window(seed: int, largest: int = 30) -> RandomWindow:
    """1 to 4 secrets, 1 to 3 priors, n up to ``largest``, irregular times."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(4, largest + 1))
    times = np.cumsum(generator.uniform(0.5, 1.5, count))
    lag = np.abs(times[:, None] - times)
    priors = []
    for _ in range(int(generator.integers(1, 4))):
        scale = float(np.exp(generator.uniform(np.log(0.8), np.log(10.0))))
        variance = float(np.exp(generator.normal()))
        family = generator.integers(3)
        if family == 0:
            shape = np.exp(-lag / scale)
        elif family == 1:
            shape = (1.0 + lag / scale) * np.exp(-lag / scale)
        else:
            shape = 0.99 * np.exp(-(lag**2) / (2.0 * scale**2)) + 0.01 * np.eye(count)
        priors.append(variance * shape)
    secrets: list[list[int]] = []
    for _ in range(int(generator.integers(1, 5))):
        size = 1 if generator.random() < 0.6 else 2
        secret = sorted(generator.choice(count, size, replace=False).tolist())
        if secret not in secrets:
            secrets.append(secret)
    return RandomWindow(priors, secrets, 5.0 * np.exp(generator.normal(size=len(secrets))))
