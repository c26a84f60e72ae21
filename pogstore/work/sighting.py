"""What a hook sees of a work tree: which repository a file belongs to, and what stands at a path, without asking git.

Lies on the path of every hook: see `spool.py`. It never follows a link out of the root, never waits for a FIFO, and
reads no configuration; what git means by a path (conversion, ignored, sparse) is settled when the spool is drained.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH112, PTH114, PTH116, PTH118, PTH120

import os
import stat

from pogstore.digest import hexdigest, hexdigest_stream
from pogstore.work import spool

HASHED = 256 * 1024 * 1024
"""The largest file that is read for its hash alone; of a larger one only the size is recorded."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_SMALL = 65536

Place = tuple[bytes, bytes, bytes]
"""The root of a work tree, its git dir, and the one that all its work trees share; absolute and without links."""


def find_place(start: bytes) -> Place | None:
    """Returns the place of the work tree that holds a directory, which need not exist; `None` if there is none.

    `start` is absolute and without links. What only looks like a git dir is passed over, as git does.
    """
    at = start
    while True:
        git_dir = _git_dir(at)
        if git_dir is not None:
            return at, git_dir, _common_dir(git_dir)
        above = os.path.dirname(at)
        if above == at:
            return None
        at = above


def _git_dir(root: bytes) -> bytes | None:
    path = os.path.join(root, b".git")
    try:
        found = os.stat(path)
    except OSError:
        return None
    if stat.S_ISREG(found.st_mode):
        path = pointed(path, b"gitdir:", root)
    return resolve(path) if path and os.path.lexists(path + b"/HEAD") else None


def _common_dir(git_dir: bytes) -> bytes:
    return resolve(pointed(git_dir + b"/commondir", b"", git_dir) or git_dir)


def pointed(path: bytes, begins: bytes = b"", beside: bytes = b"") -> bytes:
    """Returns the directory that a small file of git's points to, or nothing."""
    try:
        file = os.open(path, _FILE)
    except OSError:
        return b""
    try:
        text = os.read(file, _SMALL)
    except OSError:
        text = b""
    finally:
        os.close(file)
    target = text[len(begins) :].strip(b" ").rstrip(b"\r\n")
    return os.path.join(beside, target) if text.startswith(begins) and target else b""


def resolve(path: bytes) -> bytes:
    """Returns a path without links; as it is if a link vanishes while it is looked at."""
    try:
        return os.path.realpath(path)
    except OSError:
        return path


def locate(path: bytes) -> tuple[bytes, Place | None]:
    """Returns the one name of an absolute path, with no link before its last component, and the place that holds it."""
    # `..` behind a link leads elsewhere than it seems, so that only the system can take such a path apart
    plain = resolve(path) if b".." in path.split(b"/") else os.path.normpath(b"/" + path.lstrip(b"/"))
    above, name = os.path.split(plain)
    directory = resolve(above)
    return os.path.join(directory, name), find_place(directory)


def states(root: bytes, path: bytes, max_blob: int) -> list[bytes]:
    """Returns the state of one path below the root, and of what it leads to if that is a link that stays inside.

    An editor that writes to a link writes to its target. Nothing is returned for what is not a file of the work tree:
    a path outside the root or inside a git dir.
    """
    paths = [path]
    if os.path.islink(path):
        leads_to = resolve(path)
        place = find_place(os.path.dirname(leads_to))
        paths += [leads_to] if leads_to != path and place is not None and place[0] == root else []
    names = [_below(root, each) for each in paths]
    return [_state(root, name, max_blob) for name in names if name]


def _below(root: bytes, path: bytes) -> bytes:
    """Returns a path relative to the root, or nothing if it is outside or git's own."""
    prefix = root.rstrip(b"/") + b"/"
    if not path.startswith(prefix):
        return b""
    name = path[len(prefix) :]
    return b"" if is_gits_own(root, name) else name


def is_gits_own(root: bytes, name: bytes) -> bool:
    """Says whether a path relative to a root lies in a git dir, whatever that is called."""
    if b".git" in name.lower().split(b"/"):
        return True
    at = name.rfind(b"/")
    while at > 0:
        if looks_like_git_dir(os.path.join(root, name[:at])):
            return True
        at = name.rfind(b"/", 0, at)
    return False


def looks_like_git_dir(path: bytes) -> bool:
    """Says whether a folder has what git wants of a git dir of its own."""
    return os.path.lexists(path + b"/HEAD") and os.path.isdir(path + b"/objects") and os.path.isdir(path + b"/refs")


def _state(root: bytes, name: bytes, max_blob: int) -> bytes:
    try:
        return _look(root, name, max_blob)
    except (FileNotFoundError, NotADirectoryError):
        # of a file in the place of a directory, and of a link to one: nothing stands below it
        return spool.absent(name)
    except OSError as fault:
        return spool.unseen(name, b"%d" % (fault.errno or 0))


def _look(root: bytes, name: bytes, max_blob: int) -> bytes:
    *above, last = name.split(b"/")
    folder = os.open(root, _DIRECTORY)
    try:
        for part in above:
            inner = os.open(part, _DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        return _see(folder, last, name, max_blob)
    finally:
        os.close(folder)


def _see(folder: int, last: bytes, name: bytes, max_blob: int) -> bytes:
    found = os.stat(last, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        target = os.readlink(last, dir_fd=folder)
        return spool.seen(name, b"120000", len(target), hexdigest(target), target)
    if not stat.S_ISREG(found.st_mode):
        return spool.unseen(name, b"directory" if stat.S_ISDIR(found.st_mode) else b"special")
    with os.fdopen(os.open(last, _FILE, dir_fd=folder), "rb", buffering=0) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            return spool.unseen(name, b"special")
        mode = b"100755" if found.st_mode & stat.S_IXUSR else b"100644"
        return _read(file.fileno(), name, mode, max_blob)


def _read(file: int, name: bytes, mode: bytes, max_blob: int) -> bytes:
    """Reads a file that may grow or shrink meanwhile: hash and size are those of the bytes that were read."""
    size = os.fstat(file).st_size
    if size <= max_blob:
        data = _all(file, max_blob + 1)
        if len(data) <= max_blob:
            return spool.seen(name, mode, len(data), hexdigest(data), data)
        os.lseek(file, 0, os.SEEK_SET)
    if size > HASHED:
        return spool.seen(name, mode, size, None, None)
    with os.fdopen(file, "rb", buffering=0, closefd=False) as stream:
        digest, size = hexdigest_stream(stream)
    return spool.seen(name, mode, size, digest, None)


def _all(file: int, limit: int) -> bytes:
    chunks = []
    while limit > 0 and (chunk := os.read(file, min(limit, 1 << 20))):
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)
