"""Which events a replay is of: those of tasks and chains, and single ones, in replay order.

What is told twice is taken once, and the parts of an event are taken together. Reads; decides nothing about effects.
"""

from collections.abc import Iterable, Sequence

from pogstore import state
from pogstore.errors import Incomplete, NotFound
from pogstore.graph import ancestors, replay_order
from pogstore.history.names import Named
from pogstore.history.operations import UNDO
from pogstore.history.targets import Span, changes_of, spelled, whole_event
from pogstore.model import EventId, Opaque, Path, Ran, Restored, Sealed, Stepped, TaskId
from pogstore.store.store import Store

Group = tuple[Sealed, ...]
"""An event, or all the parts of one, which apply together."""


def groups_in(store: Store, names: Sequence[Named | Span]) -> list[Group]:
    """Returns what changed files in some tasks, events and chains, and the calls in them that never ended.

    In replay order. Raises `NotFound` if nothing there changed a file, and `Incomplete` where a newer reader or a part
    is needed.
    """
    by_task: dict[TaskId, list[Named | Span]] = {}
    for name in names:
        by_task.setdefault(name.task, []).append(name)
    found = [group for task, own in by_task.items() for group in _groups_of(store, task, own)]
    if not any(changes_of(sealed) for group in found for sealed in group):
        raise NotFound("recorded change", spelled(*names) if names else "@", "'git pog log' shows what events changed")
    starts = {group[0].event_id: group for group in found}
    return [starts[sealed.event_id] for sealed in replay_order(group[0] for group in found)]


def is_open(sealed: Sealed) -> bool:
    """Says whether an event is a call whose end was never seen (case RC-47)."""
    event = sealed.event
    if isinstance(event, Ran):
        return event.ok is None and event.exit_code is None
    return isinstance(event, Stepped) and event.ok is None


def undone_in(groups: Sequence[Group]) -> frozenset[EventId]:
    """Returns the first events of operations that others of these take back exactly, and of those others.

    An undo writes what its operation found. Elsewhere that is what stands there without both, unless somebody changed
    the same paths between the two.
    """
    at = {sealed.event_id: place for place, group in enumerate(groups) for sealed in group}
    paths = [_touched(group) for group in groups]
    found: set[int] = set()
    for last in range(len(groups) - 1, -1, -1):
        event = groups[last][0].event
        if last in found or not isinstance(event, Restored) or event.strategy != UNDO:
            continue
        places = {at.get(target, -1) for target in event.targets}
        first = min(places, default=-1)
        own = {last, *places}
        between = (place for place in range(first + 1, last) if place not in own and place not in found)
        whole = first >= 0 and all({each.event_id for each in groups[place]} <= set(event.targets) for place in places)
        if whole and found.isdisjoint(own) and all(paths[place].isdisjoint(paths[last]) for place in between):
            found |= own
    return frozenset(groups[place][0].event_id for place in found)


def _touched(group: Group) -> set[Path]:
    changes = [change for sealed in group for change in changes_of(sealed)]
    return {path for change in changes for path in (change.path, change.from_) if path is not None}


def _groups_of(store: Store, task: TaskId, names: Sequence[Named | Span]) -> list[Group]:
    every = store.events(task)
    if any(isinstance(sealed.event, Opaque) for sealed in every):
        raise Incomplete(f"task '{task}'", state.NEEDS_NEWER)
    whole = state.whole(every)
    if whole.partial:
        raise Incomplete(f"task '{task}'", "parts of an event are not here")
    distinct = state.distinct(whole.events)
    wanted: set[EventId] = set()
    for name in names:
        wanted |= {distinct.echoes.get(event_id, event_id) for event_id in _ids_in(store, every, name)}
    groups = [group for group in _grouped(distinct.used) if not wanted.isdisjoint(each.event_id for each in group)]
    return [group for group in groups if any(map(_concerns, group))]


def _ids_in(store: Store, events: Sequence[Sealed], name: Named | Span) -> Iterable[EventId]:
    """Returns the events that a name means, out of all those of its task."""
    if isinstance(name, Named):
        return [name.event_id] if name.event_id is not None else [sealed.event_id for sealed in events]
    parents = {sealed.event_id: sealed.event.parents for sealed in events}

    def up_to(event_id: EventId) -> set[EventId]:
        last = whole_event(store, event_id)[-1].event_id  # of an event in parts the last one stands for all
        return {last} | ancestors((last,), lambda each: parents.get(each, ()))

    wanted = up_to(name.until) if name.until is not None else set(parents)
    return wanted - up_to(name.after) if name.after is not None else wanted


def _concerns(sealed: Sealed) -> bool:
    """Whether an event changed files, or may have: what only reads has no effect to be seen."""
    if changes_of(sealed):
        return True
    return is_open(sealed) and getattr(sealed.event, "class_", "read") != "read"


def _grouped(events: Iterable[Sealed]) -> list[Group]:
    """Returns events in their order, the parts of one together in the place of the first."""
    groups: list[list[Sealed]] = []
    ends: dict[EventId, list[Sealed]] = {}
    for sealed in events:
        part = getattr(sealed.event, "part", None)
        parents = sealed.event.parents if part is not None and part.n > 1 else ()
        group = next((ends.pop(parent) for parent in parents if parent in ends), None)
        if group is None:
            group = []
            groups.append(group)
        group.append(sealed)
        if part is not None and part.n < part.of:
            ends[sealed.event_id] = group
    return [tuple(group) for group in groups]
