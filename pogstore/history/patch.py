"""Recorded changes as git patches."""

import re
from collections.abc import Iterator

from pogstore.model import BlobId, Change, Sealed, Side
from pogstore.store.content import path_bytes
from pogstore.store.libgit2 import patch_body
from pogstore.store.store import Store

_QUOTED = re.compile(rb'[\x00-\x1f\x7f"\\]')
_ESCAPES = {ord("\t"): b"\\t", ord("\n"): b"\\n", ord("\r"): b"\\r", ord('"'): b'\\"', ord("\\"): b"\\\\"}


def patch(store: Store, sealed: Sealed) -> bytes:
    """Returns what an event changed, as `git apply` takes it; raises `NotFound` if a content is not here.

    A path outside the repository and a content that was not stored give a line that says so, which git skips.
    """
    changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
    return b"".join(part for change in changes for part in _file(store, change))


def _file(store: Store, change: Change) -> Iterator[bytes]:
    name = path_bytes(change.path)
    before, after = change.before, change.after
    if name is None or (before is None and after is None):
        yield b"# a change whose content was not recorded\n"
        return
    if any(side and (side.omitted or side.blob is None) for side in (before, after)):
        yield b"# " + name.replace(b"\n", b" ") + b": a content that is not stored\n"
        return
    old_name = path_bytes(change.from_) if change.from_ else name
    old, new = (b"" if side is None else store.read_content(BlobId(side.blob or "")) for side in (before, after))
    yield b"diff --git " + quoted(b"a/" + (old_name or name)) + b" " + quoted(b"b/" + name) + b"\n"
    yield _modes(store, before, after, old, new)
    body = patch_body(old, new)
    if body:
        yield b"--- " + (quoted(b"a/" + (old_name or name)) if before else b"/dev/null") + b"\n"
        yield b"+++ " + (quoted(b"b/" + name) if after else b"/dev/null") + b"\n"
        yield body
    elif old != new:
        yield b"Binary files differ\n"


def _modes(store: Store, before: Side | None, after: Side | None, old: bytes, new: bytes) -> bytes:
    none = "0" * 40
    old_oid = store.objects.name("blob", old) if before else none
    new_oid = store.objects.name("blob", new) if after else none
    index = f"index {old_oid}..{new_oid}"
    if before is None and after is not None:
        return f"new file mode {after.mode}\n{index}\n".encode()
    if after is None and before is not None:
        return f"deleted file mode {before.mode}\n{index}\n".encode()
    if before is not None and after is not None and before.mode != after.mode:
        return f"old mode {before.mode}\nnew mode {after.mode}\n{index}\n".encode()
    return f"{index} {after.mode if after else ''}".rstrip().encode() + b"\n"


def quoted(name: bytes) -> bytes:
    """Returns a name as git prints one in a patch: in C's quotes if it has a control, a quote or a backslash."""
    if not _QUOTED.search(name):
        return name
    return b'"' + _QUOTED.sub(_escape, name) + b'"'


def _escape(match: re.Match[bytes]) -> bytes:
    byte = match.group()[0]
    return _ESCAPES.get(byte) or b"\\%03o" % byte
