"""A broker inside this process, on 127.0.0.1 only, gone when the process is.

amqtt's default configuration listens on every interface; ours names the one address and leaves
out the plugins that write packets to the log.
"""

import asyncio
import logging
import socket
import threading
from types import TracebackType
from typing import Any

from precompute.errors import PrecomputeError

START_SECONDS = 10.0
ATTEMPTS = 5


class LocalBroker:
    """Use as a context manager; ``port`` is free before and after.

    Anonymous, because only this machine can reach it and only noisy positions pass through it.
    """

    def __init__(self) -> None:
        self.port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "LocalBroker":
        for _ in range(ATTEMPTS):  # another process may take the port between look and use
            self.port = _free_port()
            self._started.clear()
            self._failure = None
            self._thread = threading.Thread(target=self._serve, name="broker", daemon=True)
            self._thread.start()
            if self._started.wait(START_SECONDS) and self._failure is None:
                return self
            if isinstance(self._failure, ModuleNotFoundError):
                raise self._failure  # the command line names the extra that brings it
        raise PrecomputeError(
            f"the demonstration's broker did not start on 127.0.0.1 ({self._failure}); "
            "check that local TCP ports may be opened and try again"
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._stop is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join(START_SECONDS)

    def _serve(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseException as error:  # a thread has nobody else to tell
            self._failure = error
        finally:
            self._started.set()

    async def _run(self) -> None:
        # Imported here: the extra may be missing, and the command line says which one it is.
        from amqtt.broker import Broker

        for name in ("amqtt", "transitions"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        broker = Broker(broker_config(self.port))
        await broker.start()
        self._started.set()
        await self._stop.wait()
        await broker.shutdown()


def broker_config(port: int) -> dict[str, Any]:
    """All that amqtt is told: one TCP listener on the loopback address."""
    return {
        "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
