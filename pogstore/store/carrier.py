"""The carrier of an event: the git commit that holds it, as raw bytes.

A carrier is a pure function of the event and of its parents' carriers, so every clone and every backend makes the same
object (`docs/format.md`, "Carrier"). Knows git's commit format and nothing of storage.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pogstore import codec
from pogstore.errors import ObjectDamaged
from pogstore.model import Event, OddPath, Oid, Opaque, Person, Sealed, kind_of

EMPTY_TREE = Oid("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
SUBJECT_LENGTH = 120
MAX_SECONDS = 2**32 - 1
MAX_OFFSET = 840
NOBODY = Person(name="pogstore", email="pogstore@localhost")
UNKNOWN = Person(name="unknown", email="unknown@localhost")
"""The author, in a replayed branch, of what was changed outside of any step."""

_REMOVED = re.compile("[\x00-\x1f\x7f-\x9f<>]")
_SURROUNDING = " .,:;\"\\'"
# A fixed list, not a Unicode category: the subject is a part of the format, and Unicode has versions.
_HIDDEN = re.compile(
    '[\x00-\x1f\x7f-\x9f"\\\\\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb'
    "\U000e0000-\U000e0fff]"
)


_KEYS = {name: f'"{name}":'.encode() for name in ("tool", "status", "changes", "paths")}


class Carried(NamedTuple):
    """What a carrier holds."""

    parents: tuple[Oid, ...]
    canonical: bytes


def carrier(sealed: Sealed, parents: Sequence[Oid], empty_tree: Oid = EMPTY_TREE) -> bytes:
    """Returns the raw commit of an event over the carriers of its parents, given in the order of `parents`."""
    signed = signature(sealed.event)
    above = "".join([f"parent {oid}\n" for oid in parents])
    head = f"tree {empty_tree}\n{above}author {signed}\ncommitter {signed}\n\n{subject(sealed)}\n\n"
    return head.encode() + sealed.canonical + b"\n"


def content_commit(tree: Oid, parents: Sequence[Oid], time: int) -> bytes:
    """Returns the raw commit of one write on a content chain; `time` in µs is that of its newest event."""
    signature = f"{NOBODY.name} <{NOBODY.email}> {_seconds(time)} +0000"
    head = [f"tree {tree}", *(f"parent {oid}" for oid in parents)]
    return "\n".join([*head, f"author {signature}", f"committer {signature}", "", "content", ""]).encode()


def read_carrier(oid: Oid, data: bytes) -> Carried:
    """Returns the parents and the canonical bytes of a carrier; raises `ObjectDamaged` if it is none."""
    head, found, message = data.partition(b"\n\n")
    _, again, canonical = message.partition(b"\n\n")
    if not found or not again or not canonical.endswith(b"\n"):
        raise ObjectDamaged(oid, "a commit without an event")
    return Carried(parents_of(head), canonical[:-1])


def parents_of(data: bytes) -> tuple[Oid, ...]:
    """Returns the parents that a raw commit names."""
    head = data.partition(b"\n\n")[0]
    if head.count(b"\nparent ") == 1:  # as nearly always
        line = head.partition(b"\nparent ")[2].partition(b"\n")[0]
        return (Oid(line.decode("ascii", "replace")),)
    lines = head.split(b"\n")
    return tuple(Oid(line[7:].decode("ascii", "replace")) for line in lines[1:] if line.startswith(b"parent "))


def tree_of(oid: Oid, data: bytes) -> Oid:
    """Returns the tree that a raw commit names."""
    line = data.partition(b"\n")[0]
    if not line.startswith(b"tree "):
        raise ObjectDamaged(oid, "a commit without a tree")
    return Oid(line[5:].decode("ascii", "replace"))


def subject(sealed: Sealed) -> str:
    """Returns the first line of a carrier: kind, then tool or status, then the first path; it cannot lie in a log."""
    event = sealed.event
    kind = event.kind if isinstance(event, Opaque) else kind_of(event)
    words = [kind, _word(sealed, "tool") or _word(sealed, "status"), _first_path(sealed)]
    return " ".join(_escaped(word) for word in words if word)[:SUBJECT_LENGTH]


def _word(sealed: Sealed, name: str) -> str | None:
    found = _field(sealed, name)
    return found if isinstance(found, str) else None


def _first_path(sealed: Sealed) -> str | None:
    changes = _field(sealed, "changes")
    if changes and isinstance(changes, list | tuple):
        first = changes[0]
        return _spelled(first.get("path") if isinstance(first, dict) else getattr(first, "path", None))
    paths = _field(sealed, "paths")
    return _spelled(paths[0]) if paths and isinstance(paths, list | tuple) else None


def _field(sealed: Sealed, name: str) -> object:
    """Returns a field also where only a newer version has it: every reader must come to the same carrier."""
    found = getattr(sealed.event, name, None)
    if found is None and _KEYS[name] in sealed.canonical:
        found = codec.fields_of(sealed).get(name)
    return found


def _spelled(path: object) -> str | None:
    match path:
        case str():
            return path
        case OddPath(outside=True) | {"outside": True}:
            return "(outside)"
        case OddPath(b64=str(digits)) | {"b64": str(digits)}:
            return f"b64:{digits}"
        case _:
            return None


def _escaped(text: str) -> str:
    return _HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text)


def signature(event: Event | Opaque, nobody: Person = NOBODY) -> str:
    """Returns who answers for an event, `nobody` if none does, and when it was, as git writes an author."""
    person = (event.actor.on_behalf_of if event.actor else None) or nobody
    return f"{_address(person)} {moment(event)}"


def moment(event: Event | Opaque) -> str:
    """Returns when an event was, as git writes it."""
    return f"{_seconds(event.time)} {_zone(event.offset)}"


@lru_cache(maxsize=256)
def _address(person: Person) -> str:
    name, email = _identity(person.name), _identity(person.email)
    if not name or not email:
        name, email = NOBODY.name, NOBODY.email
    return f"{name} <{email}>"


def _identity(text: str) -> str:
    return _REMOVED.sub("", text).strip(_SURROUNDING)


def _seconds(time: int) -> int:
    return max(0, min(MAX_SECONDS, time // 1_000_000))


@lru_cache(maxsize=256)
def _zone(offset: int) -> str:
    minutes = max(-MAX_OFFSET, min(MAX_OFFSET, offset))
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"
