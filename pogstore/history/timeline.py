"""What the paths of one task held in a work tree, and when: the common ground of rollback points and of going back.

A task's paths are those that its own tool calls and our operations changed; what others did to them counts as theirs.
Reads what events recorded, and what the files hold only where the caller says so.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from pogstore import state
from pogstore.errors import NotFound
from pogstore.history.snapshot import is_next_part, same, sides_on, worktree_of
from pogstore.history.streamed import changes_of, effective_times, events_on
from pogstore.model import EventId, Opaque, Ran, Replayed, Restored, RolledBack, Sealed, Side, Stepped, TaskId
from pogstore.store.store import Store


class PointId(NamedTuple):
    """A point in the work of a task: after one of its events, or right before it."""

    task: TaskId
    event_id: EventId
    before: bool = False


class Moment(NamedTuple):
    """What one event says of one path; `own` tells the task's tool calls and operations from what others did."""

    sealed: Sealed
    at: int
    before: Side | None
    after: Side | None
    own: bool


class Held(NamedTuple):
    """What a path held at a point, and the place among its moments from which on things happened later."""

    side: Side | None
    later: int


class Way(NamedTuple):
    """What came of a version: whether changes of the task lead from it to what is there now, whether others' changes
    went into them on the way, and what the last of them left.
    """

    reached: bool
    mixed: bool
    last: Side | None


class Timeline:
    """The events of a task and of all who touched its paths, in the order in which blame takes events.

    `places` are the work trees that count; events that name none always do. With no places at all, every event counts.
    """

    def __init__(self, store: Store, task: TaskId, places: Iterable[str | None]) -> None:
        self.task, self._store, self._places = task, store, {*places}
        self._whole = state.whole(store.events(task))
        told = state.distinct(self._whole.events)
        self._echoes = told.echoes
        self.own = [sealed for sealed in told.used if self._is_here(sealed)]
        self.paths = sorted({path for sealed in self.own if is_own(sealed) for path, _, _ in sides_on(sealed)})

    @cached_property
    def order(self) -> list[Sealed]:
        """The events of the task, and those of others that changed its paths."""
        others = [each for each in events_on(self._store, self.paths) if each.event.task != self.task]
        return [sealed for _, sealed in effective_times([*self.own, *filter(self._is_here, others)])]

    @cached_property
    def moments(self) -> dict[bytes, list[Moment]]:
        """What the events say of each of the task's paths."""
        found: dict[bytes, list[Moment]] = {path: [] for path in self.paths}
        for at, sealed in enumerate(self.order):
            is_ours = sealed.event.task == self.task and is_own(sealed)
            for path, before, after in sides_on(sealed):
                if path in found:
                    found[path].append(Moment(sealed, at, before, after, is_ours))
        return found

    @cached_property
    def _groups(self) -> dict[EventId, tuple[int, int]]:
        return _groups(self.order)

    @property
    def is_incomplete(self) -> bool:
        """Whether an event of the task needs a newer reader, or is a part without the others."""
        return bool(self._whole.partial) or any(isinstance(each.event, Opaque) for each in self._whole.events)

    def find_last(self, event_id: EventId) -> EventId | None:
        """Returns the event that stands for one that was told twice, or for the parts of one."""
        group = self._groups.get(self._echoes.get(event_id, event_id))
        return self.order[group[1]].event_id if group is not None else None

    def group(self, event_id: EventId) -> tuple[int, int]:
        """Returns the first and the last place in `order` of an event with its parts; raises `NotFound`."""
        stands = self._echoes.get(event_id, event_id)
        if stands not in self._groups:
            raise NotFound("point", event_id, "the event changed nothing that this version can read")
        return self._groups[stands]

    def held(self, path: bytes, point: PointId) -> Held:
        """Returns what a path held at a point, as far as the work tree in which the point is could see it."""
        first, last = self.group(point.event_id)
        place = worktree_of(self.order[last])
        moments = self.moments[path]
        limit = bisect_left(moments, first, key=_at) if point.before else bisect_right(moments, last, key=_at)
        if point.before and limit < len(moments) and moments[limit].at <= last:
            return Held(moments[limit].before, limit)
        for at in range(limit - 1, -1, -1):
            if worktree_of(moments[at].sealed) in (None, place):
                return Held(moments[at].after, at + 1)
        return Held(moments[0].before, 0)

    def _is_here(self, sealed: Sealed) -> bool:
        return not self._places or worktree_of(sealed) in (None, *self._places)


def is_own(sealed: Sealed) -> bool:
    """Says whether an event of a task is the task's own doing: a tool call or an operation, not what was observed."""
    return isinstance(sealed.event, Stepped | Ran | RolledBack | Restored | Replayed) and bool(changes_of(sealed))


def is_uncovered(sealed: Sealed) -> bool:
    """Says whether a tool call may have done more than was recorded: nobody compared, or it was not done to files."""
    event = sealed.event
    return isinstance(event, Stepped | Ran) and (event.coverage == "none" or event.effects == "outside")


def ways(moments: Sequence[Moment], now: Side | None) -> list[Way]:
    """Returns for each moment of a path what came of the version that it left, `now` being there."""
    found: list[Way] = []
    following: tuple[Moment, Way] | None = None
    for moment in reversed(moments):
        way = _way(moment.after, following, now)
        found.append(way)
        if moment.own:
            following = moment, way
    return found[::-1]


def way_of(moments: Sequence[Moment], known: Sequence[Way], held: Held, now: Side | None) -> Way:
    """Returns what came of what a path held at a point; `known` is what `ways` said of its moments."""
    following = next(((moments[at], known[at]) for at in range(held.later, len(moments)) if moments[at].own), None)
    return _way(held.side, following, now)


def _way(side: Side | None, following: tuple[Moment, Way] | None, now: Side | None) -> Way:
    """Returns what came of a version, from what came of the one that the task's next own change left."""
    if same(side, now):
        return Way(reached=True, mixed=False, last=side)
    if following is None:
        return Way(reached=False, mixed=False, last=side)
    moment, way = following
    return way._replace(mixed=way.mixed or not same(moment.before, side))


def _at(moment: Moment) -> int:
    return moment.at


def _groups(order: Sequence[Sealed]) -> dict[EventId, tuple[int, int]]:
    """Returns for each event where its first and its last part stand, or itself twice."""
    rows: dict[EventId, list[int]] = {}
    for at, sealed in enumerate(order):
        parents = () if getattr(sealed.event, "part", None) is None else sealed.event.parents
        before = [
            rows[parent] for parent in parents if parent in rows and is_next_part(order[rows[parent][-1]], sealed)
        ]
        row = before[0] if before else []
        row.append(at)
        rows[sealed.event_id] = row
    return {event_id: (row[0], row[-1]) for event_id, row in rows.items()}
