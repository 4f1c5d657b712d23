"""Mechanisms for values from a finite set or a grid of integers, each exactly epsilon-DP.

A mechanism is local: what it protects is the one value of this release, against any other value
of its domain (neighbouring relation: any two values). ``sample(value, epsilon, source)`` draws
afresh; memoisation is in discrete_memory. Values are state numbers 0...k-1 or integer steps.
Probabilities are exact (see discrete_bits); the budget is the float's exact value.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from agent.errors import RefusedError
from agent.formats.errors import FormatError
from agent.sanitise.discrete_bits import (
    RandomBits,
    bernoulli_exp,
    budget,
    discrete_laplace,
    uniform_below,
)

MAX_STATES = 65_536


class DiscreteMechanism(Protocol):
    """From one value to one release; both are tuples of integers."""

    def sample(
        self, value: tuple[int, ...], epsilon: float | Fraction, source: RandomBits
    ) -> tuple[int, ...]:
        """A fresh release.

        Raises:
            RefusedError: the value is outside the domain. Its text does not show the value.
        """
        ...


@dataclass(frozen=True, slots=True)
class RandomisedResponse:
    """k-ary randomised response: the truth with e^epsilon / (e^epsilon + k - 1), else any other.

    A uniform candidate is kept when it is the truth, and otherwise with e^-epsilon: weights
    1 : e^-epsilon, as they should be. The number of tries has the same law for every truth.
    """

    states: int

    def __post_init__(self) -> None:
        _require_states(self.states)

    def sample(
        self, value: tuple[int, ...], epsilon: float | Fraction, source: RandomBits
    ) -> tuple[int, ...]:
        """One state number."""
        truth = _state(value, self.states)
        exact = budget(epsilon)
        while True:
            candidate = uniform_below(self.states, source)
            if candidate == truth or bernoulli_exp(exact, source):
                return (candidate,)

    def probability_of_truth(self, epsilon: float) -> float:
        """For the subscriber, who wants to undo the noise over many releases."""
        return 1.0 / (1.0 + (self.states - 1) * _exp_minus(epsilon))


@dataclass(frozen=True, slots=True)
class UnaryEncoding:
    """Optimised unary encoding: one bit for each state (Wang et al., USENIX Security 2017).

    The true state's bit is 1 with 1/2, every other with 1/(e^epsilon + 1). The likelihood ratio of
    two truths is (1/2 : 1/(e^eps+1)) (1/2 : e^eps/(e^eps+1)) inverted, that is e^epsilon.
    """

    states: int

    def __post_init__(self) -> None:
        _require_states(self.states)

    def sample(
        self, value: tuple[int, ...], epsilon: float | Fraction, source: RandomBits
    ) -> tuple[int, ...]:
        """The numbers of the states whose bit is 1, ascending; possibly none."""
        truth = _state(value, self.states)
        exact = budget(epsilon)
        return tuple(
            state
            for state in range(self.states)
            if (source.bits(1) if state == truth else _rare_bit(exact, source))
        )


@dataclass(frozen=True, slots=True)
class GridLaplace:
    """A count or a reading in grid steps plus two-sided geometric noise, within a range.

    exp(-rate |x|) with rate = epsilon / (highest - lowest) protects the value against every other
    in the range. The sum is clamped to the range afterwards, which costs no privacy.
    """

    lowest: int
    highest: int

    def __post_init__(self) -> None:
        if self.lowest >= self.highest:
            raise FormatError("grid Laplace: the lowest value is not below the highest")

    def sample(
        self, value: tuple[int, ...], epsilon: float | Fraction, source: RandomBits
    ) -> tuple[int, ...]:
        """One integer of the range."""
        if len(value) != 1 or not self.lowest <= value[0] <= self.highest:
            raise RefusedError("grid Laplace: the value is outside the stated range")
        noise = discrete_laplace(budget(epsilon) / (self.highest - self.lowest), source)
        return (max(self.lowest, min(self.highest, value[0] + noise)),)


def _rare_bit(epsilon: Fraction, source: RandomBits) -> int:
    """1 with exactly 1/(e^epsilon + 1): a fair coin whose 1 is kept with e^-epsilon only."""
    while source.bits(1):
        if bernoulli_exp(epsilon, source):
            return 1
    return 0


def _state(value: tuple[int, ...], states: int) -> int:
    if len(value) != 1 or not 0 <= value[0] < states:
        raise RefusedError(f"unknown state: it is not one of the design's {states}")
    return value[0]


def _require_states(states: int) -> None:
    if not 2 <= states <= MAX_STATES:
        raise FormatError(f"mechanism: found {states} states; expected 2 to {MAX_STATES}")


def _exp_minus(epsilon: float) -> float:
    from math import exp

    return exp(-epsilon)
