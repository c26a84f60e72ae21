"""The draining of a spool, whatever the records mean: which are given, in which order, and when their files go."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from pogstore.errors import BadInput
from pogstore.store.store import Store
from pogstore.work import spool, spooled
from pogstore.work.drain import Drained, Written, drain, spool_of
from pogstore.work.spooled_record import Record
from tests.builders_store import opened
from tests.conftest import Repo


@pytest.fixture
def store(repo: Repo) -> Store:
    store = opened(repo)
    spooled.prepare(spool_of(store))
    return store


def add(store: Store, name: str, time: int = 1) -> None:
    record = spool.encode_record(
        record_id=name, agent="a", event="e", time=time, offset=0, git_dir=b"/g", common_dir=b"/g", root=b"/r",
        payload=b"\n\0pog {}", whole=True,
    )  # fmt: skip
    spool.append(os.fsencode(spool_of(store)), record, sync=False)


class Writer:
    """Takes records and keeps those open that it is told to; each takes two events."""

    def __init__(self, *still_open: str) -> None:
        self.open, self.given = frozenset(still_open), list[list[str]]()

    def __call__(self, records: Sequence[Record]) -> Written:
        self.given.append([record.id for record in records])
        assert all(record.payload == b"\n\0pog {}" for record in records)
        return Written(2 * len(records), self.open)


def left(store: Store) -> list[str]:
    return sorted(path.name for path in spool_of(store).iterdir())


def test_records_are_given_by_their_time_and_then_by_their_place(store: Store) -> None:
    for name, time in (("c", 3), ("a", 1), ("d", 3), ("b", 2)):
        add(store, name, time)
    writer = Writer()
    assert drain(store, writer) == Drained(4, 8, 0, 0)
    assert writer.given == [["a", "b", "c", "d"]]
    assert left(store) == ["lock"]


def test_nothing_is_written_where_nothing_waits(store: Store) -> None:
    writer = Writer()
    assert drain(store, writer) == Drained(0, 0, 0, 0)
    assert writer.given == []


def test_open_records_are_given_again_until_they_are_closed(store: Store) -> None:
    add(store, "a")
    add(store, "b")
    assert drain(store, Writer("a")) == Drained(1, 4, 0, 0)
    assert drain(store, Writer("a")) == Drained(0, 2, 0, 0)
    add(store, "0")
    writer = Writer()
    assert drain(store, writer).records == 2
    assert writer.given == [["a", "0"]]
    assert list((spool_of(store) / "open").iterdir()) == []


def test_a_record_that_waits_twice_is_given_once(store: Store) -> None:
    add(store, "a")
    add(store, "a")
    assert drain(store, Writer()).records == 1


def test_what_cannot_be_written_stays(store: Store) -> None:
    add(store, "a")

    def fail(_: Sequence[Record]) -> Written:
        raise BadInput("a", "b")

    with pytest.raises(BadInput):
        drain(store, fail)
    add(store, "b")
    writer = Writer()
    assert drain(store, writer) == Drained(2, 4, 0, 0)
    assert writer.given == [["a", "b"]]


def test_what_is_no_record_is_set_aside_and_stops_nothing(store: Store) -> None:
    add(store, "a")
    current = spool_of(store) / "current"
    current.write_bytes(b"torn" + current.read_bytes() + spool.frame(b"version 1\n9\n"))
    writer = Writer()
    assert drain(store, writer) == Drained(1, 2, 2, 0)
    assert sorted(path.read_bytes() for path in spooled.set_aside_parts(spool_of(store))) == [
        spool.frame(b"version 1\n9\n"),
        b"torn",
    ]
    assert left(store) == ["damaged", "lock"]


def test_a_spool_that_may_not_be_written_is_left_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "a")
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != spool_of(store))
    assert drain(store, Writer()) == Drained(0, 0, 0, 1)
    assert left(store) == ["current"]


def test_records_stay_private(store: Store) -> None:
    add(store, "a")
    drain(store, Writer("a"))
    (kept,) = (spool_of(store) / "open").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    assert kept.parent.stat().st_mode & 0o077 == 0
