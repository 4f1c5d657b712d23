"""Attackers: what is still learnt from what was published."""
