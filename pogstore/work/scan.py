"""Looks for secrets in contents that are about to leave, and says where they stand, never what they are.

Texts were redacted when they came in; file versions are stored as they are, so this is where they are looked at.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from pogstore import codec, redact
from pogstore.errors import NotCanonical, RefusedByPolicy
from pogstore.model import BlobId, Path, TaskId
from pogstore.store import content, rows
from pogstore.store.content import Entry
from pogstore.store.store import MAX_CONTENT, Store


class Place(NamedTuple):
    """Where a secret stands: the content, how a person finds it, the line (from 1), and what sort of secret it is."""

    blob: BlobId
    where: Path
    line: int
    kind: str


def secrets_in(store: Store, task: TaskId, entries: Iterable[Entry]) -> list[Place]:
    """Returns the places of secrets in some contents of a task, each content read once.

    Raises `ObjectDamaged` or `NotFound` for a content that cannot be read.
    """
    once = {entry.blob: entry for entry in entries}
    with redact.in_force(lambda: store.own_rules):
        return [place for entry in once.values() for place in _places(store, task, entry)]


def check_rules(store: Store) -> None:
    """Raises `RefusedByPolicy` if a rule of one's own cannot be used: nobody can say then what may leave."""
    for fault in store.own_rules.faults:
        raise RefusedByPolicy(f"rule {fault.rule} of pog.redact {fault.reason}", "mend it with 'git config --edit'")


def _places(store: Store, task: TaskId, entry: Entry) -> Iterator[Place]:
    _, data = store.objects.read(entry.oid, MAX_CONTENT)
    is_text = entry.name == entry.blob
    found = list(_in_text(content.text_in(entry.blob, data)) if is_text else _in_file(data))
    if not found:
        return
    store.refresh()
    for where in _fields_with(store, task, entry.blob) if is_text else _paths_with(store, task, entry.blob):
        yield from (Place(entry.blob, where, line, kind) for line, kind in found)


def _in_file(data: bytes) -> Iterator[tuple[int, str]]:
    return ((redact.line_of(data, found.start), found.kind) for found in redact.findings_in_bytes(data))


def _in_text(text: str) -> Iterator[tuple[int, str]]:
    for part in _parts(text):
        found = redact.findings(part)
        if (rest := redact.broken_off(part)) is not None:  # a title that was cut before it was redacted
            found.append(rest)
        yield from ((redact.line_of(part, one.start), one.kind) for one in found)


def _parts(text: str) -> list[str]:
    """Returns the texts in a definition, each by itself, as they were when it was redacted; else the text."""
    try:
        definition = codec.decode_definition(text.encode())
    except NotCanonical:
        return [text]
    return list(_leaves(msgspec.to_builtins(definition)))


def _leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list() | tuple():
            for inner in value:
                yield from _leaves(inner)


def _paths_with(store: Store, task: TaskId, blob: BlobId) -> list[Path]:
    paths = rows.paths_with(store.index.connection, task, blob)
    return [content.path_of(path) for path in paths] or ["(a file)"]


def _fields_with(store: Store, task: TaskId, blob: BlobId) -> list[Path]:
    """Returns which events name a text, by kind, field and id; only an answer for a person, so any event is read."""
    found: list[Path] = []
    for sealed in store.events(task):
        fields = codec.fields_of(sealed)
        named = [name for name, value in fields.items() if _names(value, blob)]
        found += [f"{fields['kind']} {name} of event {sealed.event_id[:16]}" for name in named]
    return found or ["(a text)"]


def _names(value: object, blob: BlobId) -> bool:
    match value:
        case {"blob": named} if named == blob:
            return True
        case dict():
            return any(_names(inner, blob) for inner in value.values())
        case _:
            return False
