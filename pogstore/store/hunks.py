"""How versions of files differ, kept in the index: thousands of versions are then looked through without reading them.

A difference depends on two contents and on what found it, and on nothing else. Knows one table.
"""

import sqlite3
from collections.abc import Iterator, MutableMapping, Sequence

import msgspec

from pogstore.model import Oid

Hunks = Sequence[tuple[int, int, int, int]]
Pair = tuple[str, str]
"""Two git blobs, by their names."""

_flat = msgspec.msgpack.Decoder(list[int])


class KeptHunks(MutableMapping[Pair, Hunks]):
    """The differences that an index knows, and those that are added to it by `save`."""

    def __init__(self, connection: sqlite3.Connection, differ: str) -> None:
        self._connection, self._differ = connection, differ
        self._fresh: dict[Pair, Hunks] = {}

    def __getitem__(self, pair: Pair) -> Hunks:
        if pair in self._fresh:
            return self._fresh[pair]
        query = "SELECT value FROM hunks WHERE before = ? AND after = ? AND differ = ?"
        row = self._connection.execute(query, (*_names(pair), self._differ)).fetchone()
        if row is None:
            raise KeyError(pair)
        flat = _flat.decode(row[0])
        return list(zip(flat[::4], flat[1::4], flat[2::4], flat[3::4], strict=True))

    def __setitem__(self, pair: Pair, hunks: Hunks) -> None:
        self._fresh[pair] = hunks

    def __delitem__(self, pair: Pair) -> None:
        del self._fresh[pair]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self._fresh)

    def __len__(self) -> int:
        return len(self._fresh)

    def save(self) -> None:
        """Keeps what was added; a busy database loses it, which costs time and nothing else."""
        rows = [
            (*_names(pair), self._differ, msgspec.msgpack.encode([number for hunk in hunks for number in hunk]))
            for pair, hunks in self._fresh.items()
        ]
        if not rows:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO hunks VALUES (?, ?, ?, ?)", rows)
            self._connection.execute("COMMIT")
            self._fresh.clear()
        except sqlite3.OperationalError:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _names(pair: Pair) -> tuple[bytes, bytes]:
    before, after = (bytes.fromhex(Oid(each)) for each in pair)
    return before, after
