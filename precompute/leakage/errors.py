"""What can go wrong when temporal leakage is computed."""

from precompute.errors import PrecomputeError


class LeakageError(PrecomputeError):
    """A matrix, budget or limit that cannot be used, or a promise that no budget can keep."""
