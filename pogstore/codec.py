"""Events to canonical bytes and back, strictly both ways.

Canonical bytes are JSON as in RFC 8785 for a narrow domain (`docs/format.md`, "Canonical bytes"): keys match
`[a-z][a-z0-9_]*` and are sorted, no white space, absent instead of null, integers only and smaller than 2^53, no
duplicate keys, at most 64 levels deep. Knows nothing of git, refs or what an event means.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TypeVar

import msgspec

from pogstore import digest
from pogstore.errors import NotCanonical, OutsideDomain
from pogstore.model import FORMAT, KINDS, Actor, Definition, Event, EventId, Joined, Opaque, Sealed

MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1
MAX_BYTES = 1 << 20
MAX_BYTES_WITH_CHANGES = 8 << 20
MAX_CLOCK = 2**52
SUPPORTED_NEEDS: frozenset[str] = frozenset()

_KEY = re.compile(r"[a-z][a-z0-9_]*\Z")
_TASK = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_EVENT_ID = re.compile(r"(?:[a-z0-9]+_)?[0-9a-f]{64,128}\Z")
# What may be over 2^53 (also matches inside strings). In a struct of ours an integer always follows a colon: no field
# holds a list of them, and what a struct does not know is read in the slow way.
_LARGE = re.compile(rb":-?(?:9\d{15}|\d{17})")

_T = TypeVar("_T")
_encoder = msgspec.json.Encoder(order="sorted")
_generic = msgspec.json.Decoder()
_definition = msgspec.json.Decoder(Definition)
_opaque_decoder = msgspec.json.Decoder(Opaque)


class _Peek(msgspec.Struct, frozen=True):
    """What decides how the rest is read."""

    v: int
    kind: str
    needs: tuple[str, ...] = ()


class _Changes(msgspec.Struct, frozen=True):
    """What allows an event to be larger."""

    changes: object = None


_peek = msgspec.json.Decoder(_Peek)
_changes = msgspec.json.Decoder(_Changes)


@cache
def _decoder(kind: str) -> "msgspec.json.Decoder[Event]":
    """Returns what decodes a kind of event; most commands meet few kinds, and each takes its time to be made."""
    return msgspec.json.Decoder(KINDS[kind])


def event_id(canonical: bytes) -> EventId:
    """Returns the id that canonical bytes give: their BLAKE3-256 in hex."""
    return EventId(digest.hexdigest(canonical))


def encode(event: Event) -> Sealed:
    """Returns an event with its canonical bytes; raises `OutsideDomain` for what they cannot hold.

    The result has been read back, since a struct is checked when it is decoded and not when it is made.
    """
    try:
        return decode(_dump(event))
    except NotCanonical as fault:
        raise OutsideDomain(fault.reason) from fault


def encode_value(value: object) -> bytes:
    """Returns the canonical bytes of any value of the domain (used for definitions and for vectors)."""
    canonical = _dump(value)
    try:
        _check_generic(canonical)
    except NotCanonical as fault:
        raise OutsideDomain(fault.reason) from fault
    return canonical


def decode(canonical: bytes) -> Sealed:
    """Reads an event strictly: whatever is not its one encoding raises `NotCanonical`.

    Fields that this version does not know survive in the bytes; an unknown kind, need or `v` gives an `Opaque`.
    """
    if len(canonical) > MAX_BYTES_WITH_CHANGES:
        raise NotCanonical(f"{len(canonical)} bytes are over the limit of {MAX_BYTES_WITH_CHANGES}")
    peek = _read(_peek, canonical)
    if peek.v != FORMAT:
        _read(_generic, canonical)
        return _sealed(canonical, _opaque(canonical))
    _check_size(canonical)
    if peek.kind not in KINDS or not SUPPORTED_NEEDS.issuperset(peek.needs):
        _check_generic(canonical)
        return _sealed(canonical, _opaque(canonical))
    event = _read(_decoder(peek.kind), canonical)
    if _dump(event) != canonical or _LARGE.search(canonical):
        _check_generic(canonical)
    return _sealed(canonical, event)


def encode_definition(definition: Definition) -> bytes:
    """Returns a definition as canonical JSON, without a salt."""
    return encode_value(definition)


def decode_definition(data: bytes) -> Definition:
    """Reads the text of a `defined` event; raises `NotCanonical` if it is not a definition."""
    return _read(_definition, data)


def to_value(item: object) -> object:
    """Returns a struct as plain dicts, lists, strings and integers, absent fields left out."""
    return _generic.decode(_dump(item))


def fields_of(sealed: Sealed) -> dict[str, object]:
    """Returns all fields of an event, those that this version does not know included."""
    value: dict[str, object] = _generic.decode(sealed.canonical)
    return value


def join(heads: Sequence[Sealed]) -> Sealed:
    """Returns the `joined` event over several heads: a pure function of them, so every clone makes the same one."""
    return encode(
        Joined(
            v=FORMAT,
            task=heads[0].event.task,
            parents=tuple(sorted(head.event_id for head in heads)),
            clock=1 + max(head.event.clock for head in heads),
            time=max(head.event.time for head in heads),
            actor=Actor(type="tool", name="pogstore"),
        )
    )


def scrub(text: str) -> str:
    """Returns a text with every lone surrogate replaced by U+FFFD: UTF-8 cannot hold one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _dump(value: object) -> bytes:
    try:
        return _encoder.encode(value)
    except (UnicodeEncodeError, ValueError, TypeError, RecursionError) as fault:
        raise OutsideDomain(str(fault)) from fault


def _read(decoder: "msgspec.json.Decoder[_T]", canonical: bytes) -> _T:
    try:
        return decoder.decode(canonical)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as fault:
        raise NotCanonical(str(fault)) from fault


def _sealed(canonical: bytes, event: Event | Opaque) -> Sealed:
    _check_common(event)
    return Sealed(event_id(canonical), canonical, event)


def _opaque(canonical: bytes) -> Opaque:
    return _read(_opaque_decoder, canonical)


def _check_common(event: Event | Opaque) -> None:
    if isinstance(event, Opaque) and not _KEY.match(event.kind):
        raise NotCanonical(f"'kind' is outside the domain: {event.kind[:80]!r}")
    if not _TASK.match(event.task):
        raise NotCanonical(f"'task' is not a UUID in lower case: {event.task[:80]!r}")
    parents = event.parents
    if len(parents) > 1 and any(a >= b for a, b in pairwise(parents)):
        raise NotCanonical("'parents' are not sorted, or one stands twice")
    for parent in parents:
        if not _EVENT_ID.match(parent):
            raise NotCanonical("'parents' holds something that is not an event id")
    if not 0 < event.clock < MAX_CLOCK:
        raise NotCanonical(f"'clock' {event.clock} is out of range")
    if max(abs(event.time), abs(event.offset)) > MAX_INTEGER:
        raise NotCanonical("'time' or 'offset' is out of range")


def _check_size(canonical: bytes) -> None:
    if len(canonical) > MAX_BYTES and not isinstance(_read(_changes, canonical).changes, list):
        raise NotCanonical(f"{len(canonical)} bytes without changes are over the limit of {MAX_BYTES}")


def _check_generic(canonical: bytes) -> None:
    value = _read(_generic, canonical)
    _check_value(value, 1)
    if _dump(value) != canonical:
        raise NotCanonical("white space, key order, a key twice or another spelling of a string")


def _check_value(value: object, depth: int) -> None:
    """Judges a value whose arrays and objects would be on a level."""
    match value:
        case bool() | str():
            return
        case int():
            if not -MAX_INTEGER <= value <= MAX_INTEGER:
                raise NotCanonical(f"{value} is out of range")
        case dict() | list():
            if depth > MAX_DEPTH:
                raise NotCanonical(f"deeper than {MAX_DEPTH} levels")
            for key in value if isinstance(value, dict) else ():
                if not _KEY.match(key):
                    raise NotCanonical(f"key {key[:80]!r} is outside the domain")
            for item in value.values() if isinstance(value, dict) else value:
                _check_value(item, depth + 1)
        case None:
            raise NotCanonical("null is outside the domain")
        case _:
            raise NotCanonical(f"a {type(value).__name__} is outside the domain")
