"""The reading side of the spool: what waits in it, record by record, and what of it is damaged.

Reads what `spool.py` wrote. It deletes nothing: a file goes when all of it is stored elsewhere, which only the drainer
knows. What a record says is `spooled_record.py`. Knows no agents and no events.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pogstore.digest import hexdigest
from pogstore.errors import LockHeld
from pogstore.work import spool

DAMAGED = "damaged"
"""Beside the waiting files: what could not be read of them, each part under its BLAKE3."""

_WAITING = re.compile(r"[0-9]{8,}")
_HEADER = re.compile(rb"\n\0pog ([0-9]{1,15}) ([0-9a-f]{64}) ")
_LONGEST_HEADER = len(spool.MARK) + 15 + 1 + 64 + 1
_CHUNK = 1 << 20


class Good(NamedTuple):
    """One whole record of a spool file, and where it stands."""

    offset: int
    size: int
    record: bytes


class Damaged(NamedTuple):
    """A part of a spool file that is no whole record: torn when its writer was killed, or altered later."""

    offset: int
    size: int
    reason: str


class Loss(NamedTuple):
    """How often something was not recorded for one reason, and when last, in µs."""

    reason: str
    times: int
    last: int


def prepare(directory: Path) -> bool:
    """Makes a spool, which is the consent to record, and the file of losses beside it; says whether anything changed.

    The file of losses is filled, so that losses can be counted in it when the disk is full.
    """
    directory.parent.mkdir(exist_ok=True)
    lost = directory.parent / os.fsdecode(spool.LOST)
    changed = not directory.is_dir() or not lost.exists()
    directory.mkdir(mode=0o700, exist_ok=True)
    with os.fdopen(os.open(lost, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600), "wb") as file:
        if file.tell() == 0:
            file.write(b"".join(spool.loss_line(reason, 0, 0) for reason in spool.LOSSES))
    return changed


def write_settings(
    directory: Path,
    *,
    max_blob: int,
    sync: bool,
    look: int = spool.LOOK,
    drain: bool = True,
    require: bool = False,
    stamp: bytes = b"",
) -> None:
    """Leaves for the hooks, which cannot ask git, what `git config` says; replaces the file only if it differs.

    They are what `spool.settings` returns; `require` is what `spool.requires_task` returns, `stamp` what `spool.stamp`
    does.
    """
    path = directory / os.fsdecode(spool.SETTINGS)
    text = b"max_blob %d\nsync %d\nlook %d\ndrain %d\n" % (max_blob, sync, max(look, 0), drain)
    text += b"require 1\n" if require else b""
    text += b"stamp %b\n" % stamp if stamp else b""
    try:
        if path.read_bytes() == text:
            return
    except FileNotFoundError:
        pass
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_bytes(text)
    beside.replace(path)


def take(directory: Path, wait: float = spool.WAIT) -> list[Path]:
    """Takes what was written so far out of the writers' hands; returns all files that wait to be drained.

    The oldest comes first; files that an earlier drain left behind are among them. Nobody writes to a file that was
    taken. Raises `LockHeld` if a writer takes longer than `wait` seconds, and `OSError`.
    """
    try:
        folder = spool.open_folder(os.fsencode(directory))
    except FileNotFoundError:
        return []
    try:
        _rename_current(folder, directory, wait)
    finally:
        os.close(folder)
    return waiting(directory)


def _rename_current(folder: int, directory: Path, wait: float) -> None:
    try:
        file = spool.lock_current(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, wait)
    except FileNotFoundError:
        return
    except TimeoutError as fault:
        raise LockHeld(str(directory / os.fsdecode(spool.CURRENT)), wait) from fault
    try:
        if os.fstat(file).st_size:
            last = max((int(path.name) for path in waiting(directory)), default=0)
            os.rename(spool.CURRENT, f"{last + 1:08}", src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(file)


def waiting(directory: Path) -> list[Path]:
    """Returns the files that were taken and not drained yet, oldest first."""
    taken = (path for path in directory.iterdir() if _WAITING.fullmatch(path.name))
    return sorted(taken, key=lambda path: int(path.name))


def pending(directory: Path) -> int:
    """Returns how many records wait, taken or not, without reading them: one look at each header will do."""
    if not directory.is_dir():
        return 0
    current = directory / os.fsdecode(spool.CURRENT)
    return sum(_count(path) for path in (*waiting(directory), current))


def _count(path: Path) -> int:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        count, at, size = 0, 0, os.fstat(file).st_size
        while at < size:
            end = _end(_header(file, at), at, size)
            if end is None or (end < size and not _header(file, end)):
                # something was torn here: only reading tells what
                part = _part(file, at, size)
                count, at = count + isinstance(part, Good), at + part.size
            else:
                count, at = count + 1, end
        return count
    finally:
        os.close(file)


def _end(header: re.Match[bytes] | None, at: int, size: int) -> int | None:
    """Returns where the record at an offset says that it ends, if that is inside the file."""
    end = at + header.end() + int(header[1]) if header else None
    return end if end is not None and end <= size else None


def _header(file: int, at: int) -> re.Match[bytes] | None:
    return _HEADER.match(os.pread(file, _LONGEST_HEADER, at))


def read(path: Path) -> Iterator[Good | Damaged]:
    """Yields every part of a spool file that was taken, in order: whole records, and what is damaged between them."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        at, size = 0, os.fstat(file).st_size
        while at < size:
            part = _part(file, at, size)
            yield part
            at += part.size
    finally:
        os.close(file)


def _part(file: int, at: int, size: int) -> Good | Damaged:
    header = _header(file, at)
    end = _end(header, at, size)
    if header and end is not None:
        body = _read(file, at + header.end(), end - at - header.end())
        if hexdigest(body).encode() == header[2]:
            return Good(at, end - at, body.replace(spool.BREAK_INSIDE, spool.BREAK))
    following = _next_mark(file, at + 1, size)
    if header is None:
        reason = "there is no record"
    else:
        reason = "the record is cut short" if end is None or following < end else "the record was altered"
    return Damaged(at, following - at, reason)


def _next_mark(file: int, at: int, size: int) -> int:
    """Returns where the next mark stands, or the size of the file."""
    while chunk := os.pread(file, _CHUNK, at):
        found = chunk.find(spool.MARK)
        if found >= 0:
            return at + found
        if at + len(chunk) >= size:
            break
        # a mark may lie across the end of the chunk
        at += max(len(chunk) - len(spool.MARK) + 1, 1)
    return size


def _read(file: int, at: int, length: int) -> bytes:
    chunks = []
    while length > 0 and (chunk := os.pread(file, min(length, _CHUNK), at)):
        chunks.append(chunk)
        at += len(chunk)
        length -= len(chunk)
    return b"".join(chunks)


def set_aside(directory: Path, path: Path, part: Damaged | Good) -> Path:
    """Keeps a part of a spool file that cannot be used, on disk, before the file goes; returns where.

    Doing it again, after a drain that was killed, changes nothing: the part is named by its bytes.
    """
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        data = _read(file, part.offset, part.size)
    finally:
        os.close(file)
    folder = directory / DAMAGED
    folder.mkdir(mode=0o700, exist_ok=True)
    kept = folder / hexdigest(data)
    if not kept.exists():
        write_synced(folder, kept, data)
    return kept


def write_synced(folder: Path, path: Path, data: bytes) -> None:
    """Puts a file into a folder, whole and on disk once this returns."""
    beside = folder / f".{path.name}.{os.getpid()}"
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def set_aside_parts(directory: Path) -> list[Path]:
    """Returns what was set aside, by name."""
    folder = directory / DAMAGED
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []


def losses(directory: Path) -> list[Loss]:
    """Returns what hooks could not record, for each reason that there was."""
    try:
        data = (directory.parent / os.fsdecode(spool.LOST)).read_bytes()
    except FileNotFoundError:
        return []
    counted = [
        (reason.decode(), *spool.parse_loss(data[at * spool.LOSS_SIZE : (at + 1) * spool.LOSS_SIZE]))
        for at, reason in enumerate(spool.LOSSES)
    ]
    return [Loss(*each) for each in counted if each[1]]
