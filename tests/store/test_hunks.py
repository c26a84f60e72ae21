"""How versions differ is kept by their names and by what found it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pogstore.store import database
from pogstore.store.hunks import KeptHunks

ONE, TWO = "1" * 40, "2" * 40


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """An index that holds nothing yet."""
    (tmp_path / "pog").mkdir()
    with closing(database.open_database(tmp_path / "pog" / "index.sqlite3")) as opened:
        yield opened.connection


def test_what_was_saved_is_known_and_another_differ_knows_nothing(connection: sqlite3.Connection) -> None:
    kept = KeptHunks(connection, "one")
    kept[ONE, TWO] = [(0, 1, 0, 2), (5, 0, 6, 300)]
    kept[TWO, ONE] = []
    assert len(kept) == 2
    kept.save()
    again = KeptHunks(connection, "one")
    assert again.get((ONE, TWO)) == [(0, 1, 0, 2), (5, 0, 6, 300)]
    assert again.get((TWO, ONE)) == []
    assert again.get((ONE, ONE)) is None
    assert KeptHunks(connection, "two").get((ONE, TWO)) is None


def test_a_busy_database_keeps_nothing_and_says_nothing(connection: sqlite3.Connection, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "pog" / "index.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    connection.execute("PRAGMA busy_timeout = 1")
    kept = KeptHunks(connection, "one")
    kept[ONE, TWO] = [(0, 1, 0, 2)]
    kept.save()
    other.execute("ROLLBACK")
    assert KeptHunks(connection, "one").get((ONE, TWO)) is None
