"""What one mapped reading costs on the device: quantise and draw, and the whole step around it.

    python -m benchmarks.iot_device

Prints medians over rounds, in microseconds. Other benchmarks call ``measure_mapped_reading``.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np

from agent.formats.leakage_table import LeakageTable
from agent.formats.mapping_design import MappingDesign, Node
from agent.formats.mapping_node import WHOLE, WeightTable, local_epsilon
from agent.formats.quantisers import Centres, Cuts, Quantiser, Tree
from agent.sanitise.discrete_bits import SystemBits
from agent.sanitise.mapping import MappingSanitiser, SymbolSampler

READINGS = 2000
ROUNDS = 15
EMPTY = LeakageTable((), (), ())


@dataclass(frozen=True, slots=True)
class MappedReading:
    """Medians in microseconds for one reading.

    Attributes:
        quantise_and_draw: for each quantiser, with two tables.
        sanitise: the slowest of them with the stored state decoded, advanced and encoded again,
            memoised.
    """

    quantise_and_draw: dict[str, float]
    sanitise: float

    @property
    def worst(self) -> float:
        """Of all quantisers, quantise and draw."""
        return max(self.quantise_and_draw.values())


def measure_mapped_reading(readings: int = READINGS, rounds: int = ROUNDS) -> MappedReading:
    """Sixteen cells, two stages of two and two symbols, bits from the operating system."""
    source = SystemBits()
    costs = {}
    for name, quantiser in _quantisers().items():
        node = _node(quantiser)
        sampler = SymbolSampler(node)
        values = _values(quantiser.columns, readings)

        def map_all(
            quantiser: Quantiser = quantiser,
            sampler: SymbolSampler = sampler,
            values: list[tuple[float, ...]] = values,
        ) -> None:
            for reading in values:
                sampler.draw(quantiser.cell(reading), source)

        costs[name] = _median_micros(map_all, readings, rounds)
    node = _node(_quantisers()["centres"])
    subject = MappingSanitiser(_design(node), node, source)

    def sanitise_all() -> None:
        state = subject.cold_start(0)
        for number, reading in enumerate(_values(node.quantiser.columns, readings), 1):
            _, state = subject.sanitise(state, number * 1000, (node.quantiser.cell(reading),))

    return MappedReading(costs, _median_micros(sanitise_all, readings, rounds))


def _median_micros(work: Callable[[], None], readings: int, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) / readings * 1e6)
    return median(times)


def _quantisers() -> dict[str, Quantiser]:
    """Sixteen cells each: cuts of one column, a balanced tree and centres over two."""
    questions = tuple((number % 2, 100.0 * (number + 1) / 16) for number in range(15))
    children = tuple(
        (2 * number + 1, 2 * number + 2)
        if number < 7
        else (-1 - 2 * (number - 7), -2 - 2 * (number - 7))
        for number in range(15)
    )
    centres = tuple((25.0 * (k % 4), 25.0 * (k // 4)) for k in range(16))
    return {
        "cuts": Cuts(tuple(100.0 * (k + 1) / 16 for k in range(15))),
        "tree": Tree(questions, children, 2),
        "centres": Centres(centres, (1.0, 2.0)),
    }


def _node(quantiser: Quantiser) -> Node:
    chance = random.Random(1)
    first = tuple(_row(chance.uniform(0.2, 0.8)) for _ in range(quantiser.cells))
    tables: tuple[WeightTable, ...] = (first, (_row(0.75), _row(0.25)))
    columns = tuple(f"column {k}" for k in range(quantiser.columns))
    low, high = (0.0,) * len(columns), (100.0,) * len(columns)
    local = local_epsilon(tables)
    return Node("n", columns, low, high, quantiser, tables, local, EMPTY, EMPTY, 0.0, 0.0)


def _row(share: float) -> tuple[int, int]:
    weight = int(share * WHOLE)
    return weight, WHOLE - weight


def _values(columns: int, readings: int) -> list[tuple[float, ...]]:
    chance = random.Random(2)
    return [tuple(chance.uniform(0, 100) for _ in range(columns)) for _ in range(readings)]


def _design(node: Node) -> MappingDesign:
    return MappingDesign(
        name="bench",
        architecture="lip",
        nodes=(node,),
        public=("a", "b"),
        private="G",
        step_ms=1000,
        information_asked=None,
        information=1.0,
        regimes=None,
        information_across=None,
        information_upper=None,
        confidence=None,
        local_asked=None,
        public_error=0.5,
        public_chance=0.5,
        private_error=0.5,
        private_chance=0.5,
        repeats="memoised",
        memoise_steps=86_400,
        limit=None,
        horizon=1,
        segments=1,
        knowledge=(),
        outcomes=np.full((2, 2), 0.25),
    )


def main() -> None:
    """Prints the table."""
    found = measure_mapped_reading()
    print("one mapped reading, 16 cells, two stages, bits from the operating system (median)")
    for name, micros in found.quantise_and_draw.items():
        print(f"  quantise ({name}) and draw  {micros:6.2f} us")
    print(f"  worst {found.worst:.2f} us; to be at most 10 us")
    print(f"  with the stored state read and written, memoised  {found.sanitise:6.2f} us")


if __name__ == "__main__":
    main()
