"""Reaches the files of a work tree from its open root, one component at a time and never through a link.

A path is looked up anew for each question, or held by an open directory whose identity is compared again; so a link
that is put in the way between two steps is found, and never followed. Knows no plans and no git.
"""

import errno
import os
import stat
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Self

from pogstore.draft import FileVersion
from pogstore.errors import Conflict, NotAFile, UnsafePath, WorkTreeFailed
from pogstore.work.paths import check_relative

MAX_SIZE = 16 * 1024 * 1024
"""The most bytes that are read of one file unless the caller says otherwise."""
MAX_OPEN = 100
"""How many directories stay open at once; some systems allow a process no more than 256 files."""

Parts = tuple[bytes, ...]
"""A path's components, as the system takes them; the root is the empty tuple."""

# O_NONBLOCK: a FIFO that takes the place of what was there must not make us wait for a writer
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_MOVED = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR)
"""What the system answers when the tree is no longer as it was a moment ago."""
_KINDS = {
    stat.S_IFDIR: "directory",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


class Stamp(NamedTuple):
    """What stays the same of a file as long as nobody writes to it, wherever it is moved."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class Sight(NamedTuple):
    """A file as it was seen: its version, its permission bits and its stamp."""

    version: FileVersion
    permissions: int
    stamp: Stamp


def read_version(root: int | str | os.PathLike[str], path: str, *, max_size: int = MAX_SIZE) -> FileVersion | None:
    """Returns the version of a file, or `None` where there is none; a symbolic link is read, never followed.

    `root` is a directory or a descriptor of one, which stays open. Raises `NotAFile` for a directory, FIFO, socket or
    device, `UnsafePath` if a component on the way is a link, `Conflict` if there are more than `max_size` bytes.
    """
    check_relative(path)
    parts = split(path)
    with naming(path), Tree(root) as tree, tree.reached(parts[:-1]) as (fd, depth):
        if depth == len(parts) - 1:
            sight = see(fd, parts[-1], path, max_size)
            return sight.version if sight else None
        refuse_link(fd, parts[: depth + 1], path)
        return None


def split(path: str) -> Parts:
    """Returns the components of a path that was checked, whatever the locale, with escaped bytes as they were."""
    return tuple(path.encode("utf-8", "surrogateescape").split(b"/"))


def spell(parts: Parts) -> str:
    """Returns the path that `split` took apart."""
    return b"/".join(parts).decode("utf-8", "surrogateescape")


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Turns the system's refusals into `Conflict`, if the tree changed meanwhile, or else into `WorkTreeFailed`."""
    try:
        yield
    except OSError as fault:
        if fault.errno in _MOVED:
            raise Conflict(f"'{path}' or its directory changed meanwhile", [path]) from fault
        raise WorkTreeFailed(path, fault.strerror or str(fault)) from fault


def find_stat(directory: int, name: bytes) -> os.stat_result | None:
    """Returns what stands under a name in an open directory, not following a link."""
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def find_stamp(directory: int, name: bytes) -> Stamp | None:
    """Returns the stamp of what stands under a name in an open directory."""
    found = find_stat(directory, name)
    return stamp(found) if found else None


def stamp(found: os.stat_result) -> Stamp:
    """Returns the stamp of a file that was looked at."""
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def see(directory: int, name: bytes, path: str, max_size: int) -> Sight | None:
    """Reads what stands under a name in an open directory, or returns `None`; raises as `read_version` does."""
    found = find_stat(directory, name)
    if found is None:
        return None
    if stat.S_ISLNK(found.st_mode):
        target = os.readlink(name, dir_fd=directory)
        return Sight(FileVersion(mode="120000", data=_bounded(target, path, max_size)), 0, stamp(found))
    _refuse_other(found, path)
    fd = os.open(name, _FILE, dir_fd=directory)
    with os.fdopen(fd, "rb", buffering=0) as file:
        found = os.fstat(fd)
        _refuse_other(found, path)
        data = _bounded(_read(file.fileno(), max_size + 1), path, max_size)
    mode = "100755" if found.st_mode & stat.S_IXUSR else "100644"
    return Sight(FileVersion(mode=mode, data=data), found.st_mode & 0o777, stamp(found))


def refuse_link(directory: int, prefix: Parts, path: str) -> None:
    """Raises `UnsafePath` if the last component of a prefix of `path` is a symbolic link in an open directory."""
    found = find_stat(directory, prefix[-1])
    if found and stat.S_ISLNK(found.st_mode):
        raise UnsafePath(path, f"'{spell(prefix)}' is a symbolic link")


def _refuse_other(found: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotAFile(path, _KINDS.get(stat.S_IFMT(found.st_mode), "special file"))


def _bounded(data: bytes, path: str, max_size: int) -> bytes:
    if len(data) > max_size:
        raise Conflict(f"'{path}' is larger than {max_size} bytes", [path])
    return data


def _read(fd: int, size: int) -> bytes:
    chunks = []
    while size > 0 and (chunk := os.read(fd, min(size, 1 << 20))):
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


class Tree:
    """An open root and the directories below it that are in use; closes all of them at the end of `with`."""

    def __init__(self, root: int | str | os.PathLike[str]) -> None:
        try:
            self._root = os.dup(root) if isinstance(root, int) else os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as fault:
            raise WorkTreeFailed(str(root), fault.strerror or str(fault)) from fault
        self._open: OrderedDict[Parts, int] = OrderedDict()
        self._known: dict[Parts, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in (self._root, *self._open.values()):
            os.close(fd)

    @contextmanager
    def reached(self, parts: Parts) -> Iterator[tuple[int, int]]:
        """Gives the deepest directory on the way down `parts`, open for as long, and how many components it took."""
        fd, depth = self._reach(parts)
        try:
            yield fd, depth
        finally:
            os.close(fd)

    def directory(self, parts: Parts) -> int:
        """Returns a descriptor of a directory, kept for later: it leads to the same directory even if that is moved.

        At most `MAX_OPEN` are kept; one that had to be closed is looked up again, and must be the same one.
        """
        if not parts:
            return self._root
        if parts not in self._open:
            self._open[parts] = self._same(parts, self._walk(parts))
        self._open.move_to_end(parts)
        if len(self._open) > MAX_OPEN:
            os.close(self._open.popitem(last=False)[1])
        return self._open[parts]

    def compare(self, parts: Parts) -> None:
        """Raises `UnsafePath` or `Conflict` unless a path still leads to the directory that `directory` gave for it."""
        os.close(self._same(parts, self._walk(parts)))

    def forget(self, parts: Parts) -> None:
        """Lets go of a directory that is removed, so that a new one may stand in its place."""
        self._known.pop(parts, None)
        if parts in self._open:
            os.close(self._open.pop(parts))

    def _reach(self, parts: Parts) -> tuple[int, int]:
        fd = os.dup(self._root)
        for depth, name in enumerate(parts):
            try:
                inner = os.open(name, _DIRECTORY, dir_fd=fd)
            except (FileNotFoundError, NotADirectoryError):
                return fd, depth
            except OSError as fault:
                if fault.errno == errno.ELOOP:
                    return fd, depth
                os.close(fd)
                raise
            os.close(fd)
            fd = inner
        return fd, len(parts)

    def _walk(self, parts: Parts) -> int:
        fd, depth = self._reach(parts)
        if depth == len(parts):
            return fd
        path = spell(parts)
        try:
            refuse_link(fd, parts[: depth + 1], path)
        finally:
            os.close(fd)
        raise Conflict(f"'{path}' is not a directory any more", [path])

    def _same(self, parts: Parts, fd: int) -> int:
        found = os.fstat(fd)
        if self._known.setdefault(parts, (found.st_dev, found.st_ino)) != (found.st_dev, found.st_ino):
            os.close(fd)
            raise Conflict(f"'{spell(parts)}' is another directory than before", [spell(parts)])
        return fd
