"""What one write adds: contents, events, and the refs that move for them.

Everything is gathered first and written at the end: objects (one pack if there are many or the caller wants one), then
the content refs, then the task refs, each by compare-and-swap. Lives under the store's lock.
"""

import os
from collections.abc import Mapping
from typing import Protocol

import msgspec

from pogstore import codec, graph
from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import BlobId, Event, Oid, Path, Sealed, Side, TaskId, Text
from pogstore.store import chain, content, rows
from pogstore.store.carrier import EMPTY_TREE, carrier, content_commit
from pogstore.store.clock import write_clock
from pogstore.store.contract import NewObject, Objects, Refs
from pogstore.store.footprint import release
from pogstore.store.index import Index
from pogstore.store.layout import Layout
from pogstore.store.refs import TASKS, content_ref, task_ref

OMITTED_LARGE = "too-large"


class Host(Protocol):
    """What a batch needs of its store."""

    layout: Layout
    index: Index

    @property
    def objects(self) -> Objects:
        """Returns the object database."""

    @property
    def refs(self) -> Refs:
        """Returns the refs."""

    @property
    def max_blob(self) -> int:
        """Returns the bytes over which a content is not stored."""

    @property
    def fsync(self) -> bool:
        """Says whether writes are synced to disk."""

    def highest_clock(self) -> int:
        """Returns the highest clock that this clone has accepted."""

    def refresh(self) -> None:
        """Brings the index up to the refs."""


class Batch:
    """The additions of one write. Nothing reaches the repository before `commit`."""

    def __init__(self, host: Host, *, packed: bool = False) -> None:
        self._host = host
        self._packed = packed
        self._objects: dict[Oid, NewObject] = {}
        self._read: dict[str, Oid | None] = {}
        self._moved: dict[str, Oid] = {}
        self._tips: dict[TaskId, Sealed] = {}
        self._contents: dict[tuple[TaskId, str], dict[str, Oid]] = {}
        self._latest: dict[Path, Oid] = {}
        self._clock: int | None = None
        self._newest: dict[TaskId, int] = {}
        self._refreshed = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return not self._moved and not self._contents

    def head(self, task: TaskId) -> Sealed | None:
        """Returns the newest event of a task, those of this batch included; nothing for a new task.

        A task ref is one commit from which every event of the task can be reached, so there is one head.
        """
        if task not in self._tips:
            tip = self.tip(task_ref(task))
            if tip is None:
                return None
            try:
                self._tips[task] = chain.read_link(self._host.objects, tip).sealed
            except NotFound as fault:
                raise ObjectDamaged(tip, f"it is missing, and '{task_ref(task)}' points at it") from fault
        return self._tips[task]

    def tip(self, ref: str) -> Oid | None:
        """Returns what a ref points at, the moves of this batch included."""
        if ref in self._moved:
            return self._moved[ref]
        if ref not in self._read:
            self._read[ref] = self._host.refs.read(ref)
        return self._read[ref]

    def append(self, event: Event, *, imported: bool = False) -> Sealed:
        """Adds an event over the head of its task and returns it sealed; `parents` and `clock` are set here.

        An imported event counts its parents alone, so that old work sorts early and alike in every clone.
        """
        task = event.task
        head = self.head(task)
        parents = () if head is None else (head.event_id,)
        above = [] if head is None else [head.event.clock]
        clock = graph.next_clock(above, 0 if imported else self._highest())
        sealed = codec.encode(msgspec.structs.replace(event, parents=parents, clock=clock))
        self._add_carrier(sealed, [tip] if (tip := self.tip(task_ref(task))) else [])
        self.accept(clock)  # over a head that is ahead it does not count
        return sealed

    def join(self, heads: Mapping[Oid, Sealed]) -> Sealed:
        """Adds the `joined` event over several heads of one task, given with their carriers."""
        sealed = codec.join(list(heads.values()))
        by_id = {head.event_id: oid for oid, head in heads.items()}
        self._add_carrier(sealed, [by_id[parent] for parent in sealed.event.parents])
        self.accept(sealed.event.clock)
        return sealed

    def accept(self, clock: int) -> None:
        """Raises this clone's clock to that of an accepted event, unless it is ahead of all others."""
        if not graph.is_ahead(clock, self._highest()):
            self._clock = max(self._highest(), clock)

    def move(self, ref: str, old: Oid | None, new: Oid) -> None:
        """Moves a ref to an object that is in the repository already."""
        self._read.setdefault(ref, old)
        self._moved[ref] = new
        self._tips.pop(TaskId(ref.removeprefix(TASKS)), None)

    def add_text(self, task: TaskId, text: str, class_: str) -> Text:
        """Adds a text with a salt drawn now, and returns how events name it. The caller has redacted it."""
        data = content.salted(codec.scrub(text), os.urandom(content.SALT_DIGITS // 2).hex())
        blob = content.blob_id(data)
        size = len(data) - content.SALT_DIGITS - 1
        if len(data) > self._host.max_blob:
            return Text(blob=blob, size=size, class_=class_, omitted=OMITTED_LARGE)
        self._add_content(task, class_, blob, data)
        return Text(blob=blob, size=size, class_=class_)

    def add_file(self, task: TaskId, path: Path, mode: str, data: bytes) -> Side:
        """Adds a file version, unless the task's chain holds it, and returns how events name it."""
        blob = content.blob_id(data)
        if len(data) > self._host.max_blob:
            return Side(mode=mode, blob=blob, size=len(data), omitted=OMITTED_LARGE)
        if not self._holds(task, blob):
            name = content.file_name(blob, path)
            self._latest[path] = self._add_content(task, "content", name, data, self._latest.get(path))
        return Side(mode=mode, blob=blob, size=len(data))

    def add_stored(self, task: TaskId, class_: str, name: str, oid: Oid) -> None:
        """Adds a content whose git blob is in the repository already (a fetched chain that diverged, a text shared)."""
        self._contents.setdefault((task, class_), {})[name] = oid

    def commit(self) -> None:
        """Writes everything: objects first, then our clock, then the content refs, then the task refs.

        A clock that is kept for events that never come leaves a gap; one that lags behind would put later events first.
        """
        self._add_content_commits()
        if not self._moved:
            return
        pack = self._host.objects.write(self._objects.values(), fsync=self._host.fsync, packed=self._packed)
        try:
            self._move_refs()
        finally:
            if pack is not None:
                release(pack)

    def _move_refs(self) -> None:
        if self._clock is not None:
            write_clock(self._host.layout.own, self._clock)
        for ref in sorted(self._moved, key=lambda name: (name.startswith(TASKS), name)):
            old, new = self._read.get(ref), self._moved[ref]
            if old != new:
                self._host.refs.compare_and_swap(ref, old, new)

    def _holds(self, task: TaskId, blob: BlobId) -> bool:
        """Says whether the task's chain holds a content as it stands now; an erasure may have replaced it."""
        if not self._refreshed:
            self._host.refresh()
            self._refreshed = True
        return rows.holds_content(self._host.index.connection, task, "content", blob)

    def _highest(self) -> int:
        if self._clock is None:
            self._clock = self._host.highest_clock()
        return self._clock

    def _add_object(self, kind: str, data: bytes, like: Oid | None = None) -> Oid:
        oid = self._host.objects.name(kind, data)
        self._objects.setdefault(oid, NewObject(oid, kind, data, like))
        return oid

    def _add_carrier(self, sealed: Sealed, parents: list[Oid]) -> None:
        task = sealed.event.task
        ref = task_ref(task)
        self.tip(ref)
        if EMPTY_TREE not in self._objects:
            self._add_object("tree", b"")
        self._moved[ref] = self._add_object("commit", carrier(sealed, parents))
        self._tips[task] = sealed
        self._newest[task] = max(self._newest.get(task, 0), sealed.event.time)

    def _add_content(self, task: TaskId, class_: str, name: str, data: bytes, like: Oid | None = None) -> Oid:
        oid = self._add_object("blob", data, like)
        self._contents.setdefault((task, class_), {}).setdefault(name, oid)
        return oid

    def _time(self, task: TaskId) -> int:
        """Returns the time of the newest event of this batch; of the head, where a chain is settled without any."""
        if task in self._newest:
            return self._newest[task]
        head = self.head(task)
        return head.event.time if head else 0

    def _add_content_commits(self) -> None:
        for (task, class_), names in sorted(self._contents.items()):
            ref = content_ref(task, class_)
            tip = self.tip(ref)
            tree = self._add_object("tree", content.tree(names))
            commit = content_commit(tree, [tip] if tip else [], self._time(task))
            self._moved[ref] = self._add_object("commit", commit)
        self._contents.clear()
