"""No answer differs with and without the index: deleted, damaged, stale or shared (SC-21 to SC-25).

The naive model below reads every carrier anew from what `git for-each-ref` lists.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from pogstore import codec, graph
from pogstore.errors import LockHeld, NotFound
from pogstore.model import FORMAT, Base, EventId, Link, Observed, Oid, Sealed, Source, TaskId, kind_of
from pogstore.store import chain, content, database, rows
from pogstore.store.carrier import carrier, content_commit
from pogstore.store.database import Database
from pogstore.store.loose import find_loose, write_loose
from pogstore.store.refs import BY_CLASS, TASKS, content_ref, task_ref
from pogstore.store.store import Store, open_store
from tests.builders_store import (
    ADA,
    OTHER,
    TASK,
    append,
    edit,
    finished,
    noted,
    open_to_all,
    opened,
    python,
    read_only,
    topics,
)
from tests.conftest import STARTED, Repo

PATHS = ("a.py", "dir/b.py", "naïve 😀")
TASK_IDS = (TASK, OTHER, TaskId("0198a1b2-c3d4-7e5f-8a9b-000000000003"))


class Answers(NamedTuple):
    """What both can be asked."""

    tasks: list[TaskId]
    events: dict[TaskId, list[Sealed]]
    by_path: dict[str, list[str]]
    by_id: list[str]
    newest: list[str]
    contents: dict[str, list[tuple[str, str, str]]]
    links: dict[str, list[str]]
    sources: Mapping[TaskId, Mapping[str, str]]
    clock: int


def from_git(store: Store) -> Answers:
    """Reads everything anew, without the index and without our listing of refs."""
    listed = store.git.text("for-each-ref", "--format=%(refname) %(objectname)", "refs/pog/").splitlines()
    tips = dict(line.split() for line in listed)
    events: dict[TaskId, list[Sealed]] = {}
    contents: dict[str, list[tuple[str, str, str]]] = {}
    for name, oid in tips.items():
        task = TaskId(name.rpartition("/")[2])
        if name.startswith(TASKS):
            found = [link.sealed for link in chain.events(store.objects, Oid(oid))]
            events[task] = graph.replay_order(found)
        else:
            class_ = name.split("/")[2]
            for _, entry in chain.contents(store.objects, Oid(oid)):
                row = (task, class_, entry.oid)
                contents.setdefault(entry.blob, [])
                contents[entry.blob] += [] if row in contents[entry.blob] else [row]
    every = graph.replay_order(sealed for task in events for sealed in events[task])
    links: dict[str, list[str]] = {}
    sources: dict[TaskId, dict[str, str]] = {}
    for sealed in every:
        for link in getattr(sealed.event, "links", ()):
            links.setdefault(link.task, []).append(sealed.event_id)
        if source := getattr(sealed.event, "source", None):
            sources.setdefault(sealed.event.task, {})[source.key] = sealed.event_id
    return Answers(
        tasks=sorted(events),
        events=events,
        by_path={
            path: [s.event_id for s in every if path in [c.path for c in getattr(s.event, "changes", ())]]
            for path in PATHS
        },
        by_id=sorted(sealed.event_id for sealed in every),
        newest=[s.event_id for s in reversed(every) if kind_of(s.event) == "noted"],  # type: ignore[arg-type]
        contents={blob: sorted(found) for blob, found in contents.items()},
        links=links,
        sources=sources,
        clock=max((sealed.event.clock for sealed in every), default=0),
    )


def from_index(store: Store) -> Answers:
    """Asks the index the same."""
    tasks = store.tasks()
    ask = store._ask
    blobs = ask(lambda found: [row[0] for row in found.execute("SELECT DISTINCT blob FROM contents")])
    targets = ask(lambda found: [row[0] for row in found.execute("SELECT DISTINCT target FROM links")])
    sources = {task: ask(partial(rows.events_from, task=task, format_="f")) for task in tasks}
    return Answers(
        tasks=tasks,
        events={task: store.events(task) for task in tasks},
        by_path={path: [sealed.event_id for sealed in store.events_on(path.encode())] for path in PATHS},
        by_id=list(store.event_ids("", 10_000)),
        newest=[sealed.event_id for sealed in store.newest_of(["noted"])],
        contents={
            blob: sorted((row.task, row.class_, row.oid) for row in ask(partial(rows.contents, blob=blob)))
            for blob in blobs
        },
        links={
            target: [codec.event_id(body) for body in ask(partial(rows.linked_to, target=target))] for target in targets
        },
        sources={task: dict(found) for task, found in sources.items() if found},
        clock=max(ask(lambda found: list(rows.clocks(found))), default=0),
    )


def same(store: Store) -> None:
    assert from_index(store) == from_git(store)
    assert store._ask(rows.faults) == []


def put_event(store: Store, task: TaskId, topic: str, over: Oid | None) -> Oid:
    """Writes a carrier as plain git would bring it."""
    head = chain.read_link(store.objects, over).sealed if over else None
    parents = (head.event_id,) if head else ()
    clock = head.event.clock + 1 if head else 1
    sealed = codec.encode(noted(task, topic, parents=parents, clock=clock))
    return write_loose(store.layout.objects, "commit", carrier(sealed, [over] if over else []), fsync=False)


# Damage


def files(store: Store) -> list[Path]:
    return [store.index.path.with_name(store.index.path.name + suffix) for suffix in ("", "-wal", "-shm")]


def remove_all(store: Store) -> None:
    for path in files(store):
        path.unlink(missing_ok=True)


def remove_main(store: Store) -> None:
    store.index.path.unlink(missing_ok=True)


def overwrite(data: bytes) -> Callable[[Store], None]:
    def damage(store: Store) -> None:
        remove_all(store)
        store.index.path.parent.mkdir(exist_ok=True)
        store.index.path.write_bytes(data)

    return damage


def truncate(store: Store) -> None:
    if store.index.path.exists():
        os.truncate(store.index.path, store.index.path.stat().st_size // 2)


def other_schema(store: Store) -> None:
    if store.index.path.exists():
        connection = sqlite3.connect(store.index.path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()


def drop_table(store: Store) -> None:
    if store.index.path.exists():
        connection = sqlite3.connect(store.index.path)
        connection.execute("DROP TABLE changes")
        connection.close()


def garble_pages(store: Store) -> None:
    """Leaves the header and the schema and spoils all other pages."""
    if store.index.path.exists():
        with store.index.path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            for page in range(4096, size, 4096):
                file.seek(page)
                file.write(b"\xff" * 64)


DAMAGE: dict[str, Callable[[Store], None]] = {
    "all files gone": remove_all,
    "main file gone": remove_main,
    "empty": overwrite(b""),
    "garbage": overwrite(b"garbage" * 1000),
    "short": overwrite(b"SQLite format 3\0"),
    "cut in half": truncate,
    "another schema": other_schema,
    "a table gone": drop_table,
    "pages spoilt": garble_pages,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("open_meanwhile", [False, True])
def test_a_damaged_index_is_made_anew(store: Store, repo: Repo, damage: str, open_meanwhile: bool) -> None:
    for number in range(40):
        edit(store, PATHS[number % 3], b"%d" % number, TASK_IDS[number % 2])
    same(store)
    if open_meanwhile and damage in ("all files gone", "main file gone"):
        DAMAGE[damage](store)
        same(store)
        assert store.index.path.exists() or database_of(store).in_memory
    else:
        store.close()
        DAMAGE[damage](store)
    fresh = open_store(repo.path)
    same(fresh)
    edit(fresh, "a.py", b"more")
    same(store)
    same(fresh)
    for each in (store, fresh):
        each.close()
    again = open_store(repo.path)
    assert not database_of(again).in_memory
    same(again)
    again.close()


@pytest.mark.parametrize("left", [10, 99, 100, 4096, 8192])
def test_a_file_that_was_cut_short_is_noticed_when_it_is_opened(store: Store, left: int) -> None:
    """SC-23: SQLite itself would notice when it gets there, in the middle of an answer."""
    append(store, "one")
    same(store)
    store.close()
    assert store.index.path.stat().st_size > 8192
    os.truncate(store.index.path, left)
    found = database.open_database(store.index.path)
    assert not found.in_memory
    for table in ("events", "contents", "memos"):
        assert found.connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    found.close()
    same(store)


def database_of(store: Store) -> Database:
    assert store.index.connection
    found = store.index._database
    assert found is not None
    return found


# The stateful comparison


class Machine(RuleBasedStateMachine):
    """Writes by us and by plain git, deletions of the index and of refs, in any order, seen by two open stores."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.repo = Repo(self.place)
        self.repo.git("init", "-q")
        self.repo.git("config", "core.fsync", "none")
        self.stores = [opened(self.repo), open_store(self.place)]
        self.count = 0

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        shutil.rmtree(self.place)

    def topic(self) -> str:
        self.count += 1
        return f"t{self.count}"

    @rule(which=st.integers(0, 1), task=st.sampled_from(TASK_IDS))
    def append(self, which: int, task: TaskId) -> None:
        source = Source(format="f", key=self.topic())
        append(self.stores[which], "mine", task, links=(Link(rel="follows", task=OTHER),), source=source)

    @rule(which=st.integers(0, 1), task=st.sampled_from(TASK_IDS), path=st.sampled_from(PATHS), n=st.integers(0, 3))
    def edit(self, which: int, task: TaskId, path: str, n: int) -> None:
        edit(self.stores[which], path, b"%d" % n, task)

    @rule(task=st.sampled_from(TASK_IDS))
    def plain_git_adds(self, task: TaskId) -> None:
        """Case SC-25: as `git fetch` into our refs would."""
        store = self.stores[0]
        self.repo.git(
            "update-ref", task_ref(task), put_event(store, task, self.topic(), store.refs.read(task_ref(task)))
        )

    @rule(task=st.sampled_from(TASK_IDS), prefix=st.sampled_from([TASKS, *BY_CLASS.values()]))
    def plain_git_deletes(self, task: TaskId, prefix: str) -> None:
        self.repo.git("update-ref", "-d", prefix + task)

    @rule(task=st.sampled_from(TASK_IDS))
    def plain_git_goes_back(self, task: TaskId) -> None:
        if self.repo.git("rev-parse", "-q", "--verify", f"{task_ref(task)}~1", check=False):
            self.repo.git("update-ref", task_ref(task), f"{task_ref(task)}~1")

    @rule()
    def pack_refs(self) -> None:
        self.repo.git("pack-refs", "--all")

    @rule(damage=st.sampled_from([name for name in DAMAGE if name.endswith("gone") and name != "a table gone"]))
    def delete_under_open_stores(self, damage: str) -> None:
        DAMAGE[damage](self.stores[0])

    @rule(damage=st.sampled_from(sorted(DAMAGE)))
    def damage_while_nobody_looks(self, damage: str) -> None:
        for store in self.stores:
            store.close()
        DAMAGE[damage](self.stores[0])

    @rule(which=st.integers(0, 1))
    def reindex(self, which: int) -> None:
        self.stores[1 - which].close()
        self.stores[which].index.discard()

    @precondition(lambda self: self.count % 3 == 0)
    @rule(which=st.integers(0, 1))
    def ask(self, which: int) -> None:
        same(self.stores[which])

    @invariant()
    def one_of_them_agrees_with_git(self) -> None:
        same(self.stores[self.count % 2])


def test_no_answer_differs_with_and_without_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "REBUILD_SECONDS", 0.02)  # the other store is open in the same process
    run_state_machine_as_test(Machine, settings=settings(max_examples=15, stateful_step_count=12))


# What plain git does is seen


def test_a_plain_fetch_is_seen(store: Store, repo: Repo, tmp_path: Path) -> None:
    append(store, "one")
    same(store)
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    clone.git("fetch", "-q", "origin", "refs/pog/*:refs/pog/*")
    theirs = opened(clone)
    append(theirs, "two")
    edit(theirs, "a.py", b"x", OTHER)
    repo.git("fetch", "-q", str(clone.path), "refs/pog/*:refs/pog/*")
    assert topics(store) == ["one", "two"]
    same(store)
    theirs.close()


def test_a_deleted_and_a_rewritten_ref_are_seen(store: Store, repo: Repo) -> None:
    for number in range(3):
        append(store, str(number))
        edit(store, "a.py", b"%d" % number, OTHER)
    same(store)
    repo.git("update-ref", task_ref(TASK), f"{task_ref(TASK)}~2")
    assert topics(store) == ["0"]
    tip = repo.git("commit-tree", repo.git("rev-parse", f"{content_ref(OTHER, 'content')}^{{tree}}"), "-m", "content")
    repo.git("update-ref", content_ref(OTHER, "content"), tip)
    assert store.find_content(content.blob_id(b"0")) is None
    assert store.find_content(content.blob_id(b"2")) is not None
    repo.git("update-ref", "-d", task_ref(TASK))
    assert store.tasks() == [OTHER]
    same(store)


def test_a_ref_that_a_listing_missed_is_looked_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """reference/storage.md 5: never infer a deletion from a listing alone."""
    append(store, "one")
    append(store, "two", OTHER)
    same(store)
    append(store, "three", OTHER)
    whole = store.refs.list
    monkeypatch.setattr(
        store.refs, "list", lambda prefix, _: {name: oid for name, oid in whole(prefix).items() if TASK not in name}
    )
    assert store.tasks() == [TASK, OTHER]
    assert topics(store) == ["one"]
    assert topics(store, OTHER) == ["two", "three"]


def test_a_question_about_one_task_does_not_list_all_refs(
    store: Store, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PC-110: what one task costs does not depend on how many there are."""
    edit(store, "a.py", b"x")
    append(store, "other", OTHER)
    same(store)
    monkeypatch.setattr(store.refs, "list", None)
    tip = put_event(store, TASK, "theirs", store.refs.read(task_ref(TASK)))
    repo.git("update-ref", task_ref(TASK), tip)
    assert topics(store) == [None, "theirs"]
    assert store.read_content(content.blob_id(b"x")) == b"x"
    assert append(store, "mine").event.clock == 3
    assert topics(store) == [None, "theirs", "mine"]
    repo.git("update-ref", "-d", task_ref(OTHER))
    with pytest.raises(NotFound):
        store.events(OTHER)
    monkeypatch.undo()
    same(store)


def test_a_content_that_moved_to_another_chain_is_found_there(store: Store, repo: Repo) -> None:
    edit(store, "a.py", b"x")
    assert store.find_content(content.blob_id(b"x")) is not None
    repo.git("update-ref", content_ref(OTHER, "content"), content_ref(TASK, "content"))
    repo.git("update-ref", "-d", content_ref(TASK, "content"))
    found = store.find_content(content.blob_id(b"x"))
    assert found is not None
    assert found.task == OTHER
    repo.git("update-ref", "-d", content_ref(OTHER, "content"))
    assert store.find_content(content.blob_id(b"x")) is None


def test_what_is_damaged_is_named_and_read_again(store: Store) -> None:
    """A17: a bad entry is never skipped in silence, and no other task suffers."""
    for topic in ("one", "two"):
        append(store, topic)
    append(store, "other", OTHER)
    path = find_loose(store.layout.objects, store.tips()[task_ref(TASK)])
    assert path is not None
    healthy = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(b"")
    store.index.discard()
    assert topics(store, OTHER) == ["other"]
    assert TASK not in store.tasks()
    ((ref, reason),) = rows.faults(store.index.connection)
    assert ref == task_ref(TASK)
    assert "its file is empty" in reason
    path.write_bytes(healthy)
    assert topics(store) == ["one", "two"]
    assert rows.faults(store.index.connection) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "observed", "changes": [{"path": {"b64": "A"}}, {"path": {}}, {"path": "ok.py"}]},
        {"kind": "noted", "links": [{"rel": "x"}], "topic": "a\x00b"},
        {"kind": "teleported", "changes": [{"path": 5}], "links": 7, "source": []},
        {"kind": "noted", "v": 2, "links": "none"},
    ],
)
def test_whatever_a_fetched_event_says_the_index_takes_it(store: Store, fields: dict[str, Any]) -> None:
    """One hostile event must not keep a store from answering."""
    value = {"v": 1, "task": TASK, "clock": 1, "time": 5, "actor": {"type": "x"}} | fields
    sealed = codec.decode(codec.encode_value(value))
    oid = write_loose(store.layout.objects, "commit", carrier(sealed, []), fsync=False)
    store.git.run("update-ref", task_ref(TASK), oid)
    assert store.events(TASK) == [sealed]
    assert rows.faults(store.index.connection) == []


def test_an_event_in_the_chain_of_another_task_is_a_fault(store: Store) -> None:
    append(store, "one")
    store.git.run("update-ref", task_ref(OTHER), store.tips()[task_ref(TASK)])
    assert store.tasks() == [TASK]
    assert [ref for ref, _ in rows.faults(store.index.connection)] == [task_ref(OTHER)]


# Processes


DIE = """
import os, signal, sys
from pogstore.store.store import open_store
from tests.builders_store import append
store = open_store(sys.argv[1])
store.tasks()
swap = store.refs.compare_and_swap
def swap_and_die(*arguments):
    swap(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
store.refs.compare_and_swap = swap_and_die
append(store, "last words")
"""
WORK = """
import sys
from pogstore.store.store import open_store
from tests.builders_store import append, topics
from pogstore.errors import LockHeld, NotFound
store = open_store(sys.argv[1])
for number in range(25):
    append(store, sys.argv[2] + str(number))
    if number % 5 == int(sys.argv[3]):
        try:
            store.index.discard()
        except LockHeld:
            print("busy")
    store.tasks()
assert len([topic for topic in topics(store) if topic.startswith(sys.argv[2])]) == 25
"""
ROOT = Path(__file__).parents[2]


def test_killed_between_the_ref_and_the_index(store: Store, repo: Repo) -> None:
    """SC: kill -9 after the ref moved: the event is there, the index finds it, the clock is found again."""
    append(store, "first")
    same(store)
    process = python(DIE, str(repo.path), cwd=ROOT)
    assert finished(process)[0] == -signal.SIGKILL
    assert topics(store) == ["first", "last words"]
    same(store)
    assert append(store, "next").event.clock == 3


def test_processes_that_rebuild_at_the_same_time(store: Store, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three writers, one of which deletes the index again and again; nobody reads half a database."""
    append(store, "first")
    store.close()
    processes = [
        python(WORK, str(repo.path), name, turn, cwd=ROOT) for name, turn in (("a", "0"), ("b", "9"), ("c", "9"))
    ]
    for process in processes:
        status, output = finished(process, 120)
        assert status == 0, output
    assert len(topics(store)) == 76
    same(store)
    check = sqlite3.connect(store.index.path)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()


def test_an_index_that_somebody_else_has_open_is_not_deleted(
    store: Store, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    append(store, "one")
    same(store)
    other = open_store(repo.path)
    with pytest.raises(LockHeld, match=r"within 0\.2 s"):
        other.index.discard()


def test_a_useless_index_that_somebody_keeps_open_is_done_without(
    store: Store, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer version has another schema: the older server goes on, and the newer command answers from memory."""
    append(store, "one")
    same(store)
    monkeypatch.setattr(database, "REBUILD_SECONDS", 0.1)
    monkeypatch.setattr(database, "SCHEMA", 98)
    newer = open_store(repo.path)
    same(newer)
    assert database_of(newer).in_memory
    append(newer, "two")
    same(newer)
    same(store)
    newer.close()
    store.close()
    last = open_store(repo.path)
    same(last)
    assert not database_of(last).in_memory
    last.close()


def test_a_writer_that_is_busy_for_too_long_is_named(store: Store, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    append(store, "one")
    same(store)
    store.index.connection.execute("PRAGMA busy_timeout = 50")
    blocker = sqlite3.connect(store.index.path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    append(store, "two")
    with pytest.raises(LockHeld, match="index"):
        store.tasks()
    blocker.execute("ROLLBACK")
    blocker.close()
    same(store)


def test_threads_with_a_store_each(store: Store, repo: Repo) -> None:
    """SC-17."""
    append(store, "first")
    faults: list[BaseException] = []

    def work() -> None:
        own = open_store(repo.path)
        try:
            for _ in range(8):
                append(own, "x")
                own.tasks()
        except BaseException as fault:  # noqa: BLE001 - a thread must hand it over
            faults.append(fault)
        finally:
            own.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(topics(store)) == 25
    same(store)


# Where it cannot be kept

READ = """
import os, sys
from pathlib import Path
from pogstore.store.store import open_store
if os.geteuid() == 0:  # root may write everywhere; the packages may lie where only root can read
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
store = open_store(sys.argv[1])
try:
    (Path(sys.argv[1]) / ".git" / "probe").touch()
    print("writable")
except OSError:
    pass
print([sealed.event.topic for sealed in store.events(store.tasks()[0])], store.index._database.in_memory)
"""


@pytest.mark.parametrize("indexed", [True, False], ids=["with an index", "without"])
def test_a_read_only_repository_is_read_from_memory(indexed: bool) -> None:
    """Reads need nothing of ours on disk: an archive, another user's clone, a read-only mount."""
    with open_to_all() as place:
        repo = Repo(place / "repo")
        repo.path.mkdir()
        repo.git("init", "-q")
        store = opened(repo)
        append(store, "one")
        append(store, "two")
        if indexed:
            store.tasks()
        store.close()
        if not indexed:
            shutil.rmtree(store.layout.own)
        before = {path: path.stat().st_mtime_ns for path in repo.path.rglob("*")}
        read_only(repo.path)
        safe = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        environ = {**os.environ, **safe, "HOME": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
        environ.pop("GIT_CONFIG_GLOBAL")
        done = subprocess.run(
            [sys.executable, "-c", READ, str(repo.path)],
            cwd=place, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout == "['one', 'two'] True\n", done.stderr
        after = {path: path.stat().st_mtime_ns for path in repo.path.rglob("*")}
        assert after == before


@pytest.mark.parametrize("where", ["pog", "pog/index.lock", "pog/index.sqlite3"])
def test_something_else_in_the_place_of_our_files(repo: Repo, where: str) -> None:
    """PC-79: a directory or a link where a file of ours belongs; reading goes on."""
    store = opened(repo)
    append(store, "one")
    store.close()
    place = repo.path / ".git" / where
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    if where == "pog":
        place.write_text("a file")
    elif where == "pog/index.lock":
        place.symlink_to(repo.path / "elsewhere")
    else:
        place.mkdir()
    fresh = open_store(repo.path)
    same(fresh)
    assert database_of(fresh).in_memory
    fresh.close()
    assert not (repo.path / "elsewhere").exists()


def test_a_full_disk_sends_the_index_into_memory(store: Store) -> None:
    append(store, "one")
    same(store)
    store.index.connection.execute("PRAGMA max_page_count = 1")
    for number in range(60):
        edit(store, "a.py", b"%d" % number * 50)
    same(store)
    assert database_of(store).in_memory


def test_a_mistake_of_ours_is_not_taken_for_damage(store: Store) -> None:
    append(store, "one")
    same(store)
    before = store.index.path.stat().st_ino
    with pytest.raises(sqlite3.ProgrammingError):
        store.index.ask(store.objects, store.refs, lambda found: found.execute("SELECT ?", ()))
    assert store.index.path.stat().st_ino == before


def test_an_error_inside_a_transaction_leaves_everything(store: Store) -> None:
    append(store, "one")
    same(store)

    def delete_and_fail() -> None:
        with database.transaction(store.index.connection) as connection:
            connection.execute("DELETE FROM events")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        delete_and_fail()
    same(store)


def test_a_commit_of_contents_that_adds_none_is_known(repo: Repo) -> None:
    """Else a push that meets one at the remote would join it again and again."""
    store = opened(repo)
    edit(store, "a", b"content\n")
    ref = content_ref(TASK, "content")
    tree = Oid(repo.git("hash-object", "-w", "-t", "tree", "--stdin", input=""))
    commit = content_commit(tree, [Oid(repo.git("rev-parse", ref))], STARTED)
    oid = Oid(repo.git("hash-object", "-w", "-t", "commit", "--stdin", input=commit))
    repo.git("update-ref", ref, oid)
    store.refresh()
    assert rows.holds_commit(store.index.connection, ref, oid)


def test_what_is_forgotten_leaves_no_row_that_another_event_could_inherit(repo: Repo) -> None:
    """The numbers of events that are gone are used again."""
    store = opened(repo)
    base = Base(commit="sha1_" + "1" * 40)
    for topic in "ab":
        link, source = Link(rel="follows", event=EventId("e" * 64)), Source(format="f", key=topic)
        append(store, topic, links=(link,), source=source)
    edit(store, "a", b"x")
    event = Observed(v=FORMAT, task=TASK, clock=1, time=STARTED, actor=ADA, base=base, base_from=base)
    store.transact(lambda batch: batch.append(event))
    store.refresh()
    tables = ("changes", "links", "sources", "commits")
    assert all(_count(store, f"SELECT count(*) FROM {table}") for table in tables)
    repo.git("update-ref", "-d", task_ref(TASK))
    store.refresh()
    assert [_count(store, f"SELECT count(*) FROM {table}") for table in tables] == [0, 0, 0, 0]


def _count(store: Store, query: str) -> int:
    return int(store._ask(lambda found: found.execute(query).fetchone()[0]))
