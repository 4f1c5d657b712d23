"""Small random joints of several kinds, seeded."""

import numpy as np

from precompute.mapping.joint import (
    Joint,
    joint_of_cells,
    joint_of_independent_sensors,
    joint_of_rows,
)


def random_joint(seed: int, *, most_sensors: int = 3, most_cells: int = 4) -> Joint:
    """Independent sensors, any cells at all, cells with many zeros, or a log's rows."""
    random = np.random.default_rng(seed)
    sensors = int(random.integers(1, most_sensors + 1))
    publics, privates = int(random.integers(2, 4)), int(random.integers(2, 4))
    sizes = [int(random.integers(1, most_cells + 1)) for _ in range(sensors)]
    kind = seed % 4
    if kind == 0:
        prior = random.dirichlet(np.ones(publics * privates)).reshape(publics, privates)
        tables = [random.dirichlet(np.ones(size), (publics, privates)) for size in sizes]
        return joint_of_independent_sensors(prior, tables)
    if kind == 3:
        labels = random.integers(publics, size=60), random.integers(privates, size=60)
        cells = [(labels[0] + labels[1] + random.integers(0, 2, 60)) % size for size in sizes]
        return joint_of_rows(*labels, cells, sizes, publics=publics, privates=privates)
    cells = random.gamma(0.5, size=(publics, privates, *sizes))
    if kind == 2:
        cells = np.where(random.random(cells.shape) < 0.5, 0.0, cells)
        cells.flat[0] += 0.1
    return joint_of_cells(cells / cells.sum())
