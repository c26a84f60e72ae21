"""Every edge that there is at a node of a lineage, upward or downward.

Joins what was linked, whose work was used and what commits carry. Nothing is walked here.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pogstore import graph, state
from pogstore.errors import BadInput
from pogstore.history.blame import BlamedLine, blame
from pogstore.history.lineage_commits import Commits, CommitSaid
from pogstore.history.lineage_content import Use, Uses
from pogstore.history.lineage_links import Edge, Links, Node, commit_node, event_node, links_of, task_node
from pogstore.history.names import Named
from pogstore.history.streamed import changes_of
from pogstore.model import EventId, Oid, Sealed, TaskId
from pogstore.store import relations
from pogstore.store.content import path_bytes
from pogstore.store.store import Store

USED = "used"
"""It found what the other had left."""
BASE = "base"
"""It found what the commit held, and no event had left it."""
CARRIES = "carries"
OF = "of"
"""An event is of its task."""
PARENT = "parent"
WRITTEN_BY = "written_by"
CONCURRENT = "concurrent"


class FileLine(NamedTuple):
    """A file of the work tree, or one of its lines; they count from 1."""

    path: bytes
    line: int | None = None


class Edges:
    """Answers what edges there are at a node, in either direction; the node that was asked for has more of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._links = Links(store)
        self._uses = Uses(store)
        self._commits = Commits(store, self._uses)
        self._start: Node | None = None
        self._written: list[Edge] = []
        self._by_parent: dict[EventId, list[EventId]] | None = None
        self._all_seen: dict[EventId, frozenset[EventId]] = {}

    def begin(self, asked: Named | FileLine | Oid) -> Node:
        """Returns the node that is asked about; an event that was told twice is the one that stands for both."""
        if isinstance(asked, FileLine):
            self._start, self._written = file_node(self._store, asked)
        elif not isinstance(asked, Named):
            self._start = commit_node(asked)
        elif asked.event_id is None:
            self._start = task_node(asked.task)
        else:
            echoes = state.distinct(state.whole(self._store.standing_events(asked.task)).events).echoes
            self._start = event_node(echoes.get(asked.event_id, asked.event_id))
        return self._start

    def up(self, node: Node) -> Iterator[Edge]:
        """Yields the edges to what a node rests on; a commit on the way is where the way ends."""
        if node.kind == "task":
            yield from self._links.of_task(TaskId(node.id))
            yield from self._between(TaskId(node.id), self._uses.used, up=True)
        elif node.kind == "event":
            yield from self._event_up(node)
        elif node.kind != "commit":
            yield from self._written
        elif node == self._start:
            for task, events in self._commits.carried(Oid(node.id)):
                yield Edge(node, task_node(task), CARRIES)
                yield from _by_path(Edge(node, event_node(use.event.event_id), CARRIES, (use.path,)) for use in events)

    def down(self, node: Node) -> Iterator[Edge]:
        """Yields the edges from what rests on a node; from a file, to whoever wrote it, on which to go on."""
        if node.kind == "task":
            yield from self._links.to_task(TaskId(node.id))
            yield from self._between(TaskId(node.id), self._uses.users, up=False)
            for told in self._commits.told_by(TaskId(node.id)):
                yield Edge(commit_node(self._commits.commit_of(told)), node, CARRIES)
        elif node.kind == "event":
            yield from self._event_down(node)
        elif node.kind != "commit":
            yield from self._written
        elif node == self._start:
            yield from self._links.to_named(node)
            begun = self._commits.begun_on(Oid(node.id))
            yield from _by_path(Edge(event_node(sealed.event_id), node, BASE, (path,)) for sealed, path in begun)

    def links_up(self, node: Node) -> Iterator[Edge]:
        """Yields the edges from a task that links say, and no others."""
        return self._links.of_task(TaskId(node.id)) if node.kind == "task" else iter(())

    def parents(self, node: Node) -> Iterator[Edge]:
        """Yields the edges to an event's parents."""
        sealed = self._sealed(node)
        for parent in sealed.event.parents if sealed else ():
            yield Edge(node, event_node(parent), PARENT)

    def children(self, node: Node) -> Iterator[Edge]:
        """Yields the edges from an event's children."""
        sealed = self._sealed(node)
        if sealed is None:
            return
        if self._by_parent is None:
            every = {each.event_id: each.event.parents for each in self._store.standing_events(sealed.event.task)}
            self._by_parent = graph.children(every, every.__getitem__)
        for child in self._by_parent.get(sealed.event_id, ()):
            yield Edge(event_node(child), node, PARENT)

    def of(self, node: Node) -> Node | None:
        """Returns the task of an event."""
        task = relations.task_of(self._store.index.connection, EventId(node.id))
        return task_node(task) if task else None

    def concurrent(self, node: Node) -> Iterator[Edge]:
        """Yields the pairs of the node that is asked about with what it did not see, nor was seen by."""
        if node.kind == "event" and (sealed := self._sealed(node)) is not None:
            pairs = _by_path(
                Edge(node, event_node(use.event.event_id), CONCURRENT, (use.path,))
                for use in (*self._uses.beside(sealed), *self._other_heads(sealed))
            )
            yield from (edge for edge in pairs if self._apart(sealed.event_id, EventId(edge.to.id)))
        elif node.kind == "task":
            yield from _by_path(
                Edge(node, task_node(use.event.event.task), CONCURRENT, (use.path,))
                for sealed in self._store.standing_events(TaskId(node.id))
                for use in self._uses.beside(sealed)
                if use.event.event.task != node.id and self._apart(sealed.event_id, use.event.event_id)
            )

    def said(self, commit: Oid) -> CommitSaid | None:
        """Returns what a commit says of itself."""
        return self._commits.said(commit)

    def _event_up(self, node: Node) -> Iterator[Edge]:
        sealed = self._sealed(node)
        if sealed is not None:
            used = self._uses.used(sealed)
            yield from _by_path(Edge(node, event_node(use.event.event_id), USED, (use.path,)) for use in used)
            bases = self._commits.bases(sealed)
            yield from _by_path(Edge(node, commit_node(commit), BASE, (path,)) for commit, path in bases)
            yield from self._links.of_event(sealed)

    def _event_down(self, node: Node) -> Iterator[Edge]:
        sealed = self._sealed(node)
        yield from self._links.to_named(node)
        if sealed is not None:
            users = self._uses.users(sealed)
            yield from _by_path(Edge(event_node(use.event.event_id), node, USED, (use.path,)) for use in users)
            carrying = self._commits.carrying(sealed)
            yield from _by_path(Edge(commit_node(commit), node, CARRIES, (path,)) for commit, path in carrying)

    def _between(self, task: TaskId, uses: Callable[[Sealed], list[Use]], *, up: bool) -> Iterator[Edge]:
        """Yields the edges by which the events of a task, taken together, used those of others, or were used."""
        own = task_node(task)
        found = []
        for sealed in self._store.standing_events(task):
            for use in uses(sealed):
                if use.event.event.task != task:
                    other = task_node(use.event.event.task)
                    found.append(Edge(own, other, USED, (use.path,)) if up else Edge(other, own, USED, (use.path,)))
        return _by_path(found)

    def _other_heads(self, sealed: Sealed) -> Iterator[Use]:
        """Yields the events of the same task on the same paths."""
        paths = {path_bytes(change.path) for change in changes_of(sealed)}
        for other in self._links.events(sealed.event.task) if paths else ():
            for change in changes_of(other) if other.event_id != sealed.event_id else ():
                path = path_bytes(change.path)
                if path is not None and path in paths:
                    yield Use(other, path)

    def _apart(self, one: EventId, other: EventId) -> bool:
        return one not in self._saw(other) and other not in self._saw(one)

    def _saw(self, event_id: EventId) -> frozenset[EventId]:
        if event_id not in self._all_seen:
            self._all_seen[event_id] = frozenset(graph.reach((event_id,), self._seen))
        return self._all_seen[event_id]

    def _seen(self, event_id: EventId) -> list[EventId]:
        """Returns what an event is known to have seen: its parents, and whose work it used."""
        sealed = self._sealed(event_node(event_id))
        if sealed is None:
            return []
        linked = [link.event for link in links_of(sealed) if link.event is not None]
        return [*sealed.event.parents, *linked, *(use.event.event_id for use in self._uses.used(sealed))]

    def _sealed(self, node: Node) -> Sealed | None:
        return self._store.standing([EventId(node.id)]).get(EventId(node.id))


def file_node(store: Store, asked: FileLine) -> tuple[Node, list[Edge]]:
    """Returns the node of a file or a line, and the edges to the events and the commits that wrote it."""
    found = blame(store, asked.path)
    if asked.line is not None and not 0 < asked.line <= len(found.lines):
        raise BadInput(f"line {asked.line}", f"the file has {len(found.lines)} lines")
    lines = found.lines if asked.line is None else found.lines[asked.line - 1 : asked.line]
    name = asked.path.decode("utf-8", "surrogateescape")
    node = Node("file", name) if asked.line is None else Node("line", f"{name}:{asked.line}")
    owners = dict.fromkeys(owner for line in lines if (owner := _owner(line)) is not None)
    return node, [Edge(node, owner, WRITTEN_BY) for owner in owners]


def _owner(line: BlamedLine) -> Node | None:
    if event := line.event or line.observed:
        return event_node(event)
    return commit_node(line.commit) if line.commit else None


def _by_path(edges: Iterable[Edge]) -> Iterator[Edge]:
    """Yields edges that differ in their paths alone as one."""
    found: dict[Edge, set[bytes]] = {}
    for edge in edges:
        found.setdefault(edge._replace(paths=()), set()).update(edge.paths)
    return (edge._replace(paths=tuple(sorted(paths))) for edge, paths in found.items())
