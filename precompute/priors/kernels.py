"""All kernels under one roof; conventions and units stand in ``kernel_base``."""

from precompute.priors.combined_kernels import Constant, Coregionalised, Product, Sum, White
from precompute.priors.kernel_base import FloatArray, Kernel, SpectralKernel
from precompute.priors.periodic_kernels import (
    ENVELOPES,
    DampedPeriodic,
    Envelope,
    Periodic,
    harmonic_weights,
    smooth_kernel,
)
from precompute.priors.smooth_kernels import RBF, Matern12, Matern32, Matern52

__all__ = [
    "ENVELOPES",
    "RBF",
    "Constant",
    "Coregionalised",
    "DampedPeriodic",
    "Envelope",
    "FloatArray",
    "Kernel",
    "Matern12",
    "Matern32",
    "Matern52",
    "Periodic",
    "Product",
    "SpectralKernel",
    "Sum",
    "White",
    "harmonic_weights",
    "smooth_kernel",
]
