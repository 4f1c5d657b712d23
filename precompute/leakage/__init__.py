"""Temporal privacy leakage: what repeated releases add up to when the state is a Markov chain."""
