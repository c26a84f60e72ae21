"""Lines about tasks: what is remembered of them, and what it costs to ask for many."""

from collections.abc import Iterator, Mapping, MutableSequence
from typing import Any

import pytest

from pogstore.history.tasks import MEMO, summaries
from pogstore.model import Definition, Oid, TaskId
from pogstore.store import rows
from pogstore.store.store import Store, open_store
from pogstore.work.acts import By
from pogstore.work.tasks import define, move
from tests.builders_store import ADA, opened
from tests.conftest import STARTED, Repo

TASKS = [TaskId(f"0198a1b2-c3d4-7e5f-8a9b-{number:012}") for number in range(12)]
BY = By(actor=ADA, time=STARTED)


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    made = opened(repo)
    for number, task in enumerate(TASKS):
        define(made, task, Definition(title=f"task {number}"), BY)
    yield made
    made.close()


@pytest.fixture
def listings(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The prefixes under which refs were listed since."""
    counted: list[str] = []
    plain = store.refs.list

    def counting(prefix: str, damaged: MutableSequence[str] | None = None) -> Mapping[str, Oid]:
        counted.append(prefix)
        return plain(prefix, damaged)

    monkeypatch.setattr(store.refs, "list", counting)
    return counted


def test_many_tasks_are_asked_for_with_few_listings_of_refs(store: Store, listings: list[str]) -> None:
    store.index.discard()
    assert [line.title for line in summaries(store)] == [f"task {number}" for number in range(12)]
    assert len(listings) <= 2  # one to see that something is new, one under the lock of the index
    listings.clear()
    assert len(summaries(store)) == 12
    assert len(listings) == 1


def test_what_is_remembered_is_not_folded_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = summaries(store)

    def folded(*_: Any) -> None:
        raise AssertionError("a task was folded again")

    monkeypatch.setattr("pogstore.history.tasks.read_state", folded)
    assert summaries(store) == first
    assert summaries(store, TASKS[3:5]) == first[3:5]


def test_a_task_that_moved_is_folded_again_and_remembered_once(store: Store) -> None:
    summaries(store)
    for status in ("in_progress", "blocked", "in_progress"):
        move(store, TASKS[0], status, BY)
        assert summaries(store)[0].status == status
    assert len(rows.memos(store.index.connection, MEMO)) == len(TASKS)


def test_a_moment_ends_with_its_block(store: Store, repo: Repo, listings: list[str]) -> None:
    other = open_store(repo.path)
    with store.one_moment():
        assert len(store.tasks()) == 12
        define(other, TaskId("0198a1b2-c3d4-7e5f-8a9b-eeeeeeeeeeee"), Definition(title="the other may show it"), BY)
        listings.clear()
        with store.one_moment():
            assert len(store.tasks()) in (12, 13), "both share an index, which the other may have brought up"
        assert listings == [], "a block within a block is of the same moment"
        define(other, TaskId("0198a1b2-c3d4-7e5f-8a9b-ffffffffffff"), Definition(title="one more"), BY)
        store.refresh()
        assert len(store.tasks()) == 14
    move(other, TASKS[0], "in_progress", BY)
    assert len(store.events(TASKS[0])) == 2
    other.close()
