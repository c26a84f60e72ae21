"""What paths hold after a set of events, and which events are before another.

Takes what events recorded; reads no content and no work tree.
"""

from collections.abc import Iterable, Iterator, Sequence

from pogstore import graph, state
from pogstore.errors import Incomplete
from pogstore.history.streamed import BEFORE_UNSEEN, changes_of, effective_times
from pogstore.history.takeout import ENCODING_LOST
from pogstore.model import Change, EventId, Opaque, Sealed, Side
from pogstore.store.content import path_bytes
from pogstore.store.store import Store

UNSEEN = Side(mode="")
"""Stands for what nobody recorded: it names no content, and is equal to nothing, itself included."""


def put(held: dict[bytes, Side | None], changes: Iterable[Change]) -> None:
    """Applies one change list to what paths hold; a path that is known to hold no file stands with `None`.

    A change without sides says that nobody knows what its path holds since: `UNSEEN`. Paths outside the repository are
    left out. The order of the list means nothing: its changes are one moment.
    """
    listed = list(changes)
    for change in listed:
        older = path_bytes(change.from_) if change.from_ is not None else None
        if older is not None:
            held[older] = None
    for change in listed:
        path = path_bytes(change.path)
        if path is not None:
            held[path] = UNSEEN if change.before is None and change.after is None else change.after


def held_after(events: Iterable[Sealed]) -> dict[bytes, Side | None]:
    """Returns what each path that some events changed holds after them; they stand in their order."""
    held: dict[bytes, Side | None] = {}
    for sealed in events:
        held |= {path: after for path, _, after in sides_on(sealed)}
    return held


def same(one: Side | None, other: Side | None) -> bool:
    """Says whether two sides are surely the same file version, or both no file."""
    if one is None or other is None:
        return one is None and other is None
    named = one.blob or one.commit
    return named is not None and (one.mode, named) == (other.mode, other.blob or other.commit)


def sides_on(sealed: Sealed) -> Iterator[tuple[bytes, Side | None, Side | None]]:
    """Yields for each path that an event changed what it held before and after; `UNSEEN` where nobody recorded that.

    A file that moved is two paths: one that held it before, one that holds it after.
    """
    held: dict[bytes, Side | None] = {}
    put(held, changes_of(sealed))
    before: dict[bytes, Side | None] = {}
    lost = getattr(sealed.event, "coverage_reason", None)
    for change in changes_of(sealed):
        path, older = path_bytes(change.path), path_bytes(change.from_) if change.from_ is not None else None
        unseen = lost == ENCODING_LOST or (change.before is None and (change.after is None or lost == BEFORE_UNSEEN))
        side = UNSEEN if unseen else change.before
        if older is not None:
            before.setdefault(older, side)
        if path is not None:
            before[path] = None if older is not None and older != path else side
    for path, after in held.items():
        yield path, before.get(path), UNSEEN if lost == ENCODING_LOST and after is not None else after


def cut(store: Store, event_id: EventId) -> tuple[Sealed, ...]:
    """Returns the events of the smallest consistent cut that holds an event, in the order in which blame takes events.

    For what was recorded live that is the replay order (`docs/decisions/0005-order-of-imported-events.md`). The cut is
    the event with its parts and their ancestors, and of other tasks what stands before it and was done in the same work
    tree, or in none that is known. What was told twice stands there once, and parts that lack others do not stand
    there. Raises `NotFound`, and `Incomplete` for an event that is such a part.
    """
    with store.one_moment():
        task = store.event(event_id).event.task
        told = {each: store.events(each) for each in store.tasks()}
    last = standing_for(event_id, told[task])
    own = {sealed.event_id: sealed for sealed in told[task]}
    wanted = {last.event_id, *graph.ancestors((last.event_id,), lambda child: _parents(own.get(child)))}
    found = []
    for _, sealed in effective_times([sealed for events in told.values() for sealed in told_once(events)]):
        if sealed.event_id in wanted or (sealed.event.task != task and is_beside(sealed, last)):
            found.append(sealed)
        if sealed.event_id == last.event_id:
            break
    return tuple(found)


def told_once(events: Sequence[Sealed]) -> tuple[Sealed, ...]:
    """Returns events in replay order without echoes, and without the parts that lack others."""
    return state.distinct(state.whole(events).events).used


def standing_for(event_id: EventId, events: Sequence[Sealed]) -> Sealed:
    """Returns the event that stands for one of a task's events: the last of its parts, as it was told first.

    Raises `Incomplete` for a part that lacks others.
    """
    whole = state.whole(events)
    if any(sealed.event_id == event_id for sealed in whole.partial):
        raise Incomplete(f"event '{event_id}'", "parts of it are not here")
    told = state.distinct(whole.events)
    last = next(sealed for sealed in told.used if sealed.event_id == told.echoes.get(event_id, event_id))
    for other in told.used:
        if is_next_part(last, other):
            last = other
    return last


def is_next_part(one: Sealed, other: Sealed) -> bool:
    """Says whether an event is the part that follows another."""
    part, following = (getattr(sealed.event, "part", None) for sealed in (one, other))
    if part is None or following is None or one.event_id not in other.event.parents:
        return False
    return type(one.event) is type(other.event) and (following.n, following.of) == (part.n + 1, part.of)


def is_beside(sealed: Sealed, other: Sealed) -> bool:
    """Says whether an event may have been seen by the files that another saw: of one work tree, or of none known."""
    places = (worktree_of(sealed), worktree_of(other))
    return None in places or places[0] == places[1]


def worktree_of(sealed: Sealed) -> str | None:
    """Returns the work tree in which an event was made, if it says so."""
    return None if isinstance(sealed.event, Opaque) else sealed.event.worktree


def _parents(sealed: Sealed | None) -> tuple[EventId, ...]:
    return sealed.event.parents if sealed is not None else ()
