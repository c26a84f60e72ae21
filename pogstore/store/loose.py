"""Git's loose objects: read under a bound that no object can break, written so that a damaged one heals.

libgit2 can spin for ever on a bit-flipped loose object and believes whatever size a header claims, so ours are
inflated here. Nothing is believed before it was checked: the file's kind and size, the size in the header, the end of
the zlib stream, the hash. Knows one objects directory at a time; alternates are followed by the caller.
"""

# Which single-bit flips leave no trace in the bytes that zlib returns, found by flipping every bit of objects at all
# levels: (1) the padding after the last code, up to seven bits before the checksum; (2) the five padding bits in the
# first byte of a stored block; (3) in a compressed stream, a match distance that then points at an equal string, or an
# equivalent spelling of a code table. (1), and (2) in the first block, are noticed here, because every known encoder
# writes zeros there. (3) cannot be told from another encoder's choice: the object is sound, its hash proves it, and no
# reader can see the flip. What we write below `_STORED_BELOW` is one stored block, where every flipped bit is noticed.

import errno
import hashlib
import os
import re
import stat
import zlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pogstore.errors import BadInput, NotFound, ObjectDamaged
from pogstore.model import Oid

KINDS = ("commit", "tree", "blob", "tag")

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEADER = re.compile(rb"(commit|tree|blob|tag) (0|[1-9][0-9]{0,18})\x00")
_LONGEST_HEADER = 32
_HEADER_WITHIN = 4096
_RACES = 8  # times that a prune may remove a directory between its making and its first file
_BEST_RATIO = 1032  # deflate's own bound: 258 bytes in two bits
_TAIL = 5  # the last byte of the deflated bytes, and the four of the Adler-32 checksum

# Up to here a compressed file would fill one 4 KiB disk block all the same, and stored bytes hide no flip.
_STORED_BELOW = 4000


def oid_of(kind: str, data: bytes, algorithm: str = "sha1") -> Oid:
    """Returns the name that git gives to an object; `algorithm` is the repository's, in hashlib's spelling."""
    hasher = getattr(hashlib, algorithm)(_header(kind, len(data)), usedforsecurity=False)
    hasher.update(data)
    return Oid(hasher.hexdigest())


def find_loose(objects_dir: Path, oid: str) -> Path | None:
    """Returns the file of a loose object, healthy or not, or None; a malformed name has no file."""
    path = f"{objects_dir}/{oid[:2]}/{oid[2:]}"  # every read of a packed object asks first; a Path would cost the most
    return Path(path) if _OID.fullmatch(oid) and os.path.exists(path) else None  # noqa: PTH110


def read_loose(objects_dir: Path, oid: str, *, limit: int, algorithm: str = "sha1") -> tuple[str, bytes]:
    """Returns the kind and the bytes of a loose object, in memory and time bounded by `limit` (bytes inflated).

    Raises NotFound when there is none, ObjectDamaged with the reason when it is not exactly what its name says or
    holds more than `limit`.
    """
    raw = _read_file(objects_dir, oid, _longest_file(limit))
    kind, start, size = _read_header(oid, raw, limit)
    inflated = _inflate(oid, raw, size)
    if hashlib.new(algorithm, inflated, usedforsecurity=False).hexdigest() != oid:
        raise ObjectDamaged(oid, "its bytes hash to another name")
    return kind, inflated[start:]


def write_loose(objects_dir: Path, kind: str, data: bytes, *, fsync: bool, algorithm: str = "sha1") -> Oid:
    """Leaves a healthy loose object behind and returns its name.

    One that is there already is kept, with a new time so that no prune takes it for old; a damaged one is replaced,
    which git itself never does. With `fsync` the object is on disk when this returns, whoever wrote it.
    """
    oid = oid_of(kind, data, algorithm)
    if not _keep(objects_dir, oid, len(data), fsync=fsync, algorithm=algorithm):
        level = 0 if len(data) < _STORED_BELOW else 1
        _place(objects_dir, oid, zlib.compress(_header(kind, len(data)) + data, level), fsync=fsync)
    return oid


def create_file(path: Path) -> BinaryIO:
    """Opens a new file for writing and reading, read-only for everybody afterwards, within the umask."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o444), "w+b")


def sync(path: Path) -> None:
    """Waits until a file, or the names in a directory, are on disk (directories: where the system can)."""
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _header(kind: str, size: int) -> bytes:
    if kind not in KINDS:
        raise BadInput("object", f"'{kind}' is no kind of git object")
    return f"{kind} {size}\0".encode()


def _path(objects_dir: Path, oid: str) -> Path | None:
    return objects_dir / oid[:2] / oid[2:] if _OID.fullmatch(oid) else None


def _longest_file(limit: int) -> int:
    """Returns how long a file may be that inflates to `limit` bytes, whichever encoder wrote it.

    A zlib stream may be padded with empty blocks for ever; the worst real encoder adds less than an eighth.
    """
    return limit + limit // 8 + 4096


def _open_without_waiting(path: str, flags: int) -> int:
    """Opens as `open` would, but for a named pipe, which would make the reader wait for ever."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read_file(objects_dir: Path, oid: str, longest: int) -> bytes:
    path = _path(objects_dir, oid)
    if path is None:
        raise NotFound("object", oid)
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            return _read_open_file(file, oid, longest)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("object", oid) from None
    except OSError as fault:
        raise ObjectDamaged(oid, f"cannot be read: {fault.strerror}") from fault


def _read_open_file(file: BinaryIO, oid: str, longest: int) -> bytes:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise ObjectDamaged(oid, "is not a file")
    if status.st_size > longest:
        raise ObjectDamaged(oid, f"its file of {status.st_size} bytes is too large for any object within the limit")
    raw = file.read(status.st_size)
    if not raw:
        raise ObjectDamaged(oid, "its file is empty")
    return raw


def _read_header(oid: str, raw: bytes, limit: int) -> tuple[str, int, int]:
    """Returns the kind, the header's length and the size of all inflated bytes, having inflated the header alone."""
    try:
        head = zlib.decompressobj().decompress(raw[:_HEADER_WITHIN], _LONGEST_HEADER)
    except zlib.error as fault:
        raise ObjectDamaged(oid, f"does not inflate: {fault}") from fault
    header = _HEADER.match(head)
    if header is None:
        raise ObjectDamaged(oid, "has no header of a git object")
    claimed = int(header[2])
    if claimed > limit:
        raise ObjectDamaged(oid, f"claims {claimed} bytes, over the limit of {limit}")
    if claimed > _BEST_RATIO * len(raw):
        raise ObjectDamaged(oid, f"claims {claimed} bytes, more than its file can hold")
    return header[1].decode(), header.end(), header.end() + claimed


def _inflate(oid: str, raw: bytes, size: int) -> bytes:
    """Returns the `size` bytes that a zlib stream holds, if it holds exactly those and ends where the file ends."""
    body, tail = raw[:-_TAIL], raw[-_TAIL:]
    inflater = zlib.decompressobj()
    try:
        # One byte above what the header promised is enough to see that there is too much.
        start = inflater.decompress(body, size + 1)
        end = inflater.copy()
        inflated = start + end.decompress(tail, size + 1 - len(start)) if len(start) <= size else start
    except zlib.error as fault:
        raise ObjectDamaged(oid, f"does not inflate: {fault}") from fault
    _check_end(oid, end, len(inflated), size)
    if _padding_is_set(inflater, raw, inflated[len(start) :]):
        raise ObjectDamaged(oid, "has a bit set where every encoder leaves zeros")
    return inflated


def _check_end(oid: str, inflater: "zlib._Decompress", found: int, size: int) -> None:
    if found > size:
        raise ObjectDamaged(oid, "holds more bytes than its header claims")
    if inflater.unused_data:
        raise ObjectDamaged(oid, "goes on after the end of its stream")
    if not inflater.eof:
        raise ObjectDamaged(oid, "ends too early")
    if found < size:
        raise ObjectDamaged(oid, "holds fewer bytes than its header claims")


def _padding_is_set(inflater: "zlib._Decompress", raw: bytes, end: bytes) -> bool:
    """Says whether a bit is set that stands for nothing: in the first stored block, or after the last code.

    `inflater` stands before the last byte of deflated bytes, which add `end`. A bit of that byte is padding if
    flipping it changes nothing.
    """
    if raw[2] & 0b110 == 0 and raw[2] >> 3:
        return True
    last, checksum = raw[-_TAIL], raw[1 - _TAIL :]
    for bit in (0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02):
        if not _ends_with(inflater, bytes((last ^ bit,)) + checksum, end):
            return False
        if last & bit:
            return True
    return False


def _ends_with(inflater: "zlib._Decompress", tail: bytes, end: bytes) -> bool:
    """Says whether a stream would be whole with this tail, and the tail add just these bytes."""
    rest = inflater.copy()
    try:
        return rest.decompress(tail, len(end) + 1) == end and rest.eof and not rest.unused_data
    except zlib.error:
        return False


def _keep(objects_dir: Path, oid: Oid, size: int, *, fsync: bool, algorithm: str) -> bool:
    """Keeps a healthy loose object that is there, fresh and if asked on disk; False if it has to be written."""
    try:
        read_loose(objects_dir, oid, limit=size, algorithm=algorithm)
    except (NotFound, ObjectDamaged):
        return False
    path = objects_dir / oid[:2] / oid[2:]
    try:
        if fsync:
            sync(path)
            sync(path.parent)
        os.utime(path)
    except OSError:  # pruned meanwhile, or somebody else's file in a shared repository: git writes it again too
        return False
    return True


def _place(objects_dir: Path, oid: Oid, raw: bytes, *, fsync: bool) -> None:
    for _ in range(_RACES - 1):
        with suppress(FileNotFoundError):  # `git gc --prune=now` has taken the temporary file
            return _place_once(objects_dir, oid, raw, fsync=fsync)
    return _place_once(objects_dir, oid, raw, fsync=fsync)


def _place_once(objects_dir: Path, oid: Oid, raw: bytes, *, fsync: bool) -> None:
    directory = objects_dir / oid[:2]
    made, temporary, file = _create_beside(objects_dir, directory)
    try:
        with file:
            file.write(raw)
            if fsync:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(directory / oid[2:])
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if fsync:
        sync(directory)
        if made:
            sync(objects_dir)


def _create_beside(objects_dir: Path, directory: Path) -> tuple[bool, Path, BinaryIO]:
    """Creates a temporary file, under the name that `git prune` clears away, and its directory if that is missing."""
    temporary = directory / f"tmp_obj_{os.urandom(8).hex()}"
    for _ in range(_RACES):
        made = _make_directory(objects_dir, directory)
        try:
            return made, temporary, create_file(temporary)
        except FileNotFoundError:  # a prune removed the directory while it was empty
            continue
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(temporary))


def _make_directory(objects_dir: Path, directory: Path) -> bool:
    """Makes a directory if it is missing, as open as the objects directory, so that a shared repository stays so."""
    try:
        directory.mkdir()
    except FileExistsError:
        return False
    directory.chmod(stat.S_IMODE(objects_dir.stat().st_mode))
    return True
