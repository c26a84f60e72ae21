"""Tasks and events as plain values: what `--json` prints and what the text forms are rendered from."""

import msgspec

from pogstore import codec
from pogstore.history.tasks import UNTITLED, Summary, find_definition
from pogstore.model import BlobId, ChecklistItem, Defined, Definition, Extra, Opaque, Sealed, TaskId, Text, kind_of
from pogstore.state import Claim, TaskState, is_outdated, is_over
from pogstore.store.store import Store

Value = dict[str, object]


def task_line(line: Summary, now: int) -> Value:
    """Returns what `list` says of a task at a time (µs)."""
    value: Value = {"task": line.task, "title": line.title, "status": line.status}
    rest = msgspec.to_builtins(line)
    for name in ("category", "priority", "tags", "aliases", "claimed_by", "events", "first_time", "last_time"):
        value[name] = rest[name]
    value["claims"] = [claim_value(claim, line.definition_id, now) for claim in line.claims]
    if line.incomplete:
        value["incomplete"] = line.incomplete
    if line.damaged:
        value["damaged"] = line.damaged
    return value


def claim_value(claim: Claim, definition_id: BlobId | None, now: int) -> Value:
    """Returns a claim, with whether its lease is over and whether the task was amended since."""
    told: Value = {"over": is_over(claim, now), "outdated": is_outdated(claim, definition_id)}
    return {name: value for name, value in msgspec.to_builtins(claim).items() if value is not None} | told


def task_value(store: Store, task: TaskId, now: TaskState, at: int) -> Value:
    """Returns everything about a task at a time (µs) but its events."""
    definition = find_definition(store, now)
    value: Value = {
        "task": task,
        "title": definition.title if definition else UNTITLED,
        "status": now.status or "pending",
    }
    if definition is not None:
        value |= definition_value(definition, now)
    value |= {
        "links": [msgspec.to_builtins(link) for link in now.links],
        "claims": [claim_value(claim, now.definition_id, at) for claim in now.claims],
        "conflicted": now.conflicted,
        "reviews": _reviews(store, task, now),
        "reason": store.find_text(now.reason),
        "outcome": store.find_text(now.outcome),
        "first_time": now.first_time,
        "last_time": now.last_time,
        "event_count": now.events,
        "flagged": [{"event": flag.event_id, "reason": flag.reason} for flag in now.flagged],
    }
    if now.incomplete:
        value["incomplete"] = now.incomplete
    return value


def _reviews(store: Store, task: TaskId, now: TaskState) -> list[Value]:
    """Returns the verdicts, each with what it is about: an amended definition is not the one that was looked at."""
    every = store.events(task) if now.reviews else []
    definitions = {sealed.event.definition.blob for sealed in every if isinstance(sealed.event, Defined)}
    found: list[Value] = []
    for review in now.reviews:
        subject = "an earlier definition" if definitions.intersection(review.of) else "the events"
        if now.definition is not None and now.definition.blob in review.of:
            subject = "the definition"
        found.append(msgspec.to_builtins(review) | {"subject": subject})
    return found


def definition_value(definition: Definition, now: TaskState | None = None) -> Value:
    """Returns a definition with what `checked` events have said of its items since."""
    value: Value = msgspec.to_builtins(definition)
    checked = now.checked if now else {}
    value["checklist"] = [_item(item, checked.get(at)) for at, item in enumerate(definition.checklist)]
    if definition.extra:
        value["extra"] = {extra.name: plain_extra(extra) for extra in definition.extra}
    if not definition.checklist:
        del value["checklist"]
    return value


def plain_extra(extra: Extra) -> object:
    """Returns a field without a name in our format as it was: text, list, mapping or null."""
    if extra.fields is not None:
        return {field.name: plain_extra(field) for field in extra.fields}
    if extra.items is not None:
        return [plain_extra(item) for item in extra.items]
    return extra.value


def event_value(sealed: Sealed) -> Value:
    """Returns what `log` says of an event: its id and all its fields, also those that this version does not know."""
    fields = codec.fields_of(sealed)
    order = ("task", "kind", "clock", "time", "actor")
    first = {name: fields[name] for name in order if name in fields}
    return {"id": sealed.event_id} | first | fields


def texts_of(store: Store, sealed: Sealed) -> dict[str, str | None]:
    """Returns the texts that an event names, by field; nothing in the place of one that is not here."""
    found: dict[str, str | None] = {}
    for name in getattr(sealed.event, "__struct_fields__", ()):
        text = getattr(sealed.event, name)
        if isinstance(text, Text):
            found[name] = store.find_text(text)
    return found


def kind_name(sealed: Sealed) -> str:
    """Returns the kind of an event, also of one that needs a newer reader."""
    return sealed.event.kind if isinstance(sealed.event, Opaque) else kind_of(sealed.event)


def _item(item: ChecklistItem, checked: bool | None) -> Value:
    value: Value = {"text": item.text, "done": bool(item.done) if checked is None else checked}
    if item.extra:
        value["extra"] = {extra.name: plain_extra(extra) for extra in item.extra}
    return value
