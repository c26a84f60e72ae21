"""What the paths of one work tree held when they were last recorded, and what git's commits say of them.

By this a change that no step made is told from one that a step made, and from what a checkout or a pull brought. Asks
git, and writes nothing but where git has what looks told (`brought.py`).
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from pogstore import codec
from pogstore.digest import hexdigest
from pogstore.draft import FileVersion
from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import BlobId, EventId, Oid, Opaque, Path, Side, Stepped
from pogstore.store import rows
from pogstore.store.batch import OMITTED_LARGE
from pogstore.store.store import MAX_CONTENT, Store
from pogstore.work.brought import Brought
from pogstore.work.conversion import Conversion
from pogstore.work.entries import LITERAL, Entries, Entry, in_history
from pogstore.work.held import NOTHING, SUBMODULE, Held, Last, oid_text, path_of
from pogstore.work.ignored import ignored
from pogstore.work.made import Made, made
from pogstore.work.movements import Span
from pogstore.work.spooled_record import Absent, Head, Seen, Unseen

_LINK = "120000"
_REGULAR = ("100644", "100755")
_FAULTS = {"directory": "directory", "unread": OMITTED_LARGE, "ignored": "ignored", "repository": "nested-repository"}
"""Why it is not known what a path holds, as events say it, by the words of the spool."""


class _Noted(NamedTuple):
    """What is taken for recorded: `held`, or what a commit has at the path."""

    held: Held | None
    head: Head | None
    time: int
    by_edit: bool = False


class _Told(NamedTuple):
    """What one event says of paths; `None` of one that was there, and nobody knows what it holds now."""

    worktree: str | None
    time: int
    by_edit: bool
    after: Mapping[Path, Held]


class Recorded:
    """One work tree, as it is recorded. `place` is a store opened in it; `worktree` is its random id."""

    def __init__(self, store: Store, place: Store, worktree: str | None) -> None:
        self.store, self.place, self.worktree = store, place, worktree
        self._conversion = Conversion(place) if place.layout.work_tree else None
        self._entries = Entries(store.objects)
        self._noted: dict[bytes, _Noted] = {}
        self._stored: dict[bytes, Last | None] = {}
        self._told: dict[EventId, _Told] = {}
        self._ignored: dict[bytes, bool] = {}
        self._bytes: dict[str, bytes] = {}
        self._read: dict[tuple[bytes, str, str], Held] = {}
        self._brought = Brought(place.layout.own_here) if place.layout.work_tree else None
        self._made: set[str] = set()
        self._is_fresh = False

    def look_up(self, paths: Iterable[bytes]) -> None:
        """Asks git about many paths at once: which of them it ignores, and which it converts."""
        new = [path for path in dict.fromkeys(paths) if path not in self._ignored]
        if not new or self._conversion is None:
            return
        found = ignored(self.place.git, new)
        self._ignored |= {path: path in found for path in new}
        self._conversion.look_up(_text(path) for path in new)

    def learn(self, states: Iterable[Seen | Absent | Unseen]) -> None:
        """Keeps the bytes that states hold, of which later ones name the hash alone, and looks up their paths."""
        files = [state for state in states if isinstance(state, Seen)]
        self.keep_bytes(files)
        self.look_up(each.path for each in files)
        if self._brought is not None:
            found = {each.blake3: oid for each in files if each.blake3 and (oid := self._oid_in_git(each))}
            self._brought.add(found, (each.blake3 for each in files if each.blake3))

    def _oid_in_git(self, state: Seen) -> Oid | None:
        """Returns the blob that git has, or may have by and by, of bytes that a state holds and no event stores."""
        if state.data is None or self.is_ignored(state.path) or self._is_stored(state):
            return None
        version = self._of_bytes(state, state.data).version
        if version is None:
            return None
        oid = self.store.objects.name("blob", version.data)
        # what git converts is found in no event by the hash that the file has
        return oid if version.data is not state.data or self.store.objects.exists(oid) else None

    def _is_stored(self, state: Seen) -> bool:
        return self.store.find_content(BlobId(state.blake3 or "")) is not None

    def keep_bytes(self, states: Iterable[Seen | Absent | Unseen]) -> None:
        """Keeps the bytes that states hold, of which others name the hash alone."""
        files = (state for state in states if isinstance(state, Seen))
        self._bytes.update((each.blake3, each.data) for each in files if each.blake3 and each.data is not None)

    def is_ignored(self, path: bytes) -> bool:
        """Says whether git ignores a path that is not tracked: such contents are not kept."""
        self.look_up([path])
        return self._ignored.get(path, False)

    def held(self, state: Seen | Absent | Unseen) -> Held:
        """Returns what a hook saw, in the form that git would store."""
        match state:
            case Absent():
                return NOTHING
            case Unseen(reason="submodule", commit=commit) if commit:
                return Held(side=Side(mode=SUBMODULE, commit=oid_text(commit)))
            case Unseen(reason=reason):
                return Held(fault=_FAULTS.get(reason, "submodule" if reason == "submodule" else "unseen"))
            case Seen():
                if state.data is not None:
                    return self._of_bytes(state, state.data)
                return self._kept(state) if state.kept else _unread(state)

    def _of_bytes(self, state: Seen, data: bytes) -> Held:
        """Returns what a hook saw and read; each of it is converted once."""
        key = state.path, state.mode, state.blake3 or ""
        if key not in self._read or not state.blake3:
            self._read[key] = self.cleaned(state.path, state.mode, data)
        return self._read[key]

    def _kept(self, state: Seen) -> Held:
        """Returns what a hook saw whose bytes lie elsewhere: in another record, in the store, still in the file, or in
        git. If they are nowhere, the next look is to read everything again.
        """
        data = self._bytes.get(state.blake3 or "")
        if data is None and (last := self.last(state.path)) is not None and last.held.version is not None:
            data = last.held.version.data if hexdigest(last.held.version.data) == state.blake3 else None
        if data is None:
            data = self._file(state.path, state.mode)
            data = data if data is not None and hexdigest(data) == state.blake3 else None
        if data is None:
            return self._kept_apart(state)
        return self.cleaned(state.path, state.mode, data)

    def _kept_apart(self, state: Seen) -> Held:
        blake3 = state.blake3 or ""
        try:
            return self.cleaned(state.path, state.mode, self.store.read_content(BlobId(blake3)))
        except (NotFound, ObjectDamaged):
            oid = self._brought.oid(blake3) if self._brought is not None else None
        try:
            if oid is not None:
                return self._entry_held(state.mode, oid)
        except (NotFound, ObjectDamaged):
            pass
        if self._brought is not None:
            self._brought.look_anew()
        return Held(fault="unread")

    def _file(self, path: bytes, mode: str) -> bytes | None:
        """Returns what the work tree has at a path by now."""
        root = self.place.layout.work_tree
        if root is None:
            return None
        place = root / os.fsdecode(path)
        try:
            if mode == _LINK:
                return os.fsencode(place.readlink())
            file = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(file, "rb") as stream:
                return stream.read(self.store.max_blob + 1)
        except OSError:
            return None

    def cleaned(self, path: bytes, mode: str, data: bytes) -> Held:
        """Returns a file of the work tree in git's form; a fault where git will not convert it."""
        clean = data
        if mode in _REGULAR and self._conversion is not None:
            converted = self._conversion.clean(_text(path), data)
            if converted is None:
                return Held(fault="filtered")
            clean = converted
        return Held(FileVersion(mode=mode, data=clean))

    @property
    def noted(self) -> Iterable[bytes]:
        """The paths that were noted."""
        return self._noted.keys()

    def note(self, path: bytes, held: Held, time: int, *, by_edit: bool = False) -> None:
        """Takes it that a path was recorded to hold this."""
        self._noted[path] = _Noted(held, None, time, by_edit)

    def note_clean(self, path: bytes, head: Head | None, time: int) -> None:
        """Takes it that a path was recorded to hold what a commit has there."""
        self._noted[path] = _Noted(None, head, time)

    def is_clean(self, path: bytes) -> bool:
        """Says whether it was last noted that a path holds what a commit has there."""
        return path in self._noted and self._noted[path].held is None

    def last_noted(self, path: bytes) -> Last | None:
        """Returns what was last noted of a path."""
        noted = self._noted.get(path)
        if noted is None:
            return None
        held = self.at(noted.head, path) if noted.held is None else noted.held
        return Last(held, noted.time, noted.by_edit)

    def last(self, path: bytes) -> Last | None:
        """Returns what was noted of a path, or what this work tree's events last said of it; `None` if they never did.

        A version that can be read was read.
        """
        last = self.last_noted(path) or self.last_stored(path)
        return last and last._replace(held=self.loaded(last.held))

    def last_stored(self, path: bytes) -> Last | None:
        """Returns what this work tree's events last said of a path; what it held was not read."""
        if path not in self._stored:
            self._stored[path] = self._find_last(path)
        return self._stored[path]

    def _find_last(self, path: bytes) -> Last | None:
        name = path_of(path)
        for event_id in reversed(self._ids_on(path)):
            told = self._told_by(event_id)
            if told.worktree == self.worktree and name in told.after:
                return Last(told.after[name], told.time, told.by_edit)
        return None

    def _ids_on(self, path: bytes) -> list[EventId]:
        if not self._is_fresh:
            self.store.refresh()
            self._is_fresh = True
        return rows.ids_on_path(self.store.index.connection, path)

    def _told_by(self, event_id: EventId) -> _Told:
        if event_id not in self._told:
            body = rows.body(self.store.index.connection, event_id)
            event = codec.decode(body or b"").event
            if isinstance(event, Opaque):
                return self._told.setdefault(event_id, _Told("", 0, False, {}))
            after: dict[Path, Held] = {}
            for change in getattr(event, "changes", ()):
                if change.from_ is not None:
                    after[change.from_] = NOTHING
                unknown = change.before is None and change.after is None
                after[change.path] = Held(fault="no-result" if unknown else None, side=change.after)
            by_edit = isinstance(event, Stepped) and event.class_ == "edit"
            self._told[event_id] = _Told(event.worktree, event.time, by_edit, after)
        return self._told[event_id]

    def loaded(self, held: Held) -> Held:
        """Returns what a path held with its bytes, if the store has them."""
        side = held.side
        if held.version is not None or side is None or not side.blob or side.omitted:
            return held
        try:
            return Held(FileVersion(mode=side.mode, data=self.store.read_content(side.blob)))
        except NotFound:
            return held

    def at(self, head: Head | None, path: bytes) -> Held:
        """Returns what a commit has at a path; a fault where that is not known."""
        try:
            return self._at(head, path)
        except (NotFound, ObjectDamaged):
            return Held(fault="missing")

    def _at(self, head: Head | None, path: bytes) -> Held:
        if head is None:
            return Held(fault="no-head")
        found = self._entries.at(head.commit, path)
        return NOTHING if found is None else self._entry_held(*found)

    def entry_held(self, entry: Entry | None) -> Held:
        """Returns what an entry of a tree is; a fault where it cannot be read."""
        try:
            return NOTHING if entry is None else self._entry_held(*entry)
        except (NotFound, ObjectDamaged):
            return Held(fault="missing")

    def _entry_held(self, mode: str, oid: Oid) -> Held:
        if mode == SUBMODULE:
            return Held(side=Side(mode=SUBMODULE, commit=oid_text(oid)))
        return Held(FileVersion(mode=mode, data=self.store.objects.read(oid, MAX_CONTENT)[1]))

    def was_recorded(self, path: bytes, held: Held) -> bool:
        """Says whether some event, of any work tree, left a path holding this."""
        if held.key is None:
            return False
        name = path_of(path)
        told = (self._told_by(event_id) for event_id in self._ids_on(path))
        return any(each.after[name].key == held.key for each in told if name in each.after)

    def committed(self, path: bytes) -> Held:
        """Returns what HEAD has at a path."""
        found = self._entry(path)
        if found is None:
            return NOTHING
        return self._entry_held(*found)

    def is_same(self, path: bytes, before: Held, after: Held) -> bool:
        """Says whether a path holds what was recorded, also if git has other line ends for that by now."""
        if before.same(after) or after.version is None or before.fault is not None:
            return before.same(after)
        old = self.loaded(before).version
        if old is None or b"\r\n" not in old.data or old.mode != after.version.mode:
            return False
        if old.data.replace(b"\r\n", b"\n") != after.version.data.replace(b"\r\n", b"\n"):
            return False
        return self.cleaned(path, old.mode, old.data).same(after)

    def is_committed(self, path: bytes, held: Held) -> bool:
        """Says whether HEAD has this at a path, or any commit of HEAD or a branch had it: it came by git then.

        That HEAD lacks a path is enough for one that is gone.
        """
        found = self._entry(path)
        if held.version is None:
            return held.key is None and found is None
        oid = self.store.objects.name("blob", held.version.data)
        if found == (held.version.mode, oid):
            return True
        arguments = ("log", "-1", "--format=%H", f"--find-object={oid}", "--branches", "HEAD", "--")
        done = self.place.git.run(*arguments, _text(path), check=False, env=LITERAL)
        return bool(done.stdout.strip())

    def brought(self, held: Mapping[bytes, Held], head: Head | None) -> set[bytes]:
        """Returns the paths of which git's history has what they hold, as `is_committed` says it of one; one process.

        `head` is HEAD when they were seen.
        """
        found: set[bytes] = set()
        rest: dict[bytes, Entry] = {}
        for path, each in held.items():
            if each.version is None:
                found |= {path} if each.key is None and self.entry_at(head, path) is None else set()
                continue
            entry = each.version.mode, self.store.objects.name("blob", each.version.data)
            if entry == self.entry_at(head, path):
                found.add(path)
            elif self.store.objects.exists(entry[1]):
                rest[path] = entry
        return found | (in_history(self.place.git, rest, head.commit if head is not None else "") if rest else set())

    def made(self, span: Span, was_held: Callable[[bytes, Held], bool]) -> Made:
        """Returns what was committed in a span of time and was not held before; of each commit once."""

        def was_there(path: bytes, entry: Entry) -> bool:
            return was_held(path, self.entry_held(entry))

        found = made(self.place.git, self.store.objects, self.place.layout, span, frozenset(self._made), was_there)
        self._made |= found.commits
        return found

    def entry_at(self, head: Head | None, path: bytes) -> Entry | None:
        """Returns what a commit has at a path, if that is known."""
        try:
            return self._entries.at(head.commit, path) if head is not None else None
        except (NotFound, ObjectDamaged):
            return None

    def _entry(self, path: bytes) -> Entry | None:
        done = self.place.git.run("ls-tree", "-z", "HEAD", "--", _text(path), check=False, env=LITERAL)
        line = done.stdout.split(b"\0")[0].partition(b"\t")[0].decode().split(" ")
        return (line[0], Oid(line[2])) if len(line) == 3 and line[1] != "tree" else None


def _unread(state: Seen) -> Held:
    if state.blake3 is None:
        return Held(fault=OMITTED_LARGE)
    return Held(side=Side(mode=state.mode, blob=BlobId(state.blake3), size=state.size, omitted=OMITTED_LARGE))


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
