"""The paths at which a file was recorded that its history never had: by a rewriting, or on another branch.

`git filter-branch --subdirectory-filter`, filter-repo and subtree imports move a file in every commit at once, so that
no commit renames it; its contents stay what they were (case PC-14). What was done to a file on a branch where it was
renamed may be picked. So a recorded path counts as another name of a file if this history never had it, and a
recorded step moved the file there or changed a content that the file had here, or changed it into one.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from pogstore.errors import NotFound
from pogstore.history.lines import score
from pogstore.history.past import Past
from pogstore.model import Base, EventId, Oid
from pogstore.store import gitlog, rows
from pogstore.store.store import MAX_CONTENT, Store

MEMO = "elsewhere-4"
MOST = 8
"""So many paths elsewhere are taken for one file's."""
TELLING = 64
"""Letters and digits that a content must have to say which file it is: of small ones there are many that are equal."""


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """Up to which event it was looked, how often events had been forgotten by then, and what was found."""

    newest: int
    forgotten: int
    paths: list[bytes]


_kept = msgspec.msgpack.Decoder(_Kept)


def paths_elsewhere(store: Store, past: Past, names: list[bytes]) -> list[bytes]:
    """Returns the paths at which a file with some names was recorded that this history never had, sorted."""
    database = store.index.connection
    key = f"{past.tip}:{names[0].hex()}{past.altered}"
    newest, forgotten = rows.newest_change(database), rows.counter(database, rows.FORGOTTEN)
    data = rows.memo(database, MEMO, key)
    kept = _kept.decode(data) if data is not None else None
    if kept is not None and (kept.newest, kept.forgotten) == (newest, forgotten):
        return kept.paths
    found = _found(store, past, names)
    rows.keep_memos(database, MEMO, {key: msgspec.msgpack.encode(_Kept(newest, forgotten, found))})
    return found


def _found(store: Store, past: Past, names: list[bytes]) -> list[bytes]:
    """Looks at all versions of a file only where something speaks for it: that takes git a walk through history."""
    database = store.index.connection
    if past.tip is None:
        return []
    moved = _moved_to(store, names)
    found = [path for path in moved if not past.commits([path])]
    now = past.blob(names[0])
    alike = rows.paths_called(database, names[0].rpartition(b"/")[2])
    hints = {*alike, *(path for path, _ in _held(store, [now] if now else []))}
    if hints <= set(names) and not rows.newest_on_paths(database, names):
        return found[:MOST]
    versions = dict.fromkeys(commit.after for commit in past.commits(names) if commit.after is not None)
    for path, held in sorted(_held(store, versions), key=lambda each: each[0]):
        if path not in names and path not in found and _was(store, past, (names, path), held):
            found.append(path)
    return found[:MOST]


class _Held(NamedTuple):
    """A content that a file was recorded with, and the event that made the file with it; none if it was changed."""

    oid: Oid
    made: EventId | None = None


def _held(store: Store, versions: Iterable[Oid]) -> Iterator[tuple[bytes, _Held]]:
    """Yields the paths at which one of some contents was recorded."""
    database = store.index.connection
    for oid in versions:
        yield from ((path, _Held(oid)) for path in rows.paths_holding(database, [oid]))
        yield from ((path, _Held(oid, event)) for path, event in rows.creations_of(database, oid))


def _was(store: Store, past: Past, paths: tuple[list[bytes], bytes], held: _Held) -> bool:
    """Says whether a file with a version in common was this one, under a path that this history never had.

    A file that was made with the same content is a copy, unless it is known that there was nothing to copy.
    """
    names, path = paths
    if held.made is not None and not _was_alone(store, names, held.made):
        return False
    return _tells(store, held.oid) and not past.commits([path])


def _was_alone(store: Store, names: list[bytes], event: EventId) -> bool:
    """Says whether an event found none of some paths in the commit that it started from, where that is known.

    The commits before a rewriting may be gone; then nothing that is here was copied.
    """
    base: Base | None = getattr(store.event(event).event, "base", None)
    if base is None or base.commit is None:
        return False
    commit = Oid(base.commit.partition("_")[2])
    if not store.objects.exists(commit):
        return True
    return not any(gitlog.blob_at(store.git, commit, name) for name in names)


def _moved_to(store: Store, names: list[bytes]) -> list[bytes]:
    """Returns the paths to which events moved a file from one of its names, one after the other."""
    found = list(names)
    for name in found:  # grows while it is walked
        later = rows.later_names(store.index.connection, name, MOST)
        found += [path for path in later if path not in found][: max(0, MOST + len(names) - len(found))]
    return found[len(names) :]


def _tells(store: Store, oid: Oid) -> bool:
    """Says whether a content has enough in it to be told from others."""
    try:
        return score(store.objects.read(oid, MAX_CONTENT)[1]) >= TELLING
    except NotFound:
        return False
