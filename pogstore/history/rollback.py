"""`rollback`: take the effects of some events out of the work tree, and keep the rest. `undo`: take that back, exactly.

Planning reads and gives a value; only `apply_rollback` and `apply_undo` write, all or nothing, and leave events. The
rules per path are in `takeout.py`, for people in `docs/explanation/rollback.md`.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import count

from pogstore.draft import FileVersion
from pogstore.errors import Incomplete, NotFound
from pogstore.history import cascade
from pogstore.history.claims import is_shared
from pogstore.history.operations import UNDO, Manner, carry_out, last_operation
from pogstore.history.planning import Ground, Planning, Progress, ground, selected, untold
from pogstore.history.plans import Cascade, Done, Obstacle, Plan, Terms
from pogstore.history.takeout import spelled
from pogstore.history.targets import Names, Order, asked_for, changes_of, is_uncovered, whole_event
from pogstore.model import EventId, Path, Restored, RolledBack, Sealed
from pogstore.store.store import Store
from pogstore.work.acts import By

__all__ = ["apply_rollback", "apply_undo", "perhaps_others", "plan_rollback", "plan_undo"]

MOST_CHANGES = 20_000
"""Changes that may be planned while looking for the smallest cascade: some seconds at most."""
FEWEST_PLANS, MOST_PLANS = 8, 500
"""Plans that may be made for it, however many changes or however few each of them has."""


def plan_rollback(
    store: Store,
    named: Names,
    progress: Progress = untold,
    terms: Terms = Terms(),  # noqa: B008 - a value that nobody can change
    resolved: Mapping[str, FileVersion | None] = {},
    searching: Progress = untold,
) -> Plan:
    """Returns the plan that takes the named events, and what tool calls did for the named tasks, out of the work tree.

    The order in which they are named means nothing: the newest goes first, in the order in which blame takes them.
    `progress` is told how many changes are planned, and of how many, after each; `searching`, while further events are
    looked for, how many plans were made of those that may be. `resolved` is what somebody made of the paths on which
    the older side would be taken.
    Raises `NotFound` for a name without a recorded change, and `Incomplete` where a newer reader is needed.
    """
    with store.one_moment():
        asked = asked_for(store, named, subtasks=terms.subtasks)
        targets = _touching(asked, terms)
        on = ground(store, targets)
        plan = _planned(on, targets, terms, progress, resolved)
        if plan.obstacles and terms.widen != "no" and terms.conflicts == "refuse":
            found = _cascade(on, targets, plan, terms, searching)
            if terms.widen == "take" and found.found in ("smallest", "clean"):
                plan = _planned(on, _with(Order(store), targets, found.events), terms, progress)
            plan = plan._replace(cascade=found)
        uncovered = tuple(sealed.event_id for sealed in asked if is_uncovered(sealed))
        return plan._replace(uncovered=uncovered)


def perhaps_others(store: Store, plan: Plan) -> tuple[tuple[Path, EventId], ...]:
    """Returns the files that a plan would write and of which a target may have taken somebody else's changes for its
    own, each with that target.
    """
    written = {path for own in plan.tasks for each in own.effects for path in (each.path, each.older)} - {None}
    return tuple(
        (change.path, sealed.event_id)
        for sealed in map(store.event, (target for own in plan.tasks for target in own.targets))
        if is_shared(sealed.event)
        for change in changes_of(sealed)
        if not written.isdisjoint(map(spelled, (change.path, change.from_)))
    )


def plan_undo(store: Store, worktree: str | None) -> Plan:
    """Returns the plan that takes back the last rollback, restore, replay or undo made in this work tree.

    Every path must hold exactly what that operation wrote. Raises `NotFound` if there is none.
    """
    with store.one_moment():
        targets = last_operation(store, worktree)
        planning = Planning(ground(store, targets), targets)
        for sealed in reversed(targets):
            planning.put_back(sealed)
        return planning.plan()


def apply_rollback(store: Store, plan: Plan, by: By, progress: Progress = untold) -> Done:
    """Carries a rollback out; raises `Conflict`, with nothing written, if something stands in the way."""
    return carry_out(store, plan, by, Manner(RolledBack, "three-way"), progress)


def apply_undo(store: Store, plan: Plan, by: By, progress: Progress = untold) -> Done:
    """Carries an undo out; raises `Conflict`, with nothing written, if something stands in the way."""
    return carry_out(store, plan, by, Manner(Restored, UNDO), progress)


def _touching(asked: Sequence[Sealed], terms: Terms) -> list[Sealed]:
    """Returns the events with changes that count; raises `NotFound` if there are none."""
    found = [sealed for sealed in asked if any(selected(change, terms) for change in changes_of(sealed))]
    if not found:
        raise NotFound("recorded change", "@", "'git pog diff' shows which paths an event changed")
    return found


def _planned(
    on: Ground,
    targets: Sequence[Sealed],
    terms: Terms,
    progress: Progress = untold,
    resolved: Mapping[str, FileVersion | None] = {},
) -> Plan:
    """Plans to take some events out; with conflicts to be kept, again without those paths, until none is left."""
    kept: frozenset[str] = frozenset()
    told: dict[Obstacle, None] = {}
    while True:
        planning = Planning(on, targets, terms, progress, kept)
        for sealed in reversed(targets):
            planning.take_out(sealed)
        planning.resolve(resolved)
        plan = planning.plan()
        if terms.conflicts != "keep":
            return plan
        grown = planning.kept | planning.obstructed
        told |= dict.fromkeys(plan.obstacles)
        if grown == kept:
            return plan._replace(kept=tuple(told))
        kept = grown


def _cascade(on: Ground, targets: Sequence[Sealed], plan: Plan, terms: Terms, searching: Progress) -> Cascade:
    """Looks for the fewest further events with which nothing stands in the way."""
    each = max(1, sum(len(changes_of(sealed)) for sealed in targets))
    most = min(max(FEWEST_PLANS, MOST_CHANGES // each), MOST_PLANS)
    made = count(1)
    order = Order(on.store)
    removable: dict[EventId, bool] = {}

    def obstacles(added: Collection[EventId]) -> list[cascade.Blocked]:
        wider = _with(order, targets, added)
        planned = _planned(on, wider, terms) if added else plan
        searching(next(made), most)
        return [_blocked(each) for each in planned.obstacles]

    def _blocked(obstacle: Obstacle) -> cascade.Blocked:
        return cascade.Blocked(obstacle.event, frozenset(filter(is_removable, obstacle.later)))

    def is_removable(event_id: EventId) -> bool:
        if event_id not in removable:
            try:
                removable[event_id] = any(map(changes_of, whole_event(on.store, event_id)))
            except Incomplete:
                removable[event_id] = False
        return removable[event_id]

    found = cascade.find(obstacles, most)
    searching(most, most)
    return found


def _with(order: Order, targets: Sequence[Sealed], added: Collection[EventId]) -> list[Sealed]:
    """Returns the targets with further events, each with its parts, in the order in which blame takes them."""
    return order.of([*targets, *(part for event_id in added for part in whole_event(order.store, event_id))])
