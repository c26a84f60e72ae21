"""Commits in a lineage: whose work one carries, and which work began from what one holds.

What was recorded says where to look (`committed` events, and the commit that a work tree was on); git's own trees say
whether it is so, as far as they are here.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pogstore.history.lineage_content import Use, Uses, Version, left
from pogstore.history.streamed import changes_of, told_once
from pogstore.model import BlobId, Committed, EventId, Oid, Sealed, TaskId
from pogstore.store import relations, rows
from pogstore.store.content import path_bytes, plain_oid
from pogstore.store.gittree import Trees
from pogstore.store.store import Store

MOST_VERSIONS = 256
"""So many of the versions that an event found are looked for in the commit that the work tree was on."""


class CommitSaid(NamedTuple):
    """What a commit says of itself."""

    subject: str
    author: str
    time: int


class Carried(NamedTuple):
    """A task whose work a commit carries, and the events of it that are in the commit as they left a path."""

    task: TaskId
    events: tuple[Use, ...]


class Commits:
    """Answers about commits from an index that stands."""

    def __init__(self, store: Store, uses: Uses) -> None:
        self._store, self._uses = store, uses
        self._trees = Trees(store.objects)
        self._oids: dict[BlobId, frozenset[Oid]] = {}
        self._carried: dict[EventId, tuple[Use, ...]] = {}
        self._last: dict[TaskId, list[Sealed]] = {}

    def carried(self, commit: Oid) -> list[Carried]:
        """Returns whose work a commit carries: as was recorded, or else as its files tell."""
        told = relations.ids_naming_commit(self._store.index.connection, relations.TOLD, commit)
        if not told:
            return self._alike(commit)
        found: dict[TaskId, dict[tuple[EventId, bytes], Use]] = {}
        for sealed in self._store.standing(told).values():
            uses = found.setdefault(sealed.event.task, {})
            uses.update({(use.event.event_id, use.path): use for use in self._carried_by(sealed)})
        return [Carried(task, tuple(uses.values())) for task, uses in sorted(found.items())]

    def carrying(self, sealed: Sealed) -> Iterator[tuple[Oid, bytes]]:
        """Yields the commits that were recorded to carry an event's work, each with a path."""
        for committed in self.told_by(sealed.event.task):
            for use in self._carried_by(committed):
                if use.event.event_id == sealed.event_id:
                    yield _commit_of(committed), use.path

    def told_by(self, task: TaskId) -> list[Sealed]:
        """Returns the `committed` events of a task."""
        ids = relations.ids_telling_of_commits(self._store.index.connection, task)
        return [each for each in self._store.standing(ids).values() if isinstance(each.event, Committed)]

    @staticmethod
    def commit_of(committed: Sealed) -> Oid:
        """Returns the commit of which a `committed` event tells."""
        return _commit_of(committed)

    def bases(self, sealed: Sealed) -> list[tuple[Oid, bytes]]:
        """Returns the commit from which an event had what it found, with the paths; nothing if events had left it all.

        Where the commit is not here, it counts as recorded.
        """
        commit = _base_of(sealed)
        if commit is None:
            return []
        versions = self._uses.of_nobody(sealed)[:MOST_VERSIONS]
        return [(commit, path) for path, blob in versions if self._may_hold(commit, (path, blob))]

    def begun_on(self, commit: Oid) -> list[tuple[Sealed, bytes]]:
        """Returns the events that had something from a commit."""
        ids = relations.ids_naming_commit(self._store.index.connection, relations.BASE, commit)
        events = self._store.standing(ids).values()
        return [(each, path) for each in events for oid, path in self.bases(each) if oid == commit]

    def said(self, commit: Oid) -> CommitSaid | None:
        """Returns what a commit says of itself; nothing if it is not here."""
        data = self._trees.commit(commit)
        if data is None:
            return None
        head, _, message = data.partition(b"\n\n")
        author = next((line[7:] for line in head.split(b"\n") if line.startswith(b"author ")), b"")
        name, _, rest = author.partition(b" <")
        seconds = rest.rpartition(b"> ")[2].partition(b" ")[0]
        time = int(seconds) * 1_000_000 if seconds.isdigit() and len(seconds) < 13 else 0
        subject = message.strip().split(b"\n", 1)[0]
        return CommitSaid(subject.decode("utf-8", "replace"), name.decode("utf-8", "replace"), time)

    def _carried_by(self, committed: Sealed) -> tuple[Use, ...]:
        known = self._carried.get(committed.event_id)
        if known is None:
            commit = _commit_of(committed)
            last = self._last_before(committed).items() if self._trees.has(commit) else ()
            known = tuple(Use(sealed, path) for (path, blob), sealed in last if self._brings(commit, path, blob))
            self._carried[committed.event_id] = known
        return known

    def _last_before(self, committed: Sealed) -> dict[tuple[bytes, BlobId | None], Sealed]:
        """Returns for each version that a task left at a path, or for its deletion, the last event before a commit."""
        task = committed.event.task
        if task not in self._last:
            self._last[task] = told_once(self._store, self._store.standing_events(task))
        place = (committed.event.clock, committed.event_id)
        before = [each for each in self._last[task] if (each.event.clock, each.event_id) < place]
        return {version: sealed for sealed in before for version in _outcomes(sealed)}

    def _alike(self, commit: Oid) -> list[Carried]:
        """Returns whose versions the files are that a commit brings: the first event that left each."""
        found: dict[TaskId, list[Use]] = {}
        database = self._store.index.connection
        for path, oid in sorted(self._trees.brought(commit).items()):
            for blob in relations.names_of_oid(database, oid):
                events = self._store.standing(relations.ids_around(database, path, blob)).values()
                maker = next((each for each in events if (path, blob) in left(each)), None)
                if maker is not None:
                    found.setdefault(maker.event.task, []).append(Use(maker, path))
        return [Carried(task, tuple(uses)) for task, uses in sorted(found.items())]

    def _brings(self, commit: Oid, path: bytes, blob: BlobId | None) -> bool:
        oid = self._trees.blob_at(commit, path)
        same = oid is None if blob is None else oid in self._oids_of(blob)
        return same and self._trees.brings(commit, path)

    def _may_hold(self, commit: Oid, version: Version) -> bool:
        if not self._trees.has(commit):
            return True
        path, blob = version
        oids, oid = self._oids_of(blob), self._trees.blob_at(commit, path)
        return oid is not None and (oid in oids or not oids)

    def _oids_of(self, blob: BlobId) -> frozenset[Oid]:
        """Returns git's names for a content: none if it is not here."""
        known = self._oids.get(blob)
        if known is None:
            found = rows.contents(self._store.index.connection, blob)
            known = self._oids[blob] = frozenset(row.oid for row in found)
        return known


def _outcomes(sealed: Sealed) -> Iterator[tuple[bytes, BlobId | None]]:
    yield from left(sealed)
    for change in changes_of(sealed):
        path = path_bytes(change.path)
        if path is not None and change.after is None and change.before is not None:
            yield path, None


def _commit_of(committed: Sealed) -> Oid:
    return plain_oid(str(getattr(committed.event, "commit", "")))


def _base_of(sealed: Sealed) -> Oid | None:
    for base in (getattr(sealed.event, "base_from", None), getattr(sealed.event, "base", None)):
        if base is not None and base.commit:
            return plain_oid(base.commit)
    return None
