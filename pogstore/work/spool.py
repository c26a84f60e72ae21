"""The writing side of the spool: how a hook brings one record to disk, and what a record is made of.

Every hook of an agent pays for what this module imports, so it takes the standard library's lightest parts and the hash
alone, and raises the system's own errors: `typing` or our error tree would double the time of a whole process. Reading,
and all that may cost more, is `spooled.py`. Knows no agents and no git.
"""
# `pathlib` would cost a hook more than all it does
# ruff: noqa: PTH116, PTH120

import errno
import fcntl
import os
import stat
import time

from pogstore.digest import hexdigest

TYPE_CHECKING = False  # what type checkers take it for; see `pogstore/__init__.py`

if TYPE_CHECKING:
    from collections.abc import Iterable

WAIT = 1.0
"""Seconds that a writer waits for the others; a hook must not hold up its agent."""
MAX_BLOB = 16 * 1024 * 1024
"""Bytes of one file that are recorded, where the settings say nothing else."""
LOOK = 2_000
"""Milliseconds that a look at a whole work tree may take, where the settings say nothing else."""
CURRENT = b"current"
SETTINGS = b"settings"
LOST = b"lost"
NO_TASK = "-"
"""Says in the place of a task that the work tree was on none."""

MARK = b"\n\0pog "
"""Begins a record, and stands nowhere else in a spool file: see `frame`."""
BREAK, BREAK_INSIDE = b"\n\0", b"\n\0\0"
LOSSES = (b"full", b"locked", b"denied", b"elsewhere", b"failed")
"""Why something was not recorded; `elsewhere` is the file of a repository that is not enabled."""
LOSS_SIZE = 43
"""Bytes of one line in the file of losses; a line is overwritten in place, which a full disk allows."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO in the place of a file must not make us wait for its other end
_OWN_FILE = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_sync = getattr(os, "fdatasync", os.fsync)


def append(directory: bytes, record: bytes, *, sync: bool = True, wait: float = WAIT) -> None:
    """Appends one record to a spool; once it returns the record is wholly there, and on disk unless `sync` is off.

    `directory` is `<common git dir>/pog/spool`; it is never made here, since that it exists is the consent to record.
    Raises `FileNotFoundError` without it, `TimeoutError` if other writers take longer than `wait` seconds, and any
    other `OSError` as the system gives it. Where it raises before the sync, nothing of the record is left in the file.
    """
    framed = frame(record)
    folder = open_folder(directory)
    try:
        file = lock_current(folder, os.O_WRONLY | os.O_APPEND | _OWN_FILE, wait)
        try:
            first = _write(file, framed)
            # from here others may write, and a slow disk syncs all of us at once
            fcntl.flock(file, fcntl.LOCK_UN)
            if sync:
                _sync(file)
            if sync and first:
                os.fsync(folder)
        finally:
            os.close(file)
    finally:
        os.close(folder)


def frame(record: bytes) -> bytes:
    """Returns a record as it stands in the file: mark, length, BLAKE3 and then the bytes, in which no mark occurs.

    A NUL is put behind every newline and NUL of the record. So a mark is always the beginning of a record: a damaged
    one cannot hide the next, and a recorded file that holds a spool cannot bring forth records.
    """
    body = record.replace(BREAK, BREAK_INSIDE)
    return b"%b%d %b %b" % (MARK, len(body), hexdigest(body).encode(), body)


def open_folder(directory: bytes) -> int:
    """Opens a spool, neither through a link nor one that others may write to; raises `OSError`."""
    above, name = os.path.split(directory)
    own = os.open(above, _DIRECTORY)
    try:
        folder = os.open(name, _DIRECTORY, dir_fd=own)
    finally:
        os.close(own)
    found = os.fstat(folder)
    # git refuses a repository of somebody else; we would hand its owner what an agent is told
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        os.close(folder)
        raise PermissionError(errno.EPERM, "spool of another user", directory)
    return folder


def lock_current(folder: int, flags: int, wait: float) -> int:
    """Opens the file that is being written and locks it; raises `TimeoutError` after `wait` seconds.

    The name is looked at again under the lock, because the drainer gives a locked file another name.
    """
    deadline = time.monotonic() + wait
    while True:
        file = os.open(CURRENT, flags, 0o600, dir_fd=folder)
        try:
            _lock(file, deadline)
            if _is_current(folder, os.fstat(file)):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _lock(file: int, deadline: float) -> None:
    """Polls, since a blocking `flock` cannot be given a time; `random` would cost more than the lock."""
    pause = 0.0005
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(errno.ETIMEDOUT, "the spool is locked") from None
        time.sleep(pause * (0.5 + time.monotonic_ns() % 1024 / 1024))
        pause = min(pause * 1.5, 0.01)


def _is_current(folder: int, opened: os.stat_result) -> bool:
    if not stat.S_ISREG(opened.st_mode):
        raise OSError(errno.EINVAL, "the spool's file is no file")
    try:
        named = os.stat(CURRENT, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def _write(file: int, data: bytes) -> bool:
    """Writes all or nothing at the end of a locked file; says whether it was empty before."""
    before = os.fstat(file).st_size
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
    except BaseException:
        os.ftruncate(file, before)
        raise
    return before == 0


def settings(directory: bytes) -> tuple[int, bool, int, bool]:
    """Returns what `git config` said when it was last left here, since asking git costs more than all else.

    That is the largest file whose bytes are recorded, whether records are synced, the milliseconds that a look at a
    whole work tree may take (0: there is none), and whether the end of a turn starts a drain; the defaults where
    nothing was left.
    """
    lines = dict(line.split(b" ", 1) for line in _read_small(directory + b"/" + SETTINGS).split(b"\n") if b" " in line)
    max_blob, look = _number(lines.get(b"max_blob", b""), MAX_BLOB), _number(lines.get(b"look", b""), LOOK)
    return max_blob, lines.get(b"sync") != b"0", look, lines.get(b"drain") != b"0"


def _number(text: bytes, default: int) -> int:
    return int(text) if text.isdigit() and len(text) < 16 else default


def task_of(git_dir: bytes) -> str:
    """Returns the task that a work tree is on now, or `NO_TASK`: whoever drains may find another one there."""
    first = _read_small(git_dir + b"/pog/task").split(b"\n", 1)[0]
    return first.decode("ascii", "replace") or NO_TASK


def worktree_of(git_dir: bytes) -> str:
    """Returns the random id of a work tree; nothing if it has none yet."""
    return _read_small(git_dir + b"/pog/worktree").split(b"\n", 1)[0].decode("ascii", "replace")


def requires_task(directory: bytes) -> bool:
    """Says whether agents may change nothing without a task, as `git config` said when it was last left here."""
    return b"require 1" in _read_small(directory + b"/" + SETTINGS).split(b"\n")


def stamp(common_dir: bytes) -> bytes:
    """Returns what is another once the limits of a repository may be others: sizes and times (ns) of two files."""
    found = []
    for path in (common_dir + b"/config", os.path.dirname(common_dir) + b"/.pog.toml"):
        try:
            state = os.stat(path)
            found.append(b"%d:%d" % (state.st_size, state.st_mtime_ns))
        except OSError:
            found.append(b"-")
    return b"/".join(found)


def is_stale(directory: bytes, common_dir: bytes) -> bool:
    """Says whether the limits of a repository may be others than when they were last compiled."""
    known = b"stamp " + stamp(common_dir)
    return known not in _read_small(directory + b"/" + SETTINGS).split(b"\n")


def _read_small(path: bytes) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(file, 4096)
    except OSError:
        return b""
    finally:
        os.close(file)


def count_loss(directory: bytes, reason: bytes, now: int) -> None:
    """Counts one thing that was not recorded, beside the spool, with the time in µs; raises `OSError` if it cannot.

    It waits only briefly for others who count, and then counts all the same: a number too small is better than none.
    """
    own = os.open(os.path.dirname(directory), _DIRECTORY)
    try:
        file = os.open(LOST, os.O_RDWR | _OWN_FILE, 0o600, dir_fd=own)
    finally:
        os.close(own)
    try:
        try:  # noqa: SIM105 - `contextlib` costs what `pathlib` does
            _lock(file, time.monotonic() + WAIT / 5)
        except TimeoutError:
            pass
        offset = LOSSES.index(reason) * LOSS_SIZE
        count, _ = parse_loss(os.pread(file, LOSS_SIZE, offset))
        os.pwrite(file, loss_line(reason, count + 1, now), offset)
    finally:
        os.close(file)


def loss_line(reason: bytes, count: int, last: int) -> bytes:
    """Returns the line of one reason: always of the same size."""
    return b"%-12b %12d %16d\n" % (reason, min(count, 10**12 - 1), min(max(last, 0), 10**16 - 1))


def parse_loss(line: bytes) -> tuple[int, int]:
    """Returns how often, and when last; zeros for a line that was never written or is damaged."""
    words = line.split()
    if len(words) == 3 and words[1].isdigit() and words[2].isdigit():
        return int(words[1]), int(words[2])
    return 0, 0


def loss_of(fault: BaseException) -> bytes:
    """Returns the reason for which something was lost, by the error that prevented it."""
    if isinstance(fault, TimeoutError):
        return b"locked"
    number = fault.errno if isinstance(fault, OSError) else None
    if number in _NO_ROOM:
        return b"full"
    return b"denied" if number in (errno.EACCES, errno.EPERM, errno.EROFS) else b"failed"


def encode_record(
    *,
    record_id: str,
    agent: str,
    event: str,
    time: int,
    offset: int,
    git_dir: bytes,
    common_dir: bytes,
    root: bytes,
    payload: bytes,
    whole: bool,
    task: str = "",
    head: bytes = b"",
    look: bytes = b"",
    states: "Iterable[bytes]" = (),
) -> bytes:
    """Returns the bytes of a record; `spooled.decode_record` reads them.

    `whole` says that the payload came to its end. `task` is what `POG_TASK` named, since a drainer does not see that,
    or else what `task_of` found. `head` and `look` are what `look.Look` says of them, empty where that is not known.
    `states` come from `seen`, `absent` and `unseen`.
    """
    return fields(
        (b"version", b"1"),
        (b"id", record_id.encode()),
        (b"agent", agent.encode("utf-8", "replace")),
        (b"event", event.encode("utf-8", "replace")),
        (b"time", b"%d" % time),
        (b"offset", b"%d" % offset),
        (b"git_dir", git_dir),
        (b"common_dir", common_dir),
        (b"root", root),
        (b"payload", payload),
        (b"whole", b"%d" % whole),
        (b"task", task.encode("utf-8", "replace")),
        *((name, value) for name, value in ((b"head", head), (b"look", look)) if value),
        *((b"state", state) for state in states),
    )


def seen(
    path: bytes,
    mode: bytes,
    size: int,
    blake3: str | None,
    data: bytes | None,
    *,
    stat: bytes = b"",
    kept: bool = False,
) -> bytes:
    """Returns the state of a file or link that was seen; its bytes or even its hash are absent if it is too large.

    `stat` is equal as long as nobody touched it; `kept` says that an earlier record has the bytes that have this hash.
    """
    known = [(b"path", path), (b"mode", mode), (b"size", b"%d" % size)]
    if blake3 is not None:
        known.append((b"blake3", blake3.encode()))
    if stat:
        known.append((b"stat", stat))
    if kept:
        known.append((b"kept", b""))
    if data is not None:
        known.append((b"data", data))
    return fields(*known)


def absent(path: bytes) -> bytes:
    """Returns the state of a path at which nothing stands."""
    return fields((b"path", path), (b"absent", b""))


def unseen(path: bytes, reason: bytes, *, stat: bytes = b"", mark: bytes = b"", commit: bytes = b"") -> bytes:
    """Returns the state of a path at which something stands that could not be seen, with a word for why.

    `mark` is equal as long as nothing is seen to change inside; `commit` is the one that is checked out in a submodule.
    """
    known = ((b"stat", stat), (b"mark", mark), (b"commit", commit))
    return fields((b"path", path), (b"unseen", reason), *(pair for pair in known if pair[1]))


def fields(*pairs: tuple[bytes, bytes]) -> bytes:
    """Returns named values one after the other, each with its length, so that a value may hold any bytes."""
    return b"".join([b"%b %d\n%b\n" % (name, len(value), value) for name, value in pairs])
