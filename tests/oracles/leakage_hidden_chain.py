"""The true temporal leakage of randomised response on a small Markov chain, by enumeration.

Every sequence of states and every sequence of releases is written out; nothing is derived.
"""

import math
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np


def true_leakage(
    initial: np.ndarray, forward: np.ndarray, epsilons: Sequence[float], about: int
) -> float:
    """Largest log ratio of Pr(all releases | state at ``about``) between two states."""
    n, steps = initial.size, len(epsilons)
    given = np.zeros((n, *(n,) * steps))
    mass = np.zeros(n)
    responses = [_response(n, epsilon) for epsilon in epsilons]
    for states in product(range(n), repeat=steps):
        weight = initial[states[0]]
        for now, then in pairwise(states):
            weight = weight * forward[now, then]
        mass[states[about]] += weight
        for releases in product(range(n), repeat=steps):
            likelihood = math.prod(
                response[state, release]
                for response, state, release in zip(responses, states, releases, strict=True)
            )
            given[(states[about], *releases)] += weight * likelihood
    given /= mass.reshape((n,) + (1,) * steps)
    flat = given.reshape(n, -1)
    return float(np.max(np.log(flat[:, None, :] / flat[None, :, :])))


def _response(n: int, epsilon: float) -> np.ndarray:
    """Pr(release | state) of k-ary randomised response."""
    table = np.full((n, n), 1.0)
    np.fill_diagonal(table, math.exp(epsilon))
    return table / table.sum(axis=1, keepdims=True)
