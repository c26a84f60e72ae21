"""`restore`: make the paths of a task what they were at a point of its work, and nothing else.

Planning reads and gives a value; only `apply_restore` writes, all or nothing, and leaves an event. The rules are those
of `docs/explanation/rollback.md`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

from pogstore import state
from pogstore.draft import FileVersion
from pogstore.errors import Incomplete, NotFound, ObjectDamaged, UnsafePath
from pogstore.history.operations import Manner, carry_out, standing
from pogstore.history.plans import Clash, Conflicts, Done, Effect, Left, Obstacle, Plan, TaskPlan
from pogstore.history.snapshot import UNSEEN, same, worktree_of
from pogstore.history.streamed import changes_of
from pogstore.history.takeout import SUBMODULE
from pogstore.history.timeline import Held, Moment, PointId, Timeline, Way, is_uncovered, way_of, ways
from pogstore.history.tree import Obstructed, Tree
from pogstore.model import BlobId, Redacted, Restored, Sealed, Side
from pogstore.store.content import blob_id, path_bytes, path_of
from pogstore.store.pathspec import matching
from pogstore.store.store import Store
from pogstore.work.acts import By
from pogstore.work.paths import check_path, misspelling
from pogstore.work.writer import Write

POINT, BEFORE = "point", "before"
"""The strategies of a restore: the state after the event that it names, or right before it."""
Progress = Callable[[int, int], None]


class Asked(NamedTuple):
    """What is to be made as it was: the paths that pathspecs choose, seen from a directory, or all; and what becomes of
    those that are in the way: nothing is written, they stay, or they get what they held at the point.
    """

    pathspecs: Sequence[str] = ()
    conflicts: Conflicts = "refuse"
    cwd: FilePath | None = None


ALL = Asked()


def _untold(_done: int, _total: int) -> None:
    """Progress that nobody waits for."""


def plan_restore(
    store: Store, point: PointId, here: str | None, asked: Asked = ALL, progress: Progress = _untold
) -> Plan:
    """Returns the plan that makes the task's paths in the work tree `here` what they were at a point.

    The task's paths are those that its tool calls and our operations changed at any time, here or in the work tree of
    the point. Raises `NotFound` for an event that is no point, and `Incomplete` where a newer reader is needed.
    """
    with store.one_moment():
        sealed = store.event(point.event_id)
        timeline = Timeline(store, point.task, [here, worktree_of(sealed)])
        if timeline.is_incomplete:
            raise Incomplete(f"task '{point.task}'", state.NEEDS_NEWER)
        paths = _chosen(store, timeline, asked)
        kept: list[Obstacle] = []
        while True:
            planning = _Planning(store, timeline, point)
            plan = planning.plan(paths, asked.conflicts, progress)
            if asked.conflicts != "keep" or not plan.obstacles:
                return plan._replace(kept=tuple(kept))
            kept += plan.obstacles
            paths = [path for path in paths if path not in {_raw(each.path) for each in planning.obstructed}]


def apply_restore(store: Store, plan: Plan, by: By, *, before: bool = False, progress: Progress = _untold) -> Done:
    """Carries a restore out; raises `Conflict`, with nothing written, if something stands in the way."""
    return carry_out(store, plan, by, Manner(Restored, BEFORE if before else POINT), progress)


def in_the_way(held: Held, moments: Sequence[Moment], way: Way, now: Side | None) -> str | None:
    """Returns the name of the conflict if going back to what a path held would lose what others did to it since.

    What is there now may go if it is what the task itself left after the point, with nobody's edits in it.
    """
    if way.reached and (now is None or not way.mixed):
        return None
    if held.side == UNSEEN:
        return "not-recorded"
    if now is None:
        return "deleted-since"
    if not way.reached and way.last is None and any(moment.own for moment in moments[held.later :]):
        return "recreated-since"
    return "edited-since-create" if held.side is None else "edited-since"


def find_lack(store: Store, side: Side | None) -> str | None:
    """Returns why a file version cannot be had from the store, by the name of the conflict; nothing if it can."""
    if side is None or side.mode == SUBMODULE:
        return None
    if side.blob is None:
        return "not-recorded"
    found = store.find_content(side.blob)
    if found is not None:
        return None if store.objects.exists(found.oid) else "content-lost"
    if side.omitted:
        return "content-omitted"
    erased = any(side.blob in _erased_by(each) for each in store.newest_of(("redacted",)))
    return "content-erased" if erased else "content-absent"


def _chosen(store: Store, timeline: Timeline, asked: Asked) -> list[bytes]:
    if not asked.pathspecs:
        return timeline.paths
    chosen = matching(store.git, timeline.paths, asked.pathspecs, asked.cwd)
    if not chosen:
        raise NotFound("path of the task", " ".join(asked.pathspecs), "'git pog log TASK' shows what it changed")
    return sorted(chosen)


class _Planning:
    """A plan while it is made."""

    def __init__(self, store: Store, timeline: Timeline, point: PointId) -> None:
        self._store, self._timeline, self._point, self._tree = store, timeline, point, Tree(store)
        first, last = timeline.group(point.event_id)
        self._sealed = timeline.order[last]
        self._later = timeline.order[first if point.before else last + 1 :]
        self._left: dict[str, str] = {}
        self._clashes: list[Clash] = []
        self.obstructed: list[Obstructed] = []

    def plan(self, paths: Sequence[bytes], conflicts: Conflicts, progress: Progress) -> Plan:
        """Returns the plan for some of the task's paths."""
        names = {path.decode("utf-8", "surrogateescape"): path for path in paths}
        self._tree.conversion.look_up(names)
        for done, (name, path) in enumerate(names.items(), 1):
            try:
                self._put(name, path, conflicts)
            except Obstructed as fault:
                self.obstructed.append(fault)
            progress(done, len(names))
        effects = self._tree.effects()
        writes = () if self.obstructed else self._writes(effects)
        own = TaskPlan(self._point.task, (self._point.event_id,), (), tuple(effects))
        return Plan(
            tasks=(own,),
            writes=() if self.obstructed else writes,
            obstacles=tuple(self._obstacle(fault) for fault in self.obstructed),
            unchanged=self._tree.unchanged(),
            skipped=sum(_is_outside(sealed) for sealed in self._own_later()),
            uncovered=tuple(sealed.event_id for sealed in self._own_later() if is_uncovered(sealed)),
            left=tuple(Left(path_of(_raw(name)), reason) for name, reason in self._left.items()),
            clashes=tuple(self._clashes),
        )

    def _writes(self, effects: Sequence[Effect]) -> tuple[Write, ...]:
        """Returns the writes for some effects; what stands in their way is obstructed, as is a way that is a link."""
        try:
            writes, blocked = self._tree.writes(effects)
        except UnsafePath as fault:
            writes, blocked = (), [Obstructed(fault.path, "in-the-way")]
        self.obstructed += blocked
        return writes

    def _put(self, name: str, path: bytes, conflicts: Conflicts) -> None:
        """Plans one path; raises `Obstructed` if it is in the way."""
        held, moments = self._timeline.held(path, self._point), self._timeline.moments[path]
        if any(side is not None and side.mode == SUBMODULE for side in (held.side, *_sides(moments))):
            self._left[name] = "submodule"
            return
        version = self._tree.now(name)
        now = side_of(version)
        if same(held.side, now):
            return
        if reason := misspelling(name):
            self._left[name] = reason
            return
        check_path(name)
        way = way_of(moments, ways(moments, now), held, now)
        reason = in_the_way(held, moments, way, now)
        if reason is not None and conflicts != "take":
            raise Obstructed(name, reason)
        wanted, cause = self._version(name, held.side), self._cause(held, moments)
        if reason is not None:
            self._clashes.append(Clash(name, reason, cause.event_id, None, version, wanted))
        self._tree.put(name, wanted, cause)

    def _version(self, name: str, side: Side | None) -> FileVersion | None:
        if side is None:
            return None
        if reason := find_lack(self._store, side):
            raise Obstructed(name, reason)
        try:
            return FileVersion(mode=side.mode, data=self._store.read_content(side.blob or BlobId("")))
        except (NotFound, ObjectDamaged):
            raise Obstructed(name, "content-lost") from None

    def _cause(self, held: Held, moments: Sequence[Moment]) -> Sealed:
        """Returns the event that left what a path held at the point; where none did, the event of the point."""
        earlier = [moment for moment in moments[: held.later] if same(moment.after, held.side)]
        return earlier[-1].sealed if earlier else self._sealed

    def _obstacle(self, fault: Obstructed) -> Obstacle:
        path = _raw(fault.path)
        held, moments = self._timeline.held(path, self._point), self._timeline.moments[path]
        later = standing(moment.sealed for moment in moments[held.later :] if not moment.own)
        return Obstacle(path_of(path), fault.reason, self._cause(held, moments).event_id, tuple(later))

    def _own_later(self) -> list[Sealed]:
        return [sealed for sealed in self._later if sealed.event.task == self._point.task]


def side_of(version: FileVersion | None) -> Side | None:
    """Returns how an event would name a file version."""
    if version is None:
        return None
    return Side(mode=version.mode, blob=blob_id(version.data), size=len(version.data))


def _sides(moments: Sequence[Moment]) -> list[Side | None]:
    return [side for moment in moments for side in (moment.before, moment.after)]


def _is_outside(sealed: Sealed) -> int:
    return sum(path_bytes(change.path) is None for change in changes_of(sealed))


def _erased_by(sealed: Sealed) -> tuple[BlobId, ...]:
    return sealed.event.blobs if isinstance(sealed.event, Redacted) else ()


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
