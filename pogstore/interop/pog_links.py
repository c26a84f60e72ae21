"""The ids of POG Task's tasks and the edges between them. Knows no YAML, no events and no texts."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pogstore.draft import Oddity, derived_task_id
from pogstore.interop.pog_fields import Fields, texts_in
from pogstore.interop.pog_history import FORMAT
from pogstore.model import Link, TaskId

NIL = "00000000-0000-0000-0000-000000000000"
MAX_LINKS = 1_000
"""How many links one event takes; a definition keeps all of what its file says."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)
_SHAPE = re.compile(r"[0-9a-z]{8}(-[0-9a-z]{4}){3}-[0-9a-z]{12}", re.ASCII)
_V4 = re.compile(r".{14}4.{4}[89ab]")
_EDGES = (("parent_task", "parent"), ("dependencies", "depends_on"), ("blocking", "blocks"))


class Edges(NamedTuple):
    """What one task says of others: where it stands in the source, and its fields."""

    task: TaskId
    where: str
    fields: Fields


def task_id_of(raw_id: str, repository: str) -> TaskId:
    """Returns the task id for an id as a file spells it: itself if it is a UUID, else one derived from it."""
    lower = raw_id.lower()
    if _UUID.fullmatch(lower) and lower != NIL:
        return TaskId(lower)
    return derived_task_id(FORMAT, repository, raw_id)


def id_oddities(raw_id: str) -> Iterator[tuple[str, str]]:
    """Yields what is not as it should be about an id."""
    lower = raw_id.lower()
    if lower == NIL:
        yield "I-05", "the nil UUID, told apart by repository"
    elif not _UUID.fullmatch(lower):
        yield (
            ("I-01", "an id that is not hexadecimal") if _SHAPE.fullmatch(lower) else ("I-04", "an id that is no UUID")
        )
    elif not _V4.match(lower):
        yield "I-02", "a UUID that is not version 4"
    if raw_id != lower:
        yield "I-03", "an id in upper case"


def links(subjects: Sequence[Edges], repository: str) -> list[tuple[Link, ...]]:
    """Returns the links of each subject, in the order in which its fields name them; none is to itself."""
    claimed: dict[TaskId, list[TaskId]] = {each.task: [] for each in subjects}
    for subject in subjects:
        for child in _children(subject, repository):
            claimed.get(child, []).append(subject.task)
    return [_links(each, claimed[each.task], repository)[:MAX_LINKS] for each in subjects]


def _links(subject: Edges, parents: Sequence[TaskId], repository: str) -> tuple[Link, ...]:
    named = (*_named(subject.fields, repository), *(("parent", parent) for parent in parents))
    return tuple(Link(rel=rel, task=other) for rel, other in dict.fromkeys(named) if other != subject.task)


def link_oddities(subjects: Sequence[Edges], repository: str) -> Iterator[Oddity]:
    """Yields what is odd about the edges of all tasks taken together."""
    named = {each.task: frozenset(_named(each.fields, repository)) for each in subjects}
    claims = _children_by_parent(named)
    for subject in subjects:
        faults = (*_own_faults(subject, named, repository), *_child_faults(subject, named, claims, repository))
        yield from (Oddity(code=code, where=subject.where, detail=detail) for code, detail in faults)
    where = {each.task: each.where for each in subjects}
    for rel, graph in _graphs(named):
        yield from (
            Oddity(code="I-28", where=where[task], detail=f"in or between cycles of {rel}")
            for task in sorted(_in_cycles(graph))
        )


def _named(fields: Fields, repository: str) -> Iterator[tuple[str, TaskId]]:
    for key, rel in _EDGES:
        yield from ((rel, task_id_of(raw, repository)) for raw in texts_in(fields.get(key)) if raw)


def _children(subject: Edges, repository: str) -> list[TaskId]:
    return [task_id_of(raw, repository) for raw in texts_in(subject.fields.get("subtasks")) if raw]


_Named = Mapping[TaskId, frozenset[tuple[str, TaskId]]]


def _own_faults(subject: Edges, named: _Named, repository: str) -> Iterator[tuple[str, str]]:
    task = subject.task
    if len(named[task]) > MAX_LINKS:
        yield "I-28", f"{len(named[task])} links, of which {MAX_LINKS} were taken"
    for rel, other in _named(subject.fields, repository):
        if other == task:
            yield "I-28", f"a {rel} link to itself, left out"
        elif other not in named:
            yield "I-28", f"a {rel} link to {other}, which is not there"
        elif rel == "depends_on" and ("blocks", task) not in named[other]:
            yield "I-28", f"depends on {other}, which does not say that it blocks this"
        elif rel == "blocks" and ("depends_on", task) not in named[other]:
            yield "I-28", f"blocks {other}, which does not say that it depends on this"
        if rel == "parent" and ("depends_on", other) in named[task]:
            yield "I-28", f"depends on its own parent {other}"


def _children_by_parent(named: _Named) -> dict[TaskId, list[TaskId]]:
    found: dict[TaskId, list[TaskId]] = {}
    for task, own in named.items():
        for rel, other in own:
            if rel == "parent":
                found.setdefault(other, []).append(task)
    return found


def _child_faults(
    subject: Edges, named: _Named, claims: Mapping[TaskId, Sequence[TaskId]], repository: str
) -> Iterator[tuple[str, str]]:
    children = frozenset(_children(subject, repository))
    for child in sorted(children):
        if child == subject.task:
            yield "I-28", "a subtask of itself, left out"
        elif child not in named:
            yield "I-28", f"its subtask {child} is not there, and no link to it"
        elif ("parent", subject.task) not in named[child]:
            yield "I-29", f"its subtask {child} does not name it as parent"
    if "subtasks" in subject.fields:
        silent = (task for task in claims.get(subject.task, ()) if task not in children)
        yield from (("I-29", f"{task} names it as parent and is not among its subtasks") for task in silent)


def _graphs(named: _Named) -> Iterator[tuple[str, dict[TaskId, set[TaskId]]]]:
    parents: dict[TaskId, set[TaskId]] = {task: set() for task in named}
    needs: dict[TaskId, set[TaskId]] = {task: set() for task in named}
    for task, own in named.items():
        for rel, other in own:
            if other == task or other not in named:
                continue
            graph, source, target = (needs, other, task) if rel == "blocks" else (needs, task, other)
            (parents if rel == "parent" else graph)[source].add(target)
    yield "parents", parents
    yield "dependencies", needs


def _in_cycles(graph: Mapping[TaskId, Iterable[TaskId]]) -> set[TaskId]:
    """Returns what neither beginnings nor ends can be peeled off from: all cycles, and what lies between two."""
    backward: dict[TaskId, set[TaskId]] = {task: set() for task in graph}
    for task, others in graph.items():
        for other in others:
            backward[other].add(task)
    return _unpeeled(graph) & _unpeeled(backward)


def _unpeeled(graph: Mapping[TaskId, Iterable[TaskId]]) -> set[TaskId]:
    incoming = Counter(other for others in graph.values() for other in others)
    ready = [task for task in graph if not incoming[task]]
    left = set(graph)
    while ready:
        task = ready.pop()
        left.discard(task)
        for other in graph[task]:
            incoming[other] -= 1
            if not incoming[other]:
                ready.append(other)
    return left
