"""The exact law of a sampler: every branch of the bits it may draw, followed to the end."""

from collections.abc import Callable
from fractions import Fraction

from agent.sanitise.discrete_bits import RandomBits


class OutOfBitsError(Exception):
    """The script of a branch is used up."""


class ScriptedBits:
    """One branch of all the bits there could be."""

    def __init__(self, script: tuple[tuple[int, int], ...]) -> None:
        self._script = list(script)

    def bits(self, number: int) -> int:
        if not self._script:
            raise OutOfBitsError(number)
        size, value = self._script.pop(0)
        assert size == number
        return value


def exact_law(
    sampler: Callable[[RandomBits], object], smallest: Fraction
) -> tuple[dict[object, Fraction], Fraction]:
    """Follow every branch of mass above ``smallest``: outcomes' masses, and what was left."""
    law: dict[object, Fraction] = {}
    open_branches: list[tuple[tuple[tuple[int, int], ...], Fraction]] = [((), Fraction(1))]
    left = Fraction(0)
    while open_branches:
        script, mass = open_branches.pop()
        try:
            outcome = sampler(ScriptedBits(script))
        except OutOfBitsError as wanted:
            number = wanted.args[0]
            each = mass / (1 << number)
            if each < smallest:
                left += mass
            else:
                open_branches += [((*script, (number, v)), each) for v in range(1 << number)]
        else:
            law[outcome] = law.get(outcome, Fraction(0)) + mass
    return law, left
