"""What can go wrong when mappings are designed."""

from precompute.errors import PrecomputeError


class MappingError(PrecomputeError):
    """A joint distribution, budget or log that cannot be used."""
