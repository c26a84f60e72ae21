"""Which events are to be taken out: those named, the tool calls of a task or of its sub-tasks, or those of a chain.

A chain is written as git writes a range of commits: `A..B` is what B descends from, B with it, and A does not, A left
out with it. Knows nothing of files.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

from pogstore import state
from pogstore.errors import BadInput, Incomplete, NotFound
from pogstore.graph import ancestors, reach
from pogstore.history.names import Active, Named, resolve
from pogstore.history.pathhistory import PathHistory
from pogstore.history.streamed import changes_of, effective_times
from pogstore.history.tasks import summaries
from pogstore.model import Change, EventId, Opaque, Ran, Sealed, Slice, Stepped, TaskId
from pogstore.store.content import path_bytes
from pogstore.store.pathspec import matching
from pogstore.store.store import Store

__all__ = [
    "Names",
    "Order",
    "Span",
    "asked_for",
    "changes_of",
    "chosen_paths",
    "is_uncovered",
    "names_of",
    "resolve_target",
    "spelled",
    "whole_event",
]


FEW = 3
"""How many names a message has."""


class Span(NamedTuple):
    """A chain of one task: what came up to one event (or to the last) and is not one that another rests on, or it."""

    task: TaskId
    after: EventId | None
    until: EventId | None


Names = Sequence[Named | Span]


class Order:
    """The order in which blame takes all events of some tasks, found out once for each choice of tasks."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._places: dict[frozenset[TaskId], dict[EventId, int]] = {}

    def of(self, events: Iterable[Sealed]) -> list[Sealed]:
        """Returns events, each once, in the order in which blame takes all the events of their tasks."""
        wanted = {sealed.event_id: sealed for sealed in events}
        tasks = frozenset(sealed.event.task for sealed in wanted.values())
        if tasks not in self._places:
            every = [sealed for task in sorted(tasks) for sealed in self.store.events(task)]
            self._places[tasks] = {sealed.event_id: at for at, (_, sealed) in enumerate(effective_times(every))}
        places = self._places[tasks]
        return sorted(wanted.values(), key=lambda sealed: places[sealed.event_id])


def resolve_target(store: Store, name: str, active: Active) -> Named | Span:
    """Returns what a name means: a task, an event, or with `..` in it a chain.

    Raises as `names.resolve` does, and `BadInput` for what is no chain of one task.
    """
    first, dots, last = name.partition("..")
    if not dots:
        return resolve(store, name, active)
    if not (first or last) or last.startswith("."):
        raise BadInput(f"'{name}'", "a chain is written EVENT.., ..EVENT or EVENT..EVENT")
    begin, end = (resolve(store, each, active) if each else None for each in (first, last))
    if begin is not None and begin.event_id is None:
        raise BadInput(f"'{name}'", "a chain begins after an event", f"try '{first}@{{3}}..', or name the task alone")
    if begin is not None and end is not None and begin.task != end.task:
        raise BadInput(f"'{name}'", "the two ends of a chain must be events of one task")
    task = (begin or end or Named(TaskId(""))).task
    return Span(task, begin.event_id if begin else None, end.event_id if end else None)


def asked_for(store: Store, names: Names, *, subtasks: bool = False) -> list[Sealed]:
    """Returns the events that some names mean, each once, in the order in which blame takes them.

    With `subtasks` a task brings its sub-tasks along, and theirs. Raises `NotFound` for a name without a recorded
    change, and `Incomplete` where a newer reader is needed.
    """
    found: dict[EventId, Sealed] = {}
    for name in names:
        events = _meant(store, name, subtasks=subtasks)
        if not any(map(changes_of, events)):
            raise NotFound("recorded change", spelled(name), "'git pog log' shows what events changed")
        found |= {sealed.event_id: sealed for sealed in events}
    return Order(store).of(found.values())


def chosen_paths(
    store: Store, names: Names, pathspecs: Sequence[str], cwd: FilePath | None = None, *, subtasks: bool = False
) -> frozenset[bytes]:
    """Returns the paths of what some names mean that pathspecs choose, and the names to which those files have moved.

    `cwd` is where the pathspecs were written, by default the root of the work tree. Raises `NotFound` if they choose
    none.
    """
    events = asked_for(store, names, subtasks=subtasks)
    named = [(sealed, change, names_of(change)) for sealed in events for change in changes_of(sealed)]
    every = {name for *_, found in named for name in found}
    chosen = matching(store.git, every, pathspecs, cwd)
    if not chosen:
        raise NotFound("recorded change", " ".join(pathspecs), "'git pog diff' shows which paths an event changed")
    history = PathHistory(store, chosen)
    moved = (
        name.encode("utf-8", "surrogateescape")
        for sealed, change, found in named
        if not chosen.isdisjoint(found)
        for name in history.moves(change.path, sealed)
    )
    return frozenset((*chosen, *moved))


def names_of(change: Change) -> tuple[bytes, ...]:
    """Returns the name of a changed file, and the one it had before; none for one outside the repository."""
    sides = (change.path, change.from_)
    return tuple(name for side in sides if side is not None and (name := path_bytes(side)) is not None)


def is_uncovered(sealed: Sealed) -> bool:
    """Whether a tool call may have done more than was recorded of it."""
    event = sealed.event
    return isinstance(event, Stepped | Ran) and (event.coverage == "none" or event.effects == "outside")


def whole_event(store: Store, event_id: EventId) -> list[Sealed]:
    """Returns an event with the parts that apply together with it; raises `Incomplete` if one is missing."""
    sealed = store.event(event_id)
    if isinstance(sealed.event, Opaque):
        raise Incomplete(f"event '{event_id}'", state.NEEDS_NEWER)
    if sealed.event.part is None:
        return [sealed]
    group = [sealed]
    events = state.whole(store.events(sealed.event.task)).events
    for other in events:
        if _is_next(group[-1], other):
            group.append(other)
    for other in reversed(events):
        if _is_next(other, group[0]):
            group.insert(0, other)
    if len(group) != sealed.event.part.of:
        raise Incomplete(f"event '{event_id}'", "parts of it are not here")
    return group


def _meant(store: Store, name: Named | Span, *, subtasks: bool) -> list[Sealed]:
    if isinstance(name, Span):
        return _chain(store, name)
    if name.event_id is not None:
        return whole_event(store, name.event_id)
    tasks = [name.task, *_subtasks(store, name.task)] if subtasks else [name.task]
    return [sealed for task in tasks for sealed in _tool_calls(store, task)]


def spelled(*names: Named | Span) -> str:
    """Returns names as a message has them."""
    if len(names) != 1:
        return " ".join(map(spelled, names[:FEW])) + (" …" if len(names) > FEW else "")
    (name,) = names
    if isinstance(name, Span):
        return f"{(name.after or '')[:16]}..{(name.until or '')[:16]}"
    return name.event_id or name.task


def _subtasks(store: Store, task: TaskId) -> list[TaskId]:
    """Returns all tasks below one, each once, whatever cycles their links form."""
    children: dict[TaskId, list[TaskId]] = {}
    for line in summaries(store):
        for link in line.links:
            if link.rel == "parent" and link.task is not None:
                children.setdefault(link.task, []).append(line.task)
    return sorted(set(reach((task,), lambda each: children.get(each, ()))) - {task})


def _chain(store: Store, span: Span) -> list[Sealed]:
    parents = {sealed.event_id: sealed.event.parents for sealed in store.events(span.task)}

    def up_to(event_id: EventId) -> set[EventId]:
        return {event_id} | ancestors((event_id,), lambda each: parents.get(each, ()))

    # of an event in parts the last one stands for all
    wanted = up_to(whole_event(store, span.until)[-1].event_id) if span.until is not None else set(parents)
    wanted -= up_to(whole_event(store, span.after)[-1].event_id) if span.after is not None else set()
    return [sealed for sealed in _tool_calls(store, span.task) if sealed.event_id in wanted]


def _tool_calls(store: Store, task: TaskId) -> list[Sealed]:
    """Returns the tool calls of a task, each told once."""
    whole = state.whole(store.events(task))
    if any(isinstance(sealed.event, Opaque) for sealed in whole.events):
        raise Incomplete(f"task '{task}'", state.NEEDS_NEWER)
    if whole.partial:
        raise Incomplete(f"task '{task}'", "parts of an event are not here")
    return [sealed for sealed in state.distinct(whole.events).used if isinstance(sealed.event, Stepped | Ran)]


def _is_next(one: Sealed, other: Sealed) -> bool:
    """Whether an event is the part that follows another."""
    if type(one.event) is not type(other.event) or one.event_id not in other.event.parents:
        return False
    part, following = (getattr(sealed.event, "part", None) for sealed in (one, other))
    return part is not None and following == Slice(n=part.n + 1, of=part.of)
