"""`trace`: the inverse of blame. Which lines of some events still stand, at which places, and what share survived.

A line counts as added by every event that added it, so a line that an agent wrote and then wrote anew counts twice.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pogstore import state
from pogstore.errors import NotFound
from pogstore.graph import replay_order
from pogstore.history.blame import BEFORE_UNSEEN, MOST_NAMES, Blame, blame, changed_files
from pogstore.history.elsewhere import paths_elsewhere
from pogstore.history.names import Named
from pogstore.history.past import Past
from pogstore.model import Actor, BlobId, Change, EventId, Observed, Oid, Ran, Sealed, Side, Stepped
from pogstore.store import gitdiff, gitlog
from pogstore.store.content import path_bytes
from pogstore.store.libgit2 import line_hunks
from pogstore.store.store import Store

DAY = 86_400
"""Seconds by which a commit's clock may be behind an event's."""
ACTOR_TYPES = ("agent", "human", "tool")


class Place(NamedTuple):
    """Lines in a row, `first` to `last`, that one event wrote."""

    first: int
    last: int
    event: EventId


class Standing(NamedTuple):
    """The lines in one file: at HEAD, and in the work tree if there is one."""

    path: bytes
    head: tuple[Place, ...]
    work_tree: tuple[Place, ...] | None


class Trace(NamedTuple):
    """What still stands of some events.

    `added` counts the lines that each event added, so far as what it changed is here; `uncounted` names the others.
    `absent` are the events, of whomever, whose contents blame lacked. A bare repository has no work tree.
    """

    events: dict[EventId, Sealed]
    added: dict[EventId, int]
    uncounted: tuple[EventId, ...]
    files: tuple[Standing, ...]
    absent: tuple[EventId, ...]
    has_work_tree: bool

    def standing(self, *, in_work_tree: bool = False) -> Counter[EventId]:
        """Returns how many lines of each event stand at HEAD or in the work tree."""
        found: Counter[EventId] = Counter()
        for file in self.files:
            for place in (file.work_tree or ()) if in_work_tree else file.head:
                found[place.event] += place.last - place.first + 1
        return found

    def survived(self, *, in_work_tree: bool = False) -> int:
        """Returns how many of the added lines stand; never more than were added, whatever was copied (case PC-26).

        All events are taken together: of two blank lines it cannot be told which event added which.
        """
        standing = self.standing(in_work_tree=in_work_tree)
        return min(sum(standing[event] for event in self.added), sum(self.added.values()))


def events_of(store: Store, named: Named) -> list[Sealed]:
    """Returns the event that is named, or those of the task, each told once."""
    if named.event_id is not None:
        return [store.event(named.event_id)]
    return list(state.distinct(state.whole(store.events(named.task)).events).used)


def events_by(store: Store, name: str) -> list[Sealed]:
    """Returns the events of an actor, in all tasks, each told once; raises `NotFound` if nobody is called so.

    An actor is called by name, model or session; `agent:NAME`, `human:NAME` and `tool:NAME` say which kind is meant.
    """
    type_, colon, rest = name.partition(":")
    wanted, types = (rest, (type_,)) if colon and type_ in ACTOR_TYPES else (name, ACTOR_TYPES)
    every = [sealed for task in store.tasks() for sealed in store.events(task)]
    used = state.distinct(state.whole(replay_order(every)).events).used
    found = [sealed for sealed in used if _is_called(sealed.event.actor, wanted, types)]
    if not found:
        raise NotFound("task, event or actor", name, "'git pog log' shows who acted, 'git pog list --all' the tasks")
    return found


def _is_called(actor: Actor | None, name: str, types: Sequence[str]) -> bool:
    if actor is None or actor.type not in types or not name:
        return False
    person = actor.on_behalf_of.name if actor.on_behalf_of and not actor.name else None
    return name in (actor.name, actor.model, actor.session, person)


def trace(store: Store, events: Iterable[Sealed]) -> Trace:
    """Returns which lines of some events stand at HEAD and in the work tree. Writes nothing but the index."""
    changing = {sealed.event_id: sealed for sealed in events if _changes(sealed)}
    added, uncounted = _added(store, changing.values())
    with store.one_moment():
        files, absent = _standing(store, changing)
    return Trace(changing, added, tuple(uncounted), tuple(files), tuple(absent), store.layout.work_tree is not None)


def _added(store: Store, events: Iterable[Sealed]) -> tuple[dict[EventId, int], list[EventId]]:
    """Returns how many lines each event added; and the events of which that is not known."""
    added: dict[EventId, int] = {}
    uncounted: list[EventId] = []
    for sealed in events:
        if not isinstance(sealed.event, Stepped | Ran | Observed):
            continue
        counts = [_added_by(store, sealed, change) for change in _changes(sealed)]
        if None in counts:
            uncounted.append(sealed.event_id)
        else:
            added[sealed.event_id] = sum(count or 0 for count in counts)
    return added, uncounted


def _added_by(store: Store, sealed: Sealed, change: Change) -> int | None:
    """Returns how many lines one change added; nothing if either side is not here."""
    unseen = change.before is None and getattr(sealed.event, "coverage_reason", None) == BEFORE_UNSEEN
    if unseen or (change.before is None and change.after is None):
        return None
    before, after = _content(store, change.before), _content(store, change.after)
    if before is None or after is None:
        return None
    return 0 if b"\0" in after else sum(hunk.new_lines for hunk in line_hunks(before, after))


def _content(store: Store, side: Side | None) -> bytes | None:
    if side is None:
        return b""
    try:
        return store.read_content(BlobId(side.blob)) if side.blob is not None else None
    except NotFound:
        return None


def _standing(store: Store, wanted: dict[EventId, Sealed]) -> tuple[list[Standing], list[EventId]]:
    head = gitlog.find_head(store.git)
    committed = gitdiff.files_at(store.git, head) if head else set()
    changed = set(changed_files(store)) if store.layout.work_tree else set()
    found, absent = [], dict[EventId, None]()

    def places(path: bytes, revision: str | None) -> tuple[Place, ...]:
        blamed = blame(store, path, revision)
        absent.update(dict.fromkeys(blamed.absent))
        return tuple(_places(blamed, wanted))

    for path in _names(store, wanted.values(), head):
        here = places(path, head) if path in committed else ()
        there = None
        if store.layout.work_tree is not None:
            as_committed = path in committed and path not in changed
            there = (here if as_committed else places(path, None)) if _is_file(store, path) else ()
        if here or there:
            found.append(Standing(path, here, there))
    return found, list(absent)


def _is_file(store: Store, path: bytes) -> bool:
    root = store.layout.work_tree
    file = root / path.decode("utf-8", "surrogateescape") if root else None
    return file is not None and file.is_file() and not file.is_symlink()


def _places(blamed: Blame, wanted: dict[EventId, Sealed]) -> Iterator[Place]:
    """Yields the lines of some events, those of one event in a row together."""
    last: Place | None = None
    for line in blamed.lines:
        event = line.event or line.observed
        if event not in wanted or event is None:
            continue
        if last is not None and last.event == event and last.last == line.number - 1:
            last = last._replace(last=line.number)
            continue
        if last is not None:
            yield last
        last = Place(line.number, line.number, event)
    if last is not None:
        yield last


def _names(store: Store, events: Iterable[Sealed], head: Oid | None) -> list[bytes]:
    """Returns the paths that some events changed and those to which commits or events moved them later, sorted."""
    every = list(events)
    paths = {path_bytes(change.path) for sealed in every for change in _changes(sealed)}
    moved: dict[bytes, set[bytes]] = defaultdict(set)
    if head is not None and every:
        since = min(sealed.event.time for sealed in every) // 1_000_000 - DAY
        for old, new in gitdiff.renames(store.git, head, max(since, 0)):
            moved[old].add(new)
    found = sorted(path for path in paths if path is not None)
    known = set(found)
    for path in found:  # grows while it is walked
        later = sorted({*moved[path], *_moved_by_events(store, path)} - known)[:MOST_NAMES]
        known.update(later)
        found += later
    return sorted({*found, *_brought_elsewhere(store, known, head)})


def _brought_elsewhere(store: Store, paths: set[bytes], head: Oid | None) -> Iterator[bytes]:
    """Yields the files of a commit that stood under one of some paths before history was rewritten."""
    if head is None:
        return
    past = Past(store, head)
    files = gitdiff.files_at(store.git, head)
    called = {path.rpartition(b"/")[2] for path in paths - files}
    for file in sorted(files - paths):
        if file.rpartition(b"/")[2] in called and not paths.isdisjoint(paths_elsewhere(store, past, [file])):
            yield file


def _moved_by_events(store: Store, path: bytes) -> Iterator[bytes]:
    for sealed in store.events_on(path):
        for change in store.decoded.changes_on(sealed, (path,)):
            name = path_bytes(change.path)
            if name is not None and change.from_ is not None and path_bytes(change.from_) == path:
                yield name


def _changes(sealed: Sealed) -> tuple[Change, ...]:
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    return changes
