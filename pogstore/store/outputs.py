"""What commands have printed, kept by all that it depends on: the way of a command that is run again.

Stands on the path of commands that load next to nothing. Knows one table; what a key is made of is the caller's.
"""

import fcntl
import os
import sqlite3
import zlib

SCHEMA = 8
"""The schema of the index, which `database.py` makes."""
MOST = 256
"""So many outputs are kept; the oldest go."""
LARGEST = 1 << 19
"""Bytes, deflated, of an output that is kept."""


class Shelf:
    """The outputs in an index that exists; without one, or while it is made anew, it knows nothing and keeps nothing.

    Holds the lock that `database.py` asks of everybody who has the files open. `close` gives it back.
    """

    def __init__(self, index: str) -> None:
        self._lock: int | None = None
        self._connection: sqlite3.Connection | None = None
        try:
            self._lock = os.open(f"{index.removesuffix('.sqlite3')}.lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            place = f"file:{index.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=rw"
            self._connection = sqlite3.connect(place, uri=True, isolation_level=None)
            if self._connection.execute("PRAGMA user_version").fetchone() != (SCHEMA,):
                self._forget()
        except (OSError, sqlite3.Error):
            self._forget()

    def recall(self, key: str) -> bytes | None:
        """Returns what was kept under a key."""
        try:
            return recall(self._connection, key) if self._connection is not None else None
        except (sqlite3.Error, zlib.error):
            return None

    def knows(self, prefix: str) -> bool:
        """Says whether anything was kept under a key that begins so, with letters and digits in it."""
        query = "SELECT 1 FROM outputs WHERE key >= ? AND key < ? LIMIT 1"
        try:
            found = self._connection.execute(query, (prefix, f"{prefix}~")) if self._connection is not None else None
            return found is not None and found.fetchone() is not None
        except sqlite3.Error:
            return False

    def keep(self, key: str, output: bytes) -> None:
        """Keeps an output."""
        if self._connection is not None:
            keep(self._connection, key, output)

    def close(self) -> None:
        """Closes the index."""
        self._forget()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _forget(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def recall(connection: sqlite3.Connection, key: str) -> bytes | None:
    """Returns what was kept under a key."""
    row = connection.execute("SELECT value FROM outputs WHERE key = ?", (key,)).fetchone()
    return zlib.decompress(row[0]) if row else None


def keep(connection: sqlite3.Connection, key: str, output: bytes) -> None:
    """Keeps an output, unless it is large or the database is busy: that costs time and nothing else."""
    value = zlib.compress(output, 1)
    if len(value) > LARGEST:
        return
    try:
        connection.execute("BEGIN IMMEDIATE")
        added = connection.execute("INSERT OR REPLACE INTO outputs (key, value) VALUES (?, ?)", (key, value))
        connection.execute("DELETE FROM outputs WHERE n <= ?", ((added.lastrowid or 0) - MOST,))
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
