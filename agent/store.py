"""The device's memory: noise state and outbox in one SQLite file, changed in one transaction.

The promise that noise is drawn once rests on :meth:`Store.commit`: the advanced noise state and
the release it made become durable together, before anything is published. What is here is
sanitised, but not harmless: noise state next to published releases tells the last raw value, so
the folder is for its owner alone (0700, files 0600), and old states are overwritten with zeros.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, get_args

from agent.errors import ConfigError, UnavailableError
from agent.health import ChannelReport, decode_report, encode_report
from agent.state_folder import FILE_NAME, lock_folder, open_database

RowStatus = Literal["waiting", "parked"]
NO_REPORTS: Mapping[str, ChannelReport] = {}


@dataclass(frozen=True, slots=True)
class ChannelPosition:
    """Where a channel stands under one design.

    ``state`` is None for a cold start; ``segments_used`` counts the segments begun before.
    ``last_steps`` is the last release, in grid steps.
    """

    state: bytes | None
    segments_used: int
    other_designs: int
    next_sequence: int
    last_time_ms: int | None
    report: ChannelReport | None = None
    last_steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Advance:
    """A channel's noise after a batch."""

    channel: str
    design: str
    state: bytes
    segments_used: int
    next_sequence: int
    last_time_ms: int
    last_steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A release as the bytes that will be sent, now and at every resend."""

    channel: str
    sequence: int
    topic: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """An Outgoing with its place in the queue."""

    row_id: int
    channel: str
    sequence: int
    topic: str
    payload: bytes
    status: RowStatus


def random_sequence() -> int:
    """Where a new store's sequences start: 50 random bits from the operating system.

    So a subscriber does not take a release for a repeat of one from a store that was lost, and
    the number does not tell when the agent was started.
    """
    return int.from_bytes(os.urandom(7), "big") >> 6


class Store:
    """One state folder, held by one agent at a time.

    Raises:
        ConfigError: the folder is open to others, in use, damaged, or of a later version.
        UnavailableError: the disk refuses.
    """

    def __init__(
        self, folder: Path, *, first_sequence: Callable[[], int] = random_sequence
    ) -> None:
        self._path = folder / FILE_NAME
        self._lock = lock_folder(folder)
        try:
            self._database = open_database(self._path)
        except BaseException:
            os.close(self._lock)
            raise
        self._first_sequence = first_sequence()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Everything committed is durable already; this tidies up and lets the folder go."""
        self._database.close()
        os.close(self._lock)

    def position(self, channel: str, design: str) -> ChannelPosition:
        """Where the channel stands; a channel never seen stands at its first sequence."""
        at = self._one(
            "SELECT next_sequence, last_time_ms, last_steps FROM channels WHERE channel = ?",
            channel,
        )
        noise = self._one(
            "SELECT state FROM noise WHERE channel = ? AND design = ?", channel, design
        )
        used = self._one(
            "SELECT segments_used FROM allowance WHERE channel = ? AND design = ?", channel, design
        )
        others = self._one(
            "SELECT count(*) FROM allowance WHERE channel = ? AND design <> ?", channel, design
        )
        report = self._one("SELECT report FROM reports WHERE channel = ?", channel)
        return ChannelPosition(
            state=bytes(noise[0]) if noise else None,
            segments_used=int(used[0]) if used else 0,
            other_designs=int(others[0]) if others else 0,
            next_sequence=int(at[0]) if at else self._first_sequence,
            last_time_ms=int(at[1]) if at else None,
            last_steps=_steps(bytes(at[2])) if at else (),
            report=decode_report(str(report[0])) if report else None,
        )

    def commit(
        self,
        *,
        advances: Iterable[Advance] = (),
        outgoing: Iterable[Outgoing] = (),
        acknowledged: Iterable[int] = (),
        parked: Iterable[int] = (),
        reports: Mapping[str, ChannelReport] = NO_REPORTS,
    ) -> None:
        """Makes a batch durable: all of it or nothing.

        Raises:
            UnavailableError: the disk refused; nothing of the batch may be published.
        """
        run = self._database.execute
        try:
            run("BEGIN IMMEDIATE")
            try:
                for advance in advances:
                    self._advance(advance)
                self._database.executemany(
                    "INSERT INTO outbox (channel, sequence, topic, payload, status) "
                    "VALUES (?, ?, ?, ?, 'waiting')",
                    [(row.channel, row.sequence, row.topic, row.payload) for row in outgoing],
                )
                self._database.executemany(
                    "DELETE FROM outbox WHERE id = ?", [(row_id,) for row_id in acknowledged]
                )
                self._database.executemany(
                    "UPDATE outbox SET status = 'parked' WHERE id = ?",
                    [(row_id,) for row_id in parked],
                )
                self._database.executemany(
                    "INSERT INTO reports VALUES (?, ?) ON CONFLICT (channel) DO UPDATE SET "
                    "report = excluded.report",
                    [(channel, encode_report(report)) for channel, report in reports.items()],
                )
                run("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    run("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise UnavailableError(
                f"{self._path}: the batch could not be stored ({error}); nothing of it is "
                "published; free the disk or repair the store"
            ) from None

    def waiting(self, after: int, limit: int) -> list[OutboxRow]:
        """The next rows to send, oldest first, with an id above ``after``."""
        rows = self._database.execute(
            "SELECT id, channel, sequence, topic, payload, status FROM outbox "
            "WHERE id > ? AND status <> 'parked' ORDER BY id LIMIT ?",
            (after, limit),
        )
        return [_outbox_row(row) for row in rows]

    def count(self, status: RowStatus) -> int:
        """How many rows of the outbox have this status."""
        found = self._one("SELECT count(*) FROM outbox WHERE status = ?", status)
        return int(found[0]) if found else 0

    def _advance(self, advance: Advance) -> None:
        run = self._database.execute
        run(
            "INSERT INTO channels VALUES (?, ?, ?, ?) ON CONFLICT (channel) DO UPDATE SET "
            "next_sequence = excluded.next_sequence, last_time_ms = excluded.last_time_ms, "
            "last_steps = excluded.last_steps",
            (
                advance.channel,
                advance.next_sequence,
                advance.last_time_ms,
                " ".join(map(str, advance.last_steps)).encode(),
            ),
        )
        run(
            "INSERT INTO allowance VALUES (?, ?, ?) ON CONFLICT (channel, design) DO UPDATE SET "
            "segments_used = excluded.segments_used",
            (advance.channel, advance.design, advance.segments_used),
        )
        run(
            "INSERT INTO noise VALUES (?, ?, ?) ON CONFLICT (channel, design) DO UPDATE SET "
            "state = excluded.state",
            (advance.channel, advance.design, advance.state),
        )

    def _one(self, query: str, *values: object) -> tuple[int | bytes, ...] | None:
        row: tuple[int | bytes, ...] | None = self._database.execute(query, values).fetchone()
        return row


def _steps(content: bytes) -> tuple[int, ...]:
    """The last release's steps, written as integers with blanks between them.

    Raises:
        ConfigError: not that.
    """
    try:
        return tuple(int(step) for step in content.split())
    except ValueError:
        raise ConfigError(
            f"{FILE_NAME}: the last release of a channel cannot be read; the store is damaged"
        ) from None


def _outbox_row(row: tuple[int, str, int, str, bytes, str]) -> OutboxRow:
    """The one place where a row becomes a value.

    Raises:
        ConfigError: a status that this version does not know.
    """
    row_id, channel, sequence, topic, payload, status = row
    for known in get_args(RowStatus):
        if status == known:
            return OutboxRow(row_id, channel, sequence, topic, bytes(payload), known)
    raise ConfigError(
        f"{FILE_NAME}: outbox row {row_id} has the status {status!r}; expected one of "
        f"{', '.join(get_args(RowStatus))}; the store is damaged or from another version"
    )
