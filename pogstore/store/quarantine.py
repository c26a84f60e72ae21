"""Judges what was fetched before anything of ours rests on it: bytes, carriers, graph, clocks, names and sizes.

A verdict depends on the fetched objects, and on what our own chains hold already, which was judged when it came.
Knows the format; knows nothing of remotes and nothing of what an event means.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pogstore import graph
from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import FORMAT, EventId, Oid, TaskId
from pogstore.store import chain, content, rows
from pogstore.store.carrier import carrier, content_commit, parents_of, tree_of
from pogstore.store.chain import Link
from pogstore.store.content import Entry
from pogstore.store.refs import content_ref
from pogstore.store.store import Store

_CONTENT_NAME = re.compile(r"[0-9a-f]{64}(?:-[0-9a-f]{16})?")
_COMMITTED = re.compile(rb"^committer [^\n]* ([0-9]{1,10}) \+0000$", re.MULTILINE)


class Judged(NamedTuple):
    """A fetched chain that is as it should be."""

    tip: Oid
    commits: frozenset[Oid]
    """Those that are new to us, and those of ours on which they rest."""
    clocks: tuple[int, ...] = ()
    """Of a task: the clocks of its new events, ascending."""
    entries: tuple[Entry, ...] = ()
    """Of contents: what the new commits hold."""


class _Edge(NamedTuple):
    """What the graph is judged by: an event with its parents, and the parents' carriers."""

    v: int
    event_id: EventId
    clock: int
    parents: tuple[EventId, ...]
    carriers: tuple[Oid, ...]


def judge_events(store: Store, task: TaskId, tip: Oid) -> Judged:
    """Returns the new part of a task's chain; raises `ObjectDamaged`, `NotCanonical` or `NotFound` for a bad one.

    The index must be up to date.
    """
    new: dict[Oid, _Edge] = {}
    for link in chain.events(
        store.objects, tip, lambda oid: rows.carried(store.index.connection, task, oid) is not None
    ):
        _check_carrier(store, task, link)
        new[link.oid] = _edge(link)
    edges = new.copy()
    for oid in {parent for edge in new.values() for parent in edge.carriers} - new.keys():
        edges[oid] = _edge(chain.read_link(store.objects, oid))
    for oid, edge in new.items():
        _check_edge(oid, edge, [edges[parent] for parent in edge.carriers])
    return Judged(tip, frozenset(edges), clocks=tuple(sorted(edge.clock for edge in new.values())))


def judge_contents(store: Store, task: TaskId, class_: str, tip: Oid) -> Judged:
    """Returns the new part of a content chain; raises `ObjectDamaged` or `NotFound` for a bad one.

    Every content that our own chain does not hold yet is read, within `pog.maxBlob`, and compared with its name. The
    index must be up to date.
    """
    ref, database = content_ref(task, class_), store.index.connection

    def is_checked(entry: Entry) -> bool:
        return entries.get(entry.name) == entry or rows.holds_stored(database, task, class_, entry.blob, entry.oid)

    commits = {tip}
    entries: dict[str, Entry] = {}
    for oid, commit in chain.commits(store.objects, tip, lambda oid: rows.holds_commit(database, ref, oid)):
        _check_content_commit(oid, commit)
        commits.update(parents_of(commit))
        for entry in chain.tree_entries(store.objects, tree_of(oid, commit)):
            if not _CONTENT_NAME.fullmatch(entry.name):
                raise ObjectDamaged(oid, "it holds something that is not named as a content")
            if not is_checked(entry):
                _check_content(store, entry)
            entries[entry.name] = entry
    return Judged(tip, frozenset(commits), entries=tuple(entries.values()))


def reachable(store: Store, tip: Oid) -> Iterator[Oid]:
    """Yields a commit and everything below it; what cannot be read leads nowhere."""
    pending, seen = [tip], {tip}
    while pending:
        oid = pending.pop()
        yield oid
        try:
            parents = parents_of(chain.read_commit(store.objects, oid))
        except (ObjectDamaged, NotFound):
            continue
        pending += [parent for parent in dict.fromkeys(parents) if parent not in seen]
        seen.update(parents)


def _edge(link: Link) -> _Edge:
    event = link.sealed.event
    return _Edge(event.v, link.sealed.event_id, event.clock, event.parents, link.carried.parents)


def _check_carrier(store: Store, task: TaskId, link: Link) -> None:
    """Makes the carrier again from its event: it must be the same. One of another `v` may follow other rules."""
    if link.sealed.event.task != task:
        raise ObjectDamaged(link.oid, f"an event of task '{link.sealed.event.task}'")
    if link.sealed.event.v != FORMAT:
        return
    made = carrier(link.sealed, link.carried.parents)
    if store.objects.name("commit", made) != link.oid:
        raise ObjectDamaged(link.oid, "it is not the carrier of its event")


def _check_edge(oid: Oid, edge: _Edge, parents: Sequence[_Edge]) -> None:
    if edge.v == FORMAT and not _are_named(edge.parents, parents):
        raise ObjectDamaged(oid, "its parents are not the carriers of its event's parents")
    if fault := graph.clock_fault(edge.clock, [parent.clock for parent in parents]):
        raise ObjectDamaged(oid, fault)


def _are_named(names: Sequence[EventId], parents: Sequence[_Edge]) -> bool:
    """Says whether these are the parents of these names; the id of one of another `v` may be made by another hash."""
    pairs = zip(names, parents, strict=False)
    return len(names) == len(parents) and all(parent.v != FORMAT or parent.event_id == name for name, parent in pairs)


def _check_content_commit(oid: Oid, commit: bytes) -> None:
    written = _COMMITTED.search(commit)
    time = int(written[1]) * 1_000_000 if written else 0
    if commit != content_commit(tree_of(oid, commit), parents_of(commit), time):
        raise ObjectDamaged(oid, "it is not a commit of contents")


def _check_content(store: Store, entry: Entry) -> None:
    kind, data = store.objects.read(entry.oid, store.max_blob)
    if kind != "blob" or content.blob_id(data) != entry.blob:
        raise ObjectDamaged(entry.blob, f"git object '{entry.oid}' holds something else")
    if entry.name == entry.blob:
        content.text_in(entry.blob, data)
