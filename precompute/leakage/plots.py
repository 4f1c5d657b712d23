"""Pictures of leakage over time."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from agent.formats.output_files import OutputKind, check_output, write_output
from precompute.leakage.errors import LeakageError
from precompute.leakage.quantification import Leakage, Suprema

SUFFIXES = (".png", ".svg")
PICTURE = OutputKind(
    "a picture by `sfumato leakage`",
    lambda head, tail: (
        head.startswith((b"\x89PNG", b"<?xml"))
        and (b"Software\0sfumato" in head or b"<dc:title>sfumato</dc:title>" in head)
    ),
)


def check_plot_path(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a name that no picture can have, or that is taken, before any work is done.

    Raises:
        LeakageError: neither .png nor .svg.
        FormatError: see :func:`agent.formats.output_files.check_output`.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise LeakageError(f"{path}: cannot tell the kind of picture; end it in .png or .svg")
    check_output(path, PICTURE, option="--plot", inputs=inputs)


def plot_leakage(
    path: Path, leakage: Leakage, suprema: Suprema | None = None, limit: float | None = None
) -> None:
    """BPL, FPL, TPL and the budgets over the releases, with the suprema and the limit as lines.

    Raises:
        LeakageError: its name says no kind.
        FormatError: the file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    check_plot_path(path)
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    times = range(1, len(leakage.tpl) + 1)
    marker = "o" if len(leakage.tpl) <= 60 else ""
    for values, label, style in (
        (leakage.tpl, "TPL: all releases", "-"),
        (leakage.bpl, "BPL: this and earlier ones", "--"),
        (leakage.fpl, "FPL: this and later ones", "-."),
        (leakage.epsilons, "budget of the release alone", ":"),
    ):
        axes.plot(times, values, style, label=label, marker=marker, markersize=3)
    if suprema is not None and suprema.total is not None:
        axes.axhline(suprema.total, color="0.5", linewidth=1, label="supremum of TPL")
    if limit is not None:
        axes.axhline(limit, color="0.2", linewidth=1, label="limit alpha")
    axes.set(xlabel="release", ylabel="leakage (nats)", ylim=(0, None))
    axes.legend(fontsize="small")
    kind = path.suffix.lower().removeprefix(".")
    made_by = {"Creator": "sfumato", "Date": None} if kind == "svg" else {"Software": "sfumato"}
    picture = BytesIO()
    with rc_context({"svg.hashsalt": "sfumato"}):
        figure.savefig(picture, format=kind, dpi=150, metadata=made_by)
    write_output(path, picture.getvalue(), option="--plot")
