"""Pictures of the reproduced figures, from the JSON values of the results."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from precompute.mapping.errors import MappingError
from precompute.mapping.reproduction.figures import COLUMNS

Row = Mapping[str, Any]
_STYLES = {
    "ldp_only": ("LDP only", "tab:gray", ":"),
    "information_only": ("information privacy only", "tab:olive", ":"),
    "ill_staged": ("ILL, stage by stage", "tab:blue", "--"),
    "lip_staged": ("LIP, stage by stage", "tab:orange", "--"),
    "ill_refined": ("ILL, refined", "tab:blue", "-"),
    "lip_refined": ("LIP, refined", "tab:orange", "-"),
    "direct": ("ours: one map", "black", "-."),
}
_NAMES = {"information": "epsilon_I", "local": "epsilon_LD"}


def plot(
    path: Path, rows: Sequence[Row], shown: Sequence[tuple[str, str]], *, over: tuple[str, str]
) -> None:
    """A panel for each amount and each value of the budget that is held.

    Raises:
        MappingError: the file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    varies, held = over
    values = sorted({row[held] for row in rows})
    figure = Figure(figsize=(4.2 * len(shown) + 2.2, 3.2 * len(values)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(values), len(shown), squeeze=False)
    for line, value in zip(grid, values, strict=True):
        chosen = sorted((row for row in rows if row[held] == value), key=lambda row: row[varies])
        for place, (key, words) in zip(line, shown, strict=True):
            for column in COLUMNS:
                label, colour, style = _STYLES[column]
                place.plot(
                    [row[varies] for row in chosen],
                    [row["cells"][column][key] for row in chosen],
                    style,
                    color=colour,
                    marker="o",
                    ms=3,
                    label=label,
                )
            place.set(xscale="log", xlabel=f"{_NAMES[varies]} (nats)", ylabel=words)
            place.set_title(f"{_NAMES[held]} = {value:g}")
    grid[0][-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    try:
        with rc_context({"svg.hashsalt": "sfumato"}):
            figure.savefig(path, metadata={"Date": None})
    except OSError as error:
        raise MappingError(f"{path}: cannot be written ({error.strerror})") from None
