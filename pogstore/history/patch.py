"""Recorded changes as git patches, which `git apply` takes: what an event changed, from before to after."""

import re
import zlib
from base64 import b85encode
from collections.abc import Iterator
from typing import NamedTuple

from pogstore import state
from pogstore.history.blame import BEFORE_UNSEEN
from pogstore.history.names import Named
from pogstore.model import BlobId, Change, Sealed, Side
from pogstore.store.content import path_bytes
from pogstore.store.libgit2 import patch_body
from pogstore.store.store import Store

_QUOTED = re.compile(rb'[\x00-\x1f\x7f"\\]')
_ESCAPES = {ord("\t"): b"\\t", ord("\n"): b"\\n", ord("\r"): b"\\r", ord('"'): b'\\"', ord("\\"): b"\\\\"}
_NO_OID = "0" * 40
_BYTES_A_LINE = 52
_SUBMODULE = "160000"


class _File(NamedTuple):
    """One side of a change: its name, and the file, if there is one."""

    name: bytes
    mode: str | None
    data: bytes
    oid: str

    def shown(self, prefix: bytes) -> bytes:
        """Returns how the lines before a hunk name it; git marks the end of a name with a space in it."""
        if self.mode is None:
            return b"/dev/null"
        return quoted(prefix + self.name) + (b"\t" if b" " in self.name else b"")


def patch(store: Store, sealed: Sealed) -> bytes:
    """Returns what an event changed, as `git apply` takes it; raises `NotFound` if a content is not here.

    What no patch can say (a path outside the repository, a content that nobody recorded, a submodule) becomes a line
    that git skips.
    """
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    is_unseen = getattr(sealed.event, "coverage_reason", None) == BEFORE_UNSEEN
    return b"".join(part for change in changes for part in _change(store, change, is_unseen=is_unseen))


def changing_events(store: Store, named: Named) -> list[Sealed]:
    """Returns the event that is named, or the events of a task that changed files, in replay order, each told once."""
    if named.event_id is not None:
        return [store.event(named.event_id)]
    events = state.distinct(state.whole(store.events(named.task)).events).used
    return [sealed for sealed in events if getattr(sealed.event, "changes", ())]


def quoted(name: bytes) -> bytes:
    """Returns a name as git prints one in a patch: in C's quotes if it has a control, a quote or a backslash."""
    if not _QUOTED.search(name):
        return name
    return b'"' + _QUOTED.sub(_escape, name) + b'"'


def _escape(match: re.Match[bytes]) -> bytes:
    byte = match.group()[0]
    return _ESCAPES.get(byte) or b"\\%03o" % byte


def _change(store: Store, change: Change, *, is_unseen: bool) -> Iterator[bytes]:
    name = path_bytes(change.path)
    if name is None:
        yield b"# a path outside the repository\n"
        return
    missing = _missing(change, is_unseen=is_unseen)
    if missing:
        yield b"# " + quoted(name) + b": " + missing + b"\n"
        return
    older = path_bytes(change.from_) if change.from_ and change.before and change.after else None
    before, after = _file(store, older or name, change.before), _file(store, name, change.after)
    if before.mode and after.mode and before.mode[:3] != after.mode[:3]:
        # another type of file: git wants the one deleted and the other created
        yield from _diff(before, _File(before.name, None, b"", _NO_OID))
        yield from _diff(_File(after.name, None, b"", _NO_OID), after)
        return
    yield from _diff(before, after)


def _missing(change: Change, *, is_unseen: bool) -> bytes | None:
    """Says why a change cannot be a patch, if it cannot."""
    sides = [side for side in (change.before, change.after) if side is not None]
    if not sides or (is_unseen and change.before is None):
        return b"what it held before is not recorded"
    if any(side.mode == _SUBMODULE or side.blob is None for side in sides):
        return b"a submodule"
    return b"a content that is not stored" if any(side.omitted for side in sides) else None


def _file(store: Store, name: bytes, side: Side | None) -> _File:
    if side is None:
        return _File(name, None, b"", _NO_OID)
    data = store.read_content(BlobId(side.blob or ""))
    return _File(name, side.mode, data, store.objects.name("blob", data))


def _diff(before: _File, after: _File) -> Iterator[bytes]:
    yield b"diff --git " + quoted(b"a/" + before.name) + b" " + quoted(b"b/" + after.name) + b"\n"
    yield from (line.encode() + b"\n" for line in _modes(before, after))
    if before.name != after.name:
        yield b"rename from " + quoted(before.name) + b"\nrename to " + quoted(after.name) + b"\n"
    if before.data == after.data and before.mode and after.mode:
        return
    yield (
        f"index {before.oid}..{after.oid}".encode()
        + (f" {after.mode}".encode() if before.mode == after.mode else b"")
        + b"\n"
    )
    body = patch_body(before.data, after.data)
    if body:
        yield b"--- " + before.shown(b"a/") + b"\n+++ " + after.shown(b"b/") + b"\n" + body
    elif before.data != after.data:
        yield b"GIT binary patch\n" + _literal(after.data) + _literal(before.data)


def _modes(before: _File, after: _File) -> list[str]:
    if before.mode is None:
        return [f"new file mode {after.mode}"]
    if after.mode is None:
        return [f"deleted file mode {before.mode}"]
    return [f"old mode {before.mode}", f"new mode {after.mode}"] if before.mode != after.mode else []


def _literal(data: bytes) -> bytes:
    """Returns a whole content as git's binary patches hold one: deflated, in base 85, 52 bytes a line."""
    packed = zlib.compress(data)
    lines = [packed[at : at + _BYTES_A_LINE] for at in range(0, len(packed), _BYTES_A_LINE)]
    return b"literal %d\n" % len(data) + b"".join(map(_line, lines)) + b"\n"


def _line(data: bytes) -> bytes:
    """Returns one line: its number of bytes as a letter, A to Z and a to z, then the bytes."""
    count = bytes([len(data) + (ord("A") - 1 if len(data) <= 26 else ord("a") - 27)])
    return count + b85encode(data, pad=True) + b"\n"
