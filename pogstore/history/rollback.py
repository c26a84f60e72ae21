"""`rollback`: take the effects of some events out of the work tree, and keep the rest. `undo`: take that back, exactly.

Planning reads and gives a value; only `apply_rollback` and `apply_undo` write, all or nothing, and leave events. The
rules per path are in `takeout.py`, for people in `docs/explanation/rollback.md`.
"""

from collections.abc import Callable, Iterable, Sequence

from pogstore import state
from pogstore.errors import Incomplete, NotFound
from pogstore.history.blame import effective_times
from pogstore.history.names import Named
from pogstore.history.operations import UNDO, Manner, carry_out, last_operation, standing
from pogstore.history.pathhistory import PathHistory
from pogstore.history.plans import Done, Effect, Left, Obstacle, Plan, TaskPlan
from pogstore.history.takeout import APPLIED, IDENTICAL, SKIPPED, Case, put_back, spelled, take_out
from pogstore.history.tree import Obstructed, Tree
from pogstore.model import (
    Change,
    EventId,
    Opaque,
    Outcome,
    Ran,
    Restored,
    RolledBack,
    Sealed,
    Slice,
    Stepped,
    TaskId,
)
from pogstore.store.content import path_bytes, path_of
from pogstore.store.store import Store
from pogstore.work.paths import misspelling
from pogstore.work.tasks import By

CONFLICTED = "conflicted"
Progress = Callable[[int, int], None]


def _untold(_done: int, _total: int) -> None:
    """Progress that nobody waits for."""


def plan_rollback(store: Store, named: Sequence[Named], progress: Progress = _untold) -> Plan:
    """Returns the plan that takes the named events, and what tool calls did for the named tasks, out of the work tree.

    The order in which they are named means nothing: the newest goes first, in the order in which blame takes them.
    `progress` is told how many changes are planned, and of how many, after each.
    Raises `NotFound` for a name without a recorded change, and `Incomplete` where a newer reader is needed.
    """
    with store.one_moment():
        asked = _asked_for(store, named)
        targets = [sealed for sealed in asked if _changes(sealed)]
        planning = _Planning(store, targets, progress)
        for sealed in reversed(targets):
            planning.take_out(sealed)
        uncovered = tuple(sealed.event_id for sealed in asked if _is_uncovered(sealed))
        return planning.plan()._replace(uncovered=uncovered)


def plan_undo(store: Store, worktree: str | None) -> Plan:
    """Returns the plan that takes back the last rollback, restore, replay or undo made in this work tree.

    Every path must hold exactly what that operation wrote. Raises `NotFound` if there is none.
    """
    with store.one_moment():
        targets = last_operation(store, worktree)
        planning = _Planning(store, targets)
        for sealed in reversed(targets):
            planning.put_back(sealed)
        return planning.plan()


def apply_rollback(store: Store, plan: Plan, by: By) -> Done:
    """Carries a rollback out; raises `Conflict`, with nothing written, if something stands in the way."""
    return carry_out(store, plan, by, Manner(RolledBack, "three-way"))


def apply_undo(store: Store, plan: Plan, by: By) -> Done:
    """Carries an undo out; raises `Conflict`, with nothing written, if something stands in the way."""
    return carry_out(store, plan, by, Manner(Restored, UNDO))


class _Planning:
    """A plan while it is made: the tree as it would be, what came of each target, what stands in the way."""

    def __init__(self, store: Store, targets: Sequence[Sealed], progress: Progress = _untold) -> None:
        self._store, self._targets, self._tree = store, targets, Tree(store)
        self._progress, self._done = progress, 0
        self._total = sum(len(_changes(sealed)) for sealed in targets)
        self._came_of: dict[EventId, list[str]] = {sealed.event_id: [] for sealed in targets}
        self._obstacles: list[Obstacle] = []
        self._left: dict[Left, None] = {}
        self._skips = 0
        paths = [path_bytes(change.path) for sealed in targets for change in _changes(sealed)]
        known = [path for path in paths if path is not None]
        self._history = PathHistory(store, known)
        self._tree.conversion.look_up(path.decode("utf-8", "surrogateescape") for path in known)

    def take_out(self, sealed: Sealed) -> None:
        """Plans the inverse of one target."""
        for change in _changes(sealed):
            try:
                case = self._case(sealed, change)
                self._came_of[sealed.event_id].append(SKIPPED if self._leave(case) else take_out(case))
            except Obstructed as fault:
                self._obstruct(sealed, fault)
            self._done += 1
            self._progress(self._done, self._total)

    def _leave(self, case: Case) -> bool:
        """Leaves a file as it is if its name could be read otherwise elsewhere; says whether it does."""
        names = (spelled(case.change.path), spelled(case.change.from_), *case.names)
        reasons = {name: reason for name in names if name is not None and (reason := misspelling(name)) is not None}
        left = [Left(path_of(name.encode("utf-8", "surrogateescape")), reason) for name, reason in reasons.items()]
        self._left.update(dict.fromkeys(left))
        self._skips += bool(left)
        return bool(left)

    def _case(self, sealed: Sealed, change: Change) -> Case:
        names = self._history.moves(change.path, sealed)
        return Case(self._store, self._tree, sealed, change, names, lambda: self._history.told(change, names, sealed))

    def put_back(self, sealed: Sealed) -> None:
        """Plans what was before one event of an operation of ours."""
        for change in _changes(sealed):
            try:
                put_back(self._store, self._tree, sealed, change)
                self._came_of[sealed.event_id].append(APPLIED)
            except Obstructed as fault:
                self._obstruct(sealed, fault)

    def plan(self) -> Plan:
        """Returns the whole plan, compared with the work tree as the writer would do it."""
        effects = self._tree.effects()
        writes, blocked = ((), []) if self._obstacles else self._tree.writes(effects)
        for fault in blocked:
            self._obstruct(self._tree.cause(fault.path), fault)
        tasks = dict.fromkeys(sealed.event.task for sealed in self._targets)
        plans = tuple(self._for_task(task, effects) for task in tasks)
        skipped = sum(results.count(SKIPPED) for results in self._came_of.values()) - self._skips
        own = () if self._obstacles else writes
        plan = Plan(plans, own, tuple(self._obstacles), self._tree.unchanged(), skipped)
        return plan._replace(left=tuple(self._left))

    def _for_task(self, task: TaskId, effects: Sequence[Effect]) -> TaskPlan:
        own = [sealed.event_id for sealed in self._targets if sealed.event.task == task]
        outcomes = tuple(Outcome(event=event_id, outcome=_outcome(self._came_of[event_id])) for event_id in own)
        its = tuple(effect for effect in effects if self._tree.cause(effect.path).event.task == task)
        return TaskPlan(task, tuple(own), outcomes, its)

    def _obstruct(self, sealed: Sealed, fault: Obstructed) -> None:
        self._came_of[sealed.event_id].append(CONFLICTED)
        path = fault.path.encode("utf-8", "surrogateescape")
        later = standing(self._history.after(path, sealed))
        others = tuple(event_id for event_id in later if event_id not in self._came_of)
        self._obstacles.append(Obstacle(path_of(path), fault.reason, sealed.event_id, others))


def _asked_for(store: Store, named: Iterable[Named]) -> list[Sealed]:
    """Returns the events named, and the tool calls of the tasks named, in the order in which blame takes them."""
    wanted: set[EventId] = set()
    tasks: set[TaskId] = set()
    for name in named:
        found = _named_event(store, name.event_id) if name.event_id is not None else _named_task(store, name.task)
        if not any(map(_changes, found)):
            raise NotFound("recorded change", name.event_id or name.task, "'git pog log' shows what events changed")
        wanted |= {sealed.event_id for sealed in found}
        tasks.add(name.task)
    events = [sealed for task in sorted(tasks) for sealed in store.events(task)]
    return [sealed for _, sealed in effective_times(events) if sealed.event_id in wanted]


def _is_uncovered(sealed: Sealed) -> bool:
    event = sealed.event
    return isinstance(event, Stepped | Ran) and (event.coverage == "none" or event.effects == "outside")


def _named_task(store: Store, task: TaskId) -> list[Sealed]:
    """Returns the tool calls of a task, each told once."""
    whole = state.whole(store.events(task))
    if any(isinstance(sealed.event, Opaque) for sealed in whole.events):
        raise Incomplete(f"task '{task}'", state.NEEDS_NEWER)
    if whole.partial:
        raise Incomplete(f"task '{task}'", "parts of an event are not here")
    return [sealed for sealed in state.distinct(whole.events).used if isinstance(sealed.event, Stepped | Ran)]


def _named_event(store: Store, event_id: EventId) -> list[Sealed]:
    """Returns an event with the parts that apply together with it."""
    sealed = store.event(event_id)
    if isinstance(sealed.event, Opaque):
        raise Incomplete(f"event '{event_id}'", state.NEEDS_NEWER)
    if sealed.event.part is None:
        return [sealed]
    group = [sealed]
    events = state.whole(store.events(sealed.event.task)).events
    for other in events:
        if _is_next(group[-1], other):
            group.append(other)
    for other in reversed(events):
        if _is_next(other, group[0]):
            group.insert(0, other)
    if len(group) != sealed.event.part.of:
        raise Incomplete(f"event '{event_id}'", "parts of it are not here")
    return group


def _is_next(one: Sealed, other: Sealed) -> bool:
    """Whether an event is the part that follows another."""
    if type(one.event) is not type(other.event) or one.event_id not in other.event.parents:
        return False
    part, following = (getattr(sealed.event, "part", None) for sealed in (one, other))
    return part is not None and following == Slice(n=part.n + 1, of=part.of)


def _changes(sealed: Sealed) -> tuple[Change, ...]:
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    return changes


def _outcome(results: Sequence[str]) -> str:
    """Returns what came of an event, from what came of its changes."""
    return next((result for result in (CONFLICTED, APPLIED, SKIPPED) if result in results), IDENTICAL)
