"""Events that belong together, and events that tell the same thing twice: parts and echoes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pogstore import model
from pogstore.model import Change, EventId, Opaque, Sealed, Slice, kind_of

_Group = tuple[Sealed, ...]


class Whole(NamedTuple):
    """Events whose parts are all there, and the parts that lack others and therefore do not apply."""

    events: tuple[Sealed, ...]
    partial: tuple[Sealed, ...]


class Distinct(NamedTuple):
    """Events without their echoes; which event stands for each echo; the pairs (used, echo) that differ in changes."""

    used: tuple[Sealed, ...]
    echoes: dict[EventId, EventId]
    disagreeing: tuple[tuple[EventId, EventId], ...]


def whole(events: Sequence[Sealed]) -> Whole:
    """Returns the events without those parts whose group is not complete.

    A group is a chain: each part has the one before among its parents, is of the same kind, and says the same `of`.
    """
    complete = {sealed.event_id for group in _groups(events) for sealed in group}
    partial = tuple(s for s in events if _part(s) and s.event_id not in complete)
    absent = {sealed.event_id for sealed in partial}
    return Whole(tuple(s for s in events if s.event_id not in absent), partial)


def distinct(events: Sequence[Sealed]) -> Distinct:
    """Returns the events without echoes, in the order given, which must be the replay order.

    Events of one task and kind with equal source, or with equal session and call, are the same thing told twice. What
    was captured live stands for what was imported, then the first for the others; the parts of a group stand or fall
    together.
    """
    echoes: dict[EventId, EventId] = {}
    disagreeing: list[tuple[EventId, EventId]] = []
    for tellings in _tellings(_groups(events)):
        kept, *others = sorted(tellings, key=lambda group: _imported(group[0]))
        for group in others:
            echoes.update({sealed.event_id: kept[min(n, len(kept) - 1)].event_id for n, sealed in enumerate(group)})
            if _changes(group) != _changes(kept):
                disagreeing.append((kept[0].event_id, group[0].event_id))
    return Distinct(tuple(s for s in events if s.event_id not in echoes), echoes, tuple(disagreeing))


def _part(sealed: Sealed) -> Slice | None:
    return None if isinstance(sealed.event, Opaque) else sealed.event.part


def _groups(events: Sequence[Sealed]) -> Iterator[_Group]:
    """Yields what applies together, in the order of the first parts: an event by itself, or all parts of a group."""
    parts = {sealed.event_id: sealed for sealed in events if _part(sealed)}
    chains: dict[EventId, _Group] = {}
    walked: set[EventId] = set()
    for sealed in parts.values():
        part = _part(sealed)
        if part and part.n == part.of and (chain := _chain(sealed, parts, walked)):
            chains[chain[0].event_id] = chain
    for sealed in events:
        if sealed.event_id not in parts:
            yield (sealed,)
        elif sealed.event_id in chains:
            yield chains[sealed.event_id]


def _chain(last: Sealed, parts: Mapping[EventId, Sealed], walked: set[EventId]) -> _Group:
    """Returns all parts that lead to a last one, or nothing if one is absent or belongs to another chain."""
    chain: list[Sealed] = []
    found: Sealed | None = last
    while found is not None and found.event_id not in walked:
        walked.add(found.event_id)
        chain.append(found)
        if _place(found)[-1] == 1:
            return tuple(reversed(chain))
        found = _part_before(found, parts)
    return ()


def _part_before(sealed: Sealed, parts: Mapping[EventId, Sealed]) -> Sealed | None:
    kind, of, n = _place(sealed)
    for parent in sealed.event.parents:
        if parent in parts and _place(parts[parent]) == (kind, of, n - 1):
            return parts[parent]
    return None


def _place(sealed: Sealed) -> tuple[type, int, int]:
    part = _part(sealed)
    return (type(sealed.event), part.of, part.n) if part else (type(sealed.event), 1, 1)


def _tellings(groups: Iterable[_Group]) -> Iterator[list[_Group]]:
    """Yields what was told more than once, each with all its tellings in order."""
    listed = list(groups)
    roots = list(range(len(listed)))
    first: dict[tuple[str, ...], int] = {}
    for n, group in enumerate(listed):
        for sealed in group:
            for key in _keys(sealed):
                one, other = _root(roots, first.setdefault(key, n)), _root(roots, n)
                roots[max(one, other)] = min(one, other)
    tellings: dict[int, list[_Group]] = {}
    for n, group in enumerate(listed):
        tellings.setdefault(_root(roots, n), []).append(group)
    return (same for same in tellings.values() if len(same) > 1)


def _root(roots: list[int], n: int) -> int:
    while roots[n] != n:
        roots[n] = roots[roots[n]]
        n = roots[n]
    return n


def _keys(sealed: Sealed) -> Iterator[tuple[str, ...]]:
    event = sealed.event
    if isinstance(event, Opaque):
        return
    if event.source is not None:
        yield event.task, kind_of(event), "source", event.source.format, event.source.key
    if isinstance(event, model.Stepped | model.Ran) and event.call_id and event.actor.session:
        yield event.task, kind_of(event), "call", event.actor.session, event.call_id


def _imported(sealed: Sealed) -> bool:
    event = sealed.event
    return not isinstance(event, Opaque) and event.source is not None and event.source.format != "spool"


def _changes(group: _Group) -> frozenset[Change]:
    return frozenset(change for sealed in group for change in _changes_of(sealed))


def _changes_of(sealed: Sealed) -> tuple[Change, ...]:
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    return changes
