"""A made-up but believable week of one person: nights at home, commute, office, errands, a trip.

Nobody lived it. Streets run like a grid laid askew over a flat map near 52.5° N, 13.4° E and
follow no real ones; the places are points on that map. What is imitated: stays with small
moves from room to room, walks, rides with red lights and stations, and a receiver whose error is
white (3 m) plus slowly wandering (5 m, over minutes), on each axis.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from agent.formats.projection import LocalProjection
from agent.formats.traces import FloatArray, Trace

ORIGIN = LocalProjection(latitude=52.5, longitude=13.4)
STEP_SECONDS = 5
DAYS = 7
DAY_SECONDS = 86_400
# Monday 2 March 2026, 00:00 at one hour east of Greenwich.
UTC_OFFSET_SECONDS = 3_600
START_SECONDS = 1_772_409_600 - UTC_OFFSET_SECONDS

WHITE_ERROR_METRES = 3.0
WANDERING_ERROR_METRES = 5.0
WANDERING_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where the person stays: metres from the origin, and how far they move about in it."""

    east: float
    north: float
    room_metres: float


PLACES = {
    "home": Place(-640.0, -410.0, 4.0),
    "office": Place(2_900.0, 2_050.0, 9.0),
    "canteen": Place(3_080.0, 1_890.0, 5.0),
    "shop": Place(-240.0, -120.0, 14.0),
    "gym": Place(620.0, -930.0, 8.0),
    "friends": Place(-2_350.0, 1_480.0, 4.0),
    "market": Place(-190.0, 560.0, 25.0),
    "lake": Place(-9_800.0, -11_600.0, 30.0),
    "pier": Place(-10_950.0, -12_250.0, 15.0),
    "inn": Place(-10_100.0, -12_700.0, 6.0),
}


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to get about: cruising speed, and halts of random length along the way."""

    metres_per_second: float
    metres_between_turns: float
    halt_chance: float
    halt_seconds: float


MODES = {
    "walk": Mode(1.35, 90.0, 0.12, 20.0),
    "bicycle": Mode(4.8, 220.0, 0.25, 25.0),
    "tram": Mode(8.5, 420.0, 0.7, 28.0),
    "train": Mode(19.0, 2_400.0, 0.8, 50.0),
}

# Per day from Monday: (hour of leaving, by how many minutes that varies, where to, how).
_WORKDAY = (
    (8.2, 12, "office", "bicycle"),
    (12.3, 8, "canteen", "walk"),
    (13.0, 6, "office", "walk"),
)
_WEEK: tuple[tuple[tuple[float, float, str, str], ...], ...] = (
    (*_WORKDAY, (17.4, 20, "shop", "bicycle"), (18.2, 8, "home", "bicycle")),
    (
        (8.0, 10, "office", "tram"),
        *_WORKDAY[1:],
        (17.1, 15, "home", "tram"),
        (19.0, 10, "gym", "bicycle"),
        (20.6, 10, "home", "bicycle"),
    ),
    (*_WORKDAY, (17.6, 25, "home", "bicycle")),
    (*_WORKDAY, (16.9, 15, "shop", "bicycle"), (17.6, 8, "home", "bicycle")),
    (
        *_WORKDAY,
        (16.5, 15, "home", "bicycle"),
        (19.3, 10, "friends", "tram"),
        (23.3, 15, "home", "tram"),
    ),
    (
        (10.4, 20, "market", "walk"),
        (11.5, 12, "shop", "walk"),
        (12.1, 8, "home", "walk"),
        (16.2, 15, "gym", "bicycle"),
        (17.8, 10, "home", "bicycle"),
    ),
    (
        (9.8, 15, "lake", "train"),
        (11.2, 8, "pier", "walk"),
        (13.1, 8, "inn", "walk"),
        (14.6, 8, "lake", "walk"),
        (16.4, 15, "home", "train"),
    ),
)  # fmt: skip


def made_up_week(seed: int = 1) -> Trace:
    """The week as the receiver logs it: 120,960 fixes, 5 s apart, the same for the same seed."""
    rng = np.random.default_rng(seed)
    seconds = np.arange(0, DAYS * DAY_SECONDS, STEP_SECONDS, dtype=np.float64)
    east, north = _path(seconds, rng)
    latitude, longitude = ORIGIN.inverse(
        east + _receiver_error(seconds.size, rng), north + _receiver_error(seconds.size, rng)
    )
    return Trace("made-up week", START_SECONDS + seconds, latitude, longitude)


def _path(seconds: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Where the person truly is, metres east and north of the origin."""
    corners = np.array(list(_corners(rng)))
    # Three fixes' mean turns instant starts and stops into braking and speeding up.
    return (
        _smooth(np.interp(seconds, corners[:, 0], corners[:, 1])),
        _smooth(np.interp(seconds, corners[:, 0], corners[:, 2])),
    )


def _corners(rng: np.random.Generator) -> Iterator[tuple[float, float, float]]:
    """(second of the week, east, north): the path is straight between them."""
    here, now = "home", 0.0
    # People take the same way to the same place, and back.
    routes: dict[tuple[str, str, str], FloatArray] = {}
    for day, trips in enumerate(_WEEK):
        for hour, minutes, to, by in trips:
            planned = day * DAY_SECONDS + hour * 3_600 + rng.normal(0, minutes / 2) * 60
            leave = max(planned, now + 120)
            yield from _stay(PLACES[here], now, leave, rng)
            ends = (min(here, to), max(here, to), by)
            if ends not in routes:
                block = MODES[by].metres_between_turns
                routes[ends] = _streets(PLACES[ends[0]], PLACES[ends[1]], block, rng)
            route = routes[ends] if here < to else routes[ends][::-1]
            for corner in _ride(route, leave, MODES[by], rng):
                yield corner
                now = corner[0]
            here = to
    yield from _stay(PLACES[here], now, float(DAYS * DAY_SECONDS), rng)


def _stay(
    place: Place, begin: float, end: float, rng: np.random.Generator
) -> Iterator[tuple[float, float, float]]:
    """A spot for some time, then a few steps to another; in and out through the door."""
    now = begin
    yield now, place.east, place.north
    while True:
        arrive = now + 15
        leave = arrive + rng.exponential(2_400) + 60
        if leave + 15 >= end:
            break
        spot = rng.uniform(-1, 1, 2) * place.room_metres
        for moment in (arrive, leave):
            yield moment, place.east + spot[0], place.north + spot[1]
        now = leave
    yield end, place.east, place.north


def _ride(
    route: FloatArray, leave: float, mode: Mode, rng: np.random.Generator
) -> Iterator[tuple[float, float, float]]:
    """Along a route (n, 2), at a speed that differs from block to block, with halts."""
    now = leave
    for before, after in pairwise(route):
        length = float(np.hypot(*(after - before)))
        now += max(length, 0.1) / (mode.metres_per_second * rng.uniform(0.8, 1.15))
        yield now, float(after[0]), float(after[1])
        if rng.random() < mode.halt_chance:
            now += rng.exponential(mode.halt_seconds) + 5
            yield now, float(after[0]), float(after[1])


def _streets(start: Place, end: Place, block_metres: float, rng: np.random.Generator) -> FloatArray:
    """Corners (n, 2) of a staircase along a grid of streets that stands 17 degrees askew."""
    angle = math.radians(17.0)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    first = np.array([start.east, start.north])
    along = turn.T @ (np.array([end.east, end.north]) - first)
    blocks = max(1, round(float(np.abs(along).sum()) / (2 * block_metres)))
    shares = rng.dirichlet(np.full(blocks, 4.0), size=2)
    steps = np.zeros((2 * blocks, 2))
    # Now along one street, now across; which comes first is a matter of the day.
    lead = int(rng.integers(2))
    steps[0::2, lead] = along[lead] * shares[0]
    steps[1::2, 1 - lead] = along[1 - lead] * shares[1]
    return np.vstack([first, first + np.cumsum(steps, axis=0) @ turn.T])


def _receiver_error(count: int, rng: np.random.Generator) -> FloatArray:
    """White error plus a first-order autoregression, metres on one axis."""
    keep = math.exp(-STEP_SECONDS / WANDERING_SECONDS)
    drive = rng.normal(0, WANDERING_ERROR_METRES * math.sqrt(1 - keep * keep), count).tolist()
    wandering = []
    now = float(rng.normal(0, WANDERING_ERROR_METRES))
    for push in drive:
        now = keep * now + push
        wandering.append(now)
    return np.array(wandering) + rng.normal(0, WHITE_ERROR_METRES, count)


def _smooth(path: FloatArray) -> FloatArray:
    padded = np.concatenate([path[:1], path, path[-1:]])
    return np.asarray((padded[:-2] + padded[1:-1] + padded[2:]) / 3)
