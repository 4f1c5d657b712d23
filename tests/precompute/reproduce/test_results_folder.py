"""An experiment's files are whole or not there."""

import pytest

from agent.formats.errors import FormatError
from precompute.reproduce.results_folder import write_picture, write_text


class _Figure:
    """Draws half of a picture, and then Ctrl-C comes."""

    def savefig(self, target, **_settings):
        target.write(b"half")
        raise KeyboardInterrupt


@pytest.mark.parametrize("before", [b"", b"an earlier picture"])
def test_a_picture_that_is_broken_off_leaves_what_was_there(tmp_path, before):
    path = tmp_path / "picture.svg"
    if before:
        path.write_bytes(before)
    with pytest.raises(KeyboardInterrupt):
        write_picture(path, _Figure())
    assert [child.read_bytes() for child in tmp_path.iterdir()] == ([before] if before else [])


def test_what_cannot_be_written_is_refused_by_name(tmp_path):
    with pytest.raises(FormatError, match=r"--output: .*nowhere/results\.json: cannot be written"):
        write_text(tmp_path / "nowhere" / "results.json", "{}")
