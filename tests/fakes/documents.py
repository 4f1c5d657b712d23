"""What a page of the documentation tells its reader to type and to write."""

import re
import shlex
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def section_of(page, heading):
    """The text under a heading, up to the next one."""
    text = (REPOSITORY / page).read_text()
    _, _, rest = text.partition(f"\n{heading}\n")
    assert rest, f"{page} has no heading {heading!r}"
    return re.split(r"\n##+ ", rest)[0]


def commands_in(text):
    """The words after ``sfumato`` of every command in the text's sh blocks."""
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.S)).splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("sfumato ")]


def file_in(text, name):
    """The YAML or Python block whose first line is ``# name``."""
    (content,) = re.findall(rf"```(?:yaml|python)\n# {re.escape(name)}\n(.*?)```", text, re.S)
    return content
