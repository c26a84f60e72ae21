"""The life of a task: every verb that writes an event about it, judged under the store's lock.

Actor and time arrive as arguments; nothing here reads an environment or a clock.
"""

import uuid
from collections.abc import Callable
from typing import NamedTuple, TypedDict

from pogstore import codec, graph, redact, state
from pogstore.errors import (
    AlreadyClaimed,
    BadInput,
    IllegalTransition,
    Incomplete,
    LinkCycle,
    NotFound,
    NotHeld,
    TaskEnded,
)
from pogstore.model import (
    FORMAT,
    STATUSES,
    Actor,
    Checked,
    Claimed,
    Decided,
    Defined,
    Definition,
    Event,
    EventId,
    Link,
    Moved,
    Noted,
    Released,
    Reviewed,
    Sealed,
    TaskId,
    Text,
)
from pogstore.state import TaskState
from pogstore.store import rows
from pogstore.store.batch import Batch
from pogstore.store.store import Store
from pogstore.work import active
from pogstore.work.intake import redacted_definition

CYCLIC = ("parent", "depends_on", "blocks")
"""Links in which a cycle has no meaning, so that none is written."""


class By(NamedTuple):
    """Who acts, when, and in which work tree."""

    actor: Actor
    time: int
    offset: int = 0
    worktree: str | None = None


class _Common(TypedDict):
    """What every event has; the batch sets parents and clock."""

    v: int
    task: TaskId
    clock: int
    time: int
    offset: int
    actor: Actor
    worktree: str | None
    links: tuple[Link, ...]


def new_task_id(time: int, random: int) -> TaskId:
    """Returns a UUIDv7 (RFC 9562) of a time in µs and 74 random bits."""
    stamp = (time // 1000) & ((1 << 48) - 1)
    value = stamp << 80 | 0x7 << 76 | (random >> 62 & 0xFFF) << 64 | 0b10 << 62 | random & ((1 << 62) - 1)
    return TaskId(str(uuid.UUID(int=value)))


def read_state(store: Store, task: TaskId) -> TaskState:
    """Returns the state of a task; raises `NotFound` if it has no events."""
    return state.fold(store.events(task))


def define(
    store: Store,
    task: TaskId,
    definition: Definition,
    by: By,
    *,
    links: tuple[Link, ...] = (),
    class_: str = "content",
) -> Sealed:
    """Writes the definition of a new task, or amends that of an old one; raises `LinkCycle`."""

    def write(batch: Batch) -> Sealed:
        store.refresh()
        _check_links(store, task, links)
        text = codec.encode_definition(redacted_definition(definition)).decode()
        stored = _stored(store, batch, task, text, class_)
        return batch.append(Defined(**_common(task, by, links), definition=stored))

    return store.transact(write)


def claim(store: Store, task: TaskId, by: By, *, lease_until: int | None = None) -> Sealed:
    """Claims a task: of several claims at once in one repository one wins, and the others raise `AlreadyClaimed`.

    Raises `TaskEnded` for a task that is completed or cancelled: `start` re-opens it.
    """

    def make(now: TaskState) -> Event:
        if now.ended:
            raise TaskEnded(task, now.status or "")
        _check_claim(task, now, by)
        definition = now.definition.blob if now.definition else None
        return Claimed(**_common(task, by), definition_id=definition, lease_until=lease_until)

    return _write(store, task, make)


def release(store: Store, task: TaskId, by: By, *, of: EventId | None = None) -> Sealed:
    """Ends a claim of this actor, or the one named; raises `NotFound` if there is none."""

    def make(now: TaskState) -> Event:
        standing = [
            held
            for held in now.claims
            if held.event_id == of or (of is None and state.same_actor(held.actor, by.actor))
        ]
        if not standing:
            raise NotFound("claim", of) if of else NotHeld(task)
        links = tuple(Link(rel="releases", event=held.event_id) for held in standing)
        return Released(**_common(task, by, links), definition_id=standing[0].definition_id)

    return _write(store, task, make)


def move(
    store: Store, task: TaskId, status: str, by: By, *, reason: str | None = None, outcome: str | None = None
) -> Sealed:
    """Changes the status as the table of transitions allows, else raises `IllegalTransition`.

    A task that ends is not the active one of this work tree any more.
    """
    if status not in STATUSES:
        raise BadInput(f"status '{status}'", "no such status", f"it is one of {', '.join(STATUSES)}")

    def write(batch: Batch) -> Sealed:
        _check_move(task, _state(store, batch, task), status)
        event = Moved(
            **_common(task, by),
            status=status,
            reason=_text(store, batch, task, reason),
            outcome=_text(store, batch, task, outcome),
        )
        return batch.append(event)

    written = store.transact(write)
    if state.is_end(status):
        active.leave(store.layout, task)
    return written


def start(store: Store, task: TaskId, by: By) -> list[Sealed]:
    """Claims a task unless this actor holds it, and moves it to `in_progress` unless it is there."""

    def write(batch: Batch) -> list[Sealed]:
        now = _state(store, batch, task)
        written = []
        if not any(state.same_actor(held.actor, by.actor) for held in now.claims):
            _check_claim(task, now, by)
            definition = now.definition.blob if now.definition else None
            written.append(batch.append(Claimed(**_common(task, by), definition_id=definition)))
        if now.status != "in_progress":
            _check_move(task, now, "in_progress")
            written.append(batch.append(Moved(**_common(task, by), status="in_progress")))
        return written

    return store.transact(write)


def note(
    store: Store, task: TaskId, text: str, by: By, *, topic: str | None = None, links: tuple[Link, ...] = ()
) -> Sealed:
    """Keeps a note."""
    return _with_text(store, task, text, lambda stored: Noted(**_common(task, by, links), topic=topic, text=stored))


def decide(store: Store, task: TaskId, text: str, by: By) -> Sealed:
    """Keeps a decision: question, choice, alternatives, reasons."""
    return _with_text(store, task, text, lambda stored: Decided(**_common(task, by), text=stored))


def check(store: Store, task: TaskId, item: int, by: By, *, done: bool = True) -> Sealed:
    """Marks a checklist item (counted from 0) of the definition in force as done, or not."""

    def make(now: TaskState) -> Event:
        if now.definition is None:
            raise NotFound("definition", task)
        items = len(definition_of(store, now.definition).checklist)
        if not 0 <= item < items:
            raise BadInput(f"item {item + 1}", f"the checklist has {items} items")
        return Checked(**_common(task, by), item=item, done=done, definition_id=now.definition.blob)

    return _write(store, task, make)


def review(
    store: Store, task: TaskId, verdict: str, by: By, *, of: tuple[str, ...] = (), text: str | None = None
) -> Sealed:
    """Records a verdict on named events, or on the definition in force."""

    def write(batch: Batch) -> Sealed:
        now = _state(store, batch, task)
        named = of or ((now.definition.blob,) if now.definition else ())
        stored = _text(store, batch, task, text)
        return batch.append(Reviewed(**_common(task, by), verdict=verdict, of=tuple(named), text=stored))

    return store.transact(write)


def share(store: Store, task: TaskId, by: By) -> Sealed | None:
    """Makes a private definition one that travels; nothing if it does already."""

    def write(batch: Batch) -> Sealed | None:
        now = _state(store, batch, task)
        if now.definition is None or now.definition.class_ != "private":
            return None
        text = store.read_text(now.definition)
        stored = _stored(store, batch, task, text, "content")
        return batch.append(Defined(**_common(task, by, now.links), definition=stored))

    return store.transact(write)


def definition_of(store: Store, text: Text) -> Definition:
    """Returns the definition that an event names; raises `NotFound` if it is not here."""
    return codec.decode_definition(store.read_text(text).encode())


def _write(store: Store, task: TaskId, make: Callable[[TaskState], Event]) -> Sealed:
    return store.transact(lambda batch: batch.append(make(_state(store, batch, task))))


def _with_text(store: Store, task: TaskId, text: str, make: Callable[[Text], Event]) -> Sealed:
    def write(batch: Batch) -> Sealed:
        _state(store, batch, task)
        return batch.append(make(_stored(store, batch, task, redact.redact(codec.scrub(text))[0], "content")))

    return store.transact(write)


def _state(store: Store, batch: Batch, task: TaskId) -> TaskState:
    """Returns the state that a write is judged by; the batch then notices if it moved meanwhile."""
    batch.head(task)
    now = read_state(store, task)
    if now.incomplete:
        raise Incomplete(f"task '{task}'", now.incomplete)
    return now


def _common(task: TaskId, by: By, links: tuple[Link, ...] = ()) -> _Common:
    return _Common(
        v=FORMAT,
        task=task,
        clock=1,
        time=by.time,
        offset=by.offset,
        actor=by.actor,
        worktree=by.worktree,
        links=links,
    )


def _text(store: Store, batch: Batch, task: TaskId, text: str | None) -> Text | None:
    return None if text is None else _stored(store, batch, task, redact.redact(codec.scrub(text))[0], "content")


def _stored(store: Store, batch: Batch, task: TaskId, text: str, class_: str) -> Text:
    """Adds a text that somebody typed; raises `BadInput` for one too large, which would be lost without a word."""
    stored = batch.add_text(task, text, class_)
    if stored.omitted is not None:
        raise BadInput("the text", f"has {stored.size:,} bytes; pog.maxBlob is {store.max_blob:,}")
    return stored


def _check_claim(task: TaskId, now: TaskState, by: By) -> None:
    for held in now.claims:
        if held.lease_until is None or held.lease_until > by.time:
            raise AlreadyClaimed(task, held.actor.name or held.actor.type)


def _check_move(task: TaskId, now: TaskState, status: str) -> None:
    old = now.status or "pending"
    if old in STATUSES and not state.legal(old, status):  # from what only others know, any way out will do
        raise IllegalTransition(task, old, status, sorted(state.TRANSITIONS.get(old, ())))


def _check_links(store: Store, task: TaskId, links: tuple[Link, ...]) -> None:
    """Refuses a link that closes a cycle with those that are written already."""
    for link in links:
        if link.rel not in CYCLIC or link.task is None:
            continue
        if link.task == task or task in graph.ancestors((link.task,), _edges(store, link.rel)):
            raise LinkCycle(task, link.rel, link.task)


def _edges(store: Store, rel: str) -> Callable[[TaskId], list[TaskId]]:
    return lambda task: [edge.task for edge in _links_of(store, task) if edge.rel == rel and edge.task]


def _links_of(store: Store, task: TaskId) -> tuple[Link, ...]:
    found = rows.bodies(store.index.connection, task)
    return state.fold([codec.decode(body) for body in found]).links if found else ()
