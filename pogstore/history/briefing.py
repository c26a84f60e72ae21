"""What somebody needs who is to work on a task: what is recorded of it, and whose words its definition is."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pogstore import state
from pogstore.errors import ObjectDamaged
from pogstore.history.related import MOST_PATHS, Related, related
from pogstore.history.tasks import find_definition, read_state
from pogstore.model import Change, Decided, Defined, Definition, Noted, Reviewed, Sealed, TaskId, Text
from pogstore.state import TaskState
from pogstore.store import relations
from pogstore.store.content import path_bytes
from pogstore.store.store import Store
from pogstore.work import defined_here

NOT_HERE, DAMAGED = "not here: private, erased or not fetched", "damaged: see 'git pog verify'"
READ, ABOUT, CHANGED = "to read before", "about it", "changed by it"


class Said(NamedTuple):
    """An event with what was said, or why that cannot be told: `NOT_HERE` or `DAMAGED`."""

    sealed: Sealed
    text: str | None
    lacking: str | None = None


class FileSeen(NamedTuple):
    """A file, why it is named, and the last event that changed it."""

    path: bytes
    roles: tuple[str, ...]
    last: Sealed | None


class Briefing(NamedTuple):
    """All that is recorded of a task and of what it rests on; lists stand in replay order, files the nearest first.

    `is_own` says that a person wrote the definition in this very repository: whatever else there is was written by
    others, or cannot be told from what was.
    """

    task: TaskId
    now: TaskState
    definition: Definition | None
    is_own: bool
    reason: str | None
    outcome: str | None
    decisions: tuple[Said, ...]
    notes: tuple[Said, ...]
    reviews: tuple[Said, ...]
    files: tuple[FileSeen, ...]
    related: tuple[Related, ...]


def briefing(store: Store, task: TaskId) -> Briefing:
    """Returns what is recorded of a task; raises `NotFound` if there is no such task."""
    now = read_state(store, task)
    events = state.distinct(state.whole(store.events(task)).events).used
    definition = find_definition(store, now)
    roles = _roles(definition, events)
    return Briefing(
        task=task,
        now=now,
        definition=definition,
        is_own=definition is not None and _is_own(store, now, events),
        reason=_text(store, now.reason),
        outcome=_text(store, now.outcome),
        decisions=tuple(_said(store, events, Decided)),
        notes=tuple(_said(store, (each for each in events if not _is_of_hook(each)), Noted)),
        reviews=tuple(_said(store, events, Reviewed)),
        files=tuple(_files(store, roles)),
        related=tuple(related(store, task, roles)),
    )


def _is_own(store: Store, now: TaskState, events: Iterable[Sealed]) -> bool:
    """Says whether a person wrote the definition in force, here: its first telling counts, a share adds nothing."""
    blob = now.definition_id
    told = (each.event for each in events if isinstance(each.event, Defined) and each.event.definition.blob == blob)
    first = next(told, None)
    return first is not None and first.actor.type == "human" and defined_here.is_here(store, first.definition.blob)


def _is_of_hook(sealed: Sealed) -> bool:
    """Says whether a note is a call of a hook that was kept as it came."""
    return isinstance(sealed.event, Noted) and sealed.event.source is not None


def _said(store: Store, events: Iterable[Sealed], kind: type) -> Iterator[Said]:
    for sealed in events:
        if isinstance(sealed.event, kind):
            named = getattr(sealed.event, "text", None)
            try:
                text = store.find_text(named)
            except ObjectDamaged:
                yield Said(sealed, None, DAMAGED)
            else:
                yield Said(sealed, text, NOT_HERE if named is not None and text is None else None)


def _text(store: Store, text: Text | None) -> str | None:
    try:
        return store.find_text(text)
    except ObjectDamaged:
        return None


def _roles(definition: Definition | None, events: Iterable[Sealed]) -> dict[bytes, tuple[str, ...]]:
    """Returns the files of a task, each with why it is named: those to read, those it is about, the last changed."""
    roles: dict[bytes, tuple[str, ...]] = {}
    named = [(READ, path) for path in definition.context_files] if definition else []
    named += [(ABOUT, path) for path in definition.related_files] if definition else []
    every = [(role, path.encode("utf-8", "surrogateescape")) for role, path in named]
    changed: list[bytes] = []
    for sealed in events:
        changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
        changed += [path for change in changes if (path := path_bytes(change.path)) is not None]
    every += [(CHANGED, path) for path in dict.fromkeys(reversed(changed))]
    for role, path in every:
        roles[path] = tuple(dict.fromkeys((*roles.get(path, ()), role)))
    return roles


def _files(store: Store, roles: dict[bytes, tuple[str, ...]]) -> Iterator[FileSeen]:
    store.refresh()
    for at, (path, why) in enumerate(roles.items()):
        last = relations.last_on_path(store.index.connection, path) if at < MOST_PATHS else None
        yield FileSeen(path, why, store.event(last) if last else None)
