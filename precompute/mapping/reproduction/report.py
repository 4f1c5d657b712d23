"""All of ``sfumato reproduce iot``: JSON values, text for a terminal, pictures."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from precompute.mapping.reproduction.figures import COLUMNS, points
from precompute.mapping.reproduction.pictures import Panel, plot
from precompute.mapping.reproduction.statements import judge

FIGURES = ("5", "6", "7")
_LOW, _HIGH = "lower is better", "higher is better"
_ERRORS = (
    Panel("public_error", "Bayes error of H", "how often H is decided wrongly", _LOW),
    Panel("private_error", "Bayes error of G", "how often G is guessed wrongly", _HIGH),
)
_SHOWN = {
    "5": _ERRORS,
    "6": _ERRORS,
    "7": (
        Panel("reading_information", "I(X1;Z1), nats", "what sensor 1 tells of its reading", _LOW),
        Panel("private_leakage", "I(G;Z), nats", "what all symbols tell of G", _LOW),
        Panel("public_information", "I(H;Z), nats", "what all symbols tell of H", _HIGH),
    ),
}
_TITLES = {
    "5": "Figure 5: errors over epsilon_LD at two epsilon_I",
    "6": "Figure 6: errors over epsilon_I at two epsilon_LD (the paper's 0.07 first)",
    "7": "Figure 7: mutual informations at epsilon_I = 0.15, sensor 1 independent of G",
}


def reproduce(figures: Sequence[str] = FIGURES, folder: Path | None = None) -> dict[str, Any]:
    """The figures and the judged statements as JSON values; pictures go into the folder.

    Raises:
        MappingError: a picture cannot be written.
    """
    found = {figure: points(figure) for figure in figures}
    results: dict[str, Any] = {
        "figures": {name: [asdict(point) for point in row] for name, row in found.items()},
        "statements": [asdict(verdict) for verdict in judge(found)],
    }
    if folder is not None:
        for name, rows in results["figures"].items():
            path = folder / f"iot-figure-{name}.svg"
            plot(path, _TITLES[name], rows, _SHOWN[name], over=_axis(name))
    return results


def describe(results: dict[str, Any]) -> str:
    """The results as text for a terminal."""
    lines = []
    for name, rows in results["figures"].items():
        lines.append(_TITLES[name])
        for panel in _SHOWN[name]:
            lines.append(f"  {panel.name}: {panel.meaning}; {panel.good}")
            lines.append("  eps_I  eps_LD " + " ".join(f"{column:>16}" for column in COLUMNS))
            lines += [
                f"  {row['information']:5g} {row['local']:7g} "
                + " ".join(f"{row['cells'][column][panel.key]:16.4f}" for column in COLUMNS)
                for row in rows
            ]
    lines.append("What the paper says, and whether it holds here")
    for verdict in results["statements"]:
        word = "holds        " if verdict["holds"] else "does not hold"
        lines.append(f"  {word} {verdict['statement']}")
        lines.append(f"                {verdict['evidence']}")
    return "\n".join(lines)


def _axis(figure: str) -> tuple[str, str]:
    """What varies along the axis, and what each panel's row fixes."""
    return ("information", "local") if figure == "6" else ("local", "information")
