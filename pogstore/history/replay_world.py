"""What a replay goes through: what each path holds, in memory, and the contents that stand for it.

Begins with the tree of a commit or with nothing, and changes by names: a content is read once, to see that it is here
and is what its name says. Writes nothing.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import BlobId, EventId, Oid, Redacted, Side
from pogstore.store.content import blob_id
from pogstore.store.newtree import FOLDER, Entry, GitTree
from pogstore.store.store import MAX_CONTENT, Store

SUBMODULE, SYMLINK = "160000", "120000"
PROGRAM, FILE = "100755", "100644"


class Held(NamedTuple):
    """What a path holds: a mode and the name of a content, or the commit of a submodule.

    `seen` says that its bytes are here and hash to their name; what is not seen is known by name alone.
    """

    mode: str
    name: str
    seen: bool = True

    def is_like(self, other: "Held | None") -> bool:
        """Whether another path holds the same, as far as names tell."""
        return other is not None and self[:2] == other[:2]


Put = tuple[bytes, Held | None]
"""A path and what it shall hold; nothing is no file."""
UNKNOWN = Held("", "", seen=False)
"""What a path holds after a change of which nobody saw what it left."""


class Contents:
    """The contents that a replay reads and makes, by their names; each is read from the store once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._oids: dict[BlobId, Oid] = {}
        self._absent: dict[BlobId, str] = {}
        self._new: dict[BlobId, bytes] = {}
        self._in_git: set[BlobId] = set()

    def absent(self, side: Side) -> str | None:
        """Returns why the content of a side cannot be read, as a conflict is named; nothing if it is here."""
        blob = BlobId(side.blob or "")
        if blob not in self._oids and blob not in self._absent:
            try:
                self._keep(blob, self._store.read_content(blob))
            except NotFound:
                self._absent[blob] = "content-omitted" if side.omitted else self._why_absent(blob)
            except ObjectDamaged:
                self._absent[blob] = "content-damaged"
        return self._absent.get(blob)

    def read(self, held: Held) -> bytes:
        """Returns the bytes of something that was seen."""
        blob = BlobId(held.name)
        if blob in self._new:
            return self._new[blob]
        if blob in self._in_git:
            return self._store.objects.read(self._oids[blob], MAX_CONTENT)[1]
        return self._store.read_content(blob)

    def oid(self, held: Held) -> Oid:
        """Returns git's name of something that was seen."""
        return Oid(held.name) if held.mode == SUBMODULE else self._oids[BlobId(held.name)]

    def add(self, data: bytes) -> str:
        """Takes a content that the replay has made, and returns its name."""
        blob = blob_id(data)
        if blob not in self._oids:
            self._new[blob] = data
            self._keep(blob, data)
        return blob

    def of_git(self, oid: Oid) -> str:
        """Takes a blob that a commit has, and returns the name of its content."""
        _, data = self._store.objects.read(oid, MAX_CONTENT)
        blob = blob_id(data)
        if blob not in self._oids:
            self._oids[blob] = oid
            self._in_git.add(blob)
        return blob

    def new(self) -> Iterator[tuple[Oid, bytes]]:
        """Yields the contents that no object of the repository holds, with the names that git will give them."""
        yield from ((self._oids[blob], data) for blob, data in self._new.items())

    def _keep(self, blob: BlobId, data: bytes) -> None:
        self._oids[blob] = self._store.objects.name("blob", data)

    def _why_absent(self, blob: BlobId) -> str:
        return "content-erased" if blob in self._erased else "content-absent"

    @cached_property
    def _erased(self) -> frozenset[BlobId]:
        events = [sealed.event for sealed in self._store.newest_of(("redacted",))]
        return frozenset(blob for event in events if isinstance(event, Redacted) for blob in event.blobs)


class World:
    """What each path holds after the events so far; what was not touched yet is as the tree has it."""

    def __init__(self, contents: Contents, tree: GitTree | None = None) -> None:
        self._contents, self._tree = contents, tree
        self._held: dict[bytes, Held | None] = {}
        self._held_up: dict[bytes, EventId] = {}
        self._folders: set[bytes] = set()

    def now(self, path: bytes) -> Held | None:
        """Returns what a path holds."""
        if path not in self._held:
            self._held[path] = self.in_tree(self._tree, path)
        return self._held[path]

    def in_tree(self, tree: GitTree | None, path: bytes) -> Held | None:
        """Returns what a tree has at a path; a folder is no file."""
        entry = tree.find(path) if tree else None
        return None if entry is None or entry.mode == FOLDER else self._of(entry)

    def put(self, puts: Iterable[Put]) -> None:
        """Lets paths hold something else."""
        for path, held in puts:
            self._held[path] = held
            if held is not None:
                self._folders.update(_above(path))

    def in_the_way(self, puts: Iterable[Put]) -> bytes | None:
        """Returns a path that cannot be a file because of a file above it, or of files below it.

        All of `puts` count as done.
        """
        wanted = dict(puts)
        files = [path for path, held in wanted.items() if held is not None]
        folders = {above for path in files for above in _above(path)}
        for path in files:
            if any(self._after(wanted, above) is not None for above in _above(path)):
                return path
            is_folder = path in folders or path in self._folders or self._is_folder(path)
            if is_folder and self._below(wanted, path):
                return path
        return None

    def room_for(self, path: bytes) -> list[Put]:
        """Returns what must go so that a path can be a file."""
        gone = [above for above in _above(path) if self.now(above) is not None]
        return [(each, None) for each in (*gone, *self._below({}, path))]

    def hold_up(self, paths: Iterable[bytes], event: EventId) -> None:
        """Notes the event for whose sake some paths are not what later events found."""
        for path in paths:
            self._held_up.setdefault(path, event)

    def held_up(self, paths: Iterable[bytes]) -> EventId | None:
        """Returns the event that holds one of some paths up."""
        return next((self._held_up[path] for path in paths if path in self._held_up), None)

    def _after(self, wanted: dict[bytes, Held | None], path: bytes) -> Held | None:
        return wanted[path] if path in wanted else self.now(path)

    def _below(self, wanted: dict[bytes, Held | None], path: bytes) -> list[bytes]:
        """Returns the files below a path."""
        prefix = path + b"/"
        known = {each for each in (*self._held, *wanted) if each.startswith(prefix)}
        if self._tree and self._is_folder(path):
            known |= {each for each, _ in self._tree.files(path)}
        return sorted(each for each in known if self._after(wanted, each) is not None)

    def _is_folder(self, path: bytes) -> bool:
        entry = self._tree.find(path) if self._tree else None
        return entry is not None and entry.mode == FOLDER

    def _of(self, entry: Entry) -> Held:
        if entry.mode == SUBMODULE:
            return Held(SUBMODULE, entry.oid)
        mode = SYMLINK if entry.mode == SYMLINK else PROGRAM if int(entry.mode, 8) & 0o100 else FILE
        return Held(mode, self._contents.of_git(entry.oid))


def _above(path: bytes) -> Iterator[bytes]:
    names = path.split(b"/")
    return (b"/".join(names[:depth]) for depth in range(1, len(names)))
