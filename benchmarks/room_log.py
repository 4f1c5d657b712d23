"""A room's log as nodes and hypotheses: read, cut by days, quantised. Only arrays leave here.

The UCI Room Occupancy Estimation log: S1-S4 give temperature, light and sound, S5 CO2 and its
slope, S6 and S7 movement; people 0-3 are counted by hand. Rows in which any number is missing are
left out.
"""

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

import numpy as np

from precompute.mapping.joint import FloatArray, IntArray, Joint, joint_of_rows
from precompute.mapping.quantiser_fitting import fit_quantiser
from precompute.mapping.quantising import cells_of
from precompute.mapping.regimes import regimes

NODES = {
    **{f"S{n}": (f"S{n}_Temp", f"S{n}_Light", f"S{n}_Sound") for n in (1, 2, 3, 4)},
    "S5": ("S5_CO2", "S5_CO2_Slope"),
    "S6": ("S6_PIR",),
    "S7": ("S7_PIR",),
}
# All that comes before the log's gap of 366 hours; the test is all after it. Both parts hold
# occupied and empty time. Learners are chosen by whole days too: neighbouring hours are too alike
# to choose by.
TRAINING_DAYS = ("2017-12-22", "2017-12-23", "2017-12-24", "2017-12-25", "2017-12-26")
CHOOSING_DAYS = ("2017-12-23", "2017-12-24")
GAP_SECONDS = 300.0

Public = Literal["co2", "light"]


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Rows in order of time.

    Attributes:
        seconds: (n,) Unix seconds (the log's clock taken as UTC).
        nodes: for each node (n, d) raw numbers.
        occupied: (n,) 0 or 1.
        left_out: rows that lacked a number.
    """

    seconds: FloatArray
    nodes: tuple[FloatArray, ...]
    occupied: IntArray
    left_out: int


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Rows of some days.

    Attributes:
        raw: (n, all columns).
        cells: for each node (n,).
        public: (n,) H; private: (n,) G.
        stretch: (n,) numbers that change at gaps; day: (n,) numbers of days.
        choosing: (n,) rows of the days that learners are chosen by.
    """

    raw: FloatArray
    cells: tuple[IntArray, ...]
    public: IntArray
    private: IntArray
    stretch: IntArray
    day: IntArray
    choosing: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Training and test days, and the cells of each node; ``said`` describes them in words."""

    train: Part
    test: Part
    sizes: tuple[int, ...]
    said: tuple[str, ...]

    def joint(self, part: Part, *, by_day: bool = False) -> Joint:
        """The empirical joint of a part, days told apart or not."""
        private, privates, value_of = part.private, 2, None
        if by_day:
            told_apart = regimes(part.private, part.day)
            private, value_of = told_apart.number, told_apart.value_of
            privates = len(value_of)
        return joint_of_rows(
            part.public,
            private,
            part.cells,
            self.sizes,
            publics=2,
            privates=privates,
            value_of=value_of,
        )


def read_log(path: Path) -> Log:
    """The rows of the file that lack nothing."""
    seconds, occupied, left_out = [], [], 0
    nodes: list[list[list[float]]] = [[] for _ in NODES]
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            if "" in row.values() or None in row.values():
                left_out += 1
                continue
            when = datetime.strptime(f"{row['Date']} {row['Time']}", "%Y-%m-%d %H:%M:%S")
            seconds.append(when.replace(tzinfo=timezone.utc).timestamp())
            occupied.append(int(int(row["Room_Occupancy_Count"]) > 0))
            for held, columns in zip(nodes, NODES.values(), strict=True):
                held.append([float(row[column]) for column in columns])
    return Log(
        np.array(seconds), tuple(np.array(one) for one in nodes), np.array(occupied), left_out
    )


def split(
    log: Log,
    public: Public = "co2",
    *,
    days: Sequence[str] = TRAINING_DAYS,
    choosing: Sequence[str] = CHOOSING_DAYS,
    cells: int = 16,
) -> Split:
    """Training days and the others, with tree cells grown for H on the training days.

    H is ``co2``: above its median on the training days; or ``light``: any node above 0. The column
    is a node's own; that node says only z like any other. G is whether somebody is there.
    """
    day = np.floor(log.seconds / 86400.0).astype(np.intp)
    train = np.isin(day, _days(days))
    if public == "co2":
        measured = log.nodes[4][:, 0]
        threshold = float(np.median(measured[train]))
    else:
        measured = np.max([node[:, 1] for node in log.nodes[:4]], axis=0)
        threshold = 0.0
    h = (measured > threshold).astype(np.intp)
    fitted = [
        fit_quantiser("tree", node[train], h[train], cells).quantiser
        if len(np.unique(node[train], axis=0)) > 2
        else fit_quantiser("quantile", node[train], h[train], 2).quantiser
        for node in log.nodes
    ]
    stretch = np.concatenate([[0], np.cumsum(np.diff(log.seconds) > GAP_SECONDS)])
    quantised = [cells_of(one, node) for one, node in zip(fitted, log.nodes, strict=True)]

    def part(rows: IntArray) -> Part:
        return Part(
            np.hstack(log.nodes)[rows],
            tuple(one[rows] for one in quantised),
            h[rows],
            log.occupied[rows],
            stretch[rows],
            day[rows],
            np.isin(day[rows], _days(choosing)),
        )

    parts = part(np.flatnonzero(train)), part(np.flatnonzero(~train))
    sizes = tuple(one.cells for one in fitted)
    said = (
        f"{log.seconds.size} rows, {log.left_out} left out that lacked a number; "
        f"training days {', '.join(days)} (learners chosen by {', '.join(choosing)}), "
        "the other days for the test",
        f"H: {public} above {threshold:g}; G: occupied; cells of each node "
        f"{', '.join(str(size) for size in sizes)}",
        *(
            f"{name}: {one.public.size} rows, {len(np.unique(one.day))} days, "
            f"p(H)={one.public.mean():.3f}, p(G)={one.private.mean():.3f}, "
            f"correlation {_correlation(one):.2f}"
            for name, one in zip(("training", "test"), parts, strict=True)
        ),
    )
    return Split(*parts, sizes, said)


def _days(named: Sequence[str]) -> list[int]:
    """Numbers of days since 1970."""
    times = [datetime.fromisoformat(one).replace(tzinfo=timezone.utc) for one in named]
    return [int(when.timestamp() // 86400) for when in times]


def _correlation(part: Part) -> float:
    return float(np.corrcoef(part.public, part.private)[0, 1])
