"""`rollback`: take the effects of some events out of the work tree, and keep the rest. `undo`: take that back, exactly.

A plan is a value: what would be written, what stands in the way. Planning reads; only `apply_rollback` and `apply_undo`
write, all or nothing, and each leaves an event. The rules per path are those of `docs/explanation/rollback.md`.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pogstore import state
from pogstore.draft import FileVersion
from pogstore.errors import Conflict, NotFound, NoWorkTree
from pogstore.graph import replay_order
from pogstore.history.blame import BEFORE_UNSEEN
from pogstore.history.linemerge import merge
from pogstore.history.names import Named
from pogstore.model import (
    FORMAT,
    BlobId,
    Change,
    EventId,
    OddPath,
    Outcome,
    Path,
    Ran,
    Replayed,
    Restored,
    RolledBack,
    Sealed,
    Side,
    Stepped,
    TaskId,
)
from pogstore.store.batch import Batch
from pogstore.store.libgit2 import line_hunks
from pogstore.store.store import Store
from pogstore.work.tasks import By
from pogstore.work.writer import Write, apply, read_version

REGULAR = ("100644", "100755")
OPERATIONS = (RolledBack, Restored, Replayed)
APPLIED, IDENTICAL, SKIPPED = "applied", "identical", "skipped"


class Obstacle(NamedTuple):
    """A path that cannot be rolled back: the name of the conflict, the event, and the later events in the way."""

    path: str
    reason: str
    event: EventId
    later: tuple[EventId, ...]


class Plan(NamedTuple):
    """What a rollback or an undo would do. With obstacles nothing is ever written."""

    targets: tuple[EventId, ...]
    task: TaskId
    writes: tuple[Write, ...]
    outcomes: tuple[Outcome, ...]
    obstacles: tuple[Obstacle, ...]


class Done(NamedTuple):
    """What was done, and the event that says so."""

    plan: Plan
    event: Sealed


def plan_rollback(store: Store, named: Sequence[Named]) -> Plan:
    """Returns the plan that takes the named events, and what tool calls did for the named tasks, out of the work tree.

    Raises `NotFound` if there is no change among them.
    """
    targets = _targets(store, named)
    if not targets:
        raise NotFound("recorded change", ", ".join(name.event_id or name.task for name in named))
    tree = _Tree(store)
    outcomes: list[Outcome] = []
    obstacles: list[Obstacle] = []
    for sealed in reversed(targets):
        found = [_take_out(tree, sealed, change) for change in _changes(sealed)]
        obstacles += [
            Obstacle(_spelled(change.path), reason, sealed.event_id, _later(store, change, sealed, targets))
            for change, reason in zip(_changes(sealed), found, strict=True)
            if reason not in (APPLIED, IDENTICAL, SKIPPED)
        ]
        outcomes.append(Outcome(event=sealed.event_id, outcome=_outcome(found)))
    ids = tuple(sealed.event_id for sealed in targets)
    return Plan(ids, targets[-1].event.task, tree.writes(), tuple(outcomes), tuple(obstacles))


def plan_undo(store: Store, worktree: str | None) -> Plan:
    """Returns the plan that takes back the last rollback, restore, replay or undo made in this work tree.

    Every path must hold exactly what that operation wrote.
    """
    sealed = _last_operation(store, worktree)
    tree = _Tree(store)
    obstacles = []
    for change in _changes(sealed):
        reason = tree.put_back(change)
        if reason != APPLIED:
            obstacles.append(Obstacle(_spelled(change.path), reason, sealed.event_id, ()))
    outcome = Outcome(event=sealed.event_id, outcome="conflicted" if obstacles else "applied")
    return Plan((sealed.event_id,), sealed.event.task, tree.writes(), (outcome,), tuple(obstacles))


def apply_rollback(store: Store, plan: Plan, by: By) -> Done:
    """Carries a rollback out; raises `Conflict`, with nothing written, if something stands in the way."""
    return _apply(store, plan, by, RolledBack, "three-way")


def apply_undo(store: Store, plan: Plan, by: By) -> Done:
    """Carries an undo out; raises `Conflict`, with nothing written, if something stands in the way."""
    return _apply(store, plan, by, Restored, "undo")


class _Tree:
    """The work tree as a plan sees it: what each path holds now, and what it would hold."""

    def __init__(self, store: Store) -> None:
        if store.layout.work_tree is None:
            raise NoWorkTree
        self._store, self._root = store, store.layout.work_tree
        self._found: dict[str, FileVersion | None] = {}
        self._planned: dict[str, FileVersion | None] = {}

    def writes(self) -> tuple[Write, ...]:
        """Returns what has to be written, by path; what stays as it is, is left out."""
        planned = sorted(self._planned.items())
        return tuple(
            Write(path, self._found[path], version) for path, version in planned if self._found[path] != version
        )

    def take_out(self, change: Change) -> str:
        """Plans the inverse of a change in what the path holds now; returns what came of it, or a conflict's name."""
        if isinstance(change.path, OddPath):
            return SKIPPED if change.path.outside else "name-not-utf-8"
        if change.before is None and change.after is None:
            return "not-recorded"
        if isinstance(change.from_, str):
            return self._take_out_rename(change, change.path, change.from_)
        sides = self._sides(change)
        if isinstance(sides, str):
            return sides
        before, after = sides
        return self._merged(change.path, change.path, before, after)

    def put_back(self, change: Change) -> str:
        """Plans what the path held before a change of ours, if it still holds what that change wrote."""
        if isinstance(change.path, OddPath):
            return "name-not-utf-8"
        sides = self._sides(change)
        if isinstance(sides, str):
            return sides
        before, after = sides
        if self._now(change.path) != after:
            return "edited-since"
        self._planned[change.path] = before
        return APPLIED

    def _take_out_rename(self, change: Change, path: str, older: str) -> str:
        sides = self._sides(change)
        if isinstance(sides, str):
            return sides
        before, after = sides
        if self._now(older) is not None:
            return IDENTICAL if self._now(path) is None and self._now(older) == before else "recreated-since"
        return self._merged(path, older, before, after)

    def _merged(self, path: str, result: str, before: FileVersion | None, after: FileVersion | None) -> str:
        now = self._now(path)
        if now == after:
            return self._plan(path, result, before)
        if now == before and path == result:
            return IDENTICAL
        if before is None or after is None or now is None:
            return _missing(before, after)
        if any(version.mode not in REGULAR for version in (before, after, now)):
            return "type-change"
        data = merge(after.data, now.data, before.data, line_hunks)
        if data is None:
            return "overlap"
        mode = before.mode if now.mode == after.mode else now.mode
        return self._plan(path, result, FileVersion(mode=mode, data=data))

    def _plan(self, path: str, result: str, version: FileVersion | None) -> str:
        if path != result:
            self._planned[path] = None
            self._now(result)
        self._planned[result] = version
        return APPLIED

    def _now(self, path: str) -> FileVersion | None:
        if path in self._planned:
            return self._planned[path]
        if path not in self._found:
            self._found[path] = read_version(self._root, path)
        return self._found[path]

    def _sides(self, change: Change) -> tuple[FileVersion | None, FileVersion | None] | str:
        try:
            return self._version(change.before), self._version(change.after)
        except NotFound:
            return "content-absent"

    def _version(self, side: Side | None) -> FileVersion | None:
        if side is None:
            return None
        if side.blob is None or side.omitted:
            raise NotFound("content", side.blob or side.commit or "?")
        return FileVersion(mode=side.mode, data=self._store.read_content(BlobId(side.blob)))


def _missing(before: FileVersion | None, after: FileVersion | None) -> str:
    """Names the conflict of a path that is neither as the change left it nor as it was before, and is absent once."""
    if after is None:
        return "recreated-since"
    return "edited-since-create" if before is None else "deleted-since"


def _targets(store: Store, named: Iterable[Named]) -> list[Sealed]:
    """Returns the events to take out, in replay order: those named, and the tool calls of the tasks named."""
    found: dict[EventId, Sealed] = {}
    for name in named:
        if name.event_id is not None:
            found[name.event_id] = store.event(name.event_id)
            continue
        events = state.distinct(state.whole(store.events(name.task)).events).used
        found |= {sealed.event_id: sealed for sealed in events if isinstance(sealed.event, Stepped | Ran)}
    return [sealed for sealed in replay_order(found.values()) if _changes(sealed)]


def _take_out(tree: _Tree, sealed: Sealed, change: Change) -> str:
    """Plans the inverse of one change; what nobody saw before it cannot be brought back."""
    if change.before is None and getattr(sealed.event, "coverage_reason", None) == BEFORE_UNSEEN:
        return "not-recorded"
    return tree.take_out(change)


def _changes(sealed: Sealed) -> tuple[Change, ...]:
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    return changes


def _later(store: Store, change: Change, sealed: Sealed, targets: Sequence[Sealed]) -> tuple[EventId, ...]:
    """Returns the events on a path that came after one and are not rolled back with it."""
    if not isinstance(change.path, str):
        return ()
    taken = {target.event_id for target in targets}
    place = (sealed.event.clock, sealed.event_id)
    return tuple(
        other.event_id
        for other in store.events_on(change.path.encode())
        if (other.event.clock, other.event_id) > place and other.event_id not in taken
    )


def _outcome(found: Sequence[str]) -> str:
    if any(reason not in (APPLIED, IDENTICAL, SKIPPED) for reason in found):
        return "conflicted"
    return next((reason for reason in (APPLIED, SKIPPED) if reason in found), IDENTICAL)


def _last_operation(store: Store, worktree: str | None) -> Sealed:
    store.refresh()
    kinds = ("rolled_back", "restored", "replayed")
    for sealed in store.newest_of(kinds):
        if isinstance(sealed.event, OPERATIONS) and sealed.event.worktree == worktree and sealed.event.changes:
            return sealed
    raise NotFound("operation", "undo", "nothing was rolled back, restored or replayed in this work tree")


def _apply(store: Store, plan: Plan, by: By, kind: type[RolledBack] | type[Restored], strategy: str) -> Done:
    if plan.obstacles:
        raise Conflict(
            f"nothing was written: {len(plan.obstacles)} paths are in the way",
            [obstacle.path for obstacle in plan.obstacles],
            "'--dry-run' shows each of them",
        )
    root = store.layout.work_tree
    if root is None:
        raise NoWorkTree

    def record(batch: Batch) -> Sealed:
        changes = tuple(_recorded(batch, plan.task, write) for write in plan.writes)
        return batch.append(
            kind(
                v=FORMAT, task=plan.task, clock=1, time=by.time, offset=by.offset, actor=by.actor, worktree=by.worktree,
                targets=plan.targets, outcomes=plan.outcomes, strategy=strategy, changes=changes,
            )
        )  # fmt: skip

    def keep(batch: Batch) -> None:
        for write in plan.writes:
            _recorded(batch, plan.task, write)

    store.transact(keep)  # a safety point: what is about to be overwritten is in the store before anything is written
    apply(root, plan.writes)
    try:
        return Done(plan, store.transact(record))
    except BaseException:
        apply(root, [Write(write.path, write.after, write.before) for write in plan.writes])
        raise


def _recorded(batch: Batch, task: TaskId, write: Write) -> Change:
    return Change(
        path=write.path,
        before=_side(batch, task, write.path, write.before),
        after=_side(batch, task, write.path, write.after),
    )


def _side(batch: Batch, task: TaskId, path: str, version: FileVersion | None) -> Side | None:
    return None if version is None else batch.add_file(task, path, version.mode, version.data)


def _spelled(path: Path) -> str:
    return path if isinstance(path, str) else "(a path that cannot be spelled)"
