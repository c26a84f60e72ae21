"""What files held in the commits behind HEAD, for whoever has to find out what an edit started from."""

from collections.abc import Iterator
from functools import cached_property, lru_cache

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Oid
from pogstore.store import gitlog
from pogstore.store.store import Store

NEWEST = 16
"""So many contents of one path are looked at."""
LARGEST = 1 << 22
"""A file of more bytes is not looked at."""


class CommittedContents:
    """The contents of paths in commits, read when somebody asks."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._versions = lru_cache(self._read_versions)

    @cached_property
    def _tip(self) -> Oid | None:
        return gitlog.find_head(self._store.git)

    def before(self, path: str, time: int) -> Iterator[str]:
        """Yields the contents that a path had in commits whose work was done before a moment (µs), the newest first.

        Contents that are not here, or that are no UTF-8, are left out.
        """
        blobs = [blob for authored, blob in self._versions(path) if authored <= time]
        for blob in list(dict.fromkeys(reversed(blobs)))[:NEWEST]:
            try:
                yield self._store.objects.read(blob, LARGEST)[1].decode()
            except (NotFound, ObjectDamaged, UnicodeDecodeError):
                continue

    def _read_versions(self, path: str) -> list[tuple[int, Oid]]:
        """Returns when each version of a path was made, in that order; of one moment, parents first."""
        if self._tip is None:
            return []
        commits = gitlog.path_commits(self._store.git, self._tip, [path.encode("utf-8", "surrogateescape")])
        made = [(each.authored, each.after) for each in commits if each.after is not None]
        return sorted(made, key=lambda version: version[0])
