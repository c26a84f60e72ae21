"""The database of the index: opened, shared by processes, made anew when it is of no use.

SQLite's files must never be unlinked while another process has them open: what that process then writes would mix with
what the next one reads. So whoever uses them holds a shared lock beside them, and only who gets that lock alone makes
them anew. Who can do neither (a read-only repository, a full disk, another process that keeps a useless database open)
works on a database in memory: every answer is the same, only slower. Knows the tables; nothing of git.
"""

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pogstore.errors import LockHeld
from pogstore.store.lock import acquire, release
from pogstore.store.outputs import SCHEMA

BUSY_SECONDS = 30.0
REBUILD_SECONDS = 2.0
"""How long to wait until nobody else has a useless database open."""

TABLES = """
CREATE TABLE refs (name TEXT PRIMARY KEY, oid TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL, task TEXT NOT NULL, kind TEXT NOT NULL, clock INTEGER NOT NULL,
    time INTEGER NOT NULL, oid TEXT NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX events_id ON events (id);
CREATE INDEX events_task ON events (task, clock, id);
CREATE INDEX events_oid ON events (oid);
CREATE TABLE changes (event INTEGER NOT NULL, path BLOB NOT NULL, before TEXT, after TEXT, came_from BLOB);
CREATE INDEX changes_path ON changes (path, event);
CREATE INDEX changes_came_from ON changes (came_from, event) WHERE came_from IS NOT NULL;
CREATE INDEX changes_event ON changes (event);
CREATE INDEX changes_after ON changes (after);
CREATE INDEX changes_before ON changes (before);
CREATE TABLE contents (
    blob TEXT NOT NULL, class TEXT NOT NULL, task TEXT NOT NULL, oid TEXT NOT NULL,
    PRIMARY KEY (blob, class, task)) WITHOUT ROWID;
CREATE INDEX contents_oid ON contents (oid) WHERE class = 'content';
CREATE TABLE content_commits (oid TEXT NOT NULL, ref TEXT NOT NULL, PRIMARY KEY (ref, oid)) WITHOUT ROWID;
CREATE TABLE sources (format TEXT NOT NULL, key TEXT NOT NULL, event INTEGER NOT NULL);
CREATE INDEX sources_key ON sources (key, format);
CREATE INDEX sources_event ON sources (event);
CREATE TABLE links (event INTEGER NOT NULL, rel TEXT NOT NULL, target TEXT NOT NULL);
CREATE INDEX links_target ON links (target);
CREATE INDEX links_event ON links (event);
CREATE TABLE commits (event INTEGER NOT NULL, role TEXT NOT NULL, oid TEXT NOT NULL);
CREATE INDEX commits_oid ON commits (oid);
CREATE INDEX commits_event ON commits (event);
CREATE TABLE counters (name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE faults (ref TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE hunks (
    before BLOB NOT NULL, after BLOB NOT NULL, differ TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (before, after)) WITHOUT ROWID;
CREATE TABLE outputs (n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL);
CREATE TABLE memos (kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
"""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NOT_HERE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_SUFFIXES = ("", "-wal", "-shm", "-journal")


class Database:
    """One open database; in memory where `path` is absent. Whoever forgets to close it leaves nothing open for long."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None, lock: int | None) -> None:
        self.connection = connection
        self._path = path
        self._identity = None if path is None else _identity(path)
        self._closing = weakref.finalize(self, _close, connection, lock)

    @property
    def in_memory(self) -> bool:
        """Whether nothing of it is kept."""
        return self._path is None

    @property
    def is_gone(self) -> bool:
        """Whether somebody has deleted or replaced its file."""
        return self._path is not None and _identity(self._path) != self._identity

    def close(self) -> None:
        """Closes it and lets others make it anew."""
        self._closing()


def _close(connection: sqlite3.Connection, lock: int | None) -> None:
    with suppress(sqlite3.Error):
        connection.close()
    if lock is not None:
        os.close(lock)


def open_database(path: Path) -> Database:
    """Returns the database of a path: as it is, made anew if it is missing or of no use, else one in memory."""
    lock = _open_lock(path)
    if lock is None:
        return open_in_memory()
    try:
        found = _open_shared(path, lock) or _open_anew(path, lock)
    except BaseException:
        os.close(lock)
        raise
    if found is None:
        os.close(lock)
        return open_in_memory()
    return found


def open_in_memory() -> Database:
    """Returns an empty database that is gone when it is closed."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _prepare(connection)
    return Database(connection, None, None)


def discard(path: Path, wait: float) -> None:
    """Deletes a database; raises `LockHeld` if another process has it open for longer than `wait` seconds."""
    lock = _open_lock(path)
    if lock is None:
        return
    try:
        acquire(lock, _lock_path(path), wait)
        _unlink(path)
    finally:
        os.close(lock)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Holds the database's write lock for a block; an error leaves everything as it was."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def is_busy(fault: sqlite3.Error) -> bool:
    """Says whether another process has been writing for too long."""
    return _code(fault) in _BUSY


def is_useless(fault: sqlite3.Error) -> bool:
    """Says whether a fault is one of the database, so that it helps to make it anew; a mistake of ours is none."""
    return hasattr(fault, "sqlite_errorcode") and not is_busy(fault)


def can_be_kept(fault: sqlite3.Error) -> bool:
    """Says whether a database made anew in the same place can be hoped to fare better."""
    return _code(fault) not in _NOT_HERE


def _code(fault: sqlite3.Error) -> int:
    return getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _lock_path(path: Path) -> Path:
    return path.with_suffix(".lock")


def _open_lock(path: Path) -> int | None:
    """Opens the file that says who uses the database; nothing where none can be made, or nothing is to be kept."""
    if not path.parent.is_dir() and not _holds_ours(path.parent.parent):
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(_lock_path(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError:
        return None


def _holds_ours(common_dir: Path) -> bool:
    """Whether a repository has refs of ours; one that has not, and is not enabled, is left without any trace of us."""
    if (common_dir / "refs" / "pog").is_dir():
        return True
    try:
        return b" refs/pog/" in (common_dir / "packed-refs").read_bytes()
    except OSError:
        return False


def _open_shared(path: Path, lock: int) -> Database | None:
    """Opens a database beside others who use it; nothing if it has to be made anew."""
    try:
        acquire(lock, _lock_path(path), BUSY_SECONDS, shared=True)
    except LockHeld:
        return None
    connection = _connect(path)
    if connection is not None:
        return Database(connection, path, lock)
    release(lock)
    return None


def _open_anew(path: Path, lock: int) -> Database | None:
    """Makes a database anew once nobody else has it open, unless another process was faster."""
    try:
        acquire(lock, _lock_path(path), REBUILD_SECONDS)
    except LockHeld:
        return None
    connection = _connect(path)
    if connection is None:
        try:
            _unlink(path)
        except OSError:
            return None
        connection = _connect(path)
    if connection is None:
        return None
    acquire(lock, _lock_path(path), BUSY_SECONDS, shared=True)
    return Database(connection, path, lock)


def _connect(path: Path) -> sqlite3.Connection | None:
    """Opens a file; nothing if it is no database of this schema, or cannot be opened here."""
    if _is_truncated(path) or _has_strays(path):
        return None
    connection = None
    try:
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        if _prepare(connection):
            return connection
    except sqlite3.Error as fault:
        if is_busy(fault):
            raise LockHeld(str(path), BUSY_SECONDS) from fault
    if connection is not None:
        with suppress(sqlite3.Error):
            connection.close()
    return None


def _prepare(connection: sqlite3.Connection) -> bool:
    """Says whether a database is usable: it is of this schema, or it was empty and has been made."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -65536")
    if _version(connection) == SCHEMA:
        return True
    with transaction(connection):
        version = _version(connection)
        if version == 0:
            for statement in TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
    return version in (0, SCHEMA)


def _version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _has_strays(path: Path) -> bool:
    """Says whether the file is gone and what belongs to it is still there: SQLite would take it for the new one's."""
    return not path.exists() and any(path.with_name(path.name + suffix).exists() for suffix in _SUFFIXES[1:])


def _is_truncated(path: Path) -> bool:
    """Says whether the file is shorter than its header claims, which SQLite notices only when it gets there.

    While there is a log of writes the file may lag behind it.
    """
    if path.with_name(f"{path.name}-wal").exists():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(100)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return False
    if not head:
        return False
    page = int.from_bytes(head[16:18], "big")
    return len(head) < 100 or size < int.from_bytes(head[28:32], "big") * (65536 if page == 1 else page)


def _unlink(path: Path) -> None:
    for suffix in _SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
