"""The life of a task: every verb that writes an event about it, judged under the store's lock.

Actor and time arrive as arguments; nothing here reads an environment or a clock.
"""

import uuid
from collections.abc import Callable

from msgspec.structs import replace

from pogstore import codec, graph, redact, state
from pogstore.errors import BadInput, LinkCycle, NotFound, RefusedByPolicy
from pogstore.model import (
    STATUSES,
    Checked,
    Decided,
    Defined,
    Definition,
    Event,
    Link,
    Moved,
    Noted,
    Reviewed,
    Sealed,
    TaskId,
    Text,
)
from pogstore.state import TaskState
from pogstore.store import rows
from pogstore.store.batch import Batch
from pogstore.store.store import Store
from pogstore.work import active, bounded, contracts, defined_here
from pogstore.work.acts import By, check_move, common, judged, read_state, write_event
from pogstore.work.claims import check_accepted, check_holder, reclaimed
from pogstore.work.intake import redacted_definition

LIMITS = ("scope", "commands", "budget", "checks", "approvals")
"""The fields of a definition that limit what is done."""
CYCLIC = ("parent", "depends_on", "blocks")
"""Links in which a cycle has no meaning, so that none is written."""


def new_task_id(time: int, random: int) -> TaskId:
    """Returns a UUIDv7 (RFC 9562) of a time in µs and 74 random bits."""
    stamp = (time // 1000) & ((1 << 48) - 1)
    value = stamp << 80 | 0x7 << 76 | (random >> 62 & 0xFFF) << 64 | 0b10 << 62 | random & ((1 << 62) - 1)
    return TaskId(str(uuid.UUID(int=value)))


def define(
    store: Store,
    task: TaskId,
    definition: Definition,
    by: By,
    *,
    links: tuple[Link, ...] = (),
    class_: str = "content",
) -> Sealed:
    """Writes the definition of a new task, or amends that of an old one; raises `LinkCycle`.

    Who amends a task that it holds has claimed it as amended, unless its limits are others now; all other claims are
    outdated.
    """

    def write(batch: Batch) -> Sealed:
        store.refresh()
        _check_links(store, task, links)
        text = codec.encode_definition(redacted_definition(definition)).decode()
        before = read_state(store, task) if batch.head(task) else None
        stored = _stored(store, batch, task, text, class_)
        defined = batch.append(Defined(**common(task, by, links), definition=stored))
        # what limits a task is accepted by a new claim alone, so that nobody widens them in passing
        again = reclaimed(task, before, by, stored.blob) if before and not _limits_differ(store, before, text) else None
        if again is not None:
            batch.append(again)
        return defined

    written = store.transact(write)
    if by.actor.type == "human":
        defined_here.register(store, written)
    contracts.refresh(store, task)
    return written


def _limits_differ(store: Store, before: TaskState, text: str) -> bool:
    """Says whether a definition limits a task in another way than the one before; so too if that is not here."""
    former = store.find_text(before.definition)
    if former is None:
        return before.definition is not None
    one, other = (codec.decode_definition(each.encode()) for each in (former, text))
    return any(getattr(one, name) != getattr(other, name) for name in LIMITS)


def move(
    store: Store, task: TaskId, status: str, by: By, *, reason: str | None = None, outcome: str | None = None
) -> Sealed:
    """Changes the status as the table of transitions allows, else raises `IllegalTransition`.

    A task that ends is not the active one of this work tree any more. Raises `ClaimOutdated` or `AlreadyClaimed` for
    who is to complete a task that was amended since it claimed it, or, being no person, one that somebody else holds,
    and `RefusedByPolicy` for an agent whose steps broke its limits: they are judged again by the definition.
    """
    if status not in STATUSES:
        raise BadInput(f"status '{status}'", "no such status", f"it is one of {', '.join(STATUSES)}")

    def write(batch: Batch) -> Sealed:
        now = judged(store, batch, task)
        check_move(task, now, status)
        if status == "completed":
            check_accepted(task, now, by)
            check_holder(task, now, by)
            _check_kept(store, task, by)
        event = Moved(
            **common(task, by),
            status=status,
            reason=_text(store, batch, task, reason),
            outcome=_text(store, batch, task, outcome),
        )
        return batch.append(event)

    written = store.transact(write)
    if state.is_end(status):
        active.leave(store.layout, task)
        contracts.refresh(store, task)
    return written


def _check_kept(store: Store, task: TaskId, by: By) -> None:
    """Refuses that who is no person completes a task whose limits were broken."""
    found = list(bounded.broken(store, task)) if by.actor.type != "human" else []
    if found:
        told = f"{found[0].refusal.rule}: {found[0].refusal.reason}"
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        hint = "a person can complete it, or amend its limits; 'git pog gate' shows all"
        raise RefusedByPolicy(f"task '{task}' went beyond its limits ({told}{more})", hint)


def note(
    store: Store, task: TaskId, text: str, by: By, *, topic: str | None = None, links: tuple[Link, ...] = ()
) -> Sealed:
    """Keeps a note."""
    return _with_text(store, task, text, lambda stored: Noted(**common(task, by, links), topic=topic, text=stored))


def decide(store: Store, task: TaskId, text: str, by: By) -> Sealed:
    """Keeps a decision: question, choice, alternatives, reasons."""
    return _with_text(store, task, text, lambda stored: Decided(**common(task, by), text=stored))


def check(store: Store, task: TaskId, item: int, by: By, *, done: bool = True) -> Sealed:
    """Marks a checklist item (counted from 0) of the definition in force as done, or not.

    Raises `ClaimOutdated` for who has claimed another definition, whose items may be others.
    """

    def make(now: TaskState) -> Event:
        if now.definition is None:
            raise NotFound("definition", task)
        check_accepted(task, now, by)
        items = len(definition_of(store, now.definition).checklist)
        if not 0 <= item < items:
            raise BadInput(f"item {item + 1}", f"the checklist has {items} item{'' if items == 1 else 's'}")
        return Checked(**common(task, by), item=item, done=done, definition_id=now.definition.blob)

    return write_event(store, task, make)


def review(
    store: Store, task: TaskId, verdict: str, by: By, *, of: tuple[str, ...] = (), text: str | None = None
) -> Sealed:
    """Records a verdict on named events, or on the definition in force."""

    def write(batch: Batch) -> Sealed:
        now = judged(store, batch, task)
        named = of or ((now.definition.blob,) if now.definition else ())
        stored = _text(store, batch, task, text)
        return batch.append(Reviewed(**common(task, by), verdict=verdict, of=tuple(named), text=stored))

    return store.transact(write)


def share(store: Store, task: TaskId, by: By) -> Sealed | None:
    """Makes a private definition one that travels; nothing if it does already.

    It stays the same text of the same name, so claims and ticks stay what they were.
    """

    def write(batch: Batch) -> Sealed | None:
        now = judged(store, batch, task)
        if now.definition is None or now.definition.class_ != "private":
            return None
        store.read_text(now.definition)
        row = store.find_content(now.definition.blob)
        if row is None:
            raise NotFound("content", now.definition.blob)
        batch.add_stored(task, "content", now.definition.blob, row.oid)
        shared = replace(now.definition, class_="content")
        return batch.append(Defined(**common(task, by, now.links), definition=shared))

    return store.transact(write)


def definition_of(store: Store, text: Text) -> Definition:
    """Returns the definition that an event names; raises `NotFound` if it is not here."""
    return codec.decode_definition(store.read_text(text).encode())


def _with_text(store: Store, task: TaskId, text: str, make: Callable[[Text], Event]) -> Sealed:
    def write(batch: Batch) -> Sealed:
        judged(store, batch, task)
        return batch.append(make(_stored(store, batch, task, redact.redact(codec.scrub(text))[0], "content")))

    return store.transact(write)


def _text(store: Store, batch: Batch, task: TaskId, text: str | None) -> Text | None:
    return None if text is None else _stored(store, batch, task, redact.redact(codec.scrub(text))[0], "content")


def _stored(store: Store, batch: Batch, task: TaskId, text: str, class_: str) -> Text:
    """Adds a text that somebody typed; raises `BadInput` for one too large, which would be lost without a word."""
    stored = batch.add_text(task, text, class_)
    if stored.omitted is not None:
        raise BadInput("the text", f"has {stored.size:,} bytes; pog.maxBlob is {store.max_blob:,}")
    return stored


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
