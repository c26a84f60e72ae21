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

PART_CHANGES = 16_384
"""So many changes at most in one event; more are split over events that apply together."""


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

    def write(batch: Batch) -> Taken:
        store.refresh()
        intake = _Intake(store, batch, imported)
        for task_drafts in drafts:
            intake.take_task(task_drafts)
            if progress is not None:
                progress(len(task_drafts.drafts))
        return Taken(intake.tasks, intake.events, intake.known, intake.redacted)

    return store.transact(write)


class _Intake:
    """One intake: the batch it fills and what it counts."""

    def __init__(self, store: Store, batch: Batch, imported: bool) -> None:
        self.store, self.batch, self.imported = store, batch, imported
        self.tasks = self.events = self.known = 0
        self.redacted: dict[str, int] = {}
        self._actors: dict[Actor, object] = {}

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
                self._append(event, keys)

    def _append(self, event: Event, keys: dict[str, dict[str, EventId]]) -> None:
        sealed = self.batch.append(event, imported=self.imported)
        self.events += 1
        if event.source is not None:
            keys[event.source.format].setdefault(event.source.key, sealed.event_id)

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
        """Returns what a stored event of a source says; nothing if its texts are not here."""
        fields = codec.fields_of(self.store.event(event_id))
        texts = {name: value for name, value in fields.items() if isinstance(value, dict) and "blob" in value}
        said = []
        for name in sorted(texts):
            text = self.store.find_text(msgspec.convert(texts[name], Text))
            if text is None:
                return None
            said.append((name, text))
        return tuple(said)

    def _saying(self, draft: Draft) -> tuple[object, ...]:
        texts = {name: self._redacted(text.text) for name, text in draft.texts.items()}
        if draft.definition is not None:
            texts["definition"] = self._definition(draft.definition)
        return tuple(sorted(texts.items()))

    def events_of(self, task: TaskId, draft: Draft) -> Iterator[Event]:
        """Yields the event of a draft, or its parts if it changes more paths than one event may hold."""
        fields = dict(draft.fields)
        for name, text in draft.texts.items():
            fields[name] = _plain(self._text(task, text))
        if draft.definition is not None:
            contract = self._definition(draft.definition)
            fields["definition"] = _plain(self.batch.add_text(task, contract, draft.definition_class))
        common = self._common(task, draft)
        changes = [self._change(task, change) for change in draft.changes]
        slices = [changes[at : at + PART_CHANGES] for at in range(0, len(changes), PART_CHANGES)] or [[]]
        for number, part in enumerate(slices, 1):
            own: dict[str, object] = {"changes": _plain(tuple(part))} if part else {}
            if len(slices) > 1:
                own["part"] = _plain(Slice(n=number, of=len(slices)))
            yield msgspec.convert({**common, **fields, **own}, KINDS[draft.kind])

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
            self._actors[actor] = _scrubbed(_plain(actor))
        return self._actors[actor]

    def _change(self, task: TaskId, change: DraftChange) -> Change:
        return Change(
            path=change.path,
            from_=change.from_,
            before=self._side(task, change.path, change.before),
            after=self._side(task, change.path, change.after),
        )

    def _side(self, task: TaskId, path: Path, version: FileVersion | None) -> Side | None:
        return None if version is None else self.batch.add_file(task, path, version.mode, version.data)

    def _text(self, task: TaskId, text: DraftText) -> Text:
        return self.batch.add_text(task, self._redacted(text.text), text.class_)

    def _redacted(self, text: str) -> str:
        clean, findings = redact.redact(codec.scrub(text))
        for finding in findings:
            self.redacted[finding.kind] = self.redacted.get(finding.kind, 0) + 1
        return clean

    def _definition(self, definition: Definition) -> str:
        """Returns a definition as canonical JSON, each of its texts redacted by itself (case UC-64)."""
        return codec.encode_definition(_redact_definition(definition, self._redacted)).decode()


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
