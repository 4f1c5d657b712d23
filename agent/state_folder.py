"""The state folder: private, held by one agent at a time, with one SQLite file in it.

Tables of schema version 1:
    channels  channel, next_sequence, last_time_ms            one row a channel
    allowance channel, design, segments_used                  independent noise segments begun
    noise     channel, design, state                          as the mechanism encoded it
    outbox    id, channel, sequence, topic, payload, status   waiting or parked, in order of id
    reports   channel, report                                 what it has done, JSON of health.py
``design`` is the SHA-256 of the design itself, so that a changed design never continues the old
one's noise.
"""

import fcntl
import os
import sqlite3
from pathlib import Path

from agent.errors import ConfigError, UnavailableError

SCHEMA_VERSION = 1
FILE_NAME = "agent.sqlite"
LOCK_NAME = "lock"

_SCHEMA = """
CREATE TABLE channels (
    channel TEXT PRIMARY KEY, next_sequence INTEGER NOT NULL, last_time_ms INTEGER NOT NULL,
    last_steps BLOB NOT NULL
);
CREATE TABLE allowance (
    channel TEXT NOT NULL, design TEXT NOT NULL, segments_used INTEGER NOT NULL,
    PRIMARY KEY (channel, design)
);
CREATE TABLE noise (
    channel TEXT NOT NULL, design TEXT NOT NULL, state BLOB NOT NULL,
    PRIMARY KEY (channel, design)
);
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT NOT NULL, sequence INTEGER NOT NULL,
    topic TEXT NOT NULL, payload BLOB NOT NULL, status TEXT NOT NULL,
    UNIQUE (channel, sequence)
);
CREATE TABLE reports (channel TEXT PRIMARY KEY, report TEXT NOT NULL);
"""


def lock_folder(folder: Path) -> int:
    """Makes the folder (0700) and takes it for this process; the lock goes with the descriptor.

    Raises:
        ConfigError: open to others, in use, or not a folder that can be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = folder.stat().st_mode & 0o777
        if mode & 0o077:
            raise ConfigError(
                f"{folder}: the state folder has the mode {mode:04o}, open to others; "
                f"expected 0700; say chmod 700 {folder}"
            )
        lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigError(
            f"{folder}: cannot be used as the state folder ({error.strerror}); "
            "give a folder that this user can write"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise ConfigError(
            f"{folder}: another agent is using this state folder; stop it, or give each agent a "
            "folder of its own"
        ) from None
    return lock


def open_database(path: Path) -> sqlite3.Connection:
    """The store's file (0600), checked, in WAL mode, every commit on the disk when it returns.

    Raises:
        ConfigError: damaged, or of a later version.
        UnavailableError: the disk refuses.
    """
    try:
        # SQLite gives its -wal and -shm files the mode of the database, so that must be right.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        path.chmod(0o600)
        database = sqlite3.connect(path, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise UnavailableError(f"{path}: cannot be opened ({error}); check the disk") from None
    try:
        _prepare(database, path)
    except sqlite3.DatabaseError as error:
        database.close()
        raise _damaged(path, str(error)) from None
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise ConfigError(
            f"{path}: was written by a later version of sfumato (schema {version}; this one "
            f"knows {SCHEMA_VERSION}); update sfumato"
        )
    for setting in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "secure_delete = ON",
        "wal_autocheckpoint = 200",
        "journal_size_limit = 0",
        "cache_size = -512",  # KiB; the outbox is a queue, a small cache holds its ends
    ):
        database.execute(f"PRAGMA {setting}")
    (health,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if health != "ok":
        raise _damaged(path, str(health))
    if version == 0:
        database.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
        )


def _damaged(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"{path}: the store is damaged ({' '.join(why.split())}); nothing is published; bring "
        "back a working disk, or move the state folder away to start anew: the count of noise "
        "segments used is in it, so that spends the design's whole promise once more"
    )
