"""Events at hand: each is decoded once, however many of its paths are asked about.

Knows nothing of git and of the index. One event may change sixteen thousand paths, so whoever asks about each of them
would else read all of it for each.
"""

from collections.abc import Iterable, Mapping, Sequence

from pogstore import codec
from pogstore.model import Change, EventId, Sealed
from pogstore.store.content import path_bytes

ROOM = 64 << 20
"""Canonical bytes of the events that are kept; those asked for last stay."""
FEW = 8
"""Changes that are sooner looked through than sorted by path."""


class Decoded:
    """The events that were asked for last, by id: an id never stands for other bytes."""

    def __init__(self) -> None:
        self._events: dict[EventId, Sealed] = {}
        self._places: dict[EventId, Mapping[bytes, Sequence[int]]] = {}
        self._size = 0

    def find(self, event_id: EventId) -> Sealed | None:
        """Returns an event that is at hand."""
        sealed = self._events.pop(event_id, None)
        if sealed is not None:
            self._events[event_id] = sealed
        return sealed

    def decode(self, body: bytes) -> Sealed:
        """Returns the event that some canonical bytes are, and keeps it at hand."""
        sealed = codec.decode(body)
        if sealed.event_id not in self._events:
            self._events[sealed.event_id] = sealed
            self._size += len(body)
            self._make_room(sealed)
        return sealed

    def changes_on(self, sealed: Sealed, names: Iterable[bytes]) -> list[Change]:
        """Returns the changes of an event that are of some paths or move a file away from them, in their order."""
        changes: tuple[Change, ...] = getattr(sealed.event, "changes", ())
        if len(changes) <= FEW:
            wanted = set(names)
            return [change for change in changes if not wanted.isdisjoint(_names(change))]
        places = self._places.get(sealed.event_id)
        if places is None:
            places = _by_name(changes)
            if sealed.event_id in self._events:
                self._places[sealed.event_id] = places
        return [changes[at] for at in sorted({at for name in names for at in places.get(name, ())})]

    def _make_room(self, latest: Sealed) -> None:
        while self._size > ROOM and next(iter(self._events)) != latest.event_id:
            gone = self._events.pop(next(iter(self._events)))
            self._size -= len(gone.canonical)
            self._places.pop(gone.event_id, None)


def _names(change: Change) -> set[bytes]:
    sides = (change.path, change.from_)
    return {name for side in sides if side is not None and (name := path_bytes(side)) is not None}


def _by_name(changes: Sequence[Change]) -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = {}
    for at, change in enumerate(changes):
        for name in _names(change):
            found.setdefault(name, []).append(at)
    return found
