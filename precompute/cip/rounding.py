"""The one number for what counts as rounding in covariances of n rows."""

import numpy as np

# Times n and the largest eigenvalue (or entry): the error with which a kernel matrix is computed.
ROUNDING = 2 * float(np.finfo(np.float64).eps)
