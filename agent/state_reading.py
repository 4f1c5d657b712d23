"""The state folder seen from outside: read-only, without the lock, while an agent uses it or not.

Nothing is written, not even SQLite's own side files: they are there while an agent runs, and where
they are not, nobody writes and the file is read as it lies.
"""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import get_args
from urllib.parse import quote

from agent.errors import ConfigError
from agent.formats.errors import FormatError
from agent.health import ChannelReport, decode_report
from agent.state_folder import FILE_NAME, LOCK_NAME, SCHEMA_VERSION
from agent.store import RowStatus

LOCKS = Path("/proc/locks")
PATIENCE_SECONDS = 2.0
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one state folder holds at one moment.

    Attributes:
        reports: by channel.
        outbox: rows by status, by channel.
        mode: of the folder, its permission bits.
        running: whether an agent holds the folder; None where the system does not say.
    """

    reports: Mapping[str, ChannelReport]
    outbox: Mapping[str, Mapping[RowStatus, int]]
    mode: int
    running: bool | None


def read_snapshot(folder: Path) -> Snapshot:
    """Read the folder.

    Raises:
        ConfigError: no such folder, no store in it, not readable, damaged, or of another version.
    """
    path = folder / FILE_NAME
    try:
        mode = folder.stat().st_mode & 0o777
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise ConfigError(
            f"{folder}: no agent has kept its state here (no {FILE_NAME}); give the AGENT.yaml "
            "that it runs with, or its state folder"
        ) from None
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror}); ask as the user who runs the agent"
        ) from None
    try:
        reports, outbox = _read(path)
    except sqlite3.Error as error:
        raise ConfigError(
            f"{path}: the store cannot be read ({' '.join(str(error).split())}); if that stays so "
            "it is damaged, and no agent will publish from it"
        ) from None
    return Snapshot(reports, outbox, mode, _is_held(folder / LOCK_NAME))


def _read(path: Path) -> tuple[dict[str, ChannelReport], dict[str, dict[RowStatus, int]]]:
    """Both in one read transaction; again if an agent started or stopped in between."""
    for attempt in range(_ATTEMPTS):
        live = _is_live(path)
        try:
            found = _read_once(path, live=live)
        except sqlite3.Error:
            if attempt + 1 == _ATTEMPTS or live == _is_live(path):
                raise
            continue
        if live or not _is_live(path):
            return found
    raise sqlite3.OperationalError("an agent is starting and stopping all the time")


def _is_live(path: Path) -> bool:
    return path.with_name(f"{path.name}-wal").exists()


def _read_once(
    path: Path, *, live: bool
) -> tuple[dict[str, ChannelReport], dict[str, dict[RowStatus, int]]]:
    # `immutable` keeps SQLite from making side files; right only while nobody writes.
    mode = "mode=ro" if live else "mode=ro&immutable=1"
    address = f"file:{quote(str(path.absolute()))}?{mode}"
    database = sqlite3.connect(address, uri=True, isolation_level=None, timeout=PATIENCE_SECONDS)
    with closing(database):
        database.execute("BEGIN")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version != SCHEMA_VERSION:
            raise ConfigError(
                f"{path}: is of schema version {version}; this sfumato knows {SCHEMA_VERSION}; "
                "use the version that the agent runs with"
            )
        (health,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if health != "ok":
            raise sqlite3.DatabaseError(str(health))
        stored = database.execute("SELECT channel, report FROM reports").fetchall()
        try:
            reports = {str(channel): decode_report(str(text)) for channel, text in stored}
        except FormatError as error:
            raise ConfigError(f"{path}: {error}") from None
        outbox: dict[str, dict[RowStatus, int]] = {}
        rows = database.execute("SELECT channel, status, count(*) FROM outbox GROUP BY 1, 2")
        for channel, status, number in rows:
            if status not in get_args(RowStatus):
                raise ConfigError(f"{path}: the outbox holds rows of an unknown status")
            outbox.setdefault(str(channel), {})[status] = int(number)
    return reports, outbox


def _is_held(lock: Path) -> bool | None:
    """Whether a process holds the folder's lock, without touching it: an agent that starts at this
    very moment must not find it taken.
    """
    try:
        inode = lock.stat().st_ino
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return None
    held = (line.split() for line in lines if "FLOCK" in line and "->" not in line)
    return any(len(words) > 5 and words[5].endswith(f":{inode}") for words in held)
