"""What a subscriber received, as a GeoJSON FeatureCollection (RFC 7946).

One LineString for each topic in order of time, and one Point for each release, with its time and
its stated accuracy, so that a map shows how blurred every place is.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReceivedPlace:
    """A sanitised place; ``time`` is ISO 8601 UTC."""

    topic: str
    identity: str
    time: str
    latitude: float
    longitude: float
    accuracy_metres: float


def encode_geojson(places: Iterable[ReceivedPlace]) -> str:
    """The document, deterministic: topics sorted, places by time and identity."""
    by_topic: dict[str, list[ReceivedPlace]] = {}
    for place in places:
        by_topic.setdefault(place.topic, []).append(place)
    features: list[dict[str, object]] = []
    for topic in sorted(by_topic):
        path = sorted(by_topic[topic], key=lambda place: (place.time, place.identity))
        features += _topic_features(topic, path)
    document = {"type": "FeatureCollection", "features": features}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


def _topic_features(topic: str, path: Sequence[ReceivedPlace]) -> list[dict[str, object]]:
    points = [
        _feature(
            "Point",
            _position(place),
            {
                "accuracy_m": place.accuracy_metres,
                "id": place.identity,
                "time": place.time,
                "topic": topic,
            },
        )
        for place in path
    ]
    if len(path) < 2:  # a LineString needs two positions
        return points
    line = _feature("LineString", [_position(place) for place in path], {"topic": topic})
    return [line, *points]


def _position(place: ReceivedPlace) -> list[float]:
    return [place.longitude, place.latitude]  # GeoJSON's order


def _feature(kind: str, coordinates: object, properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "Feature",
        "geometry": {"type": kind, "coordinates": coordinates},
        "properties": properties,
    }
