"""The question which steps were not wholly captured: what counts, since when, and that it stays bounded."""

from typing import Any

import pytest

from pogstore.model import FORMAT, BlobId, Observed, Ran, Stepped, TaskId, Text
from pogstore.store import gaps
from pogstore.store.gaps import Gap
from pogstore.store.store import Store
from tests.builders_store import ADA, OTHER, TASK, append, opened
from tests.conftest import SECOND, STARTED, Repo

ARGV = Text(blob=BlobId("0" * 64), class_="private", size=1)


@pytest.fixture
def store(repo: Repo) -> Store:
    return opened(repo)


def step(
    store: Store, at: int, coverage: str | None, reason: str | None = None, kind: Any = Stepped, **more: Any
) -> None:
    fields = {"v": FORMAT, "task": TASK, "clock": 1, "time": STARTED + at * SECOND, "actor": ADA}
    if kind is not Observed:
        fields |= {"class_": "shell", "tool": "Bash"}
    event = kind(**(fields | {"coverage": coverage, "coverage_reason": reason} | more))
    store.transact(lambda batch: batch.append(event))


def asked(store: Store, since: int = 0, *tasks: TaskId) -> list[Gap]:
    store.tasks()  # brings the index up
    return gaps.gaps(store.index.connection, dict.fromkeys(tasks or (TASK,), STARTED + since * SECOND))


def test_steps_are_counted_by_reason_and_by_how_far(store: Store) -> None:
    step(store, 1, "none", "not-compared")
    step(store, 2, "none", "not-compared", Ran, argv=ARGV)
    step(store, 3, "partial", "ignored", Observed)
    step(store, 4, "partial")
    for at, whole in enumerate(("exact", "scoped", "shared", None), 5):
        step(store, at, whole)
    assert asked(store) == [
        Gap("not-compared", "none", 2, STARTED + 2 * SECOND),
        Gap("ignored", "partial", 1, STARTED + 3 * SECOND),
        Gap("unsaid", "partial", 1, STARTED + 4 * SECOND),
    ]


def test_nothing_recorded_is_no_gap(store: Store) -> None:
    assert asked(store) == []


def test_only_what_came_since_and_only_of_the_tasks_in_question(store: Store) -> None:
    step(store, 1, "partial", "old")
    step(store, 2, "partial", "new")
    assert [gap.reason for gap in asked(store)] == ["new", "old"]
    assert [gap.reason for gap in asked(store, 2)] == ["new"]
    assert asked(store, 3) == []
    assert asked(store, 0, OTHER) == []


def test_words_that_stand_elsewhere_do_not_count(store: Store) -> None:
    step(store, 1, "exact", tool='x","coverage":"none","y":"')
    step(store, 2, "exact", base={"coverage": "none"})
    assert asked(store) == []


def test_the_newest_are_read_and_no_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    step(store, 1, "partial", "first")
    step(store, 2, "partial", "second")
    append(store)
    monkeypatch.setattr(gaps, "MOST", 2)
    assert [gap.reason for gap in asked(store)] == ["second"]
    assert [gap.reason for gap in asked(store, 0, OTHER, TASK)] == ["second"], "what is not there costs nothing"
