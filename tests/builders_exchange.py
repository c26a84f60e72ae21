"""Clones that exchange tasks through a bare repository, and the means to put bad things there by hand.

A test module gets the fixtures `bare`, `clone` and `pair` by importing them.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pogstore import codec, sync
from pogstore.draft import Draft, DraftChange, DraftText, FileVersion, TaskDrafts
from pogstore.model import Actor, Definition, Oid, Sealed, TaskId
from pogstore.store import chain, content, transport
from pogstore.store.carrier import EMPTY_TREE, carrier, content_commit
from pogstore.store.contract import NewObject
from pogstore.store.refs import content_ref, task_ref
from pogstore.store.store import Store, open_store
from pogstore.store.transport import Remote
from pogstore.sync import FetchReport, PullReport, PushReport, RefOutcome
from pogstore.work import setup, tasks
from pogstore.work.acts import By
from pogstore.work.intake import take
from pogstore.work.tasks import new_task_id
from tests.conftest import SECOND, STARTED, Repo

ADA = Actor(type="human", name="Ada")
AGENT = Actor(type="agent", name="builder", session="s1")


class Clock:
    """A clock that moves a second at each look."""

    def __init__(self) -> None:
        self.now = STARTED

    def __call__(self) -> int:
        self.now += SECOND
        return self.now


class Clone(NamedTuple):
    """A repository with a store, and the remote `origin` that all clones share."""

    repo: Repo
    store: Store
    clock: Clock

    @property
    def origin(self) -> Remote:
        """The shared remote."""
        return transport.find_remote(self.store.git.settings(), "origin")

    def by(self) -> By:
        """Who acts here, now."""
        return By(actor=ADA, time=self.clock())

    def new(self, title: str = "Fix the parser", class_: str = "content") -> TaskId:
        """Makes a task."""
        by = self.by()
        task = new_task_id(by.time, by.time)
        tasks.define(self.store, task, Definition(title=title), by, class_=class_)
        return task

    def note(self, task: TaskId, text: str = "seen") -> Sealed:
        """Keeps a note."""
        return tasks.note(self.store, task, text, self.by())

    def step(self, task: TaskId, files: dict[str, str], **texts: str) -> None:
        """Takes in one step of an agent that wrote some files; its texts are private."""
        changes = tuple(
            DraftChange(path=path, after=FileVersion(mode="100644", data=text.encode())) for path, text in files.items()
        )
        draft = Draft(
            kind="stepped",
            time=self.clock(),
            actor=AGENT,
            fields={"tool": "Write", "class": "edit"},
            texts={name: DraftText(text=text, class_="private") for name, text in texts.items()},
            changes=changes,
        )
        take(self.store, [TaskDrafts(task=task, drafts=(draft,))], imported=False)

    def prompt(self, task: TaskId, text: str) -> None:
        """Takes in one prompt."""
        said = DraftText(text=text, class_="private")
        draft = Draft(kind="prompted", time=self.clock(), actor=AGENT, texts={"text": said})
        take(self.store, [TaskDrafts(task=task, drafts=(draft,))], imported=False)

    def push(self, *chosen: TaskId, private: bool = False) -> PushReport:
        """Pushes to the shared remote."""
        return sync.push(self.store, self.origin, chosen or None, private=private)

    def fetch(self, *chosen: TaskId, private: bool = False) -> FetchReport:
        """Fetches from the shared remote."""
        return sync.fetch(self.store, self.origin, chosen or None, private=private)

    def pull(self, *chosen: TaskId, private: bool = False) -> PullReport:
        """Fetches from the shared remote and joins."""
        return sync.pull(self.store, self.origin, chosen or None, private=private)

    def refs(self) -> dict[str, Oid]:
        """Returns all refs of ours."""
        return dict(self.store.tips())

    def event_ids(self, task: TaskId) -> set[str]:
        """Returns the events of a task."""
        return {sealed.event_id for sealed in self.store.events(task)}


def make_clone(path: Path, origin: Path | None, clock: Clock, *, enabled: bool = True) -> Clone:
    """Makes a repository whose remote `origin` is another one."""
    repo = Repo(path)
    path.mkdir()
    repo.git("init", "--quiet")
    if origin is not None:
        repo.git("remote", "add", "origin", str(origin))
    store = open_store(path)
    if enabled:
        setup.enable(store)
        store.close()
        store = open_store(path)
    return Clone(repo, store, clock)


class Bare(NamedTuple):
    """The shared remote, seen from its own side."""

    repo: Repo
    store: Store

    def refs(self) -> dict[str, Oid]:
        """Returns all refs of ours that it has."""
        return dict(self.store.tips())

    def put(self, ref: str, oid: Oid | None) -> None:
        """Makes a ref point somewhere, whatever it did before; `None` deletes it."""
        self.store.refs.compare_and_swap(ref, self.store.refs.read(ref), oid)

    def everything(self) -> bytes:
        """Returns the bytes of all objects, and all names of refs."""
        objects = self.repo.git("cat-file", "--batch-all-objects", "--batch", "--unordered")
        return (objects + self.repo.git("for-each-ref")).encode(errors="surrogateescape")

    def write(self, kind: str, data: bytes) -> Oid:
        """Writes an object."""
        oid = self.store.objects.name(kind, data)
        self.store.objects.write([NewObject(oid, kind, data)], fsync=False)
        return oid


def make_bare(path: Path) -> Bare:
    """Makes a bare repository."""
    repo = Repo(path)
    path.mkdir()
    repo.git("init", "--quiet", "--bare")
    return Bare(repo, open_store(path))


def handmade(task: TaskId, above: Iterable[Sealed] = (), **fields: object) -> Sealed:
    """Returns an event of any fields over some parents."""
    above = list(above)
    value: dict[str, object] = {
        "v": 1,
        "kind": "noted",
        "task": task,
        "clock": 1 + max((parent.event.clock for parent in above), default=0),
        "time": STARTED,
        "actor": {"type": "tool", "name": "by hand"},
    }
    if above:
        value["parents"] = sorted(parent.event_id for parent in above)
    return codec.decode(codec.encode_value(value | fields))


def write_event(store: Store, sealed: Sealed, parents: Iterable[Oid] = ()) -> Oid:
    """Writes the carrier of an event over given carriers."""
    return write_commit(store, carrier(sealed, list(parents)))


def write_commit(store: Store, commit: bytes) -> Oid:
    """Writes a raw commit, and the empty tree."""
    oid = store.objects.name("commit", commit)
    store.objects.write([NewObject(EMPTY_TREE, "tree", b""), NewObject(oid, "commit", commit)], fsync=False)
    return oid


def append_by_hand(store: Store, sealed: Sealed) -> Oid:
    """Puts an event on top of its task's ref."""
    ref = task_ref(sealed.event.task)
    tip = store.refs.read(ref)
    oid = write_event(store, sealed, [tip] if tip else [])
    store.refs.compare_and_swap(ref, tip, oid)
    return oid


def head_of(store: Store, task: TaskId) -> Sealed:
    """Returns the event at the ref of a task."""
    return chain.read_link(store.objects, store.refs.read(task_ref(task)) or Oid("")).sealed


def put_contents(bare: Bare, task: TaskId, entries: dict[str, bytes], *, raw_tree: bytes | None = None) -> Oid:
    """Puts a commit of contents on top of a task's chain at the remote, under the names given."""
    oids = {name: bare.write("blob", data) for name, data in entries.items()}
    tree = bare.write("tree", content.tree(oids) if raw_tree is None else raw_tree)
    ref = content_ref(task, "content")
    tip = bare.store.refs.read(ref)
    commit = bare.write("commit", content_commit(tree, [tip] if tip else [], STARTED))
    bare.put(ref, commit)
    return commit


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Bare]:
    made = make_bare(tmp_path / "origin.git")
    yield made
    made.store.close()


@pytest.fixture
def clone(tmp_path: Path, bare: Bare) -> Iterator[Callable[[str], Clone]]:
    clock, made = Clock(), []

    def make(name: str) -> Clone:
        made.append(make_clone(tmp_path / name, bare.repo.path, clock))
        return made[-1]

    yield make
    for one in made:
        one.store.close()


@pytest.fixture
def pair(clone: Callable[[str], Clone]) -> tuple[Clone, Clone, TaskId]:
    """Two clones that both have one task."""
    ada, bob = clone("ada"), clone("bob")
    task = ada.new()
    ada.push()
    bob.pull()
    return ada, bob, task


def outcomes(refs: tuple[RefOutcome, ...]) -> dict[str, str]:
    return {ref.ref.removeprefix("refs/pog/").partition("/")[0]: ref.outcome for ref in refs}
