"""Pictures of the reproduced experiments, from the JSON values of the results."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from precompute.reproduce.results_folder import write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]
_CHAINS = {
    "strongest": "one never moves",
    "moderate": "P = [[.8, .2], [0, 1]]",
    "none": "every move equally likely",
}


def plot_example(path: Path, example: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """BPL, FPL and TPL of ten releases under three correlations, as in the paper's Figure 3.

    Raises:
        FormatError: the file cannot be written.
    """
    panels = [(name, label) for name, label in _CHAINS.items() if name in example]

    def draw(axes: "list[Axes]") -> None:
        for place, (name, label) in zip(axes, panels, strict=True):
            times = range(1, len(example[name]["tpl"]) + 1)
            for key, style in (("tpl", "-"), ("bpl", "--"), ("fpl", "-.")):
                place.plot(times, example[name][key], style, label=key.upper(), marker="o", ms=3)
            place.set(title=label, xlabel="release", ylim=(0, 1.1))
        axes[0].set_ylabel("leakage (nats)")
        axes[-1].legend(loc="upper right")

    _save(path, draw, panels=len(panels), width=10.0)


def plot_times(path: Path, rows: Sequence[Row]) -> None:
    """Time of one L(alpha) over all pairs against the number of states.

    Raises:
        FormatError: the file cannot be written.
    """

    def draw(axes: "list[Axes]") -> None:
        (place,) = axes
        alphas = sorted({row["alpha"] for row in rows})
        for key, colour, what in (
            ("program_seconds", "tab:blue", _program_label(rows)),
            ("seconds", "tab:orange", "ours"),
            ("look_up_seconds", "tab:green", "look-up in the table"),
        ):
            for number, alpha in enumerate(alphas):
                chosen = [row for row in rows if row["alpha"] == alpha]
                place.plot(
                    [row["states"] for row in chosen],
                    [row[key] for row in chosen],
                    ("-", "--", ":")[number % 3],
                    color=colour,
                    marker="o",
                    ms=3,
                    label=what if number == 0 else None,
                )
        place.set_title("one L(alpha) over all pairs; alpha " + ", ".join(f"{a:g}" for a in alphas))
        place.set(xscale="log", yscale="log", xlabel="states", ylabel="seconds")
        place.set_xticks(sorted({row["states"] for row in rows}))
        place.xaxis.set_major_formatter("{x:g}")
        place.xaxis.set_minor_locator(_no_ticks())
        place.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))

    _save(path, draw, width=8.0)


def plot_noise(path: Path, rows: Sequence[Row]) -> None:
    """Noise against the strength of correlation, for the two allocations and none.

    Raises:
        FormatError: the file cannot be written.
    """
    alphas = sorted({row["alpha"] for row in rows})

    def draw(axes: "list[Axes]") -> None:
        for place, alpha in zip(axes, alphas, strict=True):
            chosen = [row for row in rows if row["alpha"] == alpha]
            smoothings = [row["smoothing"] for row in chosen]
            for key, style, label in (
                ("algorithm_2", "-", "Algorithm 2: for ever"),
                ("algorithm_3", "--", f"Algorithm 3: T = {chosen[0]['steps']}"),
                ("time_ignored", ":", "time ignored: no bound"),
            ):
                place.plot(
                    smoothings, [row[key] for row in chosen], style, marker="o", ms=3, label=label
                )
            place.set(xscale="log", yscale="log", title=f"alpha = {alpha:g}")
            place.set_xlabel("smoothing (small: strong correlation)")
        axes[0].set_ylabel("mean absolute noise of a count")
        axes[-1].legend(fontsize="small")

    _save(path, draw, panels=len(alphas), width=10.0)


def _program_label(rows: Sequence[Row]) -> str:
    """Never without how few of the pairs were timed."""
    timed = sorted({row["program_pairs_timed"] for row in rows})
    return f"linear program, extrapolated\nfrom {', '.join(map(str, timed))} random pairs"


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _save(path: Path, draw: Any, *, panels: int = 1, width: float) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    draw(list(figure.subplots(1, panels, squeeze=False)[0]))
    write_picture(path, figure, metadata={"Date": None})
