"""A design file: ``designs:``, a list; each says its ``kind`` and what that kind needs.

See :mod:`precompute.design_promise` for the keys that streams and windows share, and the modules of
:mod:`precompute.design_kinds` for those of each kind. Unknown keys are refused.
"""

from collections.abc import Callable
from pathlib import Path

from agent.formats.documents import Section, load_yaml, one_of
from agent.formats.errors import FormatError, shown
from precompute.design_kinds import leakage, mapping, stream, window
from precompute.design_kinds.request import Request
from precompute.design_promise import read_promise

# Each takes a design's section and the folder in which the files it names are looked for.
READERS: dict[str, Callable[[Section, Path], Request]] = {
    "stream": lambda section, folder: stream.read(section, read_promise(section, folder)),
    "window": lambda section, folder: window.read(section, read_promise(section, folder)),
    "leakage": leakage.read,
    "mapping": mapping.read,
}
MAX_DESIGNS = 64


def load_requests(path: Path) -> tuple[Request, ...]:
    """The designs that a file asks for, in its order.

    Raises:
        FormatError: the file cannot be read, or says something that is not understood.
        PriorError: a prior that is none.
    """
    return read_requests(load_yaml(path), path.parent)


def read_requests(document: Section, folder: Path) -> tuple[Request, ...]:
    """As :func:`load_requests`; ``folder`` is where priors in files of their own are looked for."""
    sections = document.sections("designs")
    if len(sections) > MAX_DESIGNS:
        raise document.fail("designs", f"found {len(sections)}; expected at most {MAX_DESIGNS}")
    document.close()
    requests = tuple(_request(section, folder) for section in sections)
    names = [request.name for request in requests]
    for name in names:
        if names.count(name) > 1:
            raise FormatError(
                f"{document.where}: the design {shown(name)} stands twice; rename one"
            )
    return requests


def _request(section: Section, folder: Path) -> Request:
    kind = section.take("kind", one_of(*READERS))
    return READERS[kind](section, folder)
