"""Degrees to local metres and back, about a public origin.

Equirectangular: east and north are differences of longitude and latitude times the length of a
degree *at the origin*, from WGS 84's radii of curvature (meridian M, prime vertical N; a =
6,378,137 m, e² = 0.00669437999014):

    north = M(φ₀) (φ − φ₀)        M(φ) = a (1 − e²) / (1 − e² sin²φ)^{3/2}
    east  = N(φ₀) cos φ₀ (λ − λ₀)  N(φ) = a / (1 − e² sin²φ)^{1/2}

The map is linear, so noise that is circular in local metres stays an ellipse of one shape
everywhere, and the inverse is exact. Its price is scale: away from the origin's latitude an
east metre of the map is cos φ / cos φ₀ metres on the ground (2.3 % less, one degree north of
52.5° N; :meth:`LocalProjection.scale_error` gives the exact ratio).

**Never too small.** A promise about two places ``r`` apart on the ground needs them at most ``r``
apart on the map. With ``reach_metres`` the degrees are measured where they are shortest within
that distance of the origin: longitudes at its poleward edge, latitudes at its edge nearest the
equator. No distance on the map is then longer than on the ground anywhere within reach, and noise
in map metres is a little larger on the ground than it says.

The origin is public: choose a round place in the region, never the home.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agent.formats.errors import FormatError
from agent.formats.traces import FloatArray

SEMI_MAJOR_METRES = 6_378_137.0
ECCENTRICITY_SQUARED = 0.00669437999014
# Beyond it an east metre is over eleven times a degree of the equator's, and roads end anyway.
MAX_ORIGIN_LATITUDE = 85.0
# The shortest degree of latitude is the equator's: its length makes a reach widest in degrees.
LEAST_METRES_PER_DEGREE = math.radians(SEMI_MAJOR_METRES * (1.0 - ECCENTRICITY_SQUARED))


@dataclass(frozen=True, slots=True)
class LocalProjection:
    """Equirectangular map about ``(latitude, longitude)`` in degrees.

    Attributes:
        reach_metres: how far from the origin no map distance may exceed the ground's; 0 measures
            degrees at the origin.

    Raises:
        FormatError: an origin that is not finite, beyond ±85° of latitude or ±180° of longitude,
            or a reach beyond ±85° of latitude.
    """

    latitude: float
    longitude: float
    reach_metres: float = 0.0

    def __post_init__(self) -> None:
        if not abs(self.latitude) <= MAX_ORIGIN_LATITUDE:
            raise FormatError(
                "the origin's latitude is beyond ±85 degrees; choose a round place in the region"
            )
        if not abs(self.longitude) <= 180:
            raise FormatError(
                "the origin's longitude is beyond ±180 degrees; choose a round place in the region"
            )

        if not (self.reach_metres >= 0 and self._edges[1] <= MAX_ORIGIN_LATITUDE):
            raise FormatError(
                f"{self.reach_metres / 1000:g} km from the origin reach beyond ±85 degrees of "
                "latitude; choose a shorter range or an origin nearer the equator"
            )

    @property
    def _edges(self) -> tuple[float, float]:
        """The least and the greatest distance from the equator within reach, in degrees."""
        half = self.reach_metres / LEAST_METRES_PER_DEGREE
        return max(abs(self.latitude) - half, 0.0), abs(self.latitude) + half

    @property
    def metres_per_degree(self) -> tuple[float, float]:
        """East and north metres in one degree: the shortest within reach."""
        equatorward, poleward = self._edges
        north = math.radians(_meridian_radius(equatorward))
        return math.radians(_parallel_radius(poleward)), north

    def forward(
        self, latitude: npt.ArrayLike, longitude: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray]:
        """East and north metres (shape of the input); the short way round the antimeridian."""
        east_scale, north_scale = self.metres_per_degree
        east = wrap_degrees(np.asarray(longitude, dtype=np.float64) - self.longitude)
        north = np.asarray(latitude, dtype=np.float64) - self.latitude
        return east * east_scale, north * north_scale

    def inverse(
        self, east_metres: npt.ArrayLike, north_metres: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray]:
        """Latitude in [-90, 90] (held at the poles) and longitude in [-180, 180) (wrapped).

        Exact inverse of :meth:`forward` for every place whose latitude needs no holding.
        """
        east_scale, north_scale = self.metres_per_degree
        latitude = self.latitude + np.asarray(north_metres, dtype=np.float64) / north_scale
        longitude = self.longitude + np.asarray(east_metres, dtype=np.float64) / east_scale
        return np.clip(latitude, -90.0, 90.0), wrap_degrees(longitude)

    def scale_error(self, latitude: float) -> float:
        """How much an east metre of the map at this latitude is off: ground / map − 1.

        Close to cos(latitude) / cos(origin) − 1; zero at the origin's latitude, or with a reach at
        its poleward edge. North metres are off by less than 0.7 % between the equator and 60°.
        """
        return _parallel_radius(latitude) / _parallel_radius(self._edges[1]) - 1.0


def wrap_degrees(degrees: FloatArray) -> FloatArray:
    """The same direction in [-180, 180)."""
    # Values inside are left as they are: the general formula would cost them their last bits.
    wrapped = np.mod(degrees + 180.0, 360.0) - 180.0
    # np.mod may round up to 360 for a tiny negative argument.
    wrapped = np.where(wrapped >= 180.0, -180.0, wrapped)
    inside = (degrees >= -180.0) & (degrees < 180.0)
    return np.asarray(np.where(inside, degrees, wrapped), dtype=np.float64)


def _meridian_radius(latitude: float) -> float:
    root = 1.0 - ECCENTRICITY_SQUARED * math.sin(math.radians(latitude)) ** 2
    return SEMI_MAJOR_METRES * (1.0 - ECCENTRICITY_SQUARED) / (root * math.sqrt(root))


def _parallel_radius(latitude: float) -> float:
    """Radius of the circle of latitude: N(φ) cos φ."""
    angle = math.radians(latitude)
    root = 1.0 - ECCENTRICITY_SQUARED * math.sin(angle) ** 2
    return SEMI_MAJOR_METRES / math.sqrt(root) * math.cos(angle)
