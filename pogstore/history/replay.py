"""`replay`: the recorded effects of events, applied again in replay order, and checked at every step.

Plans in memory and gives values: no process, no network, no model, and nothing is written. What writes a plan into a
branch or a directory is in `replayed_branch.py` and `replayed_directory.py`; the rules, for people, are in
`docs/explanation/replay.md`. This has nothing to do with `git replay`, which takes commits to another base.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from pogstore.errors import NotFound, UnsafePath
from pogstore.history.blame import BEFORE_UNSEEN
from pogstore.history.names import Named
from pogstore.history.replay_merge import Conflicted, Unverifiable, merged
from pogstore.history.replay_range import Group, groups_in, is_open, undone_in
from pogstore.history.replay_world import SUBMODULE, UNKNOWN, Contents, Held, Put, World
from pogstore.history.takeout import ENCODING_LOST
from pogstore.history.targets import Span, changes_of
from pogstore.model import Change, EventId, Oid, Path, Ran, Sealed, Side, Stepped
from pogstore.store import gitlog
from pogstore.store.carrier import tree_of
from pogstore.store.content import path_bytes, path_of
from pogstore.store.newtree import GitTree
from pogstore.store.store import MAX_CONTENT, Store
from pogstore.work.conversion import Conversion
from pogstore.work.paths import check_path, misspelling

APPLIED, IDENTICAL, SKIPPED = "applied", "identical", "skipped"
CONFLICTED, BLOCKED, DIVERGED = "conflicted", "blocked", "diverged"
UNVERIFIABLE, OPEN = "unverifiable", "open"
OUTCOMES = (APPLIED, IDENTICAL, SKIPPED, DIVERGED, OPEN, UNVERIFIABLE, BLOCKED, CONFLICTED)
"""What can come of an event, the best first; what comes of it is the worst of what comes of its changes."""
_BY_WEIGHT = (CONFLICTED, BLOCKED, UNVERIFIABLE, DIVERGED, APPLIED, SKIPPED, IDENTICAL)

UNDONE = "undone"
"""Why nothing comes of an operation and of what took it back: what it found there would come along."""

Progress = Callable[[int, int], None]


class Place(NamedTuple):
    """A path on which an event was not simply applied, and why, in the words in which conflicts are named."""

    path: Path
    reason: str


class Result(NamedTuple):
    """What came of one event; `on` is the event that was not applied and on which a blocked one rests."""

    event: Sealed
    outcome: str
    places: tuple[Place, ...] = ()
    on: EventId | None = None


class Step(NamedTuple):
    """What an event, or all the parts of one, does to the files; `arrived` is what git had brought before it."""

    results: tuple[Result, ...]
    puts: tuple[Put, ...] = ()
    arrived: tuple[Put, ...] = ()


class Replay(NamedTuple):
    """What a replay comes to. Files are those of the commit `base`, then `before`, then each step, in this order.

    `onto` says that the base was asked for, where the record does not know it. `before` are the files that the events
    found and that are not in the base. `absent_base` is a recorded base that is not here. `uncovered` are the calls
    that may have done more than was recorded. `refused` are the paths that no writer of ours takes.
    """

    base: Oid | None
    onto: bool
    before: tuple[Put, ...]
    steps: tuple[Step, ...]
    contents: Contents
    absent_base: str | None = None
    uncovered: tuple[EventId, ...] = ()
    refused: tuple[Place, ...] = ()

    @property
    def results(self) -> tuple[Result, ...]:
        """What came of each event, in replay order."""
        return tuple(result for step in self.steps for result in step.results)

    @property
    def is_whole(self) -> bool:
        """Whether no event was left out and none is in doubt."""
        return not any(result.outcome in (CONFLICTED, BLOCKED, UNVERIFIABLE) for result in self.results)

    @property
    def ok(self) -> bool:
        """Whether it is whole, and the record has no gap: onto another base, nothing can be said of gaps."""
        return self.is_whole and (self.onto or not any(result.outcome == DIVERGED for result in self.results))


def _untold(_done: int, _total: int) -> None:
    """Progress that nobody waits for."""


def plan_replay(
    store: Store, names: Iterable[Named | Span], onto: str | None = None, progress: Progress = _untold
) -> Replay:
    """Returns what applying the recorded effects of some events again comes to, on their own base or onto a revision.

    `progress` is told how many events were gone through, and of how many, after each. Raises `NotFound` where
    nothing changed a file, or for an unknown revision, and `Incomplete` where a newer reader is needed.
    """
    with store.one_moment():
        groups = groups_in(store, tuple(names))
        return plan_groups(store, groups, gitlog.commit_of(store.git, onto) if onto is not None else None, progress)


def replay_of(store: Store, named: Iterable[Named], onto: str | None = None) -> Replay:
    """Returns what `plan_replay` does for events and tasks that are named."""
    return plan_replay(store, named, onto)


def plan_groups(store: Store, groups: Sequence[Group], onto: Oid | None, progress: Progress = _untold) -> Replay:
    """Returns what `plan_replay` does, for events that are chosen already."""
    return _Replaying(store, groups, onto).replay(progress)


def tree_at(store: Store, commit: Oid) -> GitTree:
    """Returns the tree of a commit; raises `NotFound` or `ObjectDamaged`."""

    def read(oid: Oid) -> bytes:
        return store.objects.read(oid, MAX_CONTENT)[1]

    return GitTree(read, tree_of(commit, read(commit)))


class _Came(NamedTuple):
    """What comes of one change: its outcome and, where there is more to say, the reason; what it does to its paths."""

    outcome: str
    reason: str | None = None
    puts: tuple[Put, ...] = ()


class _Replaying:
    """A replay while it is planned: the files as they would be, and what came of each event so far."""

    def __init__(self, store: Store, groups: Sequence[Group], onto: Oid | None) -> None:
        self._store, self._groups, self._onto = store, groups, onto
        self._contents = Contents(store)
        self._trees: dict[str, GitTree | None] = {}
        self._touched_at: dict[bytes, str] = {}
        self._refused: dict[Place, None] = {}
        self._undone = undone_in(groups) if onto else frozenset()
        recorded = None if onto else next(filter(None, map(_base_of, _each(groups))), None)
        self._base = onto or (Oid(recorded.partition("_")[2]) if recorded and self._tree(recorded) else None)
        self._absent_base = recorded if recorded and self._base is None else None
        tree = tree_at(store, self._base) if self._base else None
        self._world = World(self._contents, tree)

    def replay(self, progress: Progress) -> Replay:
        """Goes through all events."""
        before = () if self._onto else self._before()
        steps = []
        for done, group in enumerate(self._groups, 1):
            steps.append(self._step(group))
            progress(done, len(self._groups))
        return Replay(
            self._base,
            self._onto is not None,
            before,
            tuple(steps),
            self._contents,
            self._absent_base,
            tuple(sealed.event_id for sealed in _each(self._groups) if _is_uncovered(sealed)),
            tuple(self._refused),
        )

    def _before(self) -> tuple[Put, ...]:
        """Lets each path hold what the first event on it found, and returns where that is not in the base."""
        seen: set[bytes] = set()
        puts: list[Put] = []
        for sealed in _each(self._groups):
            for change in changes_of(sealed):
                for path, found in self._found(sealed, change, _leaving([sealed])):
                    if path not in seen and not _is(self._world.now(path), found):
                        puts += self._arrive(path, found)
                seen.update(_paths_of(change))
        return tuple(puts)

    def _arrive(self, path: bytes, held: Held | None) -> list[Put]:
        puts = [*(self._world.room_for(path) if held is not None else ()), (path, held)]
        self._world.put(puts)
        return puts

    def _step(self, group: Group) -> Step:
        if group[0].event_id in self._undone:
            return Step(tuple(_left_undone(sealed) for sealed in group))
        paths = [path for sealed in group for change in changes_of(sealed) for path in _paths_of(change)]
        on = self._world.held_up(paths)
        if on is not None:
            self._world.hold_up(paths, on)
            return Step(tuple(Result(sealed, BLOCKED, (), on) for sealed in group))
        arrived = () if self._onto else tuple(self._arrivals(group))
        leaving = _leaving(group)
        came = {
            sealed.event_id: [self._came_of(sealed, change, leaving) for change in changes_of(sealed)]
            for sealed in group
        }
        puts = _together(each for results in came.values() for each in results)
        way = self._world.in_the_way(puts)
        results = tuple(self._result(sealed, came[sealed.event_id], way) for sealed in group)
        stop = (CONFLICTED, UNVERIFIABLE) if self._onto else (CONFLICTED,)
        fault = next((result for result in results if result.outcome in stop), None)
        if fault is not None:
            self._world.hold_up(paths, fault.event.event_id)
            return Step(tuple(_stopped(result, fault, stop) for result in results), (), arrived)
        self._world.put(puts)
        return Step(results, tuple(puts), arrived)

    def _arrivals(self, group: Group) -> Iterator[Put]:
        """Yields what a checkout or a pull has brought since: what an event found, and its new base has."""
        leaving = _leaving(group)
        for sealed in group:
            commit = _base_of(sealed)
            for change in changes_of(sealed):
                for path, found in self._found(sealed, change, leaving):
                    now = self._world.now(path)
                    if not _is(now, found) and (now is UNKNOWN or self._brought(commit, path, found)):
                        yield from self._arrive(path, found)
                self._touched_at.update(dict.fromkeys(_paths_of(change), commit or ""))

    def _brought(self, commit: str | None, path: bytes, found: Held | None) -> bool:
        if commit is None or self._touched_at.get(path, commit) == commit:
            return False
        tree = self._tree(commit)
        return tree is not None and _is(self._world.in_tree(tree, path), found)

    def _tree(self, commit: str) -> GitTree | None:
        """Returns the tree of a recorded base; nothing if the commit is not here."""
        if commit not in self._trees:
            try:
                self._trees[commit] = tree_at(self._store, Oid(commit.partition("_")[2]))
            except NotFound:
                self._trees[commit] = None
        return self._trees[commit]

    def _found(self, sealed: Sealed, change: Change, leaving: set[bytes]) -> list[Put]:
        """Returns what a change says that its paths held before it, as far as it says that."""
        if self._left_out(change) or _is_unseen(sealed, change):
            return []
        path, *older = _paths_of(change)
        before = self._held(change.before)
        if not older:
            return [(path, before)]
        return [(older[0], before), *([] if path in leaving else [(path, None)])]

    def _held(self, side: Side | None) -> Held | None:
        if side is None:
            return None
        return Held(side.mode, side.blob or "", seen=self._contents.absent(side) is None)

    def _left_out(self, change: Change) -> str | None:
        """Returns why a change is none of a replay's."""
        paths = _paths_of(change)
        if not paths or (change.from_ is not None and path_bytes(change.from_) is None):
            return "outside"
        if any(side is not None and side.mode == SUBMODULE for side in (change.before, change.after)):
            return "submodule"
        unsafe = [place for path in paths if (place := _unsafe(path))]
        self._refused.update(dict.fromkeys(unsafe))
        return "name" if unsafe else None

    def _came_of(self, sealed: Sealed, change: Change, leaving: set[bytes]) -> _Came:
        left_out = self._left_out(change)
        if left_out is not None:
            return _Came(SKIPPED, left_out)
        path, *older = _paths_of(change)
        after = self._held(change.after)
        if _is_unseen(sealed, change):
            return _Came(UNVERIFIABLE, "not-recorded", ((path, UNKNOWN if after is None else after),))
        source = older[0] if older else path
        puts: tuple[Put, ...] = (*((each, None) for each in older), (path, after))
        now, there = self._world.now(source), self._world.now(path) if older and path not in leaving else None
        is_there = now is None and _is(there, after) if older else _is(now, after)
        if is_there or (there is None and _is(now, self._held(change.before))):
            reason = self._unread(now, change.before) or self._unread(after, change.after)
            outcome = UNVERIFIABLE if reason else IDENTICAL if is_there else APPLIED
            return _Came(outcome, reason, puts)
        if there is not None:
            return _Came(CONFLICTED, "recreated-since")
        return self._merged(change, puts, now)

    def _unread(self, held: Held | None, side: Side | None) -> str | None:
        """Returns why something that is known by name alone is not seen."""
        if held is None or held.seen:
            return None
        return (self._contents.absent(side) if side is not None else None) or "content-absent"

    def _merged(self, change: Change, puts: tuple[Put, ...], now: Held | None) -> _Came:
        """Brings a change to a file that is another one than it found: three-way, from what it found."""
        before, after = self._held(change.before), self._held(change.after)
        path = puts[-1][0].decode("utf-8", "surrogateescape")
        try:
            found = merged(self._contents, (before, now, after), lambda: self._conversion.merges_lines(path))
        except Conflicted as fault:
            return _Came(CONFLICTED, fault.reason)
        except Unverifiable:
            reasons = (self._unread(held, side) for held, side in ((before, change.before), (after, change.after)))
            return _Came(UNVERIFIABLE, next(filter(None, reasons), "content-absent"), puts)
        if _is(found, now) and len(puts) == 1:
            return _Came(IDENTICAL)
        moved = (*puts[:-1], (puts[-1][0], found))
        return _Came(APPLIED, None, moved) if _is(found, after) else _Came(DIVERGED, "merged", moved)

    @cached_property
    def _conversion(self) -> Conversion:
        conversion = Conversion(self._store)
        paths = {path for sealed in _each(self._groups) for change in changes_of(sealed) for path in _paths_of(change)}
        conversion.look_up(path.decode("utf-8", "surrogateescape") for path in sorted(paths))
        return conversion

    def _result(self, sealed: Sealed, came: Sequence[_Came], way: bytes | None) -> Result:
        """Returns what came of an event, from what came of its changes; `way` is a path that has no room."""
        changes = changes_of(sealed)
        found = [
            _Came(CONFLICTED, "in-the-way") if way is not None and way in dict(each.puts) else each for each in came
        ]
        outcome = next((name for name in _BY_WEIGHT if any(each.outcome == name for each in found)), IDENTICAL)
        if is_open(sealed) and (not changes or (outcome == DIVERGED and not self._onto)):
            outcome = OPEN
        pairs = zip(changes, found, strict=True)
        return Result(sealed, outcome, tuple(Place(change.path, each.reason) for change, each in pairs if each.reason))


def _each(groups: Iterable[Group]) -> Iterator[Sealed]:
    return (sealed for group in groups for sealed in group)


def _base_of(sealed: Sealed) -> str | None:
    base = getattr(sealed.event, "base", None)
    return base.commit if base is not None else None


def _is_uncovered(sealed: Sealed) -> bool:
    event = sealed.event
    return isinstance(event, Stepped | Ran) and (event.coverage == "none" or event.effects == "outside")


def _is_unseen(cause: Sealed, change: Change) -> bool:
    """Whether the record does not say what a change found, or what it left."""
    reason = getattr(cause.event, "coverage_reason", None)
    if reason == ENCODING_LOST or (change.before is None and change.after is None):
        return True
    return reason == BEFORE_UNSEEN and change.before is None


def _is(one: Held | None, other: Held | None) -> bool:
    return one is None and other is None if one is None else one.is_like(other)


def _paths_of(change: Change) -> list[bytes]:
    """Returns the path of a change and, if it moves a file, the one that the file had; none outside."""
    path = path_bytes(change.path)
    moved = change.from_ is not None and change.before is not None and change.after is not None
    older = path_bytes(change.from_) if moved and change.from_ is not None else None
    return [] if path is None else [path] if older in (None, path) else [path, older or b""]


def _unsafe(path: bytes) -> Place | None:
    """Returns the path with the reason why nobody may write it; a name that is only misspelled may be."""
    name = path.decode("utf-8", "surrogateescape")
    try:
        check_path(name)
    except UnsafePath as fault:
        return None if misspelling(name) is not None else Place(path_of(path), fault.reason)
    return None


def _leaving(group: Iterable[Sealed]) -> set[bytes]:
    """Returns the paths that an event empties: another file may move there at once."""
    changes = [change for sealed in group for change in changes_of(sealed)]
    gone = {_paths_of(change)[0] for change in changes if change.after is None and _paths_of(change)}
    return gone | {older for change in changes for older in _paths_of(change)[1:]}


def _together(came: Iterable[_Came]) -> list[Put]:
    """Returns what changes that happen at once do to their paths: what is moved away goes first."""
    every = [put for each in came for put in each.puts]
    return [*(put for put in every if put[1] is None), *(put for put in every if put[1] is not None)]


def _left_undone(sealed: Sealed) -> Result:
    return Result(sealed, IDENTICAL, tuple(Place(change.path, UNDONE) for change in changes_of(sealed)))


def _stopped(result: Result, fault: Result, stop: Sequence[str]) -> Result:
    """Returns the result of a part of an event that does not apply, since not all parts do."""
    if result.outcome in stop:
        return result
    return result._replace(outcome=BLOCKED, places=(), on=fault.event.event_id)
