"""Which events a replay is of: tasks, single events, and the events of a task from one on, up to one, in replay order.

What is told twice is taken once, and the parts of an event are taken together. Reads; decides nothing about effects.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pogstore import state
from pogstore.errors import BadInput, Incomplete, NotFound
from pogstore.graph import replay_order
from pogstore.history.names import Active, Named, resolve, resolve_task
from pogstore.model import Change, EventId, Opaque, Ran, Sealed, Stepped, TaskId
from pogstore.store.store import Store

Group = tuple[Sealed, ...]
"""An event, or all the parts of one, which apply together."""


class Span(NamedTuple):
    """Events of one task: all of them, or those after `after` up to `last`; with both alike that event alone."""

    task: TaskId
    after: EventId | None = None
    last: EventId | None = None


def span_of(store: Store, written: str, active: Active) -> Span:
    """Returns what somebody wrote: `TASK`, `EVENT`, or `A..B`, which is what came after A up to B, as in git.

    Either end of a range may be empty; an end that is a task stands for that whole side. Raises `NotFound`,
    `AmbiguousName`, and `BadInput` for ends in two tasks.
    """
    first, dots, second = written.partition("..")
    if not dots:
        return span_of_named(resolve(store, written, active))
    after = resolve(store, first, active) if first else None
    last = resolve(store, second, active) if second else None
    task = after.task if after else last.task if last else resolve_task(store, "@", active)
    if last is not None and last.task != task:
        raise BadInput(f"'{written}'", "its ends are in two tasks", "name two ranges, one for each task")
    span = Span(task, after.event_id if after else None, last.event_id if last else None)
    if span.after is not None and span.after == span.last:
        raise NotFound("event", written, "a range begins after its first end")
    return span


def span_of_named(named: Named) -> Span:
    """Returns the events that a name means."""
    return Span(named.task, named.event_id, named.event_id)


def groups_in(store: Store, spans: Iterable[Span]) -> list[Group]:
    """Returns what changed files in some spans, and the calls in them that never ended, in replay order.

    Raises `NotFound` for a span, or all of them, without any change, and `Incomplete` where a newer reader or a part
    is needed.
    """
    by_task: dict[TaskId, list[Span]] = {}
    for span in spans:
        by_task.setdefault(span.task, []).append(span)
    found = [group for task, own in by_task.items() for group in _groups_of(store, task, own)]
    if not any(changes_of(sealed) for group in found for sealed in group):
        raise NotFound("recorded change", _spelled(list(by_task)), "'git pog log' shows what events changed")
    starts = {group[0].event_id: group for group in found}
    return [starts[sealed.event_id] for sealed in replay_order(group[0] for group in found)]


def changes_of(sealed: Sealed) -> tuple[Change, ...]:
    """Returns what an event changed."""
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    return changes


def is_open(sealed: Sealed) -> bool:
    """Says whether an event is a call whose end was never seen (case RC-47)."""
    event = sealed.event
    if isinstance(event, Ran):
        return event.ok is None and event.exit_code is None
    return isinstance(event, Stepped) and event.ok is None


def _spelled(tasks: Sequence[TaskId]) -> str:
    return tasks[0] if len(tasks) == 1 else f"{len(tasks)} tasks"


def _groups_of(store: Store, task: TaskId, spans: Sequence[Span]) -> list[Group]:
    every = store.events(task)
    if any(isinstance(sealed.event, Opaque) for sealed in every):
        raise Incomplete(f"task '{task}'", state.NEEDS_NEWER)
    whole = state.whole(every)
    if whole.partial:
        raise Incomplete(f"task '{task}'", "parts of an event are not here")
    distinct = state.distinct(whole.events)
    wanted: set[EventId] = set()
    for span in spans:
        wanted |= {distinct.echoes.get(event_id, event_id) for event_id in _ids_in(every, span)}
    groups = [group for group in _grouped(distinct.used) if not wanted.isdisjoint(each.event_id for each in group)]
    return [group for group in groups if any(map(_concerns, group))]


def _ids_in(events: Sequence[Sealed], span: Span) -> list[EventId]:
    """Returns the events of a span, out of all those of its task in replay order."""
    if span.after is not None and span.after == span.last:
        return [span.after]
    ids = [sealed.event_id for sealed in events]
    begin = ids.index(span.after) + 1 if span.after is not None else 0
    end = ids.index(span.last) + 1 if span.last is not None else len(ids)
    return ids[begin:end]


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
