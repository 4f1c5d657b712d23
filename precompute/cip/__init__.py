"""Loss of, and noise for, conditional inferential privacy."""

from precompute.cip.covariance import prior_covariance
from precompute.cip.loss import information, loss, posterior_variance
from precompute.cip.window_design import design_window

__all__ = ["design_window", "information", "loss", "posterior_variance", "prior_covariance"]
