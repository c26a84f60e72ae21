"""Reading a damaged store: what is whole is answered, what is not is said (exit 3), and nothing is left out in silence.

Cases A17 of the habits, T14, SC-23, UC-52. The index is made anew in each case: what it holds already stays readable.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from pogstore.errors import ObjectDamaged
from pogstore.history import names
from pogstore.history.tasks import check_whole, ready, summaries, summary
from pogstore.model import Definition, Oid
from pogstore.store.carrier import parents_of
from pogstore.store.loose import read_loose
from pogstore.store.refs import CONTENT, TASKS
from pogstore.store.store import Store
from pogstore.work import acts, tasks
from pogstore.work.acts import By
from tests.conftest import STARTED, Pog, Repo
from tests.history.stores import ADA, OTHER, TASK, content_oids, enabled, flipped, loose_file, tip

BY = By(ADA, STARTED)


@pytest.fixture
def store(repo: Repo) -> Store:
    """Two tasks, each with a definition and some events."""
    found = enabled(repo)
    for task, title in ((TASK, "the damaged one"), (OTHER, "the whole one")):
        tasks.define(found, task, Definition(title=title, aliases=(title.split()[1],)), BY)
        tasks.note(found, task, "a note", BY)
        tasks.note(found, task, "a last note", BY)
    return found


def damage(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(flipped(path.read_bytes(), path.stat().st_size // 2))


def point(repo: Repo, text: str) -> None:
    (repo.path / ".git" / (TASKS + TASK)).write_text(text)


def below(store: Store, oid: Oid) -> Oid:
    return parents_of(read_loose(store.layout.objects, oid, limit=1 << 20)[1])[0]


EVENTS: dict[str, Callable[[Repo, Store], None]] = {
    "the newest event": lambda repo, store: damage(loose_file(repo, tip(store))),
    "an older event": lambda repo, store: damage(loose_file(repo, below(store, tip(store)))),
    "a missing event": lambda repo, store: loose_file(repo, below(store, tip(store))).unlink(),
    "an empty ref": lambda repo, store: point(repo, ""),
    "a ref to nothing": lambda repo, store: point(repo, "1" * 40),
}


@pytest.mark.parametrize("harm", EVENTS.values(), ids=EVENTS)
def test_a_task_whose_events_are_damaged_says_so(repo: Repo, store: Store, harm: Callable[[Repo, Store], None]) -> None:
    whole = summary(store, OTHER)
    harm(repo, store)
    store.index.discard()
    assert store.damaged_tasks() == [TASK]
    with pytest.raises(ObjectDamaged, match=TASKS + TASK):
        store.events(TASK)
    with pytest.raises(ObjectDamaged):
        tasks.note(store, TASK, "on top of it", BY)
    assert names.resolve_task(store, TASK[:-4], lambda _: None) == TASK
    assert names.resolve_task(store, "whole", lambda _: None) == OTHER
    lines = summaries(store)
    assert [line.task for line in lines] == [TASK, OTHER]
    assert (lines[0].status, lines[1]) == ("damaged", whole)
    assert [line.task for line in ready(store, STARTED)] == [OTHER]
    with pytest.raises(ObjectDamaged, match=TASKS + TASK):
        check_whole(lines)
    check_whole(lines[1:])


def test_a_damaged_ref_is_read_again_when_it_is_mended(repo: Repo, store: Store) -> None:
    path = repo.path / ".git" / (TASKS + TASK)
    whole, known = path.read_bytes(), store.events(TASK)
    for data in (b"", b"garbage", b"ref: refs/heads/main\n"):
        path.write_bytes(data)
        with pytest.raises(ObjectDamaged, match="does not hold an object's name"):
            store.events(TASK)
        assert store.events(OTHER)
        path.write_bytes(whole)
        assert store.events(TASK) == known
        assert store.damaged_tasks() == []


def test_a_lost_title_is_said_and_not_kept(repo: Repo, store: Store) -> None:
    path = loose_file(repo, content_oids(repo, "content")[0])
    data = path.read_bytes()
    path.write_bytes(b"")
    store.index.discard()
    line = summary(store, TASK)
    assert line.status == "pending"
    assert CONTENT + TASK in str(line.damaged)
    with pytest.raises(ObjectDamaged, match=CONTENT + TASK):
        store.find_text(acts.read_state(store, TASK).definition)
    assert summary(store, OTHER).damaged is None
    path.write_bytes(data)
    assert summary(store, TASK).title == "the damaged one"


def test_the_commands_say_it(repo: Repo, store: Store, pog: Pog) -> None:
    damage(loose_file(repo, below(store, tip(store))))
    store.index.discard()
    listed = pog("list", "--json", status=3)
    assert [(line["task"], line["status"]) for line in listed.json] == [(OTHER, "pending"), (TASK, "damaged")]
    assert '"code": "damaged"' in listed.stderr
    for command in (["list"], ["ready"], ["show", TASK], ["log"], ["log", TASK], ["note", "x", "--task", TASK]):
        answer = pog(*command, status=3)
        assert answer.stderr.startswith(f"error: object '{TASKS}{TASK}' is damaged: ")
    assert "the whole one" in pog("list", status=3).stdout
    assert pog("show", OTHER).stdout.startswith(f"task {OTHER}\n")
    assert pog("verify", status=3).stdout.splitlines()[-1].endswith(": 1 fault")


def test_a_line_that_was_kept_does_not_hide_a_damaged_ref(repo: Repo, store: Store) -> None:
    assert summary(store, TASK).status == "pending"
    point(repo, "")
    assert [line.status for line in summaries(store)] == ["damaged", "pending"]
