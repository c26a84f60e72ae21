"""The events of one task: bytes, carriers, graph and clocks, and which contents they name.

Shares nothing with what writes and reads chains but the encoding and the carrier, which are the format itself.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple, get_args

from msgspec.structs import fields

from pogstore import codec, graph
from pogstore.errors import NotCanonical, NotFound, ObjectDamaged
from pogstore.history.verify_objects import Objects
from pogstore.history.verify_report import Fault
from pogstore.model import (
    FORMAT,
    KINDS,
    BlobId,
    Event,
    EventId,
    OddPath,
    Oid,
    Opaque,
    Redacted,
    Sealed,
    Side,
    TaskId,
    Text,
)
from pogstore.store.carrier import EMPTY_TREE, carrier
from pogstore.store.refs import TASKS

MAX_CARRIER = codec.MAX_BYTES_WITH_CHANGES + (1 << 20)
"""Bytes: the largest event, and room for the head of a commit with very many parents."""
SHOWN = 12
"""Digits of an id in a sentence."""

_TEXTS = {
    kind: tuple(field.name for field in fields(kind) if field.type is Text or Text in get_args(field.type))
    for kind in KINDS.values()
}


class Use(NamedTuple):
    """Where an event names a content, and what it says of it."""

    event_id: EventId
    what: str
    class_: str
    size: int | None
    is_text: bool
    omitted: bool

    def __str__(self) -> str:
        return f"{self.what} of event {self.event_id[:SHOWN]}"


class Events(NamedTuple):
    """The events of one task, as far as they could be read."""

    checked: int
    faults: list[Fault]
    uses: dict[BlobId, Use]
    redacted: set[BlobId]
    disputed: list[tuple[BlobId, Use]]
    """What later events say otherwise of a content than the use that stands among `uses`."""


class _Carrier(NamedTuple):
    """What is kept of a carrier: enough for the graph. A commit without an event has no event id."""

    carriers: tuple[Oid, ...]
    event_id: EventId | None = None
    parents: tuple[EventId, ...] = ()
    clock: int = 0


def check_events(objects: Objects, task: TaskId, tip: Oid) -> Events:
    """Returns what the chain of a task holds and what is wrong with it; reads every carrier once."""
    chain = _Chain(objects, task)
    chain.read_all(tip)
    chain.check_graph()
    chain.say_unread(tip)
    return Events(chain.events, chain.faults, chain.uses, chain.redacted, chain.disputed)


class _Chain:
    """One chain while it is read."""

    def __init__(self, objects: Objects, task: TaskId) -> None:
        self.objects, self.task = objects, task
        self.events = 0
        self.carriers: dict[Oid, _Carrier] = {}
        self.unread: dict[Oid, str] = {}
        self.faults: list[Fault] = []
        self.uses: dict[BlobId, Use] = {}
        self.redacted: set[BlobId] = set()
        self.disputed: list[tuple[BlobId, Use]] = []

    def add_fault(self, oid: Oid, reason: str, lost: str) -> None:
        """Adds a fault of this task."""
        self.faults.append(Fault(object=oid, reason=reason, lost=lost, ref=TASKS + self.task, task=self.task))

    def read_all(self, tip: Oid) -> None:
        """Reads every commit that can be reached from the tip."""
        pending, seen = [tip], {tip}
        while pending:
            oid = pending.pop()
            try:
                kind, data = self.objects.read(oid, MAX_CARRIER, self.task)
            except NotFound:
                self.unread[oid] = "is missing"
                continue
            except ObjectDamaged as fault:
                self.unread[oid] = fault.reason
                continue
            if kind != "commit":
                self.unread[oid] = f"is a {kind} in the place of a commit"
                continue
            self.carriers[oid] = found = self._read(oid, data)
            for parent in found.carriers:
                if parent not in seen:
                    seen.add(parent)
                    pending.append(parent)

    def _read(self, oid: Oid, data: bytes) -> _Carrier:
        head, _, message = data.partition(b"\n\n")
        canonical = message.partition(b"\n\n")[2]
        carriers = _parents(head)
        self.events += 1
        try:
            sealed = codec.decode(canonical[:-1])
        except NotCanonical as fault:
            self.add_fault(oid, f"is not the carrier of an event: {fault.reason}", "what this event said")
            return _Carrier(carriers)
        event = sealed.event
        if event.task != self.task:
            self.add_fault(oid, f"carries an event of task {event.task}", "nothing, if that task has it as well")
        elif reason := _carrier_fault(sealed, carriers, data):
            self.add_fault(oid, reason, f"the trust in when and by whom event {sealed.event_id[:SHOWN]} was carried")
        if b'"blob' in canonical:
            self._add_uses(sealed)
        return _Carrier(carriers, sealed.event_id, event.parents, event.clock)

    def _add_uses(self, sealed: Sealed) -> None:
        event = sealed.event
        if isinstance(event, Opaque):
            return
        if isinstance(event, Redacted):
            self.redacted.update(event.blobs)
        for blob, use in _uses(sealed.event_id, event):
            known = self.uses.get(blob)
            if known is None or (known.omitted and not use.omitted):
                self.uses[blob] = use
            elif (known.size, known.is_text) != (use.size, use.is_text) and not use.omitted:
                self.disputed.append((blob, use))

    def check_graph(self) -> None:
        """Compares git's edges with those of the events, and every clock with those below it."""
        carried: dict[EventId, Oid] = {}
        for oid, child in self.carriers.items():
            if child.event_id is None:
                continue
            other = carried.setdefault(child.event_id, oid)
            if other != oid:
                self.add_fault(oid, f"carries the same event as {other}", "nothing: the event is there twice")
            parents = [self.carriers.get(parent) for parent in child.carriers]
            if fault := _edge_fault(child, parents):
                self.add_fault(oid, fault, f"what event {child.event_id[:SHOWN]} rests on")
            elif fault := graph.clock_fault(child.clock, [parent.clock for parent in parents if parent]):
                self.add_fault(oid, fault, f"the place of event {child.event_id[:SHOWN]} in the order")

    def say_unread(self, tip: Oid) -> None:
        """Adds a fault for each commit that could not be read, by the name that its children know it by."""
        if not self.unread:
            return
        names = {
            oid: event_id
            for child in self.carriers.values()
            if len(child.carriers) == len(child.parents)
            for oid, event_id in zip(child.carriers, child.parents, strict=True)
        }
        for oid, reason in self.unread.items():
            what = f"event {names[oid]}" if oid in names else "an event"
            if oid == tip:
                what = "the newest event"
            self.add_fault(oid, reason, f"{what} of task {self.task}, and the events before it to which only it leads")


def _parents(head: bytes) -> tuple[Oid, ...]:
    if head.count(b"\nparent ") == 1 and head.startswith(b"\nparent ", 45):
        return (Oid(head[53:93].decode("ascii", "replace")),)
    lines = head.split(b"\n")[1:]
    return tuple(Oid(line[7:].decode("ascii", "replace")) for line in lines if line.startswith(b"parent "))


def _carrier_fault(sealed: Sealed, carriers: tuple[Oid, ...], data: bytes) -> str | None:
    """Says in what a commit is not the one carrier of its event; a newer form may have other rules for most of it."""
    if sealed.event.v != FORMAT:
        return None if data.startswith(b"tree %b\n" % EMPTY_TREE.encode()) else "its tree is not the empty one"
    made = carrier(sealed, carriers)
    if made == data:
        return None
    lines = zip_longest(made.split(b"\n"), data.split(b"\n"), fillvalue=b"")
    ours, theirs = next(pair for pair in lines if pair[0] != pair[1])
    return f"is not the carrier that its event makes: {_shown(theirs)} in the place of {_shown(ours)}"


def _shown(line: bytes) -> str:
    return f"'{line[:80].decode('utf-8', 'replace')}'"


def _edge_fault(child: _Carrier, parents: list[_Carrier | None]) -> str | None:
    if len(parents) != len(child.parents):
        return f"has {len(parents)} parents in git, where its event names {len(child.parents)}"
    for parent, event_id, oid in zip(parents, child.parents, child.carriers, strict=True):
        if parent is not None and parent.event_id not in (None, event_id):
            return f"its parent {oid} does not carry the event {event_id[:SHOWN]} that stands in this place"
    return None


def _uses(event_id: EventId, event: Event) -> Iterator[tuple[BlobId, Use]]:
    for name in _TEXTS[type(event)]:
        if text := getattr(event, name):
            yield text.blob, _text_use(event_id, name, text)
    if event.source is not None and event.source.raw is not None:
        yield event.source.raw.blob, _text_use(event_id, "raw", event.source.raw)
    for change in getattr(event, "changes", ()):
        path = change.path.b64 or "(outside)" if isinstance(change.path, OddPath) else change.path
        for side, what in ((change.before, "before"), (change.after, "after")):
            if side is not None and side.blob is not None:
                yield side.blob, _side_use(event_id, f"{what} of {path}", side)


def _text_use(event_id: EventId, name: str, text: Text) -> Use:
    return Use(event_id, name, text.class_, text.size, True, text.omitted is not None)


def _side_use(event_id: EventId, what: str, side: Side) -> Use:
    return Use(event_id, what, "content", side.size, False, side.omitted is not None)
