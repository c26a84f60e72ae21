"""`lineage`: what a task, an event, a commit or a line comes from, and what rests on it, across tasks.

Joins what was linked (`lineage_links.py`), whose work was used (`lineage_content.py`) and what commits carry
(`lineage_commits.py`). Every edge goes from what rests to what it rests on, so up follows edges and down goes against
them. Every walk ends where edges form a cycle. Answers are values, and a function of the set of events.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from pogstore.history.lineage_commits import CommitSaid
from pogstore.history.lineage_edges import OF, Edges, FileLine
from pogstore.history.lineage_links import Edge, Node
from pogstore.history.names import Named
from pogstore.history.tasks import Summary, summaries
from pogstore.model import EventId, Oid, Sealed, TaskId
from pogstore.store import relations
from pogstore.store.store import Store

__all__ = ["Edge", "FileLine", "Lineage", "Node", "Walk", "lineage"]


class Walk(NamedTuple):
    """What was reached in one direction: how far each node is, along which edges; and what a depth has cut off.

    `more` counts, for a node at which the walk stopped, those beyond it that are not in the answer.
    """

    distance: dict[Node, int]
    edges: tuple[Edge, ...]
    more: dict[Node, int]


class Lineage(NamedTuple):
    """The answer about `asked`; a direction that was not asked for is absent.

    `concurrent` are pairs of which neither saw the other, though both changed a path. `tasks`, `events` and `commits`
    say more of the nodes, and of the tasks that events are of; what is missing in them is not here.
    """

    asked: Node
    up: Walk | None
    down: Walk | None
    concurrent: tuple[Edge, ...]
    tasks: dict[TaskId, Summary]
    events: dict[EventId, Sealed]
    commits: dict[Oid, CommitSaid]

    @property
    def edges(self) -> list[Edge]:
        """All edges, each once, sorted."""
        walked = (edge for walk in (self.up, self.down) if walk for edge in walk.edges)
        return sorted({*walked, *self.concurrent})

    @property
    def nodes(self) -> list[Node]:
        """All nodes, each once, sorted."""
        reached = (node for walk in (self.up, self.down) if walk for node in walk.distance)
        return sorted({self.asked, *reached, *(edge.to for edge in self.concurrent)})


Neighbours = Callable[[Node], Iterable[Edge]]


def lineage(
    store: Store, asked: Named | FileLine | Oid, *, up: bool = True, down: bool = True, depth: int | None = None
) -> Lineage:
    """Returns what something comes from (`up`) and what rests on it (`down`), at most `depth` edges away.

    A file or a line stands for the events and commits that wrote it. Titles that are not here stay unknown, contents
    need not be here. Raises `NotFound` for an unknown file, `BadInput` for a line that it has not. Writes nothing but
    the index.
    """
    with store.one_moment():
        return store.index.ask(store.objects, store.refs, lambda _: _lineage(store, asked, up, down, depth))


def _lineage(store: Store, asked: Named | FileLine | Oid, up: bool, down: bool, depth: int | None) -> Lineage:
    found = Edges(store)
    start = found.begin(asked)
    upward = _walk(start, found.up, depth) if up else None
    downward = _walk(start, found.down, depth) if down else None
    if start.kind == "event":
        upward = _joined(upward, _beside_up(found, start, depth)) if upward else None
        downward = _joined(downward, [_walk(start, found.children, depth)]) if downward else None
    bare = Lineage(start, upward, downward, tuple(sorted(set(found.concurrent(start)))), {}, {}, {})
    return _described(store, found, bare)


def _beside_up(found: Edges, start: Node, depth: int | None) -> list[Walk]:
    """Returns the parents of an event, and its task with what that is linked to: not what else the task used."""
    task = found.of(start)
    edges = {start: [Edge(start, task, OF)]} if task else {}
    return [
        _walk(start, found.parents, depth),
        _walk(start, lambda node: edges.get(node) or (found.links_up(node) if node.kind == "task" else ()), depth),
    ]


def _walk(start: Node, neighbours: Neighbours, depth: int | None) -> Walk:
    """Returns what edges lead to, level by level; an edge between what was reached is always in the answer."""
    distance = {start: 0}
    edges: dict[Edge, None] = {}
    more: dict[Node, int] = {}
    level = [start]
    while level:
        reached: list[Node] = []
        for node in level:
            cut = set()
            for edge in neighbours(node):
                other = _other(edge, node)
                if other not in distance:
                    if distance[node] == depth:
                        cut.add(other)
                        continue
                    distance[other] = distance[node] + 1
                    reached.append(other)
                edges[edge] = None
            if cut:
                more[node] = len(cut)
        level = sorted(reached)
    return Walk(distance, tuple(sorted(edges)), more)


def _other(edge: Edge, node: Node) -> Node:
    return edge.to if edge.from_ == node else edge.from_


def _joined(walk: Walk, others: Iterable[Walk]) -> Walk:
    """Returns several walks from one start as one."""
    walks = [walk, *others]
    distance: dict[Node, int] = {}
    for each in walks:
        for node, far in each.distance.items():
            distance[node] = min(far, distance.get(node, far))
    edges = {edge for each in walks for edge in each.edges}
    more = {node: count for each in walks for node, count in each.more.items()}
    return Walk(distance, tuple(sorted(edges)), more)


def _described(store: Store, found: Edges, bare: Lineage) -> Lineage:
    """Returns an answer with what is known of its nodes."""
    of_kind: dict[str, list[str]] = {"task": [], "event": [], "commit": []}
    for node in bare.nodes:
        of_kind.setdefault(node.kind, []).append(node.id)
    events = store.standing(EventId(each) for each in of_kind["event"])
    tasks = {*map(TaskId, of_kind["task"]), *(sealed.event.task for sealed in events.values())}
    commits = {Oid(each): said for each in of_kind["commit"] if (said := found.said(Oid(each))) is not None}
    return bare._replace(tasks=_summaries(store, sorted(tasks)), events=events, commits=commits)


def _summaries(store: Store, tasks: list[TaskId]) -> dict[TaskId, Summary]:
    """Returns a line about each of some tasks that are here."""
    damaged = {*store.damaged_tasks()}
    here = [task for task in tasks if task in damaged or relations.has_events(store.index.connection, task)]
    return {line.task: line for line in summaries(store, here)}
