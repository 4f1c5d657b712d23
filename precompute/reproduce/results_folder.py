"""The folder that an experiment writes its pictures and results into."""

from pathlib import Path

from precompute.errors import PrecomputeError


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
        PrecomputeError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PrecomputeError(f"--output: {path}: cannot be written ({error.strerror})") from None
