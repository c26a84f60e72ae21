"""One tree of files as git stores it, in memory: read as far as it is asked about, changed, and written where changed.

A folder is read when a path first leads into it, so that a change costs what lies on its way. Knows git's form of trees
and nothing of what files hold.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pogstore.errors import ObjectDamaged
from pogstore.model import Oid
from pogstore.store.contract import NewObject
from pogstore.store.loose import oid_of

FOLDER = "40000"
_WIDTH = 20


class Entry(NamedTuple):
    """What a name in a tree stands for: a mode as git writes it, and an object."""

    mode: str
    oid: Oid


Read = Callable[[Oid], bytes]
"""Returns the bytes of a tree; raises `NotFound` or `ObjectDamaged`."""


class GitTree:
    """A tree that can be changed; `oid` is the one it begins with, nothing for an empty one."""

    def __init__(self, read: Read, oid: Oid | None = None) -> None:
        self._read = read
        self._root = _Folder(read(oid) if oid else b"", oid)

    def find(self, path: bytes) -> Entry | None:
        """Returns what stands at a path; a folder has the mode `FOLDER`."""
        *folders, name = path.split(b"/")
        folder: _Folder | None = self._root
        for each in folders:
            if folder is None or (folder := folder.below(each, self._read)) is None:
                return None
        return folder.entry(name) if folder else None

    def put(self, path: bytes, entry: Entry) -> None:
        """Lets a path be a file; what stands in the way (a file above it, a folder in its place) goes."""
        *folders, name = path.split(b"/")
        folder = self._root
        for each in folders:
            folder.changed()
            folder = folder.below(each, self._read) or folder.make(each)
        folder.put(name, entry)

    def remove(self, path: bytes) -> None:
        """Lets a path be no file; folders that are empty then go with it, as in git."""
        *folders, name = path.split(b"/")
        way = [self._root]
        for each in folders:
            found = way[-1].below(each, self._read)
            if found is None:
                return
            way.append(found)
        if way[-1].entry(name) is None:
            return
        way[-1].drop(name)
        for above, folder, each in reversed(list(zip(way, way[1:], folders, strict=False))):
            above.changed()
            if not folder.is_empty:
                continue
            above.drop(each)

    def write(self, emit: Callable[[NewObject], None]) -> Oid:
        """Returns the name of the tree as it is, and hands out what of it is new, folders before what holds them."""
        return self._root.write(emit)

    def files(self, below: bytes = b"") -> Iterator[tuple[bytes, Entry]]:
        """Yields every path with what stands there, submodules too, in git's order; or only those below a path."""
        folder: _Folder | None = self._root
        for each in below.split(b"/") if below else ():
            if folder is None or (folder := folder.below(each, self._read)) is None:
                return
        if folder is not None:
            yield from folder.files(below + b"/" if below else b"", self._read)


class _Folder:
    """One folder: its lines as git writes them, in git's order, where a folder's name ends with a slash."""

    def __init__(self, data: bytes, oid: Oid | None) -> None:
        self._lines = dict(_parse(oid or Oid("-"), data))
        self._order = sorted(self._lines)
        self._open: dict[bytes, _Folder] = {}
        self._oid, self._former = oid, oid

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in it."""
        return not self._lines

    def entry(self, name: bytes) -> Entry | None:
        """Returns what a name stands for."""
        line = self._lines.get(name) or self._lines.get(name + b"/")
        if line is None:
            return None
        return Entry(line[: line.index(b" ")].decode("ascii", "replace"), Oid(line[-_WIDTH:].hex()))

    def below(self, name: bytes, read: Read) -> "_Folder | None":
        """Returns the folder of a name; nothing if there is none."""
        if name not in self._open:
            line = self._lines.get(name + b"/")
            if line is None:
                return None
            oid = Oid(line[-_WIDTH:].hex())
            self._open[name] = _Folder(read(oid), oid)
        return self._open[name]

    def make(self, name: bytes) -> "_Folder":
        """Makes a folder, in the place of what has its name."""
        self.drop(name)
        self._line(name + b"/", b"")
        self._open[name] = _Folder(b"", None)
        return self._open[name]

    def put(self, name: bytes, entry: Entry) -> None:
        """Lets a name stand for a file."""
        if name + b"/" in self._lines:
            self.drop(name)
        self._line(name, entry.mode.encode() + b" " + name + b"\0" + bytes.fromhex(entry.oid))

    def drop(self, name: bytes) -> None:
        """Lets a name stand for nothing."""
        self._open.pop(name, None)
        for key in (name, name + b"/"):
            if self._lines.pop(key, None) is not None:
                del self._order[bisect_left(self._order, key)]
        self.changed()

    def changed(self) -> None:
        """Lets the folder be written anew."""
        self._oid = None

    def write(self, emit: Callable[[NewObject], None]) -> Oid:
        """Returns the folder's name; hands out the folders in it and the folder, as far as they are new."""
        if self._oid is None:
            for name, folder in self._open.items():
                oid = folder.write(emit)
                self._lines[name + b"/"] = FOLDER.encode() + b" " + name + b"\0" + bytes.fromhex(oid)
            data = b"".join([self._lines[key] for key in self._order])
            self._oid = oid_of("tree", data)
            emit(NewObject(self._oid, "tree", data, self._former))
            self._former = self._oid
        return self._oid

    def files(self, prefix: bytes, read: Read) -> Iterator[tuple[bytes, Entry]]:
        """Yields the files in the folder and below it."""
        for key in list(self._order):
            if key.endswith(b"/"):
                folder = self.below(key[:-1], read)
                if folder is not None:
                    yield from folder.files(prefix + key, read)
            elif (entry := self.entry(key)) is not None:
                yield prefix + key, entry

    def _line(self, key: bytes, line: bytes) -> None:
        if key not in self._lines:
            insort(self._order, key)
        self._lines[key] = line
        self.changed()


def _parse(oid: Oid, data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields the lines of a raw tree by their names; raises `ObjectDamaged` for what is none."""
    at = 0
    while at < len(data):
        space, end = data.find(b" ", at), data.find(b"\0", at)
        if not at < space < end or end + 1 + _WIDTH > len(data) or b"/" in data[space + 1 : end]:
            raise ObjectDamaged(oid, "it is not a tree")
        name = data[space + 1 : end]
        is_folder = data[at:space].lstrip(b"0") == FOLDER.encode()
        yield (name + b"/" if is_folder else name), data[at : end + 1 + _WIDTH]
        at = end + 1 + _WIDTH
