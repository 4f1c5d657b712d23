"""What the user sees while the demonstration works: lines, and a bar on a terminal."""

import sys
import time
from collections.abc import Callable
from typing import Any


class TerminalProgress:
    """Steps as lines on standard error; a bar below them where somebody is watching."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._bar: Any = None
        self._watched = sys.stderr.isatty()

    def step(self, text: str) -> None:
        """A new step has begun."""
        self.close()
        seconds = time.monotonic() - self._began
        print(f"sfumato demo: [{seconds:4.0f} s] {text}", file=sys.stderr, flush=True)

    def bar(self, total: int) -> Callable[[int], None]:
        """A bar of its own for this part of the step."""
        from tqdm import tqdm

        self.close()
        self._bar = tqdm(total=total, disable=not self._watched, file=sys.stderr, leave=False)
        bar = self._bar

        def show(done: int) -> None:
            bar.update(done - bar.n)

        return show

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
