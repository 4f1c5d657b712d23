"""The folder that an experiment writes its pictures and results into.

Each file is the whole new one or, where the work is broken off, the one that was there before.
"""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.formats.output_files import write_output
from precompute.errors import PrecomputeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def make_folder(path: Path) -> None:
    """Makes the folder, or refuses before the work rather than after.

    Raises:
        PrecomputeError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PrecomputeError(f"--output: {path}: cannot be made ({error.strerror})") from None


def write_text(path: Path, text: str) -> None:
    """Writes a file of the folder.

    Raises:
        FormatError: it cannot be written.
    """
    write_output(path, text, option="--output")


def write_picture(path: Path, figure: "Figure", **settings: Any) -> None:
    """Writes a picture of the folder; its kind is that of the name.

    Args:
        path: of the picture.
        figure: to be drawn.
        settings: of matplotlib's ``savefig``.

    Raises:
        FormatError: it cannot be written.
    """
    from matplotlib import rc_context

    picture = BytesIO()
    with rc_context({"svg.hashsalt": "sfumato"}):
        figure.savefig(picture, format=path.suffix.removeprefix("."), **settings)
    write_output(path, picture.getvalue(), option="--output")
