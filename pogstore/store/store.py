"""One store: the tasks, events and contents in one repository. Reads here, writes through `batch.py`.

Does not know what an event means.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TypeVar

from pogstore import codec
from pogstore.errors import AmbiguousName, NotEnabled, NotFound, ObjectDamaged, StaleRef
from pogstore.model import BlobId, EventId, Oid, Sealed, TaskId, Text
from pogstore.redact import OwnRules, in_force, own_rules
from pogstore.store import ahead, content, layout, libgit2, rows, upkeep
from pogstore.store.ahead import Blobs
from pogstore.store.batch import Batch
from pogstore.store.clock import highest, read_clock
from pogstore.store.decoded import Decoded
from pogstore.store.gitcli import Git
from pogstore.store.index import Index
from pogstore.store.layout import Layout
from pogstore.store.lock import locked
from pogstore.store.refs import TASKS, content_ref, task_ref
from pogstore.store.rows import ContentRow

MAX_CONTENT = 1 << 31
"""Bytes of one stored content that is read back; what is written is bounded by `pog.maxBlob`."""
DEFAULT_MAX_BLOB = 16 << 20
ATTEMPTS = 5

_T = TypeVar("_T")


class Store:
    """The tasks of one repository."""

    def __init__(self, place: Layout) -> None:
        self.layout = place
        repository = libgit2.Repository(place)
        self.objects = libgit2.Objects(repository)
        self.refs = libgit2.Refs(repository)
        self.config = libgit2.Config(repository)
        self.git = Git(place.git_dir, place.work_tree)
        self.index = Index(place.own / "index.sqlite3")
        self.decoded = Decoded()
        self.has_written = False

    @property
    def enabled(self) -> bool:
        """Whether somebody has run `git pog init` here."""
        return self.config.flag("pog.enabled", default=False)

    @cached_property
    def max_blob(self) -> int:
        """The largest content that is stored, in bytes; larger ones are recorded by hash and size."""
        return self.config.number("pog.maxBlob", DEFAULT_MAX_BLOB)

    @cached_property
    def fsync(self) -> bool:
        """Whether objects and refs are synced to disk before a write is acknowledged."""
        return self.config.flag("pog.fsync", default=True)

    @cached_property
    def own_rules(self) -> OwnRules:
        """The rules of one's own by which texts of this repository are redacted, beside those that everybody has.

        As they were when the first text was redacted: an open store asks git once.
        """
        return own_rules(self.git.values("pog.redact"))  # git itself knows of every file and option that holds one

    def close(self) -> None:
        """Closes the index."""
        self.index.close()

    def refresh(self) -> None:
        """Brings the index up to the refs as they stand now."""
        self.index.update(self.objects, self.refs)

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Lets all answers in a block be of one moment, so that the refs are listed once and not for each.

        What comes meanwhile may be missing, so nothing may be written that was decided in such a block.
        """
        with self.index.one_moment(self.objects, self.refs):
            yield

    def tasks(self) -> list[TaskId]:
        """Returns every task, sorted by id."""
        return self._ask(rows.task_ids)

    def damaged_tasks(self) -> list[TaskId]:
        """Returns every task whose events cannot all be read, sorted by id."""
        refs = [ref for ref, _ in self._ask(rows.faults)]
        return [TaskId(ref.removeprefix(TASKS)) for ref in refs if ref.startswith(TASKS)]

    def events(self, task: TaskId) -> list[Sealed]:
        """Returns the events of a task in replay order.

        Raises `NotFound` for a task without any, `ObjectDamaged` where they cannot all be read.
        """
        name = task_ref(task)
        found, fault = self._ask_of(name, lambda database: (rows.bodies(database, task), rows.fault(database, name)))
        if fault is not None:
            raise ObjectDamaged(task_ref(task), fault)
        if not found:
            raise NotFound("task", task)
        return [codec.decode(body) for body in found]

    def event(self, event_id: EventId) -> Sealed:
        """Returns one event, whichever task it is of."""
        body = self._ask(lambda database: rows.body(database, event_id))
        if body is None:
            raise NotFound("event", event_id)
        return codec.decode(body)

    def events_on(self, path: bytes) -> list[Sealed]:
        """Returns the events that changed a path, or moved it away, in replay order."""
        return self.events_on_paths((path,))[path]

    def events_on_paths(self, paths: Iterable[bytes]) -> dict[bytes, list[Sealed]]:
        """Returns, for each of some paths, what `events_on` does: one question, and each event is decoded once."""
        wanted = list(paths)
        return self._ask(lambda _: self.standing_on(wanted))

    def standing_on(self, paths: Iterable[bytes]) -> dict[bytes, list[Sealed]]:
        """Returns what `events_on_paths` does, as far as the index stands."""
        database = self.index.connection
        ids = rows.ids_on_paths(database, paths)
        found = self._decoded(database, dict.fromkeys(chain.from_iterable(ids.values())))
        return {path: [found[event_id] for event_id in own if event_id in found] for path, own in ids.items()}

    def events_below(self, paths: Iterable[bytes]) -> list[Sealed]:
        """Returns the events that changed some paths, or what is below them; each once. The empty path is the root."""
        wanted = list(paths)

        def ask(database: sqlite3.Connection) -> list[Sealed]:
            ids = chain.from_iterable(rows.ids_below(database, path) for path in wanted)
            return list(self._decoded(database, dict.fromkeys(ids)).values())

        return self._ask(ask)

    def standing_events(self, task: TaskId) -> list[Sealed]:
        """Returns the events of a task in replay order as far as the index stands; none if there are none."""
        database = self.index.connection
        return list(self._decoded(database, rows.ids_of(database, task)).values())

    def standing(self, event_ids: Iterable[EventId]) -> dict[EventId, Sealed]:
        """Returns those of some events that the index holds as it stands, in their order."""
        return self._decoded(self.index.connection, dict.fromkeys(event_ids))

    def _decoded(self, database: sqlite3.Connection, event_ids: Iterable[EventId]) -> dict[EventId, Sealed]:
        """Returns those of some events that there are, in their order; what is at hand is not read again."""
        found = {event_id: self.decoded.find(event_id) for event_id in event_ids}
        for event_id in [each for each, sealed in found.items() if sealed is None]:
            body = rows.body(database, event_id)
            found[event_id] = self.decoded.decode(body) if body is not None else None
        return {event_id: sealed for event_id, sealed in found.items() if sealed is not None}

    def newest_of(self, kinds: Sequence[str]) -> Iterator[Sealed]:
        """Yields the events of some kinds, the last in replay order first."""
        self.refresh()
        for body in rows.newest_of(self.index.connection, kinds):
            yield codec.decode(body)

    def event_ids(self, prefix: str, limit: int = 20) -> list[EventId]:
        """Returns the events whose id begins with some hex digits, sorted."""
        return self._ask(lambda database: rows.event_ids(database, prefix, limit))

    def find_content(self, blob: BlobId) -> ContentRow | None:
        """Returns where a content lies; nothing if no chain of ours holds it."""

        def places(database: sqlite3.Connection) -> list[ContentRow]:
            return rows.contents(database, blob)

        for known in self.index.ask_standing(self.objects, self.refs, places)[:1]:
            if known in self._ask_of(content_ref(known.task, known.class_), places):
                return known
        found = self._ask(places)
        return found[0] if found else None

    def read_content(self, blob: BlobId) -> bytes:
        """Returns the stored bytes of a content, checked against its name; raises `NotFound` or `ObjectDamaged`."""
        row = self.find_content(blob)
        if row is None:
            if chain := self._ask(lambda database: rows.damaged_chain(database, blob)):
                raise ObjectDamaged(*chain)
            raise NotFound("content", blob, "it may not have been fetched, or it was erased")
        _, data = self.objects.read(row.oid, MAX_CONTENT)
        if content.blob_id(data) != blob:
            raise ObjectDamaged(blob, f"git object '{row.oid}' holds something else")
        return data

    def blobs(self, wanted: Iterable[Oid]) -> AbstractContextManager[Blobs]:
        """Returns many git blobs, to be used with `with`; `wanted` tells which, about in the order of their use."""
        return ahead.blobs(self.git, self.objects, wanted, MAX_CONTENT)

    def read_text(self, text: Text) -> str:
        """Returns a text; raises `NotFound` if it is not here and `ObjectDamaged` if it is not what it should be."""
        return content.text_in(text.blob, self.read_content(text.blob))

    def find_text(self, text: Text | None) -> str | None:
        """Returns a text, or nothing if it was not fetched, was erased or was never stored."""
        if text is None:
            return None
        try:
            return self.read_text(text)
        except NotFound:
            return None

    def resolve_event(self, prefix: str) -> EventId:
        """Returns the one event whose id begins with some hex digits; raises `NotFound` or `AmbiguousName`."""
        found = self.event_ids(prefix)
        if not found:
            raise NotFound("event", prefix, "try 'git pog log'")
        if len(found) > 1:
            raise AmbiguousName(prefix, [event_id[:16] for event_id in found])
        return found[0]

    def highest_clock(self) -> int:
        """Returns the highest clock that this clone has accepted."""
        kept = read_clock(self.layout.own)
        if kept is not None:
            return kept
        return self._ask(lambda database: highest(rows.clocks(database)))

    def transact(self, write: Callable[[Batch], _T], *, consent: bool = True, packed: bool = False) -> _T:
        """Runs a function that adds to a batch, then writes all of it: contents, events, refs, in this order.

        Holds the store's lock meanwhile. If a ref moved all the same (plain git was used), the function is run again on
        a new batch, so it must decide from what the batch shows. An error in it writes nothing. With `packed` all of it
        is one pack, unless there is next to nothing: for writes of many events, or that come often. Meanwhile the
        repository's own rules are in force for what is redacted.
        """
        if consent and not self.enabled:
            raise NotEnabled
        for attempt in range(ATTEMPTS):
            with locked(self.layout.own), in_force(lambda: self.own_rules):
                batch = Batch(self, packed=packed)
                answer = write(batch)
                try:
                    batch.commit()
                except StaleRef:
                    if attempt + 1 == ATTEMPTS:
                        raise
                else:
                    self.has_written = True
                    upkeep.keep_up(self.layout, self.git, self.objects)
                    return answer
        raise AssertionError  # pragma: no cover - the loop returns or raises

    def tips(self) -> Mapping[str, Oid]:
        """Returns all our refs with what they point at."""
        return self.refs.list("refs/pog/")

    def _ask(self, question: Callable[[sqlite3.Connection], _T]) -> _T:
        return self.index.ask(self.objects, self.refs, question)

    def _ask_of(self, ref: str, question: Callable[[sqlite3.Connection], _T]) -> _T:
        return self.index.ask_of(self.objects, self.refs, ref, question)


def open_store(path: str | Path = ".", env: dict[str, str] | None = None) -> Store:
    """Opens the store of the repository that holds a path; raises `NotARepository` or `UnsupportedRepository`."""
    return Store(layout.discover(Path(path), env))
