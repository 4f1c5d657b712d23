"""Where readings come from. Each source runs in a thread of its own and may block."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from agent.formats.errors import SfumatoError
from agent.readings import Reading


class Source(Protocol):
    """Readings in the order they were taken."""

    @property
    def can_wait(self) -> bool:
        """Whether nothing is lost when the loop takes no readings for a while."""
        ...

    def readings(self) -> Iterator[Reading]:
        """Blocks until the next reading; ends when no more can come, or after :meth:`close`.

        Raises:
            SfumatoError: the source cannot go on; UnavailableError if it may come back.
        """
        ...

    def close(self) -> None:
        """Ends a blocking wait, from another thread. May be called more than once."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class ReadingArrived:
    """Raw, so its repr is silent."""

    channel: int
    reading: Reading

    def __repr__(self) -> str:
        return f"ReadingArrived({self.channel})"


@dataclass(frozen=True, slots=True)
class SourceEnded:
    """No more readings; ``failure`` says why when that was not the natural end."""

    channel: int
    failure: str | None


class SourceThread:
    """Carries one source's readings to the loop, a bounded number ahead of it.

    The loop calls :meth:`permit` for readings it has dealt with; while it does not, because the
    outbox is full, the source waits. Raw values therefore never pile up.
    """

    def __init__(
        self,
        channel: int,
        source: Source,
        post: Callable[[ReadingArrived | SourceEnded], None],
        ahead: int,
    ) -> None:
        self._channel = channel
        self._source = source
        self._post = post
        self._permits = threading.Semaphore(ahead)
        self._closing = False
        self._thread = threading.Thread(target=self._carry, name=f"source-{channel}", daemon=True)

    def start(self) -> None:
        """Begins to read."""
        self._thread.start()

    def permit(self, count: int) -> None:
        """Lets ``count`` more readings in."""
        if count:
            self._permits.release(count)

    def close(self) -> None:
        """Ends the source; readings still on their way are dropped."""
        self._closing = True
        self._source.close()
        self._permits.release()

    def _carry(self) -> None:
        failure: str | None = None
        try:
            for reading in self._source.readings():
                self._permits.acquire()
                if self._closing:
                    break
                self._post(ReadingArrived(self._channel, reading))
        except SfumatoError as error:
            failure = str(error)
        except Exception as error:
            # The type only: the text of an unforeseen error may hold the value it stumbled on.
            failure = f"the source failed with {type(error).__name__}; this is a bug in it"
        self._post(SourceEnded(self._channel, failure))
