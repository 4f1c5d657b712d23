"""Traces and series as values, whatever file they came from."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agent.formats.errors import FormatError, shown

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Trace:
    """One continuous log of positions: times strictly ascending, all finite, all on Earth.

    Attributes:
        name: of the file, segment or recorded trip.
        times_seconds: (n,) Unix time.
        latitude: (n,) degrees, -90...90.
        longitude: (n,) degrees, -180...180.
    """

    name: str
    times_seconds: FloatArray
    latitude: FloatArray
    longitude: FloatArray

    def __post_init__(self) -> None:
        n = self.times_seconds.size
        for field in (self.times_seconds, self.latitude, self.longitude):
            if field.shape != (n,) or not bool(np.all(np.isfinite(field))):
                raise FormatError(
                    f"trace {shown(self.name)}: times and positions differ in number or are not "
                    "finite"
                )
            field.setflags(write=False)
        if n > 1 and not bool(np.all(np.diff(self.times_seconds) > 0)):
            raise FormatError(f"trace {shown(self.name)}: times are not ascending")
        if bool(np.any(np.abs(self.latitude) > 90)) or bool(np.any(np.abs(self.longitude) > 180)):
            raise FormatError(f"trace {shown(self.name)}: a position is not on Earth")

    def __len__(self) -> int:
        return int(self.times_seconds.size)

    def __repr__(self) -> str:
        return f"Trace({self.name!r}, {len(self)} fixes)"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Series:
    """One scalar over time: (n,) strictly ascending Unix seconds and (n,) finite values."""

    name: str
    times_seconds: FloatArray
    values: FloatArray

    def __post_init__(self) -> None:
        if self.times_seconds.shape != self.values.shape or self.values.ndim != 1:
            raise FormatError(f"series {shown(self.name)}: times and values differ in number")
        for field in (self.times_seconds, self.values):
            if not bool(np.all(np.isfinite(field))):
                raise FormatError(f"series {shown(self.name)}: a time or value is not finite")
            field.setflags(write=False)
        if self.values.size > 1 and not bool(np.all(np.diff(self.times_seconds) > 0)):
            raise FormatError(f"series {shown(self.name)}: times are not ascending")

    def __len__(self) -> int:
        return int(self.values.size)

    def __repr__(self) -> str:
        return f"Series({self.name!r}, {len(self)} values)"
