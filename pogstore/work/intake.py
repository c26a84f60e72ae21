"""Takes drafts into the store: redacts their texts, stores contents, places events, skips what is there already.

The one way in for importers and for the spool. Knows no foreign format.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from pogstore import codec, redact
from pogstore.draft import Draft, DraftChange, DraftText, FileVersion, TaskDrafts
from pogstore.model import (
    FORMAT,
    KINDS,
    Actor,
    Change,
    Definition,
    Event,
    EventId,
    Path,
    Side,
    Slice,
    Source,
    TaskId,
    Text,
)
from pogstore.store import rows
from pogstore.store.batch import Batch
from pogstore.store.store import Store
from pogstore.work import again

PART_CHANGES = 16_384
"""So many changes at most in one event; more are split over events that apply together."""
PART_BYTES = codec.MAX_BYTES_WITH_CHANGES // 4 * 3
"""So many bytes of changes at most in one event."""
NAMES = frozenset({"tool", "topic", "status", "rule"})
"""The fields that hold a foreign name, in which a secret may stand. Ids are left as they are: they tell echoes."""


class Taken(NamedTuple):
    """What one intake added."""

    tasks: int
    events: int
    known: int
    redacted: dict[str, int]


def take(
    store: Store, drafts: Iterable[TaskDrafts], *, imported: bool = True, progress: Callable[[int], None] | None = None
) -> Taken:
    """Takes the drafts of some tasks in one write; what the store holds already is skipped by its source key.

    `drafts` may be gone through more than once, if somebody else moves a ref meanwhile. `progress` is told how many
    drafts were taken since it was called last.
    """
    named = again.Again(store)

    def write(batch: Batch) -> Taken:
        store.refresh()
        named.clear()
        intake = _Intake(store, batch, imported, named)
        for task_drafts in drafts:
            intake.take_task(task_drafts)
            if progress is not None:
                progress(len(task_drafts.drafts))
        return Taken(intake.tasks, intake.events, intake.known, intake.redacted)

    taken = store.transact(write, packed=True)
    named.keep()
    return taken


class _Intake:
    """One intake: the batch it fills and what it counts."""

    def __init__(self, store: Store, batch: Batch, imported: bool, named: again.Again) -> None:
        self.store, self.batch, self.imported, self._again = store, batch, imported, named
        self.tasks = self.events = self.known = 0
        self.redacted: dict[str, int] = {}
        self._actors: dict[Actor, object] = {}
        self._names: dict[str, str] = {}
        self._written: dict[EventId, tuple[object, ...]] = {}

    def take_task(self, drafts: TaskDrafts) -> None:
        task = drafts.task
        if drafts.drafts and self.batch.head(task) is None:
            self.tasks += 1
        formats = {draft.source.format for draft in drafts.drafts if draft.source}
        keys = {name: rows.events_from(self.store.index.connection, task, name) for name in formats}
        for draft in drafts.drafts:
            wanted = self._to_take(draft, keys)
            if wanted is None:
                self.known += 1
                continue
            for event in self.events_of(task, wanted):
                self._append(event, keys, wanted)

    def _append(self, event: Event, keys: dict[str, dict[str, EventId]], draft: Draft) -> None:
        sealed = self.batch.append(event, imported=self.imported)
        self.events += 1
        if draft.source is not None:
            keys[draft.source.format].setdefault(draft.source.key, sealed.event_id)
        if draft.versioned:
            self._written[sealed.event_id] = self._saying(draft)

    def _to_take(self, draft: Draft, keys: dict[str, dict[str, EventId]]) -> Draft | None:
        """Returns the draft if it is new; one that says something else than before gets a key of its own."""
        source = draft.source
        if source is None:
            return draft
        found = keys[source.format]
        if source.key not in found:
            return draft
        if not draft.versioned:
            return None
        versions = 1 + sum(key.startswith(f"{source.key}~") for key in found)
        latest = source.key if versions == 1 else f"{source.key}~{versions}"
        said = self._said(found.get(latest, found[source.key]))
        if said is None or said == self._saying(draft):
            return None
        return msgspec.structs.replace(
            draft, source=msgspec.structs.replace(source, key=f"{source.key}~{versions + 1}")
        )

    def _said(self, event_id: EventId) -> tuple[object, ...] | None:
        """Returns what an event of a source says; nothing if its texts are not here."""
        if event_id in self._written:
            return self._written[event_id]
        fields = codec.fields_of(self.store.event(event_id))
        texts = {name: value for name, value in fields.items() if isinstance(value, dict) and "blob" in value}
        said: list[object] = [fields.get("links", [])]
        for name in sorted(texts):
            text = self.store.find_text(msgspec.convert(texts[name], Text))
            if text is None:
                return None
            said.append((name, text))
        return tuple(said)

    def _saying(self, draft: Draft) -> tuple[object, ...]:
        """Returns what a draft will say once it is an event."""
        texts = {name: redact.redact(codec.scrub(text.text))[0] for name, text in draft.texts.items()}
        if draft.definition is not None:
            texts["definition"] = codec.encode_definition(redacted_definition(draft.definition)).decode()
        return [_plain(link) for link in draft.links], *sorted(texts.items())

    def events_of(self, task: TaskId, draft: Draft) -> Iterator[Event]:
        """Yields the event of a draft, or its parts if it changes more paths than one event may hold."""
        fields = {name: self._field(name, value) for name, value in draft.fields.items()}
        for name, text in draft.texts.items():
            fields[name] = _plain(self._text(task, text))
        if draft.definition is not None:
            contract = self._definition(draft.definition)
            fields["definition"] = _plain(self.batch.add_text(task, contract, draft.definition_class))
        common = self._common(task, draft)
        known = msgspec.convert(fields.pop("changes", ()), tuple[Change, ...])  # with sides that are not stored
        changes = [*known, *(self._change(task, change) for change in draft.changes)]
        slices = _slices(changes)
        for number, part in enumerate(slices, 1):
            own: dict[str, object] = {"changes": _plain(tuple(part))} if part else {}
            if len(slices) > 1:
                own["part"] = _plain(Slice(n=number, of=len(slices)))
            yield msgspec.convert({**common, **fields, **own}, KINDS[draft.kind])

    def _field(self, name: str, value: object) -> object:
        return self._name(value) if name in NAMES and isinstance(value, str) else _scrubbed(value)

    def _name(self, name: str) -> str:
        """Returns a name without a secret; there are few names and many events."""
        if name not in self._names:
            self._names[name] = self._redacted(name)
        return self._names[name]

    def _common(self, task: TaskId, draft: Draft) -> dict[str, object]:
        source = draft.source
        if source is not None and draft.raw is not None:
            source = msgspec.structs.replace(source, raw=self._text(task, draft.raw))
        common: dict[str, object] = {"v": FORMAT, "kind": draft.kind, "task": task, "clock": 1, "time": draft.time}
        common["actor"] = self._actor(draft.actor)
        if draft.offset:
            common["offset"] = draft.offset
        if draft.links:
            common["links"] = _plain(draft.links)
        if source is not None:
            common["source"] = _plain_source(source)
        if draft.inferred:
            common["inferred"] = True
        return common

    def _actor(self, actor: Actor) -> object:
        """Returns an actor as plain values; a session has thousands of events of the same one."""
        if actor not in self._actors:
            name = None if actor.name is None else self._name(actor.name)
            self._actors[actor] = _scrubbed(_plain(msgspec.structs.replace(actor, name=name)))
        return self._actors[actor]

    def _change(self, task: TaskId, change: DraftChange) -> Change:
        path = _scrubbed_path(change.path)
        return Change(
            path=path,
            from_=None if change.from_ is None else _scrubbed_path(change.from_),
            before=self._side(task, path, change.before),
            after=self._side(task, path, change.after),
        )

    def _side(self, task: TaskId, path: Path, version: FileVersion | None) -> Side | None:
        return None if version is None else self.batch.add_file(task, path, version.mode, version.data)

    def _text(self, task: TaskId, text: DraftText) -> Text:
        clean = self._redacted(text.text)
        known = self._again.find(task, text.class_, clean) if text.once else None
        if known is not None:
            return known
        added = self.batch.add_text(task, clean, text.class_)
        if text.once:
            self._again.note(task, clean, added)
        return added

    def _redacted(self, text: str) -> str:
        clean, findings = redact.redact(codec.scrub(text))
        for finding in findings:
            self.redacted[finding.kind] = self.redacted.get(finding.kind, 0) + 1
        return clean

    def _definition(self, definition: Definition) -> str:
        """Returns a definition as canonical JSON, each of its texts redacted by itself (case UC-64)."""
        return codec.encode_definition(_redact_definition(definition, self._redacted)).decode()


def _slices(changes: list[Change]) -> list[list[Change]]:
    """Returns changes as so many lists as are needed for none to be over the limits of one event; at least one."""
    slices: list[list[Change]] = [[]]
    size = 0
    for change in changes:
        added = len(msgspec.json.encode(change)) + 1
        if slices[-1] and (len(slices[-1]) == PART_CHANGES or size + added > PART_BYTES):
            slices.append([])
            size = 0
        slices[-1].append(change)
        size += added
    return slices


def _scrubbed_path(path: Path) -> Path:
    return codec.scrub(path) if isinstance(path, str) else path


def redacted_definition(definition: Definition) -> Definition:
    """Returns a definition without secrets in any of its texts."""
    return _redact_definition(definition, lambda text: redact.redact(codec.scrub(text))[0])


def _redact_definition(definition: Definition, clean: Callable[[str], str]) -> Definition:
    return msgspec.convert(_map_texts(msgspec.to_builtins(definition), clean), Definition)


def _map_texts(value: object, clean: Callable[[str], str]) -> object:
    match value:
        case str():
            return clean(value)
        case dict():
            return {key: _map_texts(item, clean) for key, item in value.items()}
        case list() | tuple():
            return [_map_texts(item, clean) for item in value]
        case _:
            return value


def _plain_source(source: Source) -> object:
    return _plain(msgspec.structs.replace(source, format=codec.scrub(source.format), key=codec.scrub(source.key)))


def _scrubbed(value: object) -> object:
    return _map_texts(value, codec.scrub)


def _plain(value: object) -> object:
    return msgspec.to_builtins(value)
