"""How a command ends that is asked to: Ctrl-C raises KeyboardInterrupt, SIGTERM its like.

So whatever is open is closed, drafts of files are removed and children ended on the way out,
whichever of the two comes. ``run`` and ``listen`` put handlers of their own in place, by which
they end cleanly once they are under way.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


class Terminated(BaseException):
    """SIGTERM came. Like KeyboardInterrupt no Exception, so that nobody goes on by mistake."""


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Within, SIGTERM raises Terminated; afterwards both signals do what they did before.

    A SIGTERM that is ignored, or that somebody handles already, is left alone.
    """
    if threading.current_thread() is not threading.main_thread():  # others hear no signals
        yield
        return
    earlier = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if earlier[signal.SIGTERM] is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        for number, handler in earlier.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)


def _raise(number: int, frame: object) -> NoReturn:
    raise Terminated
