"""Who works on a task: claims, their leases, and handing a task on. Each is judged under the store's lock.

A claim accepts one definition. It stands until it is released, until the task ends, or until another claim takes its
place, which says so by a `releases` link: the same actor's next claim, that of somebody to whom the task was given, or
anybody's once the lease has ended.
"""

from collections.abc import Callable, Iterable

from pogstore import state
from pogstore.errors import AlreadyClaimed, ClaimOutdated, Incomplete, NotFound, NotHeld, TaskEnded
from pogstore.model import Actor, BlobId, Claimed, Event, EventId, Link, Moved, Released, Sealed, TaskId
from pogstore.state import Claim, TaskState
from pogstore.store.batch import Batch
from pogstore.store.store import Store
from pogstore.work import contracts, policies
from pogstore.work.acts import By, check_move, common, judged, write_event


def claim(
    store: Store,
    task: TaskId,
    by: By,
    *,
    lease_until: int | None = None,
    holder: Actor | None = None,
    renew: bool = False,
) -> Sealed:
    """Claims a task: of several claims at once in one repository one wins, and the others raise `AlreadyClaimed`.

    With a `holder` the task is given to somebody else, by who holds it or while nobody does. Who holds it may claim
    again if the task was amended since or the lease has ended; with `renew` at any time, and nobody else.
    Raises `TaskEnded` for a task that is completed or cancelled: `start` re-opens it.
    """

    def make(now: TaskState) -> Event:
        _check_open(task, now)
        if renew and not any(state.holds(held, by.actor) for held in now.claims):
            raise NotHeld(task)
        replaced = _replaced(task, now, by, anew=renew or holder is not None)
        return _claimed(task, now, by, replaced, lease_until, holder)

    return _compiled(store, write_event(_checked(store), task, make), holder or by.actor)


def claim_first(
    store: Store, candidates: Callable[[], Iterable[TaskId]], by: By, *, lease_until: int | None = None
) -> Sealed | None:
    """Claims the first of some tasks that can be claimed, as one compare-and-swap; nothing if there is none.

    The candidates are asked for under the lock, so that whoever comes second is offered what is left.
    """

    def attempt(batch: Batch) -> Sealed | None:
        for task in candidates():
            try:
                now = judged(store, batch, task)
                _check_open(task, now)
                replaced = _replaced(task, now, by)
            except (AlreadyClaimed, TaskEnded, Incomplete, NotFound):
                continue
            return batch.append(_claimed(task, now, by, replaced, lease_until))
        return None

    found = _checked(store).transact(attempt)
    return None if found is None else _compiled(store, found, by.actor)


def release(store: Store, task: TaskId, by: By, *, of: EventId | None = None) -> Sealed:
    """Ends a claim of this actor, or the one named; raises `NotFound` if there is none."""

    def make(now: TaskState) -> Event:
        standing = [
            held
            for held in now.claims
            if held.event_id == of or (of is None and (state.holds(held, by.actor) or _gave(held, by.actor)))
        ]
        if not standing:
            raise NotFound("claim", of) if of else NotHeld(task)
        return Released(**common(task, by, _releasing(standing)), definition_id=standing[0].definition_id)

    return _compiled(store, write_event(store, task, make), by.actor)


def start(store: Store, task: TaskId, by: By, *, lease_until: int | None = None) -> list[Sealed]:
    """Claims a task unless this actor holds it as it is defined now, and moves it to `in_progress` unless it is there.

    With `lease_until` it is claimed anew, so that the lease is that one. Its contract is compiled for the hooks of
    agents.
    """

    def attempt(batch: Batch) -> list[Sealed]:
        now = judged(store, batch, task)
        written = []
        if lease_until is not None or not any(_binds(held, now, by) for held in now.claims):
            replaced = _replaced(task, now, by, anew=True)
            written.append(batch.append(_claimed(task, now, by, replaced, lease_until)))
        if now.status != "in_progress":
            check_move(task, now, "in_progress")
            written.append(batch.append(Moved(**common(task, by), status="in_progress")))
        return written

    found = _checked(store).transact(attempt)
    contracts.refresh(store, task, actor=by.actor)
    return found


def _checked(store: Store) -> Store:
    """Returns a store in which a task can be begun: a file of limits that cannot be read is said before that."""
    if store.enabled:
        policies.policy_of(store)
    return store


def _compiled(store: Store, written: Sealed, actor: Actor) -> Sealed:
    """Compiles the contract of a task that an actor has claimed or given back just now."""
    contracts.refresh(store, written.event.task, actor=actor)
    return written


def reclaimed(task: TaskId, before: TaskState, by: By, definition_id: BlobId) -> Claimed | None:
    """Returns the claim of who amends a task that it holds: nobody has to accept what is its own."""
    own = [held for held in before.claims if _binds(held, before, by)]
    if not own:
        return None
    until = own[0].lease_until
    return Claimed(**common(task, by, _releasing(own)), definition_id=definition_id, lease_until=until)


def check_accepted(task: TaskId, now: TaskState, by: By) -> None:
    """Refuses what needs the definition in force from an actor whose claim is of another, or who has lost its claim.

    Raises `ClaimOutdated`, and `AlreadyClaimed` for an agent or a tool that once held what somebody else holds now.
    """
    own = [held for held in now.claims if state.same_actor(held.actor, by.actor)]
    if own and all(state.is_outdated(held, now.definition_id) for held in own):
        raise ClaimOutdated(task)
    if own or by.actor.type == "human" or not any(state.same_actor(actor, by.actor) for actor in now.claimants):
        return
    for held in state.standing_claims(now, by.time):
        raise _claimed_by(task, held, by)


def check_holder(task: TaskId, now: TaskState, by: By) -> None:
    """Refuses what is for who holds a task from an agent or a tool that does not; raises `AlreadyClaimed`.

    Nobody needs to hold it, and an agent may do what the person that it works for holds.
    """
    standing = () if by.actor.type == "human" else state.standing_claims(now, by.time)
    if standing and not any(state.holds(held, by.actor) or _works_for(by.actor, held.actor) for held in standing):
        raise _claimed_by(task, standing[0], by)


def _works_for(actor: Actor, other: Actor) -> bool:
    """Says whether another actor is the person that an agent works for."""
    return other.type == "human" and actor.on_behalf_of is not None and actor.on_behalf_of == other.on_behalf_of


def _check_open(task: TaskId, now: TaskState) -> None:
    if now.ended:
        raise TaskEnded(task, now.status or "")


def _replaced(task: TaskId, now: TaskState, by: By, *, anew: bool = False) -> list[Claim]:
    """Returns the claims whose place a new one takes; raises `AlreadyClaimed` for one that stands in the way.

    With `anew` what binds the actor already is no hindrance.
    """
    for held in now.claims:
        if state.is_over(held, by.time):
            continue
        if not state.holds(held, by.actor) and not (anew and _gave(held, by.actor)):
            raise _claimed_by(task, held, by)
        if not anew and _binds(held, now, by):
            raise _claimed_by(task, held, by)
    return list(now.claims)


def _binds(held: Claim, now: TaskState, by: By) -> bool:
    """Says whether a claim is this actor's own, made by itself, on the definition in force, its lease not over."""
    own = state.same_actor(held.actor, by.actor)
    return own and not state.is_over(held, by.time) and not state.is_outdated(held, now.definition_id)


def _gave(held: Claim, actor: Actor) -> bool:
    """Says whether an actor gave a task to somebody who has not taken it up yet."""
    return held.given_by is not None and state.same_actor(held.given_by, actor)


def _claimed(
    task: TaskId,
    now: TaskState,
    by: By,
    replaced: Iterable[Claim],
    lease_until: int | None,
    holder: Actor | None = None,
) -> Claimed:
    links = _releasing(replaced)
    return Claimed(**common(task, by, links), definition_id=now.definition_id, lease_until=lease_until, holder=holder)


def _claimed_by(task: TaskId, held: Claim, by: By) -> AlreadyClaimed:
    return AlreadyClaimed(task, held.actor.name or held.actor.type, is_own=state.holds(held, by.actor))


def _releasing(claims: Iterable[Claim]) -> tuple[Link, ...]:
    return tuple(Link(rel="releases", event=held.event_id) for held in claims)
