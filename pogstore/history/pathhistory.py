"""What happened on the paths of a work tree after an event: for a plan that takes it out again."""

from collections.abc import Iterable, Sequence

from pogstore.graph import replay_order
from pogstore.history.operations import operation_of, targets_of
from pogstore.history.streamed import effective_times
from pogstore.history.takeout import Told
from pogstore.model import Change, EventId, Path, Sealed
from pogstore.store.content import path_bytes
from pogstore.store.store import Store


class PathHistory:
    """The events on each path in the order in which blame takes them, read once.

    `paths` are those that will be asked about, as far as they are known: all of them cost the index one question.
    """

    def __init__(self, store: Store, paths: Iterable[bytes]) -> None:
        self._store = store
        self._on: dict[bytes, list[Sealed]] = {}
        self._places: dict[bytes, dict[EventId, int]] = {}
        self._together: dict[EventId, tuple[Sealed, ...]] = {}
        self._awaited = set(paths)

    def after(self, path: bytes, sealed: Sealed) -> list[Sealed]:
        """Returns the events on a path that came after one of them."""
        events = self._all(path)
        place = self._places[path].get(sealed.event_id)
        return [] if place is None else events[place + 1 :]

    def after_on(self, paths: Iterable[bytes], sealed: Sealed) -> list[Sealed]:
        """Returns the events on any of some paths that come after one of them, in replay order.

        On a path that the event itself did not touch these are the ones that come after it in replay order.
        """
        found: dict[EventId, Sealed] = {}
        for path in paths:
            events = self._all(path)
            place = self._places[path].get(sealed.event_id)
            later = [each for each in events if _key(each) > _key(sealed)] if place is None else events[place + 1 :]
            found |= {each.event_id: each for each in later}
        return replay_order(found.values())

    def moves(self, path: Path, sealed: Sealed) -> list[str]:
        """Returns the names to which events after one have moved a file, in order."""
        names: list[str] = []
        seen: set[EventId] = set()
        name, since = path_bytes(path), sealed
        while name is not None and since.event_id not in seen:
            seen.add(since.event_id)
            moved = self._move(name, since)
            if moved is None:
                break
            name, since = moved
            names.append(name.decode("utf-8", "surrogateescape"))
        return names

    def told(self, change: Change, names: Sequence[str], sealed: Sealed) -> Told | None:
        """Returns what the last of our operations that took a change out, or put it back, saw of its file."""
        recorded = (path_bytes(change.path), *(name.encode("utf-8", "surrogateescape") for name in names))
        paths = {path for path in recorded if path is not None}
        told, is_out = None, {sealed.event_id: False}
        for operation in self._operations(paths):
            together = self._operation_of(operation)
            undone = [is_out[target] for each in together for target in targets_of(each) if target in is_out]
            if not undone:
                continue
            is_out |= {each.event_id: not undone[0] for each in together}
            for done in self._store.decoded.changes_on(operation, paths):
                if path_bytes(done.path) in paths:
                    sides = (done.after, done.before) if undone[0] else (done.before, done.after)
                    told = Told(*sides, is_out=not undone[0])
        return told

    def _operation_of(self, sealed: Sealed) -> tuple[Sealed, ...]:
        if sealed.event_id not in self._together:
            self._together[sealed.event_id] = operation_of(self._store, sealed)
        return self._together[sealed.event_id]

    def _operations(self, paths: Iterable[bytes]) -> list[Sealed]:
        found = {each.event_id: each for path in paths for each in self._all(path) if targets_of(each)}
        return replay_order(found.values())

    def _all(self, path: bytes) -> list[Sealed]:
        if path not in self._on:
            self._look_up(self._awaited | {path})
            self._awaited.clear()
        return self._on[path]

    def _look_up(self, paths: Iterable[bytes]) -> None:
        for path, events in self._store.events_on_paths(paths).items():
            self._on[path] = [found for _, found in effective_times(events)]
            self._places[path] = {found.event_id: at for at, found in enumerate(self._on[path])}

    def _move(self, name: bytes, since: Sealed) -> tuple[bytes, Sealed] | None:
        for sealed in self.after(name, since):
            for change in self._store.decoded.changes_on(sealed, (name,)):
                to = path_bytes(change.path)
                if change.from_ is not None and path_bytes(change.from_) == name and to is not None:
                    return to, sealed
        return None


def _key(sealed: Sealed) -> tuple[int, EventId]:
    return sealed.event.clock, sealed.event_id
