"""Tasks whose events are written as a test wants them, cycles and forks included, for tests of lineage."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from pogstore import codec
from pogstore.model import (
    FORMAT,
    Actor,
    Base,
    Change,
    Committed,
    Defined,
    Definition,
    Link,
    Noted,
    Person,
    Sealed,
    Stepped,
    TaskId,
)
from pogstore.store.batch import Batch
from pogstore.store.store import Store
from pogstore.work.held import oid_text
from tests.builders_store import opened
from tests.conftest import SECOND, STARTED, Repo

ADA = Person(name="Ada", email="ada@example.org")


def task_id(number: int) -> TaskId:
    """The id of one of some tasks."""
    return TaskId(f"0198a1b2-c3d4-7e5f-8a9b-{number:012x}")


class Edit(NamedTuple):
    """A step on one file."""

    task: int
    path: str
    before: str | None
    after: str | None
    moved: str | None


class Linking(NamedTuple):
    """A definition with links."""

    task: int
    rel: str
    others: list[int]


Operation = Edit | Linking
_VERSIONS = st.sampled_from([None, "0", "1", "2"])
OPERATIONS: SearchStrategy[list[Operation]] = st.lists(
    st.one_of(
        st.builds(
            Edit,
            st.integers(1, 3),
            st.sampled_from("ab"),
            _VERSIONS,
            _VERSIONS,
            st.sampled_from([None, None, "a", "b"]),
        ),
        st.builds(
            Linking,
            st.integers(1, 3),
            st.sampled_from(["parent", "depends_on", "blocks", "derived_from"]),
            st.lists(st.integers(1, 4), max_size=3),
        ),
    ),
    min_size=3,
    max_size=9,
)


class Works:
    """Writes events into one store, each a second after the one before."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.now = STARTED

    def fields(self, task: TaskId, **more: Any) -> dict[str, Any]:
        """The fields that every event has; a batch sets parents and clock."""
        self.now += SECOND
        actor = Actor(type="agent", name="agent", session=f"session of {task[-4:]}", on_behalf_of=ADA)
        return {"v": FORMAT, "task": task, "clock": 1, "time": self.now, "actor": actor} | more

    def define(self, name: int | TaskId, title: str = "", *links: Link, class_: str = "content") -> TaskId:
        """Writes a definition, checked by nobody, so that links may form cycles."""
        task = task_id(name) if isinstance(name, int) else name
        text = codec.encode_definition(Definition(title=title or f"task {name}")).decode()

        def write(batch: Batch) -> None:
            stored = batch.add_text(task, text, class_)
            batch.append(Defined(**self.fields(task, definition=stored, links=links)))

        self.store.transact(write)
        return task

    def step(self, task: TaskId, *changes: tuple[str | None, str, str | None, str | None], **more: Any) -> Sealed:
        """Writes a step; a change is (moved from, path, text before, text after)."""

        def write(batch: Batch) -> Sealed:
            made = tuple(self._change(batch, task, *each) for each in changes)
            given = {"tool": "Edit", "class_": "edit", "coverage": "scoped"} | more
            return batch.append(Stepped(**self.fields(task, changes=made, **given)))

        return self.store.transact(write)

    def edit(self, task: TaskId, path: str, before: str | None, after: str | None, **more: Any) -> Sealed:
        """Writes a step that changed one file."""
        return self.step(task, (None, path, before, after), **more)

    def note(self, task: TaskId, *links: Link, topic: str = "n") -> Sealed:
        """Writes a note with links."""
        return self.store.transact(lambda batch: batch.append(Noted(**self.fields(task, topic=topic, links=links))))

    def committed(self, task: TaskId, commit: str) -> Sealed:
        """Writes that a commit carries the work of a task."""
        return self.store.transact(lambda batch: batch.append(Committed(**self.fields(task, commit=oid_text(commit)))))

    def _change(
        self, batch: Batch, task: TaskId, moved: str | None, path: str, before: str | None, after: str | None
    ) -> Change:
        old = batch.add_file(task, moved or path, "100644", before.encode()) if before is not None else None
        new = batch.add_file(task, path, "100644", after.encode()) if after is not None else None
        return Change(path=path, from_=moved, before=old, after=new)


def on(commit: str) -> Base:
    """The base of an event that was made on a commit."""
    return Base(commit=oid_text(commit), branch="main")


def parent_of(task: TaskId) -> Link:
    """A link to a parent."""
    return Link(rel="parent", task=task)


def needs(task: TaskId) -> Link:
    """A link to what a task depends on."""
    return Link(rel="depends_on", task=task)


def played(repo: Repo, operations: Sequence[Operation]) -> Works:
    """A new store in which some operations were done, in their order."""
    repo.git("init", "-q")
    works = Works(opened(repo))
    for operation in operations:
        if isinstance(operation, Edit):
            moved = operation.moved if operation.before is not None else None
            works.step(task_id(operation.task), (moved, operation.path, operation.before, operation.after))
        else:
            links = (Link(rel=operation.rel, task=task_id(other)) for other in operation.others)
            works.define(operation.task, "", *links)
    return works
