"""A thread that fails must end the command, not leave it waiting for ever."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def failing_threads(tell: Callable[[str], None]) -> Iterator[None]:
    """While inside, an exception that ends any thread is told in words, instead of a traceback.

    The type only: the text of an unforeseen error may hold the value it stumbled on.
    """
    earlier = threading.excepthook

    def hook(arguments: threading.ExceptHookArgs) -> None:
        name = arguments.thread.name if arguments.thread is not None else "a thread"
        tell(f"{name} failed with {arguments.exc_type.__name__}; this is a bug, please report it")

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = earlier
