"""Pictures of the reproduction: Figure 2's panels, and the appendix's covariances and samples."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agent.formats.designs import FloatArray
from precompute.cip.factors import eigen_factor
from precompute.reproduce.cip_panels import PANELS, Panel, noises_of_one_power
from precompute.reproduce.results_folder import write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = {
    "ours": ("ours", "#0067a5", "-"),
    "sdp": ("the paper's programs", "#cf4a00", "-"),
    "uniform": ("independent, uniform", "#5c6675", "--"),
    "concentrated": ("independent, on the secret", "#9aa5b3", ":"),
}
WRONG = {"0.5": ("shorter", "v"), "1.5": ("longer", "^")}
SAMPLES = 4
SEED = 20210413

Rows = list[dict[str, Any]]
Quartiles = Mapping[str, tuple[float, float, float]]


def draw_everything(folder: Path, panels: Mapping[str, Rows], band: Quartiles) -> list[Path]:
    """Every panel, all of them on one page, and the noise at the median of each kernel.

    Raises:
        FormatError: a file cannot be written.
    """
    written = []
    for letter, rows in panels.items():
        figure = _figure(5.0, 4.0)
        _panel(figure.add_subplot(), letter, rows, band, legend=True)
        written.append(_save(figure, folder / f"panel_{letter}.png"))
    if len(panels) > 1:
        figure = _figure(16.0, 7.6)
        axes = figure.subplots(2, 4).ravel()
        for place, letter in zip(axes, PANELS, strict=True):
            if letter in panels:
                _panel(place, letter, panels[letter], band, legend=letter == "a")
            else:
                place.set_axis_off()
        written.append(_save(figure, folder / "figure_2.png"))
    for kernel, letters in (("rbf", "abc"), ("periodic", "efg")):
        chosen = [letter for letter in letters if letter in panels]
        if chosen:
            written += _noise_pictures(folder, kernel, chosen, band[kernel][1])
    return written


def _panel(axes: "Axes", letter: str, rows: Rows, band: Quartiles, *, legend: bool) -> None:
    panel = PANELS[letter]
    lengths = np.sqrt([row["lengthscale_sq"] for row in rows])
    low, middle, high = band[panel.kernel]
    axes.axvspan(low, high, color="0.5", alpha=0.15, linewidth=0)
    axes.axvline(middle, color="0.4", linewidth=0.8, linestyle="--")
    for name, (label, colour, style) in LINES.items():
        if name == "concentrated" and panel.secret is None:
            continue  # the same as uniform
        if panel.wrong and name in {"uniform", "concentrated"}:
            continue
        axes.plot(lengths, [row[name] for row in rows], style, color=colour, label=label)
        for factor, (word, marker) in WRONG.items() if panel.wrong else ():
            values = [row["true_lengthscale"][factor][name] for row in rows]
            axes.plot(
                lengths,
                values,
                style,
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=0.8,
                label=f"{label}; truth {word}",
            )
    axes.set(
        title=f"{letter}  {panel.title}",
        xlabel="effective lengthscale",
        ylabel="posterior interval",
        ylim=(0, None),
    )
    if legend or panel.wrong:
        axes.legend(fontsize="x-small")


def _noise_pictures(folder: Path, kernel: str, letters: list[str], median: float) -> list[Path]:
    """Covariances, and samples of prior and noise, at the median lengthscale."""
    prior = PANELS[letters[0]].prior(median)
    shown: list[tuple[str, FloatArray]] = [("prior", prior)]
    for letter in letters:
        panel = PANELS[letter]
        noises = noises_of_one_power(panel, median)
        shown += [(f"{_secret(panel)}: {LINES[name][0]}", noises[name]) for name in ("sdp", "ours")]
    pictures = _figure(3.1 * len(shown), 3.4)
    for place, (title, covariance) in zip(
        np.atleast_1d(pictures.subplots(1, len(shown))), shown, strict=True
    ):
        most = float(np.max(np.abs(covariance)))
        place.imshow(covariance, cmap="RdBu_r", vmin=-most, vmax=most)
        place.set_title(f"{title}\nlargest {most:.3g}", fontsize="small")
        place.set(xlabel="reading", ylabel="reading")
    lines = _figure(3.1 * len(shown), 2.8)
    normals = np.random.default_rng(SEED).standard_normal((len(prior), SAMPLES))
    for place, (title, covariance) in zip(
        np.atleast_1d(lines.subplots(1, len(shown))), shown, strict=True
    ):
        half = eigen_factor(covariance)
        place.plot(half @ normals[: half.shape[1]], linewidth=1)
        place.set_title(title, fontsize="small")
        place.set(xlabel="reading")
    return [
        _save(pictures, folder / f"covariances_{kernel}.png"),
        _save(lines, folder / f"samples_{kernel}.png"),
    ]


def _secret(panel: Panel) -> str:
    if panel.secret is None:
        return "all secret"
    return "secret " + ", ".join(str(index) for index in panel.secret)


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: "Figure", path: Path) -> Path:
    write_picture(path, figure, dpi=120, metadata={"Software": None})
    return path
