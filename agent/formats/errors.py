"""The root of all errors whose text is written for the user."""

from collections.abc import Iterator
from contextlib import contextmanager


class SfumatoError(Exception):
    """Its text is one complete line for the user: refused what, found, expected, what to do.

    The command line prints it and exits with 2. It never contains a raw reading.
    """


MAX_SHOWN = 60


class FormatError(SfumatoError):
    """Bad outside input: bytes, a file or a document that do not mean what they should."""


@contextmanager
def about(what: str) -> Iterator[None]:
    """Errors that come from within say what they are about, unless they do already."""
    try:
        yield
    except SfumatoError as error:
        if what in str(error):
            raise
        raise type(error)(f"{what}: {error}") from None


def shown(value: object) -> str:
    """What was found, as a message shows it: at most ``MAX_SHOWN`` characters, on one line."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits; a list in itself
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."
