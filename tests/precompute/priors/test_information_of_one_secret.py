"""The kernels' conventions against known figures of the least information of one secret."""

import numpy as np
import pytest

from precompute.priors.kernels import RBF


@pytest.mark.parametrize(
    ("lengthscale", "information"),
    [(1.0, 1.5305), (3.0, 4.1099), (6.0, 7.6086), (10.0, 11.9411)],
)
def test_the_rbf_kernel_means_by_lengthscale_what_the_literature_means(
    lengthscale: float, information: float
) -> None:
    times = np.arange(50.0)
    prior = RBF(lengthscale).covariance(times, times)
    secret, rest = 24, np.delete(np.arange(50), 24)
    pull = np.insert(prior[rest, secret], secret, 1.0)
    spread = np.zeros((50, 50))
    spread[np.ix_(rest, rest)] = prior[np.ix_(rest, rest)] - np.outer(pull[rest], pull[rest])
    found = pull @ np.linalg.solve(spread + np.eye(50), pull)
    assert found == pytest.approx(
        information, abs=1e-4
    )  # the figures are cut after four digits, not rounded
