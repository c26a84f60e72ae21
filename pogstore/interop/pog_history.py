"""What the mapping of one task tells, as drafts in the order of its list; times never order anything.

Gives no definition and no links: those come from outside. Knows no YAML and no other task.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from pogstore import redact
from pogstore.draft import Draft, DraftText
from pogstore.interop.pog_fields import Fields, Value, text_of
from pogstore.model import STATUSES, Actor, Source

FORMAT = "pog-task"
UNKNOWN = Actor(type="unknown")
MAX_OFFSET = 840
MAX_TIME = 2**53 - 1
MAX_NAME = 200

_TOOLS = ("system", "pog-cli", "pog-task-manager")
_ENDS = ("completed", "cancelled")
_OTHER_STATUSES = {
    "todo": "pending",
    "open": "pending",
    "claimed": "in_progress",
    "executing": "in_progress",
    "submitted": "in_review",
    "failed": "blocked",
    "done": "completed",
    "canceled": "cancelled",
}
"""Words of the whitepaper, the FAQ and its relatives for what our eight statuses say."""
_WORD = re.compile(r"[a-z0-9][a-z0-9_.-]{0,39}", re.ASCII)
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:(?:[Tt]| +)(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)? *(Z|z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(NamedTuple):
    """An instant in µs since the epoch and minutes east of UTC; the note says what was not plain about its text."""

    time: int
    offset: int = 0
    note: str | None = None


class Told(NamedTuple):
    """The drafts of a task's history and the status they lead to."""

    drafts: tuple[Draft, ...]
    status: str


def moment(value: Value) -> Moment | None:
    """Returns the instant that an ISO 8601 text names, or `None` if it names none within what an event can hold."""
    match = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    *fields, fraction, zone = match.groups()
    try:
        year, month, day, hour, minute, second = (int(part or 0) for part in fields)
        local = datetime(year, month, day, hour, minute, second, int(((fraction or "") + "000000")[:6]), tzinfo=UTC)
    except ValueError:
        return None
    offset = _offset(zone)
    time = (local - _EPOCH) // timedelta(microseconds=1) - (offset or 0) * 60_000_000
    return Moment(time, _within(offset or 0, MAX_OFFSET), _note(offset)) if abs(time) <= MAX_TIME else None


def _offset(zone: str | None) -> int | None:
    if zone is None:
        return None
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2] or 0) * 60 + int(digits[2:] or 0)
    return -minutes if zone[0] == "-" else minutes


def _within(number: int, limit: int) -> int:
    return max(-limit, min(limit, number))


def _note(offset: int | None) -> str | None:
    if offset is None:
        return "no offset, taken as UTC"
    return "an offset beyond 14 hours" if abs(offset) > MAX_OFFSET else None


def word(value: Value) -> str | None:
    """Returns a name as it may stand in an event (lower case, `_` for white space), or `None` if it is free text."""
    name = "_".join(value.lower().split()) if isinstance(value, str) else ""
    return name if _WORD.fullmatch(name) else None


def status_of(value: Value) -> str | None:
    """Returns the status that a word stands for; one unknown to us stays as it is, free text is none."""
    name = word(value)
    return _OTHER_STATUSES.get(name, name.replace("-", "_")) if name else None


def actor_of(value: Value) -> Actor:
    """Returns who a free-text name is; the name stays as it was written, up to a length."""
    name = redact.excerpt(value.strip(), 0, MAX_NAME) if isinstance(value, str) else ""
    if not name:
        return UNKNOWN
    kind = "human" if name.lower() == "user" else "tool" if name.lower() in _TOOLS else "agent"
    return Actor(type=kind, name=name)


def entries_of(fields: Fields) -> list[Value]:
    """Returns the entries of a history, which may be a single one that stands in no list."""
    history = fields.get("history")
    if isinstance(history, list):
        return history
    return [] if history is None or history == "" else [history]


def of_entry(entry: Value, key: str) -> Value:
    """Returns a field of a history entry; one that is no mapping is all message."""
    if isinstance(entry, dict):
        return entry.get(key)
    return entry if key == "message" else None


def action_of(entry: Value) -> str | None:
    """Returns the action of a history entry as a word."""
    return word(of_entry(entry, "action"))


def start_of(fields: Fields, now: int) -> Moment:
    """Returns when a task begins: as it says, else with its first dated entry, else `now`."""
    named = (fields.get("created_at"), *(of_entry(entry, "timestamp") for entry in entries_of(fields)))
    return next((found for found in map(moment, named) if found), Moment(now))


def definer_of(fields: Fields) -> Actor:
    """Returns who made a task: the actor of its first `created` entry."""
    made = (actor_of(of_entry(each, "agent")) for each in entries_of(fields) if action_of(each) == "created")
    return next(made, UNKNOWN)


def draft(kind: str, at: Moment, actor: Actor, key: str, **more: object) -> Draft:
    """Returns a draft of this format."""
    source = Source(format=FORMAT, key=key)
    return Draft(kind=kind, time=at.time, offset=at.offset, actor=actor, source=source, **more)  # type: ignore[arg-type]


def noted(topic: str, text: str, at: Moment, actor: Actor, key: str, *, versioned: bool = False) -> Draft:
    """Returns a draft that keeps a text under a topic."""
    texts = {"text": DraftText(text=text, class_="content")} if text else {}
    return draft("noted", at, actor, key, fields={"topic": f"{FORMAT}:{topic}"}, texts=texts, versioned=versioned)


def told(fields: Fields, key: str, start: Moment, *, status: str, known: set[str]) -> Told:
    """Returns a task's history, then its notes, then the move that its status needs if nothing told of it.

    `status` is where the task stood before. `known` holds the entries that another file of this task told already, and
    takes those of this one.
    """
    entries = entries_of(fields)
    identities = [json.dumps(entry, sort_keys=True) for entry in entries]
    told_here = zip(identities, _groups(entries, start, key), strict=True)
    groups = [() if identity in known else group for identity, group in told_here]
    known.update(identities)
    opening = next((n for n, entry in enumerate(entries) if action_of(entry) != "created"), len(entries))
    groups.insert(opening, _claim_without_event(fields, key, start))
    at = next((found for entry in reversed(entries) if (found := moment(of_entry(entry, "timestamp")))), start)
    drafts = [*(each for group in groups for each in group), *_notes(fields, at, key)]
    reached = folded(drafts, status)
    wanted = status_of(fields.get("status"))
    if wanted and wanted != reached:
        drafts.append(_inferred_move(wanted, fields, at, key))
    return Told(tuple(drafts), wanted or reached)


def folded(drafts: Sequence[Draft], status: str) -> str:
    """Returns the status that drafts lead to."""
    return next((str(each.fields["status"]) for each in reversed(drafts) if each.kind == "moved"), status)


def _groups(entries: Sequence[Value], at: Moment, key: str) -> Iterator[tuple[Draft, ...]]:
    """Yields the drafts of each entry; one without a valid time has that of the one before."""
    for index, entry in enumerate(entries):
        at = moment(of_entry(entry, "timestamp")) or at
        yield _entry(entry, at, f"{key}/history/{index}")


def _entry(entry: Value, at: Moment, key: str) -> tuple[Draft, ...]:
    action, actor = action_of(entry), actor_of(of_entry(entry, "agent"))
    message = text_of(of_entry(entry, "message"))
    if action == "claimed":
        return _claim(at, actor, key, message)
    status = status_of(action)
    if status in STATUSES:
        return (_moved(status, message, at, actor, key),)
    if action is None and (spoken := text_of(of_entry(entry, "action"))):
        message = f"{spoken}: {message}"
    return (noted(action or "entry", message, at, actor, key),)


def _claim(at: Moment, actor: Actor, key: str, message: str) -> tuple[Draft, ...]:
    """Returns a claim and the move it implies: POG Task's claim is what puts a task in progress, ours is not."""
    moved = _moved("in_progress", message, at, actor, f"{key}/status")
    return draft("claimed", at, actor, key), replace(moved, inferred=True)


def _claim_without_event(fields: Fields, key: str, start: Moment) -> tuple[Draft, ...]:
    """Returns the claim that only `claimed_by` tells of; a task that is still pending was not moved by it."""
    actor = actor_of(fields.get("claimed_by"))
    if actor == UNKNOWN or any(action_of(entry) == "claimed" for entry in entries_of(fields)):
        return ()
    at = moment(fields.get("claimed_at")) or moment(fields.get("started_at")) or start
    claim, moved = _claim(at, actor, f"{key}/inferred/claimed", "")
    claim = replace(claim, inferred=True)
    return (claim,) if status_of(fields.get("status")) == "pending" else (claim, moved)


def _moved(status: str, message: str, at: Moment, actor: Actor, key: str) -> Draft:
    name = "outcome" if status in _ENDS else "reason"
    texts = {name: DraftText(text=message, class_="content")} if message else {}
    return draft("moved", at, actor, key, fields={"status": status}, texts=texts)


def _notes(fields: Fields, at: Moment, key: str) -> Iterator[Draft]:
    notes = text_of(fields.get("notes"))
    if notes:
        yield noted("notes", notes, at, UNKNOWN, f"{key}/notes", versioned=True)


def _inferred_move(status: str, fields: Fields, at: Moment, key: str) -> Draft:
    """Returns the move that a file implies; it names nobody, since the file names nobody."""
    at = (moment(fields.get("completed_at")) if status in _ENDS else None) or at
    moved = _moved(status, "", at, UNKNOWN, f"{key}/inferred/{status}")
    return replace(moved, inferred=True)
