"""Compiling the contract of a task for the hooks, when it is started or claimed, and taking it away when that is over.

What is compiled follows from events and configuration alone, so that an edited or deleted file is found out by
compiling again: whoever changes something that it rests on calls `refresh`.
"""

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from pogstore import state
from pogstore.errors import BadInput, NotFound, PogError
from pogstore.model import Actor, Claimed, Sealed, TaskId
from pogstore.policy import Contract
from pogstore.state import Claim, TaskState
from pogstore.store.store import Store
from pogstore.work import bounds, compiled, policies, spool
from pogstore.work.bounds import Bounds
from pogstore.work.spending import spent

DELETED, EDITED = "deleted", "edited"


class _Standing(NamedTuple):
    """The claim that a contract is compiled for, and why it does not stand any more."""

    claim: Claim | None
    lost: str = ""


def refresh(store: Store, task: TaskId, *, actor: Actor | None = None) -> None:
    """Compiles the contract of a task again, or takes it away where none holds any more.

    It holds for whom claimed it last: `actor` is who has claimed or released it just now. Nothing is kept where
    recording was not enabled: there no hook would read it.
    """
    if not store.enabled or not store.layout.own.is_dir():
        return
    path = path_of(store, task)
    try:
        events = store.events(task)
    except NotFound:
        _take_away(path)
        return
    now = state.fold(events)
    standing = _standing(now, _claim_in(path), actor)
    data = None if standing is None else _compiled(store, now, events, standing)
    if data is None:
        _take_away(path)
    else:
        _write(path, data)


def refresh_policy(store: Store) -> None:
    """Compiles what holds for whoever is on no task: the limits of the repository, or why they cannot be read."""
    if not store.enabled or not store.layout.own.is_dir():
        return
    path = path_of(store, TaskId(spool.NO_TASK))
    contract = Contract("")
    try:
        contract.limits = policies.policy_of(store).limits
    except BadInput as fault:
        contract.limits, contract.fault = policies.configured(store).limits, fault.message
    if contract.limits or contract.fault:
        data = compiled.encode(contract, spool.NO_TASK)
        if _bytes(path) != data:
            _write(path, data)
    else:
        _take_away(path)


def forget_policy(store: Store) -> None:
    """Takes away what hooks know of the limits of the repository."""
    _take_away(path_of(store, TaskId(spool.NO_TASK)))


def is_policy_known(store: Store) -> bool:
    """Says whether hooks know the limits of the repository as they are now."""
    kept = _bytes(path_of(store, TaskId(spool.NO_TASK)))
    try:
        limits = policies.policy_of(store).limits
    except BadInput:
        return kept is not None
    wanted = Contract("", "", limits)
    return kept == compiled.encode(wanted, spool.NO_TASK) if limits else kept is None


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def refresh_all(store: Store) -> None:
    """Compiles every contract again that is kept here; what cannot be read now is left as it is."""
    with contextlib.suppress(PogError, OSError):
        refresh_policy(store)
    for path in _kept(store):
        with contextlib.suppress(PogError, OSError):
            refresh(store, TaskId(path.name))


def path_of(store: Store, task: TaskId) -> Path:
    """Returns where the contract of a task is compiled to."""
    return store.layout.own / os.fsdecode(compiled.FOLDER) / task


def tampered(store: Store, task: TaskId, found: Bounds, worktree: str) -> str | None:
    """Says whether the contract that was compiled in a work tree was edited or deleted; nothing if it was not.

    `found` says what it has to hold, by the task's events.
    """
    if found.is_empty:
        return None
    now = state.fold(store.events(task))
    if now.ended or worktree not in [claim.worktree for claim in now.claims]:
        return None
    try:
        kept, _ = compiled.read(os.fsencode(path_of(store, task)))
    except FileNotFoundError:
        return DELETED
    except (OSError, compiled.Damaged):
        return EDITED
    wanted = Contract(task, "", found.limits)
    ours = [limits for limits in kept.limits if limits.source in (bounds.SOURCE, bounds.ABOVE)]
    same = _plain(wanted) == _plain(Contract(task, "", ours))
    tighter = all(kept.budget.get(name, amount + 1) <= amount for name, amount in found.budget.items())
    return None if same and tighter else EDITED


def _plain(contract: Contract) -> bytes:
    return compiled.encode(contract, "")


def _kept(store: Store) -> list[Path]:
    folder = store.layout.own / os.fsdecode(compiled.FOLDER)
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith((".", spool.NO_TASK)))
    except OSError:
        return []


def _claim_in(path: Path) -> str | None:
    """Returns the claim that a contract was compiled for; nothing if none is."""
    try:
        return compiled.read(os.fsencode(path))[1]
    except (OSError, compiled.Damaged):
        return None


def _standing(now: TaskState, known: str | None, actor: Actor | None) -> _Standing | None:
    """Returns the claim that counts; nothing where none was made, or the one who made it has given it back."""
    if now.ended:
        return None
    own = [claim for claim in now.claims if actor is not None and state.same_actor(claim.actor, actor)]
    kept = [claim for claim in now.claims if claim.event_id == known]
    claim = next(iter([*own, *kept, *(now.claims[-1:] if known is None else ())]), None)
    if claim is not None:
        return _Standing(claim)
    own_end = actor is not None and any(state.same_actor(actor, each) for each in now.claimants)
    if known is None or (own_end and actor is not None and actor.type == "human"):
        return None
    if own_end:
        return _Standing(None, "the claim was given back; to claim it again, or a person, goes on")
    other = now.claims[-1].actor if now.claims else None
    return _Standing(None, f"'{other.name or other.type}' holds the task now" if other else "the claim was taken away")


def _compiled(store: Store, now: TaskState, events: list[Sealed], standing: _Standing) -> bytes | None:
    """Returns the bytes of the contract; nothing where nothing is limited."""
    found, claim, unread = bounds.bounds_of(store, now.task), standing.claim, ""
    try:
        policy = policies.policy_of(store)
    except BadInput as fault:  # what it would narrow is not known
        policy, unread = policies.configured(store), fault.message
    leased = claim is not None and claim.lease_until is not None
    budget = policies.Policy(budget=found.budget).narrowed(policies.Policy(budget=policy.budget)).budget
    if (
        found.is_empty
        and not leased
        and not standing.lost
        and not unread
        and not (policy.limits or policy.budget or policy.require_task)
    ):
        return None
    contract = Contract(now.task, now.definition.blob if now.definition else "", [*found.limits, *policy.limits])
    contract.budget = dict(budget)
    contract.standing, contract.fault = standing.lost, unread
    if claim is not None:
        contract.lease_until = claim.lease_until or 0
        contract.lost_in = _lost_in(events, claim)
    # to claim a task again gives it no more time
    contract.since = min((each.event.time for each in events if isinstance(each.event, Claimed)), default=0)
    if set(budget) - {"minutes"}:
        contract.spent = spent(store, state.distinct(events).used, budget)
    return compiled.encode(contract, claim.event_id if claim else spool.NO_TASK)


def _lost_in(events: list[Sealed], claim: Claim) -> tuple[str, ...]:
    """Returns the work trees in which others had claimed a task that somebody holds now."""
    claims = [sealed.event for sealed in events if isinstance(sealed.event, Claimed)]
    others = {each.worktree for each in claims if each.worktree and not state.same_actor(each.actor, claim.actor)}
    own = {each.worktree for each in claims if state.same_actor(each.actor, claim.actor)}
    return tuple(sorted(each for each in others - own if each is not None))


def _write(path: Path, data: bytes) -> None:
    """Keeps a contract, for its owner alone; a hook sees the old one or the new one."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(staged, flags, 0o600), "wb") as file:
        file.write(data)
    staged.replace(path)


def _take_away(path: Path) -> None:
    path.unlink(missing_ok=True)
