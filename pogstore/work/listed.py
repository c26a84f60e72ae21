"""What stands at the paths that git lists, as states of a record: read within a budget, and never through a link.

Lies on the path of every hook: see `spool.py`. Git has said that these paths differ; what they hold is seen here, a
moment later, so that a path may have become anything meanwhile.
"""
# `pathlib` would cost a hook more than all it does

import os
import stat
import time

from pogstore.digest import hexdigest
from pogstore.work import spool
from pogstore.work.looked import MARGIN, stat_text

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from pogstore.work.looked import Known

BUDGET = 32 * 1024 * 1024
"""Bytes that one look reads in all; what is left is read by the looks that follow."""
INSIDE = 10_000
"""Entries of a nested repository that are looked at for its mark."""
REGULAR = (b"100644", b"100755")
LINK = b"120000"

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1 << 20
_SMALL = 65536
_NO = (b"false", b"no", b"off", b"0")


class Reader:
    """Reads files of one work tree for one look. `known` is what earlier looks read, `found` what is known after it."""

    __slots__ = ("_deadline", "_folders", "_known", "_left", "_max_blob", "_modes", "_now", "found")

    def __init__(
        self, folders: "Folders", max_blob: int, known: "dict[bytes, Known]", modes: "Modes", now: int, deadline: float
    ) -> None:
        self._folders, self._max_blob, self._known, self._modes = folders, max_blob, known, modes
        self._now, self._deadline, self._left = now, deadline, BUDGET
        self.found: dict[bytes, Known] = {}

    def state(self, path: bytes, mode: bytes, *, as_indexed: bool) -> bytes:
        """Returns the state of a path. `mode` is what git says of it, or nothing.

        `as_indexed` says that git holds the work tree to be as the index is: if nothing is there, then because a sparse
        checkout leaves it out, which is no deletion.
        """
        above, _, last = path.rpartition(b"/")
        try:
            folder = self._folders.open(above)
            found = os.stat(last, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return spool.unseen(path, b"unread") if as_indexed else spool.absent(path)
        except OSError as fault:
            return _failed(path, fault)
        return self._standing(path, mode, folder, last, found)

    def _standing(self, path: bytes, mode: bytes, folder: int, last: bytes, found: os.stat_result) -> bytes:
        if stat.S_ISDIR(found.st_mode):
            return spool.absent(path)  # of a file; those that it holds are listed by themselves
        seen = stat_text(found)
        try:
            if stat.S_ISLNK(found.st_mode):
                target = os.readlink(last, dir_fd=folder)
                return spool.seen(path, LINK, len(target), hexdigest(target), target, stat=seen)
            if stat.S_ISREG(found.st_mode):
                return self._file(path, folder, last, self._modes.of(found, mode), found)
        except OSError as fault:
            return _failed(path, fault, seen)
        return spool.unseen(path, b"special", stat=seen)

    def _file(self, path: bytes, folder: int, last: bytes, mode: bytes, found: os.stat_result) -> bytes:
        before, digest, settled = self._known.get(path, (b"", b"", False))
        seen = stat_text(found)
        if settled and before == seen:
            self.found[path] = before, digest, True
            return spool.seen(path, mode, found.st_size, digest.decode("ascii"), None, stat=seen, kept=True)
        data = self._bytes(folder, last, found.st_size)
        if data is None:
            return spool.unseen(path, b"unread", stat=seen)
        now = hexdigest(data)
        self.found[path] = seen, now.encode(), found.st_ctime_ns < self._now - MARGIN
        if now.encode() == digest:
            return spool.seen(path, mode, len(data), now, None, stat=seen, kept=True)
        return spool.seen(path, mode, len(data), now, data, stat=seen)

    def _bytes(self, folder: int, last: bytes, size: int) -> bytes | None:
        """Returns what a file holds; `None` if that is too much, or what stands there is no file any more."""
        limit = min(self._max_blob, self._left)
        if size > limit or time.monotonic() > self._deadline:
            return None
        file = os.open(last, _FILE, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return None
            data = read_up_to(file, limit + 1)
        finally:
            os.close(file)
        self._left -= min(len(data), self._left)
        return data if len(data) <= limit else None


def ignored(folders: "Folders", path: bytes) -> bytes | None:
    """Returns the state of a file that git ignores, whose bytes are never read; `None` if nothing is there."""
    above, _, last = path.rpartition(b"/")
    try:
        found = os.stat(last, dir_fd=folders.open(above), follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        return _failed(path, fault)
    return spool.unseen(path, b"ignored", mark=stat_text(found))


def _failed(path: bytes, fault: OSError, seen: bytes = b"") -> bytes:
    return spool.unseen(path, b"%d" % (fault.errno or 0), stat=seen)


def read_up_to(file: int, limit: int) -> bytes:
    """Returns at most so many bytes of a file."""
    chunks = []
    while limit > 0 and (chunk := os.read(file, min(limit, _CHUNK))):
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


class Folders:
    """Opens the folders of a work tree, each from the one above and never through a link.

    Those that lead to the last one stay open: paths come sorted, so that most need no other.
    """

    __slots__ = ("_names", "_opened")

    def __init__(self, root: bytes) -> None:
        self._names: list[bytes] = []
        self._opened = [os.open(root, _DIRECTORY)]

    def open(self, above: bytes) -> int:
        """Returns a descriptor of a folder, to be used until the next call; raises `OSError`."""
        names = above.split(b"/") if above else []
        if names == self._names:
            return self._opened[-1]
        same = 0
        for ours, wanted in zip(self._names, names, strict=False):
            if ours != wanted:
                break
            same += 1
        self._close(same)
        for name in names[same:]:
            self._opened.append(os.open(name, _DIRECTORY, dir_fd=self._opened[-1]))
            self._names.append(name)
        return self._opened[-1]

    def close(self) -> None:
        """Closes all of them."""
        self._close(-1)

    def _close(self, depth: int) -> None:
        while len(self._opened) > depth + 1:
            os.close(self._opened.pop())
        del self._names[max(depth, 0) :]


class Modes:
    """How to tell the mode of a file where the file system cannot be believed: on some, every file is executable."""

    __slots__ = ("_links", "_modes")

    def __init__(self, git_dir: bytes, common_dir: bytes) -> None:
        self._modes = self._links = True
        # `git init` tries it out and writes it here; asking git would cost as much as the whole look
        for path in (common_dir + b"/config", git_dir + b"/config.worktree"):
            for name, value in _core_settings(path):
                if name == b"filemode":
                    self._modes = value not in _NO
                elif name == b"symlinks":
                    self._links = value not in _NO

    def of(self, found: os.stat_result, said: bytes) -> bytes:
        """Returns the mode of a regular file of which git has said one, or nothing."""
        if said == LINK and not self._links:
            return LINK
        if self._modes:
            return REGULAR[bool(found.st_mode & stat.S_IXUSR)]
        return said if said in REGULAR else REGULAR[0]


def is_bare(git_dir: bytes, common_dir: bytes) -> bool:
    """Says whether a git dir has no work tree of its own, whatever points to it; a linked one always has one."""
    if git_dir != common_dir:
        return False
    settings: dict[bytes, bytes] = {}
    for path in (common_dir + b"/config", git_dir + b"/config.worktree"):
        settings.update(_core_settings(path))
    return settings.get(b"bare", b"false") not in _NO and not settings.get(b"worktree")


def _core_settings(path: bytes) -> list[tuple[bytes, bytes]]:
    try:
        file = os.open(path, _FILE & ~os.O_NOFOLLOW)
    except OSError:
        return []
    try:
        lines = read_up_to(file, _SMALL).split(b"\n")
    except OSError:
        return []
    finally:
        os.close(file)
    section, found = b"", []
    for line in lines:
        text = line.strip().lower()
        if text.startswith(b"["):
            section = text
        elif section == b"[core]":
            name, _, value = text.partition(b"=")
            found.append((name.strip(), value.strip()))
    return found


def mark_inside(path: bytes, deadline: float) -> bytes:
    """Returns a hash over the stat data of all that a folder holds, git dirs aside; nothing if that is too much.

    No git is run: what lies in a work tree must not decide, by a configuration of its own, what an agent's hook runs.
    """
    lines: list[bytes] = []
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        try:
            inside = _entries(folder, INSIDE - len(lines))
        except OSError as fault:
            lines.append(b"%b\0%d" % (folder, fault.errno or 0))
            continue
        if inside is None or time.monotonic() > deadline:
            return b""
        for name, found in inside:
            lines.append(b"%b/%b\0%o %b" % (folder, name, found.st_mode, stat_text(found)))
            if stat.S_ISDIR(found.st_mode):
                lines[-1] = b"%b/%b\0" % (folder, name)  # its times change with every file that comes and goes
                waiting.append(folder + b"/" + name)
    return hexdigest(b"\0".join(lines)).encode()


def _entries(folder: bytes, limit: int) -> list[tuple[bytes, os.stat_result]] | None:
    """Returns what a folder holds, sorted; `None` if there is more than that."""
    found: list[tuple[bytes, os.stat_result]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(found) >= limit:
                return None
            if entry.name.lower() != b".git":
                found.append((entry.name, entry.stat(follow_symlinks=False)))
    return sorted(found, key=_name)


def _name(entry: tuple[bytes, os.stat_result]) -> bytes:
    return entry[0]
