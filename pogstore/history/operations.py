"""Operations on the work tree: carried out, told in events, and found again to be taken back.

An operation is one event for each task that it concerns, or several where one would be too long. All but the first name
the first by a `follows` link, so that they are taken back together. Knows nothing of the rules by which a plan is made.
"""

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from pogstore import codec
from pogstore.draft import FileVersion
from pogstore.errors import Conflict, NotEnabled, NotFound, NoWorkTree
from pogstore.history.interrupted import Settled, is_recorded, recover, settle
from pogstore.history.plans import Done, Effect, Plan, TaskPlan
from pogstore.model import (
    Change,
    EventId,
    Link,
    Path,
    Replayed,
    Restored,
    RolledBack,
    Sealed,
    Side,
    Slice,
    TaskId,
)
from pogstore.store import rows
from pogstore.store.batch import Batch
from pogstore.store.content import path_of
from pogstore.store.lock import WAIT
from pogstore.store.refs import content_ref, task_ref
from pogstore.store.store import Store
from pogstore.work import journal
from pogstore.work.acts import By, common
from pogstore.work.intake import PART_CHANGES
from pogstore.work.journal import VERSION, Begun, Journal, Told
from pogstore.work.writer import Progress, applied, untold

KINDS = ("rolled_back", "restored", "replayed")
FOLLOWS = "follows"
UNDO = "undo"


class Manner(NamedTuple):
    """How an operation is told: the kind of its events, and their `strategy`."""

    kind: type[RolledBack] | type[Restored]
    strategy: str

    @property
    def verb(self) -> str:
        """What people call it."""
        if self.strategy == UNDO:
            return UNDO
        return "rollback" if self.kind is RolledBack else "restore"


def carry_out(store: Store, plan: Plan, by: By, manner: Manner, progress: Progress = untold) -> Done:
    """Carries a plan out: all of it, with the events that say so, or nothing. Raises `Conflict` on obstacles.

    What is about to be overwritten is in the store before the first file is touched; if the events cannot be written,
    the files are put back. A journal is kept meanwhile, so that a kill is no third case; what an operation before this
    one has left is put in order first, which makes the plan void (`Conflict`); one that goes on is waited for
    (`LockHeld` after some time).
    """
    root = store.layout.work_tree
    if root is None:
        raise NoWorkTree
    _refuse_if(recover(store))
    if plan.obstacles:
        paths = [obstacle.path if isinstance(obstacle.path, str) else "?" for obstacle in plan.obstacles]
        raise Conflict(
            f"nothing was written: {len(paths)} paths are in the way", paths, "'--dry-run' shows each of them"
        )
    if not plan.writes:
        return Done(plan, ())
    if not store.enabled:
        raise NotEnabled
    writes = (*plan.writes, *plan.unchanged)
    with journal.opened(store.layout.own_here, fsync=store.fsync, wait=WAIT) as log:
        _refuse_if(settle(store, root, log))
        _begin(store, plan, manner, log)
        told: list[Sealed] = []
        with applied(root, writes, fsync=store.fsync, journal=log, progress=progress) as attempt:
            try:
                store.transact(lambda batch: _record(store, batch, plan, (by, manner), log, told))
            except BaseException:
                attempt.stays = bool(told)  # unless the events are seen not to be there, the next process decides
                attempt.stays = is_recorded(store, told[:1])
                raise
        return Done(plan, tuple(told))


def _refuse_if(settled: Settled | None) -> None:
    """Raises `Conflict` if files were just put in order: the plan was made for another state."""
    if settled is not None:
        outcome = "finished" if settled.finished else "taken back"
        raise Conflict(f"an interrupted {settled.verb} was {outcome}, so this plan is void; plan again", [])


def _begin(store: Store, plan: Plan, manner: Manner, log: Journal) -> None:
    """Stores what is about to be overwritten."""
    refs = [ref for own in plan.tasks for ref in (content_ref(own.task, "content"), task_ref(own.task))]
    log.note(Begun(VERSION, manner.verb, len(plan.writes), time.time_ns(), tuple(refs)))
    store.transact(lambda batch: _keep(store, batch, plan))


def last_operation(store: Store, worktree: str | None) -> tuple[Sealed, ...]:
    """Returns the events of the last rollback, restore, replay or undo that changed files in a work tree."""
    for sealed in store.newest_of(KINDS):
        if isinstance(sealed.event, RolledBack | Restored | Replayed) and sealed.event.worktree == worktree:
            together = operation_of(store, sealed)
            if any(getattr(each.event, "changes", ()) for each in together):
                return together
    raise NotFound("operation to undo", "@", "nothing was rolled back or restored in this work tree")


def standing_operations(store: Store, worktree: str | None) -> list[EventId]:
    """Returns the events of operations that changed files in a work tree and were not taken back by an undo."""
    made = []
    for sealed in store.newest_of(KINDS):
        event = sealed.event
        if isinstance(event, RolledBack | Restored | Replayed) and event.worktree == worktree and event.changes:
            made.append(sealed)
    return standing(reversed(made))


def targets_of(sealed: Sealed) -> tuple[EventId, ...]:
    """Returns the events whose effects an event of an operation took out; none of any other event."""
    event = sealed.event
    if isinstance(event, RolledBack) or (isinstance(event, Restored) and event.strategy == UNDO):
        return event.targets
    return ()


def standing(events: Iterable[Sealed]) -> list[EventId]:
    """Returns the events of a list in replay order that still stand: not the operations that were undone, nor undos."""
    stands: dict[EventId, bool] = {}
    undone_by: dict[EventId, set[EventId]] = {}
    for sealed in events:
        event = sealed.event
        if not isinstance(event, Restored) or event.strategy != UNDO:
            stands[sealed.event_id] = True
            continue
        undone = {each for target in event.targets for each in undone_by.get(target, {target})}
        undone_by[sealed.event_id] = undone
        if event.part is None or event.part.n == 1:
            stands |= {each: not stands.get(each, True) for each in undone}
    return [event_id for event_id, is_standing in stands.items() if is_standing]


def operation_of(store: Store, sealed: Sealed) -> tuple[Sealed, ...]:
    """Returns all events of the operation that an event belongs to."""
    links: tuple[Link, ...] = getattr(sealed.event, "links", ())
    first = next((store.event(link.event) for link in links if link.rel == FOLLOWS and link.event), sealed)
    others = [codec.decode(body) for body in rows.linked_to(store.index.connection, first.event_id)]
    return (first, *(other for other in others if type(other.event) is type(first.event)))


def _keep(store: Store, batch: Batch, plan: Plan) -> None:
    store.refresh()
    for own in plan.tasks:
        for effect in own.effects:
            _change(batch, own.task, effect)


def _record(
    store: Store, batch: Batch, plan: Plan, told_by: tuple[By, Manner], log: Journal, written: list[Sealed]
) -> None:
    """Adds the events, and names them in the journal; the first one is of the task whose ref moves before all others.

    So an operation of several tasks that is killed between two refs is known by its first event.
    """
    store.refresh()
    written.clear()
    for own in sorted(plan.tasks, key=lambda own: own.task):
        for event in _events(batch, own, *told_by):
            first = (Link(rel=FOLLOWS, event=written[0].event_id),) if written else ()
            written.append(batch.append(msgspec.structs.replace(event, links=first)))
    log.note(Told(tuple(sealed.canonical for sealed in written)))


def _events(batch: Batch, own: TaskPlan, by: By, manner: Manner) -> Iterator[RolledBack | Restored]:
    """Yields the event for one task, or its parts, each with some of the changes."""
    changes = tuple(_change(batch, own.task, effect) for effect in own.effects)
    slices = [changes[at : at + PART_CHANGES] for at in range(0, len(changes), PART_CHANGES)] or [()]
    for number, part in enumerate(slices, 1):
        yield manner.kind(
            **common(own.task, by),
            part=Slice(n=number, of=len(slices)) if len(slices) > 1 else None,
            targets=own.targets,
            outcomes=own.outcomes,
            strategy=manner.strategy,
            changes=part,
        )


def _change(batch: Batch, task: TaskId, effect: Effect) -> Change:
    older = _recorded(effect.older) if effect.older is not None else None
    return Change(
        path=_recorded(effect.path),
        from_=older,
        before=_side(batch, task, older or _recorded(effect.path), effect.before),
        after=_side(batch, task, _recorded(effect.path), effect.after),
    )


def _side(batch: Batch, task: TaskId, path: Path, version: FileVersion | None) -> Side | None:
    return None if version is None else batch.add_file(task, path, version.mode, version.data)


def _recorded(path: str) -> Path:
    return path_of(path.encode("utf-8", "surrogateescape"))
