"""The names that a file had before: by git's renames, and by those that events recorded."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from pogstore.errors import GitFailed
from pogstore.history.past import Past, altered_history
from pogstore.model import Oid
from pogstore.store import gitlog, rows
from pogstore.store.gitlog import FormerName
from pogstore.store.store import Store

NAMES_MEMO = "names-2"
MOST_NAMES = 64
"""So many names of one file are looked at."""
MOST_FOLLOWED = 8
"""So many names of a file that is in no commit yet are looked up in git's history."""
LONGEST_NAME = 4096
_names = msgspec.json.Decoder(list[FormerName])


class History(NamedTuple):
    """The names of a file, its own first; `former` are those that git knows, `altered` which commits git is shown."""

    names: list[bytes]
    former: list[FormerName]
    altered: str


def history_of(
    store: Store, tip: Oid | None, path: bytes, *, is_new: bool = False, past: Past | None = None
) -> History:
    """Returns a path and its older names, by git's renames and by those that events recorded.

    With `is_new` the path may not be in the tip yet: then what git would commit as its rename counts, and so do the
    names that git knows of those that were recorded. An event may come from anybody, so what git would not take for a
    path is no name, and their number is bounded.
    """
    altered = past.altered if past is not None else altered_history(store)
    if tip is None:
        return History(_with_recorded(store, [path]), [], altered)
    former = [] if past is not None and past.never_renamed(path) else _former_names(store, tip, path, altered)
    names = [path, *(each.name for each in former)]
    if not is_new or former:
        return History(_with_recorded(store, names), former, altered)
    staged = gitlog.staged_name(store.git, tip, path)
    names = _with_recorded(store, [path, staged] if staged is not None else [path])
    for name in names[1:MOST_FOLLOWED]:
        older = _former_names(store, tip, name, altered)
        former += [each for each in older if each.name not in names]
        names += [each.name for each in older if each.name not in names]
    return History(names, former, altered if staged is None else f"{altered}:staged {staged.hex()}")


def _with_recorded(store: Store, names: list[bytes]) -> list[bytes]:
    """Returns some names of a file, and those that events recorded as older ones."""
    found = list(names)
    for name in found:  # grows while it is walked
        recorded = rows.former_names(store.index.connection, name, MOST_NAMES)
        fresh = [older for older in recorded if older not in found and _can_be_named(older)]
        found += fresh[: max(0, MOST_NAMES - len(found))]
    return found


def _can_be_named(path: bytes) -> bool:
    """Says whether git takes some bytes for a path inside the repository."""
    parts = path.split(b"/")
    return len(path) <= LONGEST_NAME and b"\0" not in path and not {b"", b".", b".."}.intersection(parts)


def _former_names(store: Store, tip: Oid, path: bytes, altered: str) -> list[FormerName]:
    """Returns the older names of a file by git's renames and copies."""
    key = f"{tip}:{path.hex()}{altered}"
    kept = rows.memo(store.index.connection, NAMES_MEMO, key)
    if kept is not None:
        return _names.decode(kept)
    try:
        names = gitlog.older_names(store.git, tip, path)
    except GitFailed:  # a file version that a rename is looked for with may not be here: git's own blame needs it not
        return gitlog.older_names(store.git, tip, path, alike=gitlog.EXACT)
    rows.keep_memos(store.index.connection, NAMES_MEMO, {key: msgspec.json.encode(names)})
    return names


def keep_never_renamed(store: Store, tip: Oid, paths: Iterable[bytes]) -> None:
    """Remembers of many paths that git knows no other name for them."""
    altered = altered_history(store)
    none = msgspec.json.encode([])
    rows.keep_memos(store.index.connection, NAMES_MEMO, {f"{tip}:{path.hex()}{altered}": none for path in paths})
