"""The edges that were written down: links between tasks, events and commits.

A task's links are those of its definition in force; a link of any other event counts for its task as well where it
leads out of it. Every edge comes back as (what rests, rel, on what): `blocks` turned round is `blocked_by`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pogstore.history.streamed import told_once
from pogstore.model import Defined, EventId, Link, Oid, Opaque, Sealed, TaskId
from pogstore.store import relations, rows
from pogstore.store.content import plain_oid
from pogstore.store.store import Store

BLOCKS = "blocks"
BLOCKED_BY = "blocked_by"


class Node(NamedTuple):
    """A task, an event, a commit, or a file or line of the work tree: its kind and its id."""

    kind: str
    id: str


class Edge(NamedTuple):
    """`from_` rests on `to`: in what relation, and for contents at which paths."""

    from_: Node
    to: Node
    rel: str
    paths: tuple[bytes, ...] = ()


def task_node(task: TaskId) -> Node:
    """Returns the node of a task."""
    return Node("task", task)


def event_node(event_id: EventId) -> Node:
    """Returns the node of an event."""
    return Node("event", event_id)


def commit_node(commit: Oid) -> Node:
    """Returns the node of a commit."""
    return Node("commit", commit)


class Links:
    """Answers about links from an index that stands."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._told: dict[TaskId, list[Sealed]] = {}
        self._ids: dict[TaskId, frozenset[EventId]] = {}

    def events(self, task: TaskId) -> list[Sealed]:
        """Returns the events of a task as far as they can be read, each told once, in replay order."""
        if task not in self._told:
            told = self._told[task] = told_once(self._store, self._store.standing_events(task))
            self._ids[task] = frozenset(sealed.event_id for sealed in told)
        return self._told[task]

    def of_task(self, task: TaskId) -> Iterator[Edge]:
        """Yields the edges from a task to what it rests on, as links say."""
        own = task_node(task)
        for link in self._in_force(task):
            if link.rel != BLOCKS:
                yield from (Edge(own, node, link.rel) for node in self._ends(link, task))
        for sealed in self.events(task):
            for link in () if isinstance(sealed.event, Defined) else links_of(sealed):
                if link.rel != BLOCKS:
                    yield from (Edge(own, node, link.rel) for node in self._outside(link, task))
        for sealed, link in self._to(task):
            if link.rel == BLOCKS and isinstance(sealed.event, Defined) and self._holds(sealed):
                yield Edge(own, task_node(sealed.event.task), BLOCKED_BY)

    def to_task(self, task: TaskId) -> Iterator[Edge]:
        """Yields the edges to a task from what rests on it, as links say."""
        own = task_node(task)
        for sealed, link in self._to(task):
            inside = sealed.event.task == task and not isinstance(sealed.event, Defined)
            if not inside and link.rel != BLOCKS and self._holds(sealed):
                yield Edge(task_node(sealed.event.task), own, link.rel)
        for body in relations.linked_into(self._store.index.connection, task):
            sealed = self._store.decoded.decode(body)
            into = [each for each in links_of(sealed) if each.event is not None and self._task(each.event) == task]
            for link in into if self._holds(sealed) else ():
                if link.rel != BLOCKS:
                    yield Edge(task_node(sealed.event.task), own, link.rel)
        for link in self._in_force(task):
            if link.rel == BLOCKS and link.task is not None:
                yield Edge(task_node(link.task), own, BLOCKED_BY)

    def of_event(self, sealed: Sealed) -> Iterator[Edge]:
        """Yields the edges from an event to what its links name; those of a definition are its task's."""
        if isinstance(sealed.event, Defined):
            return
        for link in links_of(sealed):
            if link.rel != BLOCKS:
                yield from (Edge(event_node(sealed.event_id), node, link.rel) for node in _named(link))

    def to_named(self, node: Node) -> Iterator[Edge]:
        """Yields the edges to an event or a commit from whatever links to it."""
        names = (node.id, f"sha1_{node.id}", f"sha256_{node.id}") if node.kind == "commit" else (node.id,)
        for name in names:
            for body in rows.linked_to(self._store.index.connection, name):
                sealed = self._store.decoded.decode(body)
                for link in links_of(sealed) if self._holds(sealed) else ():
                    if node in _named(link) and link.rel != BLOCKS:
                        yield from (Edge(source, node, link.rel) for source in _sources(sealed, node))

    def _ends(self, link: Link, task: TaskId) -> Iterator[Node]:
        """Yields what a link of a definition names; of an event of another task, that task as well."""
        yield from _named(link)
        if link.event is not None:
            yield from self._outside(link, task)

    def _outside(self, link: Link, task: TaskId) -> Iterator[Node]:
        """Yields the other task, or the commit, that a link leads to."""
        other = self._task(link.event) if link.event is not None else link.task
        if other is not None and other != task:
            yield task_node(other)
        elif link.commit is not None:
            yield commit_node(plain_oid(link.commit))

    def _task(self, event_id: EventId) -> TaskId | None:
        return relations.task_of(self._store.index.connection, event_id)

    def _in_force(self, task: TaskId) -> tuple[Link, ...]:
        definitions = [sealed for sealed in self.events(task) if isinstance(sealed.event, Defined)]
        return links_of(definitions[-1]) if definitions else ()

    def _holds(self, sealed: Sealed) -> bool:
        """Says whether the links of an event still hold: those of a definition until the next, an echo's never."""
        told = self.events(sealed.event.task)
        if not isinstance(sealed.event, Defined):
            return sealed.event_id in self._ids[sealed.event.task]
        definitions = [each.event_id for each in told if isinstance(each.event, Defined)]
        return definitions[-1:] == [sealed.event_id]

    def _to(self, task: TaskId) -> Iterator[tuple[Sealed, Link]]:
        for body in rows.linked_to(self._store.index.connection, task):
            sealed = self._store.decoded.decode(body)
            yield from ((sealed, link) for link in links_of(sealed) if link.task == task)


def links_of(sealed: Sealed) -> tuple[Link, ...]:
    """Returns the links that an event names; none of one that needs a newer reader."""
    return () if isinstance(sealed.event, Opaque) else sealed.event.links


def _sources(sealed: Sealed, node: Node) -> Iterator[Node]:
    """Yields whose link to a node an event's is: a definition's is its task's, one to a commit both one's."""
    defines = isinstance(sealed.event, Defined)
    if defines or node.kind == "commit":
        yield task_node(sealed.event.task)
    if not defines:
        yield event_node(sealed.event_id)


def _named(link: Link) -> Iterator[Node]:
    if link.task is not None:
        yield task_node(link.task)
    elif link.event is not None:
        yield event_node(link.event)
    elif link.commit is not None:
        yield commit_node(plain_oid(link.commit))
