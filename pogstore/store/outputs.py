"""What commands have printed, kept by all that it depends on: the way of a command that is run again.

Stands on the path of commands that load next to nothing. Knows one table; what a key is made of is the caller's.
"""

import sqlite3
import zlib

MOST = 256
"""So many outputs are kept; the oldest go."""
LARGEST = 1 << 19
"""Bytes, deflated, of an output that is kept."""


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
    except sqlite3.OperationalError:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
