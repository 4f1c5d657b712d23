"""Priors: what an adversary is assumed to know, as kernels and classes of kernels."""
