"""A lineage as lines of text, as JSON, and in the languages of two programs that draw: Graphviz and Mermaid."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from pogstore.cli._events import SHORT, headline
from pogstore.cli._render import counted, day, raw_path_text, safe, short_who
from pogstore.cli._tree import Branch, tree
from pogstore.cli._values import Value, kind_name
from pogstore.history.lineage import Edge, Lineage, Node, Walk
from pogstore.history.names import shortest
from pogstore.model import EventId, Oid, TaskId
from pogstore.store.content import path_of

_NOT_PLAIN = re.compile(r"(?<![^\W_])-|-(?![^\W_])|[^\w .,:/-]|_")
"""What is written as a number: a hyphen is plain between letters or digits alone."""
SHOWN_PATHS = 3
SHOWN_ACTORS = 3
_UP = {
    "parent": "part of",
    "depends_on": "depends on",
    "blocked_by": "blocked by",
    "derived_from": "derived from",
    "written_by": "written by",
    "base": "began with",
}
_DOWN = {
    "parent": "has part",
    "depends_on": "needed by",
    "blocked_by": "blocks",
    "derived_from": "led to",
    "written_by": "written by",
    "base": "began with it",
    "used": "used by",
    "carries": "carried by",
    "follows": "followed by",
    "releases": "released by",
}
RESTS_NOTHING = "nothing that is recorded rests on it"
USED_NOTHING = "no recorded step used exactly what it left; 'git pog rollback -n' finds later changes of the same lines"
_OF_LINES = ("what rests on what wrote it", RESTS_NOTHING)
_DOWNWARD = {
    "task": ("what rests on it", USED_NOTHING),
    "event": ("what rests on it", USED_NOTHING),
    "file": _OF_LINES,
    "line": _OF_LINES,
}
_KINDS = ("task", "event", "commit", "file", "line")
_PARENTS = {True: "after", False: "before"}


class Labels:
    """What stands for a node in a picture or in text, escaped: its id short, its title, who, when."""

    def __init__(self, found: Lineage, tasks: Sequence[TaskId]) -> None:
        self._found, self._tasks = found, tasks

    def of(self, node: Node) -> str:
        """Returns the label of a node."""
        match node.kind:
            case "task":
                return self._task(TaskId(node.id))
            case "event":
                return self._event(EventId(node.id))
            case "commit":
                return self._commit(Oid(node.id))
            case _:
                return raw_path_text(node.id.encode("utf-8", "surrogateescape"))

    def _task(self, task: TaskId) -> str:
        line = self._found.tasks.get(task)
        short = shortest(self._tasks, task)
        if line is None:
            return f"{safe(short)} (not here)"
        names = ", ".join(line.actors[:SHOWN_ACTORS]) + (", …" if len(line.actors) > SHOWN_ACTORS else "")
        about = ", ".join(each for each in (safe(names), day(line.last_time) if line.last_time else "") if each)
        return f"{short} {safe(line.title)} [{safe(line.status)}]" + (f" ({about})" if about else "")

    def _event(self, event_id: EventId) -> str:
        sealed = self._found.events.get(event_id)
        if sealed is None:
            return f"*{safe(event_id[:SHORT])} (not here)"
        line = self._found.tasks.get(sealed.event.task)
        elsewhere = line is not None and not self._is_asked(sealed.event.task)
        of = f" of {shortest(self._tasks, sealed.event.task)} {safe(line.title)}" if line and elsewhere else ""
        about = f"({short_who(sealed.event.actor)}, {day(sealed.event.time)})"
        return f"*{event_id[:SHORT]} {safe(headline(sealed))} {about}{of}"

    def _is_asked(self, task: TaskId) -> bool:
        asked = self._found.asked
        if asked.kind == "event":
            return EventId(asked.id) in self._found.events and self._found.events[EventId(asked.id)].event.task == task
        return asked.id == task

    def _commit(self, commit: Oid) -> str:
        said = self._found.commits.get(commit)
        if said is None:
            return f"commit {safe(commit[:SHORT])} (not here)"
        return f"commit {commit[:SHORT]} {safe(said.subject)} ({safe(said.author)}, {day(said.time)})"


def lines(found: Lineage, labels: Labels) -> Iterator[str]:
    """Yields a lineage for a person."""
    yield labels.of(found.asked)
    for walk, up, title, none in (
        (found.up, True, "comes from", "comes from nothing that is recorded"),
        (found.down, False, *_DOWNWARD.get(found.asked.kind, ("what rests on it", RESTS_NOTHING))),
    ):
        if walk is not None:
            drawn = list(tree(found.asked, _Drawn(found, walk, labels, up=up).below, walk.distance))
            yield from ["", title if drawn else none, *drawn]
    if found.concurrent:
        yield from ["", "concurrent: neither saw the other, and both changed it"]
        for edge in found.concurrent:
            yield f"   {_paths(edge.paths)}: {labels.of(edge.to)}"


class _Drawn:
    """What a tree shows below each node of one walk. Of an event's ancestors the parents stand for the others."""

    def __init__(self, found: Lineage, walk: Walk, labels: Labels, *, up: bool) -> None:
        self._found, self._labels, self._walk, self._up = found, labels, walk, up
        self._below: dict[Node, dict[Node, list[Edge]]] = {}
        parents = [edge for edge in walk.edges if _is_between_events(edge)]
        shown = set(walk.edges).difference(parents)
        first = [edge for edge in parents if found.asked in edge[:2]]
        for edge in sorted(shown):
            upper, lower = (edge.from_, edge.to) if up or edge.rel == "written_by" else (edge.to, edge.from_)
            self._below.setdefault(upper, {}).setdefault(lower, []).append(edge)
        self._asked = found.asked
        self._first = [edge.to if up else edge.from_ for edge in first]
        others = {node for edge in parents for node in edge[:2]} - {found.asked, *self._first}
        self._further = len(others)
        self._cut = sum(walk.more.get(node, 0) for node in (*others, *self._first) if node not in self._below)

    def below(self, node: Node) -> list[Branch]:
        """Returns what stands below a node."""
        found = self._below.get(node, {})
        branches = [
            Branch(f"{', '.join(dict.fromkeys(map(self._phrase, found[other])))}: {self._labels.of(other)}", other)
            for other in sorted(found, key=lambda other: self._rank(other, found[other]))
        ]
        if node == self._asked:
            branches += self._parents()
        elif more := self._walk.more.get(node):
            branches.append(Branch(f"… {more} more"))
        return branches

    def _rank(self, node: Node, edges: Sequence[Edge]) -> tuple[bool, int, int, Node]:
        """Returns the place beside others: tasks before events and commits; of these first what is nearest."""
        sealed = self._found.events.get(EventId(node.id)) if node.kind == "event" else None
        said = self._found.commits.get(Oid(node.id)) if node.kind == "commit" else None
        when = sealed.event.clock if sealed else said.time if said else 0
        of = any(edge.rel == "of" for edge in edges)
        return of, _KINDS.index(node.kind), -when if self._up else when, node

    def _parents(self) -> Iterator[Branch]:
        way = _PARENTS[self._up]
        for node in self._first:
            yield Branch(f"{way}: {self._labels.of(node)}")
        if count := self._further + self._cut:
            number = f"{count} or more events" if self._cut else counted(count, "event")
            yield Branch(f"… {number} {'before' if self._up else 'after'} that in its task")
        if not self._first and (more := self._walk.more.get(self._asked)):
            yield Branch(f"… {more} more")

    def _phrase(self, edge: Edge) -> str:
        words = (_UP if self._up else _DOWN).get(edge.rel) or safe(edge.rel.replace("_", " "))
        return f"{words} {_paths(edge.paths)}" if edge.paths else words


def _is_between_events(edge: Edge) -> bool:
    return edge.rel == "parent" and edge.from_.kind == "event"


def _paths(paths: Sequence[bytes]) -> str:
    more = f" and {len(paths) - SHOWN_PATHS} more" if len(paths) > SHOWN_PATHS else ""
    return ", ".join(map(raw_path_text, paths[:SHOWN_PATHS])) + more


def value(found: Lineage) -> Value:
    """Returns a lineage as one value; its order depends on nothing but the answer."""
    return {
        "asked": _name(found.asked),
        "nodes": [_node_value(found, node) for node in found.nodes],
        "edges": [_edge_value(edge) for edge in found.edges],
    }


def _name(node: Node) -> str:
    """Returns the id of a node: of a file or a line with its kind, since a file may be called anything.

    Bytes of a name that are not UTF-8 are escaped by a backslash, and that is doubled; `path` has the name as it is.
    """
    if node.kind not in ("file", "line"):
        return node.id
    raw = node.id.replace("\\", "\\\\").encode("utf-8", "surrogateescape")
    return f"{node.kind}:{raw.decode('utf-8', 'backslashreplace')}"


def _edge_value(edge: Edge) -> Value:
    made: Value = {"from": _name(edge.from_), "to": _name(edge.to), "rel": edge.rel}
    return made | ({"paths": [msgspec.to_builtins(path_of(path)) for path in edge.paths]} if edge.paths else {})


def _node_value(found: Lineage, node: Node) -> Value:
    made: Value = {"id": _name(node), "type": node.kind}
    about = _about(found, node)
    made |= {"missing": True} if about is None else about
    for name, walk in (("up", found.up), ("down", found.down)):
        if walk is not None and node in walk.distance:
            made[name] = walk.distance[node]
            made |= {f"more_{name}": walk.more[node]} if node in walk.more else {}
    return made


def _about(found: Lineage, node: Node) -> Value | None:
    if node.kind == "task":
        line = found.tasks.get(TaskId(node.id))
        return {"title": line.title, "status": line.status, "time": line.last_time} if line else None
    if node.kind == "commit":
        said = found.commits.get(Oid(node.id))
        return {"title": said.subject, "author": said.author, "time": said.time} if said else None
    if node.kind == "line":
        name, _, number = node.id.rpartition(":")
        return {"path": _path_value(name), "line": int(number)}
    if node.kind == "file":
        return {"path": _path_value(node.id)}
    sealed = found.events.get(EventId(node.id))
    if sealed is None:
        return None
    line = found.tasks.get(sealed.event.task)
    made: Value = {"kind": kind_name(sealed), "task": sealed.event.task, "title": line.title if line else None}
    actor = msgspec.to_builtins(sealed.event.actor) if sealed.event.actor else None
    return made | {"time": sealed.event.time, "actor": actor}


def _path_value(name: str) -> object:
    return msgspec.to_builtins(path_of(name.encode("utf-8", "surrogateescape")))


def dot(found: Lineage, labels: Labels) -> Iterator[str]:
    """Yields a lineage in Graphviz's language; an arrow leads from what rests to what it rests on."""
    names = _numbered(found)
    yield "digraph lineage {"
    yield "  node [shape=box];"
    for node, name in names.items():
        yield f'  {name} [label="{_dot_text(labels.of(node))}"{", style=bold" if node == found.asked else ""}];'
    for edge in found.edges:
        style = ", style=dashed, dir=none, constraint=false" if edge.rel == "concurrent" else ""
        yield f'  {names[edge.from_]} -> {names[edge.to]} [label="{_dot_text(_said(edge))}"{style}];'
    for node, way, count in _cuts(found):
        name = f"more_{way}_{names[node]}"
        yield f'  {name} [label="{count} more", shape=plaintext];'
        yield f"  {f'{names[node]} -> {name}' if way == 'up' else f'{name} -> {names[node]}'} [style=dotted];"
    yield "}"


def mermaid(found: Lineage, labels: Labels) -> Iterator[str]:
    """Yields a lineage in Mermaid's language, which Markdown pages show; arrows as in `dot`."""
    names = _numbered(found)
    yield "flowchart TD"
    for node, name in names.items():
        yield f'  {name}["{_mermaid_text(labels.of(node))}"]'
    for edge in found.edges:
        arrow = "-.-" if edge.rel == "concurrent" else "-->"
        yield f'  {names[edge.from_]} {arrow}|"{_mermaid_text(_said(edge))}"| {names[edge.to]}'
    for node, way, count in _cuts(found):
        name = f"more_{way}_{names[node]}"
        yield f'  {name}["{count} more"]'
        yield f"  {f'{names[node]} -.-> {name}' if way == 'up' else f'{name} -.-> {names[node]}'}"


def _numbered(found: Lineage) -> Mapping[Node, str]:
    return {node: f"n{at}" for at, node in enumerate(found.nodes)}


def _cuts(found: Lineage) -> Iterator[tuple[Node, str, int]]:
    for way, walk in (("up", found.up), ("down", found.down)):
        yield from ((node, way, count) for node, count in sorted(walk.more.items())) if walk else ()


def _said(edge: Edge) -> str:
    words = safe(edge.rel.replace("_", " "))
    return f"{words} {_paths(edge.paths)}" if edge.paths else words


def _dot_text(text: str) -> str:
    """Returns an escaped text for the inside of a quoted string, which no backslash and no quote of it ends."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _mermaid_text(text: str) -> str:
    """Returns an escaped text as Mermaid's entities: whatever is no letter, digit, space or plain mark is a number."""
    return _NOT_PLAIN.sub(lambda match: f"#{ord(match.group())};", text)
