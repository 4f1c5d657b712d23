"""The log density of a record by scipy's multivariate normal, and its maximum by blind search."""

import numpy as np
from scipy.optimize import minimize
from scipy.stats import multivariate_normal


def log_density(values, mean: float, covariance) -> float:
    """Of ``values`` (n,) under ``N(mean 1, covariance)``."""
    return float(multivariate_normal(np.full(len(values), mean), covariance).logpdf(values))


def best_by_blind_search(values, correlation) -> float:
    """Largest log density over mean, signal variance and noise variance, nothing known."""
    values = np.asarray(values)
    identity = np.eye(len(values))

    def loss(point) -> float:
        mean, log_signal, log_noise = point
        log_noise = max(log_noise, log_signal - 16)  # keeps the matrix invertible
        return -log_density(
            values, mean, np.exp(log_signal) * correlation + np.exp(log_noise) * identity
        )

    spread = np.log(np.var(values))
    starts = [(np.mean(values), spread, spread + shift) for shift in (-5.0, -1.0)]
    options = {"maxiter": 2000, "maxfev": 2000, "xatol": 1e-5, "fatol": 1e-7}
    return max(-minimize(loss, s, method="Nelder-Mead", options=options).fun for s in starts)
