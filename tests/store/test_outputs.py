"""What commands have printed is kept by its key, and there is a bound to it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pogstore.store import database, outputs


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """An index that holds nothing yet."""
    (tmp_path / "pog").mkdir()
    opened = database.open_database(tmp_path / "pog" / "index.sqlite3")
    yield opened.connection
    opened.close()


def test_what_was_kept_comes_back(connection: sqlite3.Connection) -> None:
    outputs.keep(connection, "a", b"one\n")
    outputs.keep(connection, "b", b"two\n")
    outputs.keep(connection, "a", b"three\n")
    assert [outputs.recall(connection, key) for key in "abc"] == [b"three\n", b"two\n", None]


def test_whether_anything_is_kept_for_a_question(tmp_path: Path) -> None:
    index = tmp_path / "pog" / "index.sqlite3"
    index.parent.mkdir()
    database.open_database(index).close()
    shelf = outputs.Shelf(str(index))
    shelf.keep("ab12ff", b"one\n")
    assert [shelf.knows(prefix) for prefix in ("ab12", "ab", "ab12ff", "ab13", "b", "ab12f0")] == [True] * 3 + [
        False
    ] * 3
    shelf.close()
    assert not shelf.knows("ab12")


def test_the_oldest_go_and_what_is_large_is_not_kept(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "MOST", 3)
    monkeypatch.setattr(outputs, "LARGEST", 64)
    for key in "abcde":
        outputs.keep(connection, key, key.encode())
    outputs.keep(connection, "large", bytes(range(256)))
    assert [key for key in ("a", "b", "c", "d", "e", "large") if outputs.recall(connection, key)] == ["c", "d", "e"]


def test_a_busy_database_keeps_nothing_and_says_nothing(connection: sqlite3.Connection, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "pog" / "index.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    connection.execute("PRAGMA busy_timeout = 1")
    outputs.keep(connection, "a", b"one\n")
    other.execute("ROLLBACK")
    assert outputs.recall(connection, "a") is None
