"""What is asked of a task before its work may go on: approvals by others, and checks that passed after its last change.

Believes events alone: an approval counts if a person gave it who neither claimed the task nor worked on it, and a check
has passed if it was recorded to (`git pog run -- …`), after all that changed a file. Runs nothing.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pogstore import state
from pogstore.errors import BadInput
from pogstore.model import Actor, Opaque, Ran, Sealed, Stepped, TaskId
from pogstore.store.store import Store
from pogstore.work.arguments import argv_of
from pogstore.work.bounds import Bounds

APPROVE, REJECT = "approve", "reject"
PASSED, FAILED, STALE, MISSING = "passed", "failed", "stale", "missing"
UNREAD, UNKNOWN = "unread", "unknown"
_SAID = {
    PASSED: "passed",
    FAILED: "failed",
    STALE: "passed, but files were changed since",
    MISSING: "was not recorded: git pog run -- ",
    UNKNOWN: "may have run: which commands were run is private, and not here",
    UNREAD: "is no plain command: it has to be run by hand",
}


class Approvals(NamedTuple):
    """How many approvals are needed, how many count, and who has rejected it last."""

    needed: int
    have: int
    rejected: str | None = None


class Check(NamedTuple):
    """A command that proves a task done: `passed`, `failed`, `stale`, `missing`, `unread` or `unknown`."""

    command: str
    state: str

    @property
    def said(self) -> str:
        """The state as a phrase."""
        return _SAID[self.state] + (self.command if self.state == MISSING else "")


def approvals_of(store: Store, task: TaskId, needed: int) -> Approvals:
    """Returns the approvals of the definition in force, or of events of the task, that count.

    The last word of each person counts. Nobody's does who claimed the task or took a step in it, in any session.
    """
    events = store.events(task)
    now = state.fold(events)
    ids = {sealed.event_id for sealed in events}
    workers = [sealed.event.actor for sealed in events if isinstance(sealed.event, Stepped | Ran)]
    last: dict[str, tuple[str, str]] = {}
    for review in state.independent_reviews(now):
        meant = now.definition is not None and now.definition.blob in review.of
        known = meant or any(each in ids for each in review.of)
        if review.actor.type == "human" and known and not _worked(review.actor, workers):
            last[_person(review.actor)] = (review.verdict, review.actor.name or "somebody")
    rejected = next((name for verdict, name in last.values() if verdict == REJECT), None)
    return Approvals(needed, sum(verdict == APPROVE for verdict, _ in last.values()), rejected)


def _worked(reviewer: Actor, workers: Iterable[Actor]) -> bool:
    """Says whether a reviewer took a step of the task, or its session did; whom an agent works for did not."""
    return any(
        state.same_actor(reviewer, worker) or (reviewer.session is not None and reviewer.session == worker.session)
        for worker in workers
    )


def _person(actor: Actor) -> str:
    return actor.on_behalf_of.email if actor.on_behalf_of else actor.name or ""


def checks_of(
    store: Store, task: TaskId, found: Bounds, more: Sequence[str], ran: Mapping[str, bool]
) -> Iterator[Check]:
    """Yields the checks of a task's definitions and of the policy, each with what was recorded of it.

    `ran` has those that were run just now, and whether they passed.
    """
    named = [check for each in (*found.definitions, *found.above) for check in each.checks]
    wanted = dict.fromkeys([*named, *more])
    if not wanted:
        return
    used = state.distinct(store.events(task)).used
    runs = [sealed for sealed in used if isinstance(sealed.event, Ran)]
    changed = _last_change(used)
    for command in wanted:
        if command in ran:
            yield Check(command, PASSED if ran[command] else FAILED)
        else:
            yield Check(command, _state(store, command, runs, used, changed))


def _last_change(used: Sequence[Sealed]) -> int:
    """Returns the place of the last event that changed a file."""
    places = [at for at, sealed in enumerate(used) if getattr(sealed.event, "changes", ())]
    return places[-1] if places else -1


def _state(store: Store, command: str, runs: Sequence[Sealed], used: Sequence[Sealed], changed: int) -> str:
    try:
        words = [word.encode() for word in shlex.split(command)]
    except ValueError:
        return UNREAD
    known = [(sealed, _argv(store, sealed)) for sealed in runs]
    same = [sealed for sealed, argv in known if argv == words]
    if not same:
        return UNKNOWN if any(argv is None for _, argv in known) else MISSING
    last = same[-1]
    if not isinstance(last.event, Ran) or last.event.exit_code != 0:
        return FAILED
    return PASSED if used.index(last) >= changed else STALE


def _argv(store: Store, sealed: Sealed) -> list[bytes] | None:
    if isinstance(sealed.event, Opaque) or not isinstance(sealed.event, Ran):
        return None
    text = store.find_text(sealed.event.argv)
    try:
        return argv_of(text) if text is not None else None
    except BadInput:
        return None
