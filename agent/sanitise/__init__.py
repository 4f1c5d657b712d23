"""Sanitisers: from a reading and the saved noise state to a release and the next state."""
