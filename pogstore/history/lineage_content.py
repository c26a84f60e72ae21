"""Whose work an event used: it found a file version at a path, and another event had left that version there.

The question about content alone; knows nothing of tasks, links and commits. A version at a path is a *thread*: all
events that found it or left it there, in the order in which blame takes them, which is the replay order but for
imports (`docs/decisions/0005-order-of-imported-events.md`). Each that found it used the work of the last one before it
that left it. Up and down read the same threads, so they can only be the inverse of each other.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pogstore.history.streamed import changes_of, effective_times, told_once
from pogstore.model import BlobId, EventId, Sealed
from pogstore.store import relations
from pogstore.store.content import path_bytes
from pogstore.store.store import Store

Version = tuple[bytes, BlobId]
"""A file version at a path."""


class Use(NamedTuple):
    """Another event, and the path at which one used what the other left."""

    event: Sealed
    path: bytes


class _Thread(NamedTuple):
    """Who used whose work, of one version at one path; and who found it with nobody's work in between."""

    maker: dict[EventId, Sealed]
    users: dict[EventId, list[Sealed]]
    beside: dict[EventId, list[Sealed]]


_NOBODY = _Thread({}, {}, {})


class Uses:
    """Answers about content from an index that stands; what was asked once is not looked up again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._threads: dict[Version, _Thread] = {}
        self._shared: dict[EventId, set[Version]] = {}

    def used(self, sealed: Sealed) -> list[Use]:
        """Returns whose work an event used."""
        found = ((path, self._thread((path, blob)).maker.get(sealed.event_id)) for path, blob in self._found(sealed))
        return [Use(maker, path) for path, maker in found if maker is not None]

    def users(self, sealed: Sealed) -> list[Use]:
        """Returns which events used the work of one."""
        shared = self._versions(sealed)
        return [
            Use(user, path)
            for path, blob in dict.fromkeys(left(sealed))
            if (path, blob) in shared
            for user in self._thread((path, blob)).users.get(sealed.event_id, ())
        ]

    def beside(self, sealed: Sealed) -> list[Use]:
        """Returns the events that found the very version which one found, and made something else of it."""
        return [
            Use(other, path)
            for path, blob in self._found(sealed)
            for other in self._thread((path, blob)).beside.get(sealed.event_id, ())
            if other.event_id != sealed.event_id
        ]

    def of_nobody(self, sealed: Sealed) -> list[Version]:
        """Returns the versions that an event found and no event before it had left."""
        shared = self._versions(sealed)
        return [
            version
            for version in dict.fromkeys(found(sealed))
            if version not in shared or sealed.event_id not in self._thread(version).maker
        ]

    def _found(self, sealed: Sealed) -> list[Version]:
        shared = self._versions(sealed)
        return [version for version in dict.fromkeys(found(sealed)) if version in shared]

    def _versions(self, sealed: Sealed) -> set[Version]:
        """Returns what an event shares with others: of thousands of changes these are few, and found in one go."""
        known = self._shared.get(sealed.event_id)
        if known is None:
            known = self._shared[sealed.event_id] = relations.versions_shared(
                self._store.index.connection, sealed.event_id
            )
        return known

    def _thread(self, version: Version) -> _Thread:
        known = self._threads.get(version)
        if known is None:
            ids = relations.ids_around(self._store.index.connection, *version)
            events = told_once(self._store, self._store.standing(ids).values()) if len(ids) > 1 else []
            known = self._threads[version] = _walked(events, version) if len(events) > 1 else _NOBODY
        return known


def found(sealed: Sealed) -> Iterator[Version]:
    """Yields the file versions that an event found, each where it stood; what was renamed, at the old path."""
    for change in changes_of(sealed):
        path = path_bytes(change.from_ or change.path)
        if path is not None and change.before is not None and change.before.blob is not None:
            yield path, change.before.blob


def left(sealed: Sealed) -> Iterator[Version]:
    """Yields the file versions that an event left, each at its path."""
    for change in changes_of(sealed):
        path = path_bytes(change.path)
        if path is not None and change.after is not None and change.after.blob is not None:
            yield path, change.after.blob


def _walked(events: list[Sealed], version: Version) -> _Thread:
    thread = _Thread({}, {}, {})
    last: Sealed | None = None
    together: list[Sealed] = []
    for _, sealed in effective_times(events):
        leaves = version in left(sealed)
        if version in found(sealed):
            if last is not None:
                thread.maker[sealed.event_id] = last
                thread.users.setdefault(last.event_id, []).append(sealed)
            if not leaves:
                together.append(sealed)
                thread.beside[sealed.event_id] = together
        if leaves:
            last, together = sealed, []
    return thread
