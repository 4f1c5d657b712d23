import os

import pytest

from precompute.demo.children import Child, wait_until
from precompute.errors import PrecomputeError


def test_a_failure_is_told_in_the_childs_own_last_line(tmp_path):
    with Child("agent", ["run", str(tmp_path / "nowhere.yaml")], tmp_path) as child:
        child.start()
        assert wait_until(lambda: child.exit_code() is not None, 20.0)
        with pytest.raises(PrecomputeError, match="no such file") as failed:
            child.require_running()
    assert "\n" not in str(failed.value)


def test_a_child_ends_with_its_block(tmp_path):
    words = ["listen", "a/b", "--host", "127.0.0.1", "--port", "1", "--protocol", "3.1.1"]
    with Child("listener", words, tmp_path) as child:
        child.start()
        number = child._process.pid
        assert child.exit_code() is None
    assert child.exit_code() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_waiting_gives_up():
    assert not wait_until(lambda: False, 0.05, every=0.01)
