"""What can go wrong at the workstation."""

from agent.formats.errors import SfumatoError


class PrecomputeError(SfumatoError):
    """Base of every error the workstation side raises on purpose."""


class DesignError(PrecomputeError):
    """A design that was asked for wrongly, or that no noise can meet."""


class PriorError(PrecomputeError):
    """A prior, kernel or covariance that is not one."""
