"""What commands have printed is kept by its key, and there is a bound to it."""

import sqlite3
from pathlib import Path

import pytest

from pogstore.store import database, outputs


@pytest.fixture
def connection(tmp_path: Path) -> sqlite3.Connection:
    """An index that holds nothing yet."""
    (tmp_path / "pog").mkdir()
    return database.open_database(tmp_path / "pog" / "index.sqlite3").connection


def test_what_was_kept_comes_back(connection: sqlite3.Connection) -> None:
    outputs.keep(connection, "a", b"one\n")
    outputs.keep(connection, "b", b"two\n")
    outputs.keep(connection, "a", b"three\n")
    assert [outputs.recall(connection, key) for key in "abc"] == [b"three\n", b"two\n", None]


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
