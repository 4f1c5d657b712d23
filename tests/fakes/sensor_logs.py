"""Made-up logs of a room, by the code that the documentation gives its readers."""

from typing import Any

from fakes.documents import file_in, section_of

_MADE: dict[str, Any] = {"__name__": "make_room"}
MAKE_ROOM = file_in(section_of("docs/mapping.md", "## From a log to a decision"), "make_room.py")
exec(compile(MAKE_ROOM, "docs/mapping.md", "exec"), _MADE)

MONDAY = _MADE["MONDAY"]
write_room = _MADE["write_room"]
