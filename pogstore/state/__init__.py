"""What each kind of event means for its task: the state, the table of transitions, echoes and parts.

Takes events that already stand in replay order. Knows no storage, no order of its own and no clock: a lease is judged
against the `now` that the caller gives.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, assert_never, cast

from msgspec import Struct
from msgspec.structs import replace

from pogstore import model
from pogstore.model import STATUSES, Actor, BlobId, EventId, Link, Opaque, Sealed, TaskId, Text
from pogstore.state.echoes import Distinct as Distinct
from pogstore.state.echoes import Whole as Whole
from pogstore.state.echoes import distinct as distinct
from pogstore.state.echoes import whole as whole

ENDS = frozenset({"completed", "cancelled"})
NEEDS_NEWER = "needs a newer pogstore"
TRANSITIONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "pending": frozenset({"in_design", "in_planning", "in_progress", "blocked", "cancelled"}),
        "in_design": frozenset({"pending", "in_planning", "in_progress", "in_review", "blocked", "cancelled"}),
        "in_planning": frozenset({"pending", "in_design", "in_progress", "in_review", "blocked", "cancelled"}),
        "in_progress": frozenset(
            {"pending", "in_design", "in_planning", "in_review", "blocked", "completed", "cancelled"}
        ),
        "in_review": frozenset({"in_design", "in_planning", "in_progress", "blocked", "completed", "cancelled"}),
        "blocked": frozenset({"pending", "in_design", "in_planning", "in_progress", "cancelled"}),
        "completed": frozenset({"pending", "in_progress"}),
        "cancelled": frozenset({"pending", "in_progress"}),
    }
)
"""From each status the ones it may move to. Leaving an end is a re-opening: legal, and counted."""


class Claim(Struct, frozen=True, kw_only=True):
    """A claim that was not released: whose, on which definition, and until when (µs since the epoch).

    `given_by` is who gave the task to the actor, who is then known by name alone and has not taken it up yet.
    """

    event_id: EventId
    actor: Actor
    given_by: Actor | None = None
    worktree: str | None = None
    definition_id: BlobId | None = None
    lease_until: int | None = None


class Tick(Struct, frozen=True, kw_only=True):
    """What was last said of one checklist item of one definition."""

    definition_id: BlobId | None
    item: int
    done: bool


class Review(Struct, frozen=True, kw_only=True):
    """One verdict. `of` names events, or definitions by their blob."""

    event_id: EventId
    actor: Actor
    verdict: str
    of: tuple[str, ...] = ()
    text: Text | None = None


class Flag(Struct, frozen=True):
    """Something that was taken although it is not as it should be."""

    event_id: EventId
    reason: str


class TaskState(Struct, frozen=True, kw_only=True):
    """What the events of one task amount to. Tuples stand in replay order, sets and mappings sorted.

    `status` is absent until the task was defined or moved. `incomplete` says why this reader cannot know the state.
    """

    task: TaskId
    status: str | None = None
    status_event: EventId | None = None
    reason: Text | None = None
    outcome: Text | None = None
    reopened: int = 0
    definition: Text | None = None
    definition_event: EventId | None = None
    definitions: int = 0
    links: tuple[Link, ...] = ()
    claims: tuple[Claim, ...] = ()
    done_by: tuple[Claim, ...] = ()
    claimants: tuple[Actor, ...] = ()
    ticks: tuple[Tick, ...] = ()
    reviews: tuple[Review, ...] = ()
    redacted: tuple[BlobId, ...] = ()
    actors: tuple[Actor, ...] = ()
    events: int = 0
    first_time: int | None = None
    last_time: int | None = None
    flagged: tuple[Flag, ...] = ()
    incomplete: str | None = None

    @property
    def ended(self) -> bool:
        """Whether the task stands at an end."""
        return is_end(self.status)

    @property
    def definition_id(self) -> BlobId | None:
        """The name of the definition in force."""
        return self.definition.blob if self.definition else None

    @property
    def conflicted(self) -> bool:
        """Whether several claims stand at once, leases not considered."""
        return len(self.claims) > 1 and not self.ended

    @property
    def checked(self) -> dict[int, bool]:
        """What was said of the items of the definition in force, by their index."""
        current = self.definition.blob if self.definition else None
        return {tick.item: tick.done for tick in self.ticks if tick.definition_id == current}


class Overridden(NamedTuple):
    """Two events of which neither saw the other; the later one in replay order decided."""

    earlier: EventId
    later: EventId


def is_end(status: str | None) -> bool:
    """Says whether a task of this status is finished."""
    return status in ENDS


def legal(old: str | None, new: str) -> bool:
    """Says whether the table has this transition. A task without a status may begin with any that is known."""
    return new in (STATUSES if old is None else TRANSITIONS.get(old, ()))


def begin(task: TaskId) -> TaskState:
    """Returns the state of a task without any event."""
    return TaskState(task=task)


def apply(state: TaskState, sealed: Sealed) -> TaskState:
    """Returns the state after one more event; costs time in proportion to the state."""
    folding = _Folding(state)
    folding.add(sealed)
    return folding.state()


def fold(events: Sequence[Sealed]) -> TaskState:
    """Returns the state of a task from all its events (at least one) in replay order, in time linear in their number.

    Echoes and parts that lack others have no effect; the latter, and echoes that disagree, are flagged.
    """
    complete = whole(events)
    distinct_events = distinct(complete.events)
    folding = _Folding(begin(events[0].event.task))
    for sealed in distinct_events.used:
        folding.add(sealed)
    for sealed in complete.partial:
        folding.flag(sealed.event_id, "a part without the others")
    for used, echo in distinct_events.disagreeing:
        folding.flag(echo, f"an echo of {used} with other changes")
    return folding.state()


def standing_claims(state: TaskState, now: int) -> tuple[Claim, ...]:
    """Returns the claims that bind at a time (µs since the epoch): none once the task has ended."""
    if state.ended:
        return ()
    return tuple(claim for claim in state.claims if not is_over(claim, now))


def holder(state: TaskState, now: int) -> Claim | None:
    """Returns the one claim that binds at a time; `None` if there is none, and in a conflict."""
    standing = standing_claims(state, now)
    return standing[0] if len(standing) == 1 else None


def is_over(claim: Claim, now: int) -> bool:
    """Says whether the lease of a claim has ended, so that somebody else may take its place."""
    return claim.lease_until is not None and claim.lease_until <= now


def is_outdated(claim: Claim, definition_id: BlobId | None) -> bool:
    """Says whether a task was amended after a claim: what was accepted is not the definition in force."""
    return definition_id is not None and claim.definition_id not in (None, definition_id)


def holds(claim: Claim, actor: Actor) -> bool:
    """Says whether a claim is of an actor: made by itself, or given to one of its type and name."""
    return same_actor(claim.actor, actor) or (claim.given_by is not None and _named(claim.actor) == _named(actor))


def same_actor(one: Actor, other: Actor) -> bool:
    """Says whether two events name the same person, agent or session; a newer model or version is no other actor."""
    return _identity(one) == _identity(other)


def independent_reviews(state: TaskState) -> tuple[Review, ...]:
    """Returns the reviews that count: those by neither an actor nor a session that ever claimed the task.

    A claimant of whom the name alone is known stands for everybody of that name.
    """
    claimants = {_identity(actor) for actor in state.claimants}
    names = {_named(actor) for actor in state.claimants if _identity(actor)[2:] == (None, None)}
    sessions = {actor.session for actor in state.claimants if actor.session}
    return tuple(
        review
        for review in state.reviews
        if _identity(review.actor) not in claimants
        and review.actor.session not in sessions
        and _named(review.actor) not in names
    )


def overridden(events: Iterable[Sealed], is_ancestor: Callable[[EventId, EventId], bool]) -> Iterator[Overridden]:
    """Yields where "later wins" decided between two `moved` or two `defined` events that did not see each other.

    Takes events in replay order, without echoes. An event that a seen one had seen is not compared again, so a chain
    costs one comparison an event.
    """
    latest: dict[type, list[EventId]] = {}
    for sealed in events:
        if not isinstance(sealed.event, model.Defined | model.Moved):
            continue
        standing = latest.setdefault(type(sealed.event), [])
        unseen = [other for other in standing if not is_ancestor(other, sealed.event_id)]
        for other in unseen:
            yield Overridden(other, sealed.event_id)
        standing[:] = [*unseen, sealed.event_id]


class _Folding:
    """A state while it is folded: what grows with the number of events is not copied for each of them."""

    def __init__(self, state: TaskState) -> None:
        self._state = state
        self._events, self._last_time = state.events, state.last_time
        self._actors = dict.fromkeys(state.actors)
        self._claimants = dict.fromkeys(state.claimants)
        self._claims: dict[EventId, Claim] = {}
        self._claims_of: dict[_Identity, dict[str | None, EventId]] = {}
        self._ticks = {(tick.definition_id, tick.item): tick for tick in state.ticks}
        self._reviews = list(state.reviews)
        self._redacted = set(state.redacted)
        self._flagged = list(state.flagged)
        for claim in state.claims:
            self._claim(claim)

    def state(self) -> TaskState:
        """Returns what the events so far amount to."""
        return replace(
            self._state,
            events=self._events,
            last_time=self._last_time,
            actors=tuple(self._actors),
            claimants=tuple(self._claimants),
            claims=tuple(self._claims.values()),
            ticks=tuple(self._ticks[key] for key in sorted(self._ticks, key=lambda key: (key[0] or "", key[1]))),
            reviews=tuple(self._reviews),
            redacted=tuple(sorted(self._redacted)),
            flagged=tuple(self._flagged),
        )

    def flag(self, event_id: EventId, reason: str) -> None:
        """Notes what is not as it should be."""
        self._flagged.append(Flag(event_id, reason))

    def add(self, sealed: Sealed) -> None:
        """Takes the next event in replay order."""
        event_id, event = sealed.event_id, cast("model.AnyEvent | Opaque", sealed.event)
        self._tally(event)
        match event:
            case model.Stepped() | model.Ran() | model.Observed() | model.Refused() | model.Committed():
                pass  # what was done, not what the task is
            case model.Prompted() | model.Decided() | model.Noted():
                pass
            case model.RolledBack() | model.Restored() | model.Replayed() | model.Signed() | model.Joined():
                pass  # they change the work tree, the trust or the graph
            case model.Defined():
                self._define(event_id, event)
            case model.Claimed():
                self._end_claims(_released_by(event))
                self._claim(_claim_of(event_id, event))
            case model.Released():
                self._release(event)
            case model.Moved():
                self._move(event_id, event)
            case model.Checked(definition_id=definition_id, item=item, done=done):
                current = self._state.definition.blob if self._state.definition else None
                tick = Tick(definition_id=definition_id or current, item=item, done=done)
                self._ticks[tick.definition_id, item] = tick
            case model.Reviewed(actor=actor, verdict=verdict, of=of, text=text):
                self._reviews.append(Review(event_id=event_id, actor=actor, verdict=verdict, of=of, text=text))
            case model.Redacted(blobs=blobs):
                self._redacted.update(blobs)
            case Opaque(kind=kind):
                self._state = replace(self._state, incomplete=NEEDS_NEWER)
                self.flag(event_id, f"'{kind}' {NEEDS_NEWER}")
            case _:
                assert_never(event)

    def _tally(self, event: model.AnyEvent | Opaque) -> None:
        if self._events == 0:
            self._state = replace(self._state, first_time=event.time)
        self._events += 1
        self._last_time = event.time
        if event.actor is not None:
            self._actors.setdefault(event.actor)

    def _define(self, event_id: EventId, event: model.Defined) -> None:
        state = self._state
        self._state = replace(
            state,
            status="pending" if state.status is None else state.status,
            status_event=event_id if state.status is None else state.status_event,
            definition=event.definition,
            definition_event=event_id,
            definitions=state.definitions + 1,
            links=event.links,
        )

    def _claim(self, claim: Claim) -> None:
        # A session is one wherever it works; without one, two clones of the same person are two claims.
        place = None if claim.actor.session else claim.worktree
        own = self._claims_of.setdefault(_identity(claim.actor), {})
        if place in own:
            self._claims.pop(own[place], None)
        own[place] = claim.event_id
        self._claims[claim.event_id] = claim
        self._claimants.setdefault(claim.actor)

    def _release(self, event: model.Released) -> None:
        self._end_claims(_released_by(event) or self._claims_of.pop(_identity(event.actor), {}).values())

    def _end_claims(self, event_ids: Iterable[EventId]) -> None:
        for event_id in event_ids:
            self._claims.pop(event_id, None)

    def _move(self, event_id: EventId, event: model.Moved) -> None:
        old, new = self._state.status, event.status
        if new not in STATUSES:
            self.flag(event_id, f"unknown status '{new}'")
        elif old != new and not legal(old, new):
            self.flag(event_id, f"illegal transition from '{old}' to '{new}'")
        self._state = replace(
            self._state,
            status=new,
            status_event=event_id,
            reason=event.reason,
            reopened=self._state.reopened + (is_end(old) and not is_end(new)),
        )
        if is_end(new):
            self._end(event, again=is_end(old))

    def _end(self, event: model.Moved, *, again: bool) -> None:
        outcome, done_by = (self._state.outcome, self._state.done_by) if again else (None, ())
        done_by += tuple(self._claims.values())
        self._state = replace(self._state, outcome=event.outcome or outcome, done_by=done_by)
        self._claims.clear()


_Identity = tuple[str, str | None, str | None, str | None]


def _identity(actor: Actor) -> _Identity:
    return actor.type, actor.name, actor.session, actor.on_behalf_of.email if actor.on_behalf_of else None


def _named(actor: Actor) -> tuple[str, str | None]:
    return actor.type, actor.name


def _released_by(event: model.Claimed | model.Released) -> list[EventId]:
    """Returns the claims that an event names as ended."""
    return [link.event for link in event.links if link.rel == "releases" and link.event is not None]


def _claim_of(event_id: EventId, event: model.Claimed) -> Claim:
    given = event.holder is not None
    return Claim(
        event_id=event_id,
        actor=event.holder or event.actor,
        given_by=event.actor if given else None,
        worktree=None if given else event.worktree,
        definition_id=event.definition_id,
        lease_until=event.lease_until,
    )
