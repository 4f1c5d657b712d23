"""Pictures of the reproduced figures, from the JSON values of the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from precompute.mapping.reproduction.figures import COLUMNS
from precompute.reproduce.results_folder import write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
# Label, colour, dashes, marker and its size, width. Drawn in this order from wide to thin and from
# large to small, so that of curves that lie on each other each shows beside or under the next.
_STYLES: Mapping[str, tuple[str, str, Any, str, float, float]] = {
    "ldp_only": ("LDP only", "#c3c8d0", "-", "s", 12.0, 8.0),
    "information_only": ("information privacy only", "#b5a642", "-", "D", 10.5, 6.3),
    "ill_staged": ("ILL, stage by stage", "#8fc1e8", "-", "^", 9.5, 5.0),
    "lip_staged": ("LIP, stage by stage", "#f6b26b", "-", "v", 8.5, 3.9),
    "ill_refined": ("ILL, refined", "#0067a5", (0, (5, 2)), "^", 6.0, 3.0),
    "lip_refined": ("LIP, refined", "#cf4a00", (0, (8, 1)), "v", 5.0, 2.2),
    "direct": ("ours: one map", "#000000", (0, (2, 2)), "o", 2.5, 1.1),
}
_NAMES = {"information": "epsilon_I", "local": "epsilon_LD"}


@dataclass(frozen=True, slots=True)
class Panel:
    """An amount of each column: its key, its name and unit, what it is, and which way is good."""

    key: str
    name: str
    meaning: str
    good: str


def plot(
    path: Path, title: str, rows: Sequence[Row], shown: Sequence[Panel], *, over: tuple[str, str]
) -> None:
    """A panel for each amount and each value of the budget that is held.

    Raises:
        FormatError: the file cannot be written.
    """
    write_picture(path, draw(title, rows, shown, over=over), metadata={"Date": None})


def draw(
    title: str, rows: Sequence[Row], shown: Sequence[Panel], *, over: tuple[str, str]
) -> "Figure":
    """The figure that :func:`plot` writes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    varies, held = over
    values = sorted({row[held] for row in rows})
    figure = Figure(figsize=(4.2 * len(shown) + 2.4, 3.6 * len(values) + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    grid = figure.subplots(len(values), len(shown), squeeze=False)
    letters = iter("abcdefghijklmnop")
    for line, value in zip(grid, values, strict=True):
        chosen = sorted((row for row in rows if row[held] == value), key=lambda row: row[varies])
        for place, panel in zip(line, shown, strict=True):
            _panel(place, chosen, panel, varies)
            place.set_title(
                f"({next(letters)}) {panel.meaning}\n{_NAMES[held]} = {value:g}; {panel.good}",
                fontsize="medium",
            )
    grid[0][-1].legend(
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize="small",
        labelspacing=1.0,
        handlelength=3.5,
        title="wide curves lie under thin ones",
        title_fontsize="small",
    )
    return figure


def _panel(place: "Axes", rows: Sequence[Row], panel: Panel, varies: str) -> None:
    budgets = [row[varies] for row in rows]
    for number, column in enumerate(COLUMNS):
        label, colour, dashes, marker, size, width = _STYLES[column]
        place.plot(
            budgets,
            [row["cells"][column][panel.key] for row in rows],
            linestyle=dashes,
            color=colour,
            linewidth=width,
            marker=marker,
            markersize=size,
            markerfacecolor=colour if column == "direct" else "none",
            markeredgewidth=1.2,
            zorder=2 + number,
            label=label,
        )
    place.set(xscale="log", xlabel=f"{_NAMES[varies]} (nats)", ylabel=panel.name)
    place.set_xticks(budgets, [f"{budget:g}" for budget in budgets])
    place.minorticks_off()
