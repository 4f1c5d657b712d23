"""A Gaussian attacker by brute force: condition one joint normal, mean and all.

Shares nothing with precompute.audit.smoothing: the unknown mean is a variable of its own with an
enormous variance, the joint covariance of (trace, release) is written out, and the textbook
formula conditions the one on the other.
"""

import numpy as np

HUGE = 1e7  # times the largest variance: nearly flat, and still within double precision


def conditional_mean_weights(prior, noise):
    """(n, n) weights: E[x | z] = W z."""
    n = prior.shape[0]
    spread = HUGE * max(np.max(prior), np.max(noise))
    # Variables stacked as x = m 1 + f and z = x + g, with independent m, f, g.
    of_mean = np.concatenate([np.ones(n), np.ones(n)])[:, None]
    of_path = np.vstack([np.eye(n), np.eye(n)])
    of_noise = np.vstack([np.zeros((n, n)), np.eye(n)])
    joint = (
        spread * of_mean @ of_mean.T + of_path @ prior @ of_path.T + of_noise @ noise @ of_noise.T
    )
    return np.linalg.solve(joint[n:, n:], joint[n:, :n]).T


def contrast_log_density(prior, noise, release):
    """log density of the n−1 contrasts of one release, whose law no mean can change."""
    n = prior.shape[0]
    basis = np.linalg.svd(np.eye(n) - np.ones((n, n)) / n)[0][:, : n - 1].T
    covariance = basis @ (prior + noise) @ basis.T
    contrasts = basis @ release
    sign, log_determinant = np.linalg.slogdet(covariance)
    assert sign > 0
    quadratic = contrasts @ np.linalg.solve(covariance, contrasts)
    return -0.5 * (quadratic + log_determinant + (n - 1) * np.log(2 * np.pi))
