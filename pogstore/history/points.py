"""Rollback points: where the work of a task can go back to, what a point lacks, and what is in the way right now.

Reads; writes nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pogstore.errors import NoWorkTree
from pogstore.history.pointnames import marked_by
from pogstore.history.restore import find_lack, in_the_way, side_of
from pogstore.history.snapshot import UNSEEN, same, worktree_of
from pogstore.history.streamed import changes_of
from pogstore.history.takeout import SUBMODULE
from pogstore.history.timeline import Held, Moment, PointId, Timeline, Way, is_own, way_of, ways
from pogstore.history.tree import Obstructed, Tree
from pogstore.model import EventId, Observed, Path, Ran, Sealed, Side, Stepped, TaskId
from pogstore.store.store import Store
from pogstore.work.paths import misspelling

INCOMPLETE = "incomplete"
"""What every point of a task lacks that holds events which this version does not understand, or parts of events."""


class Lack(NamedTuple):
    """Why a point is partial: the reason, and of how many tool calls or paths it is true."""

    reason: str
    times: int


class Point(NamedTuple):
    """A rollback point. `in_the_way` counts the paths that stand in the way of going back; absent if nobody looked."""

    at: PointId
    sealed: Sealed
    names: tuple[str, ...] = ()
    lacks: tuple[Lack, ...] = ()
    in_the_way: int | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all that the task did until then was seen, and can be had."""
        return not self.lacks

    @property
    def changes(self) -> tuple[Path, ...]:
        """The paths that its event changed, by their names now."""
        return tuple(change.path for change in changes_of(self.sealed))


class _Where(NamedTuple):
    """The points of one task in one work tree."""

    timeline: Timeline
    place: str | None
    points: list[Point]


def points(
    store: Store,
    named: Mapping[str, PointId],
    here: str | None,
    tasks: Iterable[TaskId],
    *,
    elsewhere: bool = False,
    check: bool = True,
    limit: int | None = None,
) -> list[Point]:
    """Returns the points of some tasks, the newest first: those of the work tree `here`, or of all with `elsewhere`.

    With `check`, what the files hold is compared with the points that are returned, each path once.
    """
    with store.one_moment():
        groups = [group for task in tasks for group in _of_task(store, task, here, named, elsewhere=elsewhere)]
        every = [(point, at) for at, group in enumerate(groups) for point in group.points]
        every.sort(key=lambda item: (item[0].sealed.event.clock, item[0].sealed.event_id, not item[0].at.before))
        shown = every[::-1][:limit]
        files = _files(store) if check else None
        known = {
            (at, point.at): point
            for at in sorted({at for _, at in shown})
            for point in _Sweep(store, groups[at], files).run({point.at for point, of in shown if of == at})
        }
        return [known[at, point.at] for point, at in shown]


def newest_event(store: Store, task: TaskId, here: str | None) -> EventId | None:
    """Returns the last event of a task in a work tree that is not itself the name of a point."""
    own = Timeline(store, task, [here]).own
    found = [sealed for sealed in own if marked_by(sealed) is None]
    return found[-1].event_id if found else None


def lack_of(sealed: Sealed) -> str | None:
    """Returns why nobody can tell all that an event did, by one reason; nothing if it is known.

    A tool that edits files says which, so that those which it named are all (`docs/decisions/`).
    """
    event = sealed.event
    if isinstance(event, Observed):
        return "observed" if event.coverage in ("partial", "none") else None
    if not isinstance(event, Stepped | Ran) or event.class_ == "read":
        return None
    if event.ok is None:
        return "no-end"
    if event.effects in ("outside", "unknown"):
        return event.effects
    if event.coverage is None:
        return "none" if event.class_ in ("shell", "mcp") else None
    return None if event.coverage == "exact" or (event.coverage, event.class_) == ("scoped", "edit") else event.coverage


def _of_task(
    store: Store, task: TaskId, here: str | None, named: Mapping[str, PointId], *, elsewhere: bool
) -> Iterator[_Where]:
    places: Sequence[str | None] = [here]
    if elsewhere:
        places = [
            here,
            *sorted({place for each in store.events(task) if (place := worktree_of(each)) not in (None, here)}),
        ]
    for place in places:
        timeline = Timeline(store, task, [here, place])
        names: defaultdict[EventId, list[str]] = defaultdict(list)
        for name, point in named.items():
            if point.task == task and (last := timeline.find_last(point.event_id)):
                names[last].append(name)
        own = [each for each in timeline.own if worktree_of(each) == place or (place == here and not worktree_of(each))]
        yield _Where(timeline, place, [point for sealed in own for point in _points_at(sealed, names)])


def _points_at(sealed: Sealed, names: Mapping[EventId, Sequence[str]]) -> Iterator[Point]:
    """Yields the points that an event makes: one after each tool call or name, two around an operation of ours."""
    task, event_id = sealed.event.task, sealed.event_id
    own = tuple(sorted(names.get(event_id, ())))
    part = getattr(sealed.event, "part", None)
    is_call = isinstance(sealed.event, Stepped | Ran)
    if is_own(sealed) and not is_call and (part is None or part.n == 1):
        yield Point(PointId(task, event_id, before=True), sealed)
    does = is_own(sealed) or (is_call and getattr(sealed.event, "class_", None) != "read")
    if own or (does and (part is None or part.n == part.of)):
        yield Point(PointId(task, event_id), sealed, own)


class _Files:
    """What the files of the work tree hold, each looked at once; nothing of one that cannot be compared."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[bytes, Side | None] = {}

    def look_up(self, paths: Iterable[bytes]) -> None:
        """Prepares for many paths at once."""
        self._tree.conversion.look_up(path.decode("utf-8", "surrogateescape") for path in paths)

    def now(self, path: bytes) -> Side | None:
        """Returns what a path holds; `UNSEEN` where that cannot be said."""
        if path not in self._known:
            try:
                self._known[path] = side_of(self._tree.now(path.decode("utf-8", "surrogateescape")))
            except Obstructed:
                self._known[path] = UNSEEN
        return self._known[path]


def _files(store: Store) -> _Files | None:
    try:
        return _Files(Tree(store))
    except NoWorkTree:
        return None


class _Sweep:
    """One pass over the events of a task: at each of them it is known what is lacking and what is in the way."""

    def __init__(self, store: Store, where: _Where, files: _Files | None) -> None:
        self._store, self._where, self._timeline, self._files = store, where, where.timeline, files
        self._lacking: dict[bytes, str] = {}
        self._blocked: set[bytes] = set()
        self._left: set[bytes] = set()
        self._steps: Counter[str] = Counter()
        self._known: dict[bytes, list[Way]] = {}
        self._lack_of: dict[str | None, str | None] = {}
        if self._timeline.is_incomplete:
            self._steps[INCOMPLETE] = 1

    def run(self, wanted: set[PointId]) -> Iterator[Point]:
        """Yields the points that are wanted, with what they lack and what is in the way of going back to them."""
        places: defaultdict[tuple[int, bool], list[Point]] = defaultdict(list)
        for point in self._where.points:
            if point.at in wanted:
                first, last = self._timeline.group(point.at.event_id)
                places[first if point.at.before else last, point.at.before].append(point)
        moments = self._begin()
        for at, sealed in enumerate(self._timeline.order):
            if before := places.get((at, True)):
                self._go_back(moments, self._timeline.group(sealed.event_id))
                yield from map(self._described, before)
            if worktree_of(sealed) in (None, self._where.place):
                for path, place in moments[at]:
                    self._put(path, Held(self._timeline.moments[path][place].after, place + 1))
            if sealed.event.task == self._timeline.task and (lack := lack_of(sealed)):
                self._steps[lack] += 1
            yield from map(self._described, places.get((at, False), ()))

    def _begin(self) -> defaultdict[int, list[tuple[bytes, int]]]:
        """Puts each path as it was before the first event; returns which moments each event has."""
        if self._files is not None:
            self._files.look_up(self._timeline.paths)
        placed: defaultdict[int, list[tuple[bytes, int]]] = defaultdict(list)
        for path, moments in self._timeline.moments.items():
            if misspelling(path.decode("utf-8", "surrogateescape")) or any(map(_has_submodule, moments)):
                self._left.add(path)
            self._put(path, Held(moments[0].before, 0))
            for place, moment in enumerate(moments):
                placed[moment.at].append((path, place))
        return placed

    def _go_back(self, moments: Mapping[int, list[tuple[bytes, int]]], group: tuple[int, int]) -> None:
        """Puts the paths of an event and its parts as they were right before it."""
        for at in range(group[0], group[1] + 1):
            if self._timeline.group(self._timeline.order[at].event_id) == group:
                for path, place in moments.get(at, ()):
                    self._put(path, Held(self._timeline.moments[path][place].before, place))

    def _put(self, path: bytes, held: Held) -> None:
        moments = self._timeline.moments[path]
        lack = self._lack(held.side)
        self._lacking.pop(path, None)
        if lack is not None:
            self._lacking[path] = lack
        if self._files is not None:
            is_blocked = self._is_blocked(path, moments, held, lack)
            (self._blocked.add if is_blocked else self._blocked.discard)(path)

    def _is_blocked(self, path: bytes, moments: Sequence[Moment], held: Held, lack: str | None) -> bool:
        now = self._files.now(path) if self._files is not None else None
        if path in self._left or same(held.side, now):
            return False
        if lack is not None or now == UNSEEN:
            return True
        if path not in self._known:
            self._known[path] = ways(moments, now)
        return in_the_way(held, moments, way_of(moments, self._known[path], held, now), now) is not None

    def _lack(self, side: Side | None) -> str | None:
        blob = side.blob if side is not None else None
        if side is None or blob is None:
            return find_lack(self._store, side)
        if blob not in self._lack_of:
            self._lack_of[blob] = find_lack(self._store, side)
        return self._lack_of[blob]

    def _described(self, point: Point) -> Point:
        lacking = Counter(self._lacking.values())
        lacks = tuple(Lack(reason, times) for reason, times in sorted((self._steps + lacking).items()))
        return point._replace(lacks=lacks, in_the_way=len(self._blocked) if self._files is not None else None)


def _has_submodule(moment: Moment) -> bool:
    return any(side is not None and side.mode == SUBMODULE for side in (moment.before, moment.after))
