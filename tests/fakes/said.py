"""What a command or an error says, without the folder of the test.

pytest numbers its folders (`pytest-51`) and names them as the machine likes: a planted value may
be found in a path, and a line with a path may be of any length.
"""

from pathlib import Path


def said(words: object, folder: Path) -> str:
    """The words without the path of `folder`."""
    return str(words).replace(str(folder), "")
