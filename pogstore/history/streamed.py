"""What was recorded and committed of one file, as the steps that attribution takes."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from pogstore import state
from pogstore.errors import UnsafePath
from pogstore.graph import replay_order
from pogstore.history.explanation import Key
from pogstore.history.stream import SECOND, SLACK, CommitStep, EventStep, Kind
from pogstore.model import BlobId, Change, Observed, Opaque, Replayed, Restored, RolledBack, Sealed, Side
from pogstore.store import rows
from pogstore.store.content import path_bytes
from pogstore.store.gitlog import FormerName, PathCommit
from pogstore.store.store import Store
from pogstore.work.paths import check_relative

BEFORE_UNSEEN = "no-before"
"""Why an event's coverage is partial if nobody saw what a file held before."""
ABSENT = "absent:"
"""Begins the key of a version whose content is not here."""
MOST_MOVES = 8
"""So many recorded renames of one file are followed to a name that git knows."""
MOST_LINKED = 64
"""So many changes of one event say which event it went on from."""
COMMIT_DELAY = SECOND
"""µs: a commit counts as made at the end of its second, so that an event of the same second comes before it."""


def events_on(store: Store, names: Sequence[bytes]) -> list[Sealed]:
    """Returns the events on some paths in replay order, each told once (echoes left out).

    An event may be a part of a longer one, which counts as a whole: whether it is whole, its other parts say.
    """
    return told_once(store, (sealed for several in store.standing_on(names).values() for sealed in several))


def told_once(store: Store, events: Iterable[Sealed]) -> list[Sealed]:
    """Returns some events in replay order, without echoes of others of them and without parts of what is not whole."""
    found = {sealed.event_id: sealed for sealed in events}
    parts = _other_parts(store, found.values())
    used = state.distinct(state.whole(replay_order([*found.values(), *parts])).events).used
    return [sealed for sealed in used if sealed.event_id in found]


def recorded_names(store: Store, path: bytes) -> Iterator[bytes]:
    """Yields the names from which recorded renames have led to a path, the last first, as far as git takes them."""
    seen = {path}
    name = _moved_from(store, path)
    while name is not None and name not in seen and len(seen) <= MOST_MOVES and _is_inside(name):
        yield name
        seen.add(name)
        name = _moved_from(store, name)


def _moved_from(store: Store, path: bytes) -> bytes | None:
    """Returns the name that a file had before it was last moved to a path; nothing if it was made there since."""
    for sealed in reversed(store.standing_on((path,))[path]):
        for change in reversed(store.decoded.changes_on(sealed, (path,))):
            if path_bytes(change.path) != path:
                continue
            if change.from_ is not None:
                return path_bytes(change.from_)
            if change.before is None or change.after is None:
                return None
    return None


def _is_inside(name: bytes) -> bool:
    try:
        check_relative(name.decode("utf-8", "surrogateescape"))
    except UnsafePath:
        return False
    return True


def _other_parts(store: Store, events: Iterable[Sealed]) -> list[Sealed]:
    """Returns the parts of some events' groups that are not among them."""
    have = {sealed.event_id for sealed in events}
    tasks = sorted({sealed.event.task for sealed in events if is_part(sealed)})
    every = [sealed for task in tasks for sealed in store.standing_events(task)]
    return [sealed for sealed in every if is_part(sealed) and sealed.event_id not in have]


def is_part(sealed: Sealed) -> bool:
    """Says whether an event is one of several that apply together or not at all."""
    return getattr(sealed.event, "part", None) is not None


class OfOthers:
    """Tells what happened to other files under a former name: to the file that was copied, and to one made there later.

    What another branch does to the file under its former name still counts, since a merge brings it over.
    """

    def __init__(self, former: Iterable[FormerName]) -> None:
        self._former = {each.name: each for each in former}
        self._versions: set[tuple[bytes, Key]] = set()

    def has_commit(self, commit: PathCommit) -> bool:
        """Says whether a commit is about another file; commits come first of all, in their order."""
        return self._has(commit.path, commit.time, commit.before, commit.after, made=commit.before is None)

    def has_event(self, name: bytes, step: EventStep) -> bool:
        """Says whether a change is about another file; changes come in their order."""
        made = step.before is None and not step.unsure
        return self._has(name, step.time - SLACK, step.before, step.after, made=made)

    def _has(self, name: bytes, time: int, before: Key | None, after: Key | None, *, made: bool) -> bool:
        former = self._former.get(name)
        if former is None or time <= former.until:
            return False
        other = former.copied or made or (before is not None and (name, before) in self._versions)
        if other and after is not None:
            self._versions.add((name, after))
        return other


def event_steps(store: Store, events: Iterable[Sealed], names: set[bytes], of_others: OfOthers) -> list[EventStep]:
    """Returns the changes of events on some paths, in the order of their effective times."""
    found = []
    for time, sealed in effective_times(events):
        on_names = store.decoded.changes_on(sealed, names)
        changes = [(name, each) for each in on_names if (name := path_bytes(each.path)) in names and name]
        moved = _moved_side(each for _, each in changes)
        for name, change in changes:
            if change.before or change.after:
                before, after = _side_key(store, change.before or moved), _side_key(store, change.after)
                unsure = getattr(sealed.event, "coverage_reason", None) == BEFORE_UNSEEN
                step = EventStep(
                    sealed.event_id, time, before, after, _chain(sealed, name), unsure, _kind(sealed), _duration(sealed)
                )
                if not of_others.has_event(name, step):
                    found.append(step)
    return found


def _moved_side(changes: Iterable[Change]) -> Side | None:
    """Returns what a file was made of that one step moved and edited: under its names one vanished as one came."""
    either = [each for each in changes if not (each.before and each.after)]
    gone = [each.before for each in either if each.before]
    return gone[0] if len(gone) == 1 and len(either) == 2 and any(each.after for each in either) else None


def effective_times(events: Iterable[Sealed]) -> list[tuple[int, Sealed]]:
    """Returns events with the greatest `time` of each and its predecessors, in the order in which blame takes them.

    Predecessors are the earlier events of the same task; of what was recorded live also those of the same work tree
    and whoever left what an event found. What another clone did meanwhile is none, for its clocks run beside ours, nor
    is what an import tells of other tasks (`docs/decisions/0005-order-of-imported-events.md`).
    """
    latest: dict[str, int] = {}
    found = []
    for sealed in sorted(events, key=lambda sealed: (sealed.event.clock, sealed.event_id)):
        time = max(sealed.event.time, *(latest.get(each, 0) for each in (sealed.event.task, *_found_by(sealed))))
        latest |= dict.fromkeys((sealed.event.task, *_left_by(sealed)), time)
        found.append((time, sealed))
    return sorted(found, key=lambda item: (item[0], item[1].event.clock, item[1].event_id))


def _found_by(sealed: Sealed) -> Iterator[str]:
    """Yields what an event that was recorded live went on from: its work tree, and contents."""
    yield from _of_place(sealed)
    if not _imported(sealed):
        yield from (
            change.before.blob for change in changes_of(sealed)[:MOST_LINKED] if change.before and change.before.blob
        )


def _left_by(sealed: Sealed) -> Iterator[str]:
    """Yields what others may go on from."""
    yield from _of_place(sealed)
    if not _imported(sealed):
        yield from (
            change.after.blob for change in changes_of(sealed)[:MOST_LINKED] if change.after and change.after.blob
        )


def _of_place(sealed: Sealed) -> Iterator[str]:
    place = None if _imported(sealed) or isinstance(sealed.event, Opaque) else sealed.event.worktree
    if place:
        yield f"worktree {place}"


def _imported(sealed: Sealed) -> bool:
    event = sealed.event
    return not isinstance(event, Opaque) and event.source is not None and event.source.format != "spool"


def commit_steps(commits: Iterable[PathCommit]) -> Iterator[CommitStep]:
    """Yields the commits that changed a path; a merge only if it differs from every parent."""
    for commit, several in groupby(commits, key=lambda row: row.commit):
        changes = list(several)
        before = tuple(dict.fromkeys(row.before for row in changes if row.before))
        if max(row.against for row in changes) < len(changes[0].parents):
            continue
        for after in dict.fromkeys(row.after for row in changes if row.after):
            yield CommitStep(commit, changes[0].time + COMMIT_DELAY, changes[0].authored, after, before)


def _chain(sealed: Sealed, name: bytes) -> str:
    event = sealed.event
    actor = event.actor
    place = (None if isinstance(event, Opaque) else event.worktree) or (actor.session if actor else None) or event.task
    return f"{place}:{name.hex()}"


def _kind(sealed: Sealed) -> Kind:
    """Returns what an event saw: only an edit is known to have written all that it changed."""
    if isinstance(sealed.event, Observed | RolledBack | Restored | Replayed):
        return "observed"  # an operation of ours brings back what was there
    return "edit" if getattr(sealed.event, "class_", "edit") == "edit" else "shell"


def _duration(sealed: Sealed) -> int | None:
    duration: int | None = getattr(sealed.event, "duration_ms", None)
    return None if duration is None else duration * 1_000


def changes_of(sealed: Sealed) -> tuple[Change, ...]:
    """Returns what an event changed."""
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    return changes


def _side_key(store: Store, side: Side | None) -> Key | None:
    if side is None:
        return None
    return _key(store, side) or f"{ABSENT}{side.blob or side.commit}"


def _key(store: Store, side: Side) -> Key | None:
    if side.blob is None:
        return None
    found = rows.contents(store.index.connection, BlobId(side.blob))
    return found[0].oid if found else None
