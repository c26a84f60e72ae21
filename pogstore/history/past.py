"""What git says of the history behind a commit, as blame asks it: of one file, or of all files at once.

One question about all files takes git little longer than one about a single file, so who wants many asks once.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property

from pogstore import digest
from pogstore.model import Oid
from pogstore.store import gitlog
from pogstore.store.gitlog import PathCommit
from pogstore.store.store import Store

MOST_CHANGES = 500_000
"""So many changes of files are held at once; in a longer history git is asked about each file."""


class Past:
    """The history behind a commit, if there is one, asked file by file."""

    def __init__(self, store: Store, tip: Oid | None) -> None:
        self.store, self.tip = store, tip
        self._asked: dict[tuple[bytes, ...], list[PathCommit]] = {}
        self._blobs: dict[bytes, Oid | None] = {}

    @cached_property
    def altered(self) -> str:
        """What makes git see other commits behind the same tip, as it was when this was first asked."""
        return altered_history(self.store)

    def commits(self, names: Sequence[bytes]) -> list[PathCommit]:
        """Returns the commits that changed one of some paths; see `gitlog.path_commits`."""
        if self.tip is None:
            return []
        key = tuple(names)
        if key not in self._asked:
            self._asked[key] = gitlog.path_commits(self.store.git, self.tip, names)
        return self._asked[key]

    def blob(self, path: bytes) -> Oid | None:
        """Returns the blob that the commit has at a path."""
        if path not in self._blobs:
            self._blobs[path] = gitlog.blob_at(self.store.git, self.tip, path) if self.tip else None
        return self._blobs[path]

    def never_renamed(self, path: bytes) -> bool:
        """Says whether it is certain that a path had no other name before, without asking git about it."""
        return self.tip is None


class WholePast(Past):
    """The history behind a commit, asked once for all files."""

    def __init__(self, store: Store, tip: Oid) -> None:
        super().__init__(store, tip)
        self.files = gitlog.files_of(store.git, tip)

    @cached_property
    def _changes(self) -> list[PathCommit] | None:
        found = gitlog.path_commits(self.store.git, self.tip, (), MOST_CHANGES) if self.tip else []
        return found if len(found) < MOST_CHANGES else None

    @cached_property
    def _by_path(self) -> dict[bytes, list[int]]:
        places = defaultdict(list)
        for at, change in enumerate(self._changes or ()):
            places[change.path].append(at)
        return places

    @cached_property
    def _maybe_renamed(self) -> set[bytes]:
        """The paths that came in a change in which another went."""
        gone = {(change.commit, change.against) for change in self._changes or () if change.after is None}
        came = (change for change in self._changes or () if change.before is None)
        return {change.path for change in came if (change.commit, change.against) in gone}

    def commits(self, names: Sequence[bytes]) -> list[PathCommit]:
        """Returns the same, from what is known already."""
        changes = self._changes
        if changes is None:
            return super().commits(names)
        places = sorted(at for name in set(names) for at in self._by_path.get(name, ()))
        return _counted(changes[at] for at in places)

    def blob(self, path: bytes) -> Oid | None:
        """Returns the same, from what is known already."""
        return self.files.get(path)

    def never_renamed(self, path: bytes) -> bool:
        """Says it of a path that never came where another went."""
        return self._changes is not None and path not in self._maybe_renamed


def _counted(changes: Iterable[PathCommit]) -> list[PathCommit]:
    """Returns changes with the parents counted against which one of these paths changed."""
    found: list[PathCommit] = []
    last: tuple[Oid, int] | None = None
    for change in changes:
        same_commit = last is not None and last[0] == change.commit
        same_parent = last == (change.commit, change.against)
        against = (found[-1].against + (not same_parent)) if same_commit else 1
        last = change.commit, change.against
        found.append(change._replace(against=against))
    return found


def altered_history(store: Store) -> str:
    """Returns what makes git see other commits behind the same tip, as a digest; nothing where there is nothing."""
    parts = [f"{ref} {oid}".encode() for ref, oid in store.refs.list("refs/replace/").items()]
    for name in ("shallow", "info/grafts"):
        with suppress(OSError):
            parts.append((store.layout.common_dir / name).read_bytes())
    return ":" + digest.hexdigest(b"\n".join(parts)) if parts else ""
