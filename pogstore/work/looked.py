"""What looks at a work tree leave in `<git dir>/pog` to be faster the next time; all of it may vanish at any time.

A copy of the user's index that git may refresh, so that it never has a reason to touch the user's own, and what the
files that were read looked like. Lies on the path of every hook: see `spool.py`.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH102, PTH116

import errno
import fcntl
import os
import stat
import time

from pogstore.digest import hexdigest

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Mapping

WAIT = 0.25
"""Seconds that a look waits for another one in the same work tree; then it does without the copy."""
FOLDER = b"/pog"
INDEX = b"index"
COPIED, LOOKED, LOCK, VAST = b"index.of", b"looked", b"look.lock", b"vast"
PAUSE = 60
"""Seconds for which a work tree that had too much to tell is not asked again, unless HEAD or the index changes."""
LARGEST = 64 * 1024 * 1024
"""Bytes of an index that is copied."""
MARGIN = 2_000_000_000
"""Nanoseconds for which a file must have been left alone before its stat data is believed: file systems keep times as
coarsely as that, so that a file may change twice without a trace."""

Known = tuple[bytes, bytes, bool]
"""Stat data, BLAKE3 of the bytes that were read, and whether equal stat data means equal bytes."""

_GITLINK, _SPLIT = b"\0\0\xe0\0", b"link"
"""The mode of a submodule and the name of an extension, as they stand in an index; found by chance they do no harm."""
_BEGIN = b"pog looked 1"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OWN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def stat_text(found: os.stat_result) -> bytes:
    """Returns what is compared of a file's stat data."""
    return b"%d %d %d %d" % (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


class Private:
    """Our folder in a git dir, held by one look at a time; without the lock it can be read, not relied on."""

    __slots__ = ("_folder", "_git_dir", "_lock", "_refreshed", "now")

    def __init__(self, git_dir: bytes) -> None:
        self._git_dir = git_dir
        self._folder = _open_folder(git_dir + FOLDER)
        self._lock = -1 if self._folder < 0 else _take_lock(self._folder)
        self._refreshed = False
        self.now = self._clock()

    def close(self) -> None:
        """Lets go of the lock."""
        for descriptor in (self._lock, self._folder):
            if descriptor >= 0:
                os.close(descriptor)
        self._lock = self._folder = -1

    def _clock(self) -> int:
        """Returns a time that no file which is written from now on precedes, in ns; the file server's may be behind."""
        now = time.time_ns()
        if self._lock < 0:
            return now
        try:
            os.utime(self._lock)
            return min(now, os.fstat(self._lock).st_mtime_ns)
        except OSError:
            return now

    def index(self) -> "dict[bytes, bytes]":
        """Returns what git must be told to use a copy of the user's index, which it may write to; nothing without one.

        It may not where there are submodules: git would refresh the index of each of them by the way.
        """
        if self._lock < 0:
            return {}
        try:
            # of a git that we killed, and of nobody else: we hold the lock
            _remove(self._folder, INDEX + b".lock")
            self._copy_index()
        except OSError:
            return {}
        copy = self._git_dir + FOLDER + b"/" + INDEX
        return {b"GIT_INDEX_FILE": copy, b"GIT_OPTIONAL_LOCKS": b"%d" % self._refreshed}

    def drop_index(self) -> None:
        """Forgets a copy that git could not read."""
        _remove(self._folder, COPIED)

    def _copy_index(self) -> None:
        try:
            source = os.open(self._git_dir + b"/index", _READ)
        except FileNotFoundError:
            _remove(self._folder, COPIED)
            return _remove(self._folder, INDEX)
        try:
            found = os.fstat(source)
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
                raise OSError(errno.EFBIG, "an index that is not copied")
            of = b"%d %d %d" % (found.st_mtime_ns, found.st_size, found.st_ino)
            copied, _, refreshed = _contents(self._folder, COPIED).rpartition(b" ")
            if of == copied and _exists(self._folder, INDEX):
                self._refreshed = refreshed == b"1"
                return None
            data = _all(source, found.st_size)
        finally:
            os.close(source)
        # git takes for unchanged what is older than the index: a copy that seems newer would hide changes
        _replace(self._folder, INDEX, data, found.st_mtime_ns)
        # the rest of a split index may have submodules, too
        self._refreshed = _GITLINK not in data and _SPLIT not in data
        return _replace(self._folder, COPIED, b"%b %d" % (of, self._refreshed))

    def is_vast(self, head: bytes) -> bool:
        """Says whether there was too much to tell a moment ago, and nothing of git's has changed since."""
        of, _, at = _contents(self._folder, VAST).rpartition(b" ")
        return at.isdigit() and 0 <= time.time() - int(at) < PAUSE and of == self._state(head)

    def set_vast(self, head: bytes) -> None:
        """Remembers that there was too much to tell."""
        if self._folder >= 0:
            try:
                _replace(self._folder, VAST, b"%b %d" % (self._state(head), time.time()))
            except OSError:
                return

    def _state(self, head: bytes) -> bytes:
        try:
            return head + b" " + stat_text(os.stat(self._git_dir + b"/index"))
        except OSError:
            return head

    def load(self) -> "dict[bytes, Known]":
        """Returns what is known of the files that were read; nothing if that is damaged."""
        begin, _, rest = _contents(self._folder, LOOKED).partition(b"\0")
        digest, _, body = rest.partition(b"\0")
        if begin != _BEGIN or digest != hexdigest(body).encode():
            return {}
        parts = body.split(b"\0")
        rows = zip(parts[0::4], parts[1::4], parts[2::4], parts[3::4], strict=False)
        return {path: (found, blake3, settled == b"1") for path, found, blake3, settled in rows}


def save(git_dir: bytes, known: "Mapping[bytes, Known]") -> None:
    """Remembers what is known of the files that were read; what cannot be written is read again the next time."""
    body = b"".join(
        [b"%b\0%b\0%b\0%d\0" % (path, found, blake3, settled) for path, (found, blake3, settled) in known.items()]
    )
    folder = _open_folder(git_dir + FOLDER)
    if folder < 0:
        return
    try:
        _replace(folder, LOOKED, b"%b\0%b\0%b" % (_BEGIN, hexdigest(body).encode(), body))
    except OSError:
        return
    finally:
        os.close(folder)


def _open_folder(path: bytes) -> int:
    """Opens our folder, which a linked work tree lacks at first; -1 if that is not possible."""
    try:
        try:
            folder = os.open(path, _DIRECTORY)
        except FileNotFoundError:
            os.mkdir(path, 0o700)
            folder = os.open(path, _DIRECTORY)
    except OSError:
        return -1
    if os.fstat(folder).st_uid == os.geteuid():
        return folder
    os.close(folder)
    return -1


def _take_lock(folder: int) -> int:
    """Opens and locks the file of the lock; -1 if that is not possible or another look holds it for too long."""
    try:
        file = os.open(LOCK, _OWN, 0o600, dir_fd=folder)
    except OSError:
        return -1
    deadline = time.monotonic() + WAIT
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # locked, or on a file system that cannot lock
            if time.monotonic() > deadline:
                os.close(file)
                return -1
        else:
            return file
        time.sleep(0.002)


def _contents(folder: int, name: bytes) -> bytes:
    if folder < 0:
        return b""
    try:
        file = os.open(name, _READ | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        return b""
    try:
        return _all(file, LARGEST)
    except OSError:
        return b""
    finally:
        os.close(file)


def _all(file: int, limit: int) -> bytes:
    chunks = []
    while limit > 0 and (chunk := os.read(file, min(limit, 1 << 24))):
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


def _replace(folder: int, name: bytes, data: bytes, modified: int | None = None) -> None:
    """Writes a file as a whole or not at all; two writers do not meet in one unfinished file."""
    beside = b"%b.%d.new" % (name, os.getpid())
    file = os.open(beside, _NEW, 0o600, dir_fd=folder)
    try:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(file, rest) :]
            if modified is not None:
                os.utime(file, ns=(modified, modified))
        finally:
            os.close(file)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _remove(folder, beside)
        raise


def _remove(folder: int, name: bytes) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def _exists(folder: int, name: bytes) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False
