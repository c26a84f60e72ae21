"""The paths at which a file was recorded that its history never had: by a rewriting, or on another branch.

`git filter-branch --subdirectory-filter`, filter-repo and subtree imports move a file in every commit at once, so that
no commit renames it; its contents stay what they were (case PC-14). A recorded path counts as an earlier name of a file
if it ends alike, was never a path in this history, and was recorded with a content that the file had here.
"""

import msgspec

from pogstore.errors import NotFound
from pogstore.history.lines import score
from pogstore.history.past import Past
from pogstore.model import Oid
from pogstore.store import rows
from pogstore.store.store import MAX_CONTENT, Store

MEMO = "elsewhere-3"
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
    hints = {*alike, *rows.paths_holding(database, [now] if now else [])}
    if hints <= set(names) and not rows.newest_on_paths(database, names):
        return found[:MOST]
    versions = dict.fromkeys(commit.after for commit in past.commits(names) if commit.after is not None)
    had = rows.paths_holding(database, versions)
    others = (path for path in sorted(had) if path not in names and path not in moved)
    return [*found, *(path for path in others if _was(store, past, path, had[path]))][:MOST]


def _moved_to(store: Store, names: list[bytes]) -> list[bytes]:
    """Returns the paths to which events moved a file from one of its names, one after the other."""
    found = list(names)
    for name in found:  # grows while it is walked
        later = rows.later_names(store.index.connection, name, MOST)
        found += [path for path in later if path not in found][: max(0, MOST + len(names) - len(found))]
    return found[len(names) :]


def _was(store: Store, past: Past, path: bytes, versions: list[Oid]) -> bool:
    """Says whether a file with some versions in common was this one, under a path that this history never had."""
    return any(_tells(store, oid) for oid in versions) and not past.commits([path])


def _tells(store: Store, oid: Oid) -> bool:
    """Says whether a content has enough in it to be told from others."""
    try:
        return score(store.objects.read(oid, MAX_CONTENT)[1]) >= TELLING
    except NotFound:
        return False
