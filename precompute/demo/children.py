"""The agent and the listener as processes of their own, which end when the demonstration does.

They are started as anybody would start them, through the command line, because that is what the
demonstration is to show. Their output goes to files in the demonstration's folder.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from precompute.errors import PrecomputeError

GRACE_SECONDS = 5.0


class Child:
    """One ``sfumato`` command under way; a context manager that leaves nothing running."""

    def __init__(self, name: str, words: Sequence[str], folder: Path) -> None:
        self.name = name
        self.log_path = folder / f"{name}.log"
        self._words = [sys.executable, "-m", "agent", *words]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Child":
        return self  # nothing runs yet, so that a signal between here and start() harms nothing

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, through a thread that no signal's exception can cut short halfway."""
        settled = threading.Event()
        starter = threading.Thread(target=self._start, args=(settled,), name=f"start {self.name}")
        try:
            starter.start()
            settled.wait()
        except BaseException:
            # Not join(): an interrupted join() leaves the thread marked as ended while it is not,
            # so a second one would return before there is a process to stop.
            if starter.ident is not None:
                settled.wait()
            raise
        if self._process is None:
            raise PrecomputeError(f"the demonstration's {self.name} did not start")

    def _start(self, settled: threading.Event) -> None:
        try:
            self._process = self._open()
        finally:
            settled.set()

    def _open(self) -> "subprocess.Popen[bytes]":
        # Found from here, so that a checkout runs its own agent whatever else is installed.
        roots = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(root for root in roots if root))
        # What overrides the file on this machine is meant for the user's own agent.
        for key in [key for key in environment if key.startswith("SFUMATO_")]:
            del environment[key]
        with self.log_path.open("wb") as log:
            return subprocess.Popen(  # noqa: S603 - our own interpreter and words
                self._words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
            )

    def stop(self) -> None:
        """Ask it to end, then make it."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def exit_code(self) -> int | None:
        """None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def require_running(self) -> None:
        """Raises PrecomputeError with its last words if it ended by itself."""
        code = self.exit_code()
        if code is not None:
            raise self.failure(code)

    def failure(self, code: int) -> PrecomputeError:
        """What went wrong, in its own last line."""
        lines = self.log_path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        last = lines[-1] if lines else "it said nothing"
        return PrecomputeError(
            f"the demonstration's {self.name} ended with exit code {code}: {last}"
        )


def wait_until(done: Callable[[], bool], seconds: float, every: float = 0.05) -> bool:
    """Poll ``done`` until it holds or the time is up; whether it held."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every)
    return True
