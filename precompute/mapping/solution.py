"""What is asked of a mapping, and what was found: values only.

Budgets are in nats; ``math.inf`` asks for nothing, 0 for the constant map.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from precompute.mapping.errors import MappingError
from precompute.mapping.joint import FloatArray, Maps

Architecture = Literal["local", "information", "ill", "lip", "direct", "epic"]
"""Who guards what.

``local``: local differential privacy of each reading only. ``information``: information privacy of
G only. ``ill``: X -> (information privacy) Y -> (local differential privacy) Z, stage by stage.
``lip``: X -> (local differential privacy) Y -> (information privacy) Z. ``direct``: one map for
each sensor, both budgets measured end to end. ``epic``: both, from samples by empirical risk.
"""

Constraint = Literal["auto", "exact", "surrogate"]


@dataclass(frozen=True, slots=True)
class Budgets:
    """What must hold: ``information`` epsilon_I of G from all z, ``local`` epsilon_LD of each x."""

    information: float = math.inf
    local: float = math.inf

    def __post_init__(self) -> None:
        for name in ("information", "local"):
            value = getattr(self, name)
            if math.isnan(value) or value < 0:
                raise MappingError(
                    f"budget: {name} is {value:g}; expected a number of nats from 0, where 0 "
                    "tells nothing at all"
                )


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    Attributes:
        symbols: |Z|, what each sensor can say.
        middle: |Y| between the stages of ``ill`` and ``lip``.
        starts: from how many places the search begins; the best result is kept.
        seed: of the random starts; the same seed gives the same maps.
        sweeps: at most so many rounds over all sensors from each start.
        tolerance: a round that lowers the error by less ends the search from that start.
        constraint: how information privacy is kept; ``auto`` is exact as long as the outcomes
            number at most ``exact_outcomes``.
        exact_outcomes: see ``constraint``.
        refine: ``ill`` and ``lip``: improve both stages in turn after building stage by stage.
    """

    symbols: int = 2
    middle: int = 2
    starts: int = 20
    seed: int = 0
    sweeps: int = 50
    tolerance: float = 1e-9
    constraint: Constraint = "auto"
    exact_outcomes: int = 1 << 16
    refine: bool = True


@dataclass(frozen=True, slots=True)
class Achieved:
    """What maps do, worked out from them alone (no solver is believed); amounts in nats.

    Attributes:
        information: epsilon_I of G from all of z; an upper bound where ``information_exact`` is
            false.
        information_exact: whether every z was looked at.
        across: where the joint tells regimes apart, epsilon_I for every mixture of them and every
            p(g); an upper bound where ``information_exact`` is false; None without regimes.
        local: epsilon_LD of each sensor.
        public_error: Bayes error of H from z; ``public_chance`` without z.
        private_error: Bayes error of G from z; ``private_chance`` without z.
        private_leakage: I(G; Z).
        public_information: I(H; Z).
        reading_information: I(X_t; Z_t) of each sensor.
    """

    information: float
    information_exact: bool
    local: tuple[float, ...]
    public_error: float
    public_chance: float
    private_error: float
    private_chance: float
    private_leakage: float
    public_information: float
    reading_information: tuple[float, ...]
    across: float | None = None

    @property
    def guarded(self) -> float:
        """The epsilon_I that a budget is about: over all regimes where there are some."""
        return self.information if self.across is None else self.across


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Maps and what they achieve.

    Attributes:
        first: p(y|x) of each sensor, or p(z|x) where there is one stage.
        second: p(z|y) of each sensor, or None.
        outcomes: (|H|, |Z_1|, …, |Z_s|) p(h, z), by which the fusion centre decides.
        achieved: by brute force, or by a bound.
        found: the error of H that each start ended with, best first.
        stopped: why the search ended, in words.
        warnings: what the user should know.
    """

    architecture: Architecture
    budgets: Budgets
    first: Maps
    second: Maps | None
    outcomes: FloatArray
    achieved: Achieved
    found: tuple[float, ...]
    stopped: str
    warnings: tuple[str, ...] = ()

    @property
    def maps(self) -> Maps:
        """p(z|x) of each sensor, end to end."""
        if self.second is None:
            return self.first
        return tuple(
            np.asarray(one @ two) for one, two in zip(self.first, self.second, strict=True)
        )
