"""What a channel's numbers mean: a place on Earth, or one number in its own unit.

A kind refuses implausible readings, puts the rest on the design's integer grid, and turns a release
into the bytes that are sent. Whatever is sent is computed from the release, the design and the
public settings alone. Categories are in category_kind.py.
"""

import math
from dataclasses import dataclass
from typing import Protocol

from agent.errors import ConfigError
from agent.formats.designs import NoiseDesign
from agent.formats.owntracks import encode_location
from agent.formats.projection import LocalProjection
from agent.formats.sensor_json import SensorMessage, encode_sensor, value_on_grid
from agent.readings import Reading, Release
from agent.sanitise.rounding import MAX_STEPS, to_steps

# At 50 degrees of latitude the noise is then 6 % wider on the ground than the design says.
DEFAULT_RANGE_METRES = 300_000.0
# OwnTracks and Android give accuracy as the radius that holds 68 % of fixes. In two dimensions a
# circular Gaussian of sigma per axis has P(within r) = 1 - exp(-r^2 / (2 sigma^2)).
RADIUS_68_IN_SIGMAS = math.sqrt(-2 * math.log(1 - 0.68))

NOT_FINITE = "not a finite number"
NOT_ON_EARTH = "not on Earth"
OUT_OF_RANGE = "farther from the origin than the range"
OFF_GRID = "beyond the grid of integers"


class Kind(Protocol):
    """What a channel's numbers mean."""

    def flaw(self, reading: Reading) -> str | None:
        """Why the reading cannot be used, in words without its values; None if it can."""
        ...

    def remark(self, reading: Reading) -> str | None:
        """What is to be counted about a reading that has no flaw; None for nothing."""
        ...

    def to_steps(self, reading: Reading) -> tuple[int, ...]:
        """The reading on the design's grid, one integer per axis."""
        ...

    def encode(self, release: Release) -> bytes:
        """What is sent for a release; the same bytes for the same release."""
        ...


@dataclass(frozen=True, slots=True)
class LocationSettings:
    """A place on Earth as metres east and north of a public origin."""

    latitude: float
    longitude: float
    range_metres: float = DEFAULT_RANGE_METRES

    def projection(self) -> LocalProjection:
        """A map on which no distance within the range is longer than on the ground."""
        return LocalProjection(self.latitude, self.longitude, self.range_metres)


@dataclass(frozen=True, slots=True)
class ScalarSettings:
    """One number in the channel's own unit."""

    unit: str


class LocationKind:
    """Latitude and longitude in, OwnTracks location messages out."""

    def __init__(self, settings: LocationSettings, design: NoiseDesign) -> None:
        if len(design.axes) != 2 or design.unit != "m":
            raise ConfigError(
                f"design {design.name!r} has the axes {', '.join(design.axes)} in "
                f"{design.unit!r}; a location channel needs two axes in metres; design with "
                "'axes: [east, north]' or use another design"
            )
        self._projection = settings.projection()
        self._metres_per_degree = self._projection.metres_per_degree
        self._range = settings.range_metres
        self._grid = design.grid
        # Noise in map metres is wider on the ground; at the origin, and for every value alike.
        wider = 1.0 + self._projection.scale_error(settings.latitude)
        self._accuracy = math.ceil(RADIUS_68_IN_SIGMAS * math.sqrt(design.noise_variance) * wider)

    def flaw(self, reading: Reading) -> str | None:
        """NaN, latitude 400, or so far away that the map's scale no longer holds."""
        if not all(math.isfinite(value) for value in reading.values):
            return NOT_FINITE
        latitude, longitude = reading.values
        if abs(latitude) > 90 or abs(longitude) > 180:
            return NOT_ON_EARTH
        # The projection's own arithmetic on plain floats: every reading passes here.
        east_scale, north_scale = self._metres_per_degree
        east = ((longitude - self._projection.longitude + 180) % 360 - 180) * east_scale
        north = (latitude - self._projection.latitude) * north_scale
        return OUT_OF_RANGE if math.hypot(east, north) > self._range else None

    def remark(self, reading: Reading) -> str | None:
        """Nothing: a reading is used as it is, or refused."""
        del reading
        return None

    def to_steps(self, reading: Reading) -> tuple[int, ...]:
        """East and north, in grid steps."""
        east, north = self._projection.forward(*reading.values)
        return to_steps(float(east), self._grid), to_steps(float(north), self._grid)

    def encode(self, release: Release) -> bytes:
        """OwnTracks JSON; its accuracy is the noise's 68 % radius, whatever the receiver's was."""
        east, north = (value_on_grid(steps, self._grid) for steps in release.steps)
        latitude, longitude = self._projection.inverse(east, north)
        return encode_location(
            latitude=float(latitude),
            longitude=float(longitude),
            accuracy_m=self._accuracy,
            time_seconds=release.time_ms // 1000,
            identity=release.identity,
        )


class ScalarKind:
    """One number in, sensor JSON out."""

    def __init__(self, settings: ScalarSettings, design: NoiseDesign) -> None:
        if len(design.axes) != 1 or design.unit != settings.unit:
            raise ConfigError(
                f"design {design.name!r} has {len(design.axes)} axes in {design.unit!r}; this "
                f"scalar channel needs one axis in {settings.unit!r}; state the same unit in both"
            )
        self._grid = design.grid
        self._unit = settings.unit
        self._std = float(f"{math.sqrt(design.noise_variance):.4g}")

    def flaw(self, reading: Reading) -> str | None:
        """NaN, infinity, or more grid steps than integers of a float64 can count."""
        (value,) = reading.values
        if not math.isfinite(value):
            return NOT_FINITE
        return OFF_GRID if abs(value) > MAX_STEPS * self._grid else None

    def remark(self, reading: Reading) -> str | None:
        """Nothing: a reading is used as it is, or refused."""
        del reading
        return None

    def to_steps(self, reading: Reading) -> tuple[int, ...]:
        """The value in grid steps."""
        return (to_steps(reading.values[0], self._grid),)

    def encode(self, release: Release) -> bytes:
        """Sensor JSON."""
        value = value_on_grid(release.steps[0], self._grid)
        return encode_sensor(
            SensorMessage(release.identity, release.time_ms, value, self._unit, self._std)
        )
