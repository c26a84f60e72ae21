"""What the paths of one work tree held when they were last recorded, and what git's commits say of them.

By this a change that no step made is told from one that a step made, and from what a checkout or a pull brought. Asks
git, and writes nothing.
"""

import base64
from collections.abc import Iterable
from typing import NamedTuple

from pogstore.draft import FileVersion
from pogstore.errors import NotFound
from pogstore.model import BlobId, Change, OddPath, Oid, Opaque, Path, Side
from pogstore.store import content
from pogstore.store.batch import OMITTED_LARGE
from pogstore.store.store import MAX_CONTENT, Store
from pogstore.work.conversion import Conversion
from pogstore.work.ignored import ignored
from pogstore.work.spooled_record import Absent, Seen, Unseen

_REGULAR = ("100644", "100755")
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


class Held(NamedTuple):
    """What a path held: a version; one of which only the hash is known (`side`); or nothing, where all are `None`.

    `fault` says why it is not known what the path held.
    """

    version: FileVersion | None = None
    side: Side | None = None
    fault: str | None = None

    @property
    def key(self) -> tuple[str, str] | None:
        """Mode and BLAKE3, by which two of them are compared; `None` for a file that did not exist."""
        if self.version is not None:
            return self.version.mode, content.blob_id(self.version.data)
        return (self.side.mode, self.side.blob or "") if self.side is not None else None

    def same(self, other: "Held") -> bool:
        """Says whether both are known and equal."""
        return self.fault is None and other.fault is None and self.key == other.key


NOTHING = Held()


class Last(NamedTuple):
    """What was last recorded of a path, and when, in µs."""

    held: Held
    time: int


class Recorded:
    """One work tree, as it is recorded. `place` is a store opened in it; `worktree` is its random id."""

    def __init__(self, store: Store, place: Store, worktree: str | None) -> None:
        self.store, self.place, self.worktree = store, place, worktree
        self._conversion = Conversion(place) if place.layout.work_tree else None
        self._last: dict[bytes, Last | None] = {}
        self._ignored: dict[bytes, bool] = {}

    def look_up(self, paths: Iterable[bytes]) -> None:
        """Asks git about many paths at once: which of them it ignores, and which it converts."""
        new = [path for path in dict.fromkeys(paths) if path not in self._ignored]
        if not new or self._conversion is None:
            return
        found = ignored(self.place.git, new)
        self._ignored |= {path: path in found for path in new}
        self._conversion.look_up(_text(path) for path in new)

    def is_ignored(self, path: bytes) -> bool:
        """Says whether git ignores a path that is not tracked: such contents are not kept."""
        self.look_up([path])
        return self._ignored.get(path, False)

    def held(self, state: Seen | Absent | Unseen) -> Held:
        """Returns what a hook saw, in the form that git would store."""
        match state:
            case Absent():
                return NOTHING
            case Unseen(reason=reason):
                return Held(fault="directory" if reason == "directory" else "unseen")
            case Seen(data=None, blake3=None):
                return Held(fault=OMITTED_LARGE)
            case Seen(mode=mode, size=size, blake3=blake3, data=None):
                return Held(side=Side(mode=mode, blob=BlobId(blake3 or ""), size=size, omitted=OMITTED_LARGE))
            case Seen(path=path, mode=mode, data=data):
                return self.cleaned(path, mode, data or b"")

    def cleaned(self, path: bytes, mode: str, data: bytes) -> Held:
        """Returns a file of the work tree in git's form; a fault where git will not convert it."""
        clean = data
        if mode in _REGULAR and self._conversion is not None:
            converted = self._conversion.clean(_text(path), data)
            if converted is None:
                return Held(fault="filtered")
            clean = converted
        return Held(FileVersion(mode=mode, data=clean))

    def note(self, path: bytes, held: Held, time: int) -> None:
        """Takes it that a path was recorded to hold this."""
        self._last[path] = Last(held, time)

    def last(self, path: bytes) -> Last | None:
        """Returns what this work tree's events last said of a path; `None` if they never did."""
        if path not in self._last:
            self._last[path] = self._find_last(path)
        return self._last[path]

    def _find_last(self, path: bytes) -> Last | None:
        name = path_of(path)
        for sealed in reversed(self.store.events_on(path)):
            event = sealed.event
            if isinstance(event, Opaque) or event.worktree != self.worktree:
                continue
            changes: tuple[Change, ...] = getattr(event, "changes", ())
            change = next((each for each in changes if each.path == name), None)
            if change is not None:
                unknown = change.before is None and change.after is None
                return Last(Held(fault="no-result") if unknown else self._held_by(change.after), event.time)
        return None

    def _held_by(self, side: Side | None) -> Held:
        if side is None:
            return NOTHING
        try:
            data = self.store.read_content(side.blob) if side.blob and not side.omitted else None
        except NotFound:
            data = None
        return Held(side=side) if data is None else Held(FileVersion(mode=side.mode, data=data))

    def was_recorded(self, path: bytes, held: Held) -> bool:
        """Says whether some event, of any work tree, left a path holding this."""
        changes = (
            change
            for sealed in self.store.events_on(path)
            for change in getattr(sealed.event, "changes", ())
            if change.path == path_of(path) and change.after is not None
        )
        return held.key is not None and any((each.after.mode, each.after.blob) == held.key for each in changes)

    def committed(self, path: bytes) -> Held:
        """Returns what HEAD has at a path."""
        found = self._entry(path)
        if found is None:
            return NOTHING
        mode, oid = found
        if mode not in (*_REGULAR, "120000"):
            return Held(fault="submodule")
        return Held(FileVersion(mode=mode, data=self.store.objects.read(oid, MAX_CONTENT)[1]))

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
        done = self.place.git.run(*arguments, _text(path), check=False, env=_LITERAL)
        return bool(done.stdout.strip())

    def _entry(self, path: bytes) -> tuple[str, Oid] | None:
        done = self.place.git.run("ls-tree", "-z", "HEAD", "--", _text(path), check=False, env=_LITERAL)
        line = done.stdout.split(b"\0")[0].partition(b"\t")[0].decode().split(" ")
        return (line[0], Oid(line[2])) if len(line) == 3 and line[1] != "tree" else None


def path_of(path: bytes) -> Path:
    """Returns a path as events spell it."""
    try:
        return path.decode()
    except UnicodeDecodeError:
        return OddPath(b64=base64.b64encode(path).decode("ascii"))


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
