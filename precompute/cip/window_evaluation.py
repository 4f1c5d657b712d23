"""Judging a finished noise covariance: its worst information, over everything asked."""

import numpy as np

from agent.formats.designs import FloatArray
from precompute.cip import posterior
from precompute.cip.compound import EXACT_LIMIT, tight_square, worst_vertex
from precompute.cip.window_problem import WindowProblem


def worst_ratio(problem: WindowProblem, noise_cov: FloatArray) -> float:
    """Largest ``max d^T K d / weight`` over secrets and priors, moves of at most 1 a time.

    Compound secrets beyond ``EXACT_LIMIT`` times count with their certified upper bound.
    """
    worst = 0.0
    for prior in problem.priors:
        basics = [(k, s[0]) for k, s in enumerate(problem.secrets) if len(s) == 1]
        if len(basics) > 1:
            known = posterior.posterior_variances(prior, noise_cov).information
            worst = max(worst, *(known[i] / problem.weights[k] for k, i in basics))
        for k, secret in enumerate(problem.secrets):
            if len(secret) == 1 and len(basics) > 1:
                continue
            directions, conditional = posterior.regression(prior, secret)
            matrix = posterior.least_norm_squares(directions, conditional, noise_cov)
            if not bool(np.all(np.isfinite(matrix))):
                return np.inf
            square = (
                worst_vertex(matrix)[0]
                if len(secret) <= EXACT_LIMIT
                else tight_square(matrix).value
            )
            worst = max(worst, square / problem.weights[k])
    return float(worst)
