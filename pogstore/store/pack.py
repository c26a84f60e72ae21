"""Packs: one file and its index for many objects at once, written without git, mapped, and checked against bit rot.

A bulk import that wrote loose objects would pay the file system for each of them and wake the user's own gc. Formats:
pack version 2, index version 2 with 64-bit offsets. Deltas are made here where the writer knows what an object is like:
git's housekeeping takes two objects that lie whole in the same pack for ones that it has tried in vain.
"""

import errno
import hashlib
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Oid
from pogstore.store.delta import make_delta
from pogstore.store.loose import create_file, oid_of, sync

ALTERNATES_DEPTH = 6  # as far as git itself follows them
LONGEST_CHAIN = 50
"""So many deltas stand on each other at most, as in git's own packs."""
LARGEST_DELTA = 1 << 20
"""Bytes: larger objects are written whole."""

TEMPORARY = "pog_tmp_{}_{}"
"""The name of a file that is being written: what begins with `tmp_` goes under our hands in `git gc --prune=now`."""

_KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_DELTA = 6
_PACK_START = struct.pack(">4sI", b"PACK", 2)
_INDEX_START = struct.pack(">4sI", b"\xfftOc", 2)
_PACK_HEADER = 12
_FANOUT = struct.Struct(">256I")
_NAMES = len(_INDEX_START) + _FANOUT.size
_FAR = 1 << 31  # the first offset that goes into the table of 64-bit offsets, and the bit that says so
_CHUNK = 1 << 20
_SCANNED = 256
_LONGEST_ALTERNATES = 1 << 20


class PackWriter:
    """A pack being written to a temporary file; nobody sees it before `finish`, and nothing stays without that.

    To be used in a `with` statement.
    """

    def __init__(self, pack_dir: Path, *, fsync: bool, algorithm: str = "sha1", compression: int = 1) -> None:
        self._pack_dir = pack_dir
        self._fsync = fsync
        self._algorithm = algorithm
        self._compression = compression
        self._places: dict[bytes, _Place] = {}
        self._offset = _PACK_HEADER
        suffix = os.urandom(8).hex()
        self._pack, self._index = (pack_dir / TEMPORARY.format(part, suffix) for part in ("pack", "idx"))

    def __enter__(self) -> Self:
        self._pack_dir.mkdir(exist_ok=True)
        self._file = create_file(self._pack)
        self._file.write(bytes(_PACK_HEADER))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._pack.unlink(missing_ok=True)
        self._index.unlink(missing_ok=True)

    def add(self, oid: Oid, kind: str, data: bytes, base: "Base | None" = None) -> None:
        """Appends one object, once however often it is given. Raises ObjectDamaged if its bytes have another name.

        `base` is one of the same kind that it is like: if that was added before, the difference to it may be written.
        """
        name = bytes.fromhex(oid)
        if name in self._places:
            return
        if oid_of(kind, data, self._algorithm) != oid:
            raise ObjectDamaged(oid, "its bytes hash to another name")
        packed, depth = self._difference(data, base)
        if packed is None:
            packed = _entry_header(_KINDS[kind], len(data)) + zlib.compress(data, self._compression)
        self._file.write(packed)
        self._places[name] = _Place(zlib.crc32(packed), self._offset, depth)
        self._offset += len(packed)

    def _difference(self, data: bytes, base: "Base | None") -> tuple[bytes | None, int]:
        """Returns an object as its difference to another one, and how many of them stand on each other then.

        Nothing where that one is not in the pack, or where it would not be worth it.
        """
        place = self._places.get(bytes.fromhex(base.oid)) if base is not None else None
        if base is None or place is None or place.depth == LONGEST_CHAIN or len(data) > LARGEST_DELTA:
            return None, 0
        delta = make_delta(base.data, data)
        if len(delta) > len(data) // 2:
            return None, 0
        head = _entry_header(_DELTA, len(delta)) + _distance(self._offset - place.offset)
        return head + zlib.compress(delta, self._compression), place.depth + 1

    def finish(self, announce: Callable[[str], None] | None = None) -> Path | None:
        """Puts the pack and then its index in place and returns the pack's path; None if it holds no object.

        `announce` is told the pack's name before anybody can see it.
        A pack of the same name has the same bytes; it is replaced, in case that one is damaged.
        """
        if not self._places:
            return None
        checksum = self._seal()
        self._write_index(_index_bytes(self._places, checksum, self._algorithm))
        path = self._pack_dir / f"pack-{checksum.hex()}.pack"
        if announce is not None:
            announce(path.stem)
        self._pack.replace(path)
        self._index.replace(path.with_suffix(".idx"))
        if self._fsync:
            sync(self._pack_dir)
        return path

    def _seal(self) -> bytes:
        """Writes the count of objects, known only now, and the trailer over all bytes, which it returns."""
        self._file.seek(0)
        self._file.write(_PACK_START + struct.pack(">I", len(self._places)))
        self._file.seek(0)
        checksum = hashlib.new(self._algorithm, usedforsecurity=False)
        while chunk := self._file.read(_CHUNK):
            checksum.update(chunk)
        self._file.write(checksum.digest())
        self._file.flush()
        if self._fsync:
            os.fsync(self._file.fileno())
        self._file.close()
        return checksum.digest()

    def _write_index(self, index: bytes) -> None:
        with create_file(self._index) as file:
            file.write(index)
            file.flush()
            if self._fsync:
                os.fsync(file.fileno())


class PackIndex:
    """The names in a pack and where they stand in it, read from its mapped index; to be closed, or used with `with`."""

    def __init__(self, view: mmap.mmap, width: int, fanout: tuple[int, ...]) -> None:
        self._view = view
        self._width = width
        self._fanout = fanout

    @classmethod
    def open(cls, path: Path, algorithm: str = "sha1") -> Self:
        """Maps the index at `path`. Raises ObjectDamaged unless its parts fill the file exactly.

        Its checksum is not read: that is `check_pack`'s work.
        """
        width = hashlib.new(algorithm, usedforsecurity=False).digest_size
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(_NAMES)
            reason = _index_fault(start, size, width)
            if reason:
                raise ObjectDamaged(path.name, reason)
            view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return cls(view, width, _FANOUT.unpack_from(start, len(_INDEX_START)))

    def __len__(self) -> int:
        return self._fanout[-1]

    def __contains__(self, oid: object) -> bool:
        return isinstance(oid, str) and self._find(oid) is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Unmaps the index; it answers nothing any more."""
        self._view.close()

    def oids(self) -> Iterator[Oid]:
        """Yields every name, in ascending order."""
        for position in range(len(self)):
            yield Oid(self._name(position).hex())

    def offset(self, oid: str) -> int:
        """Returns the byte of the pack where an object begins. Raises NotFound when the pack does not hold it."""
        position = self._find(oid)
        if position is None:
            raise NotFound("object", oid)
        near_table = _NAMES + len(self) * (self._width + 4)
        near: int = struct.unpack_from(">I", self._view, near_table + 4 * position)[0]
        return near if near < _FAR else self._far_offset(oid, near_table + 4 * len(self), near - _FAR)

    def _far_offset(self, oid: str, table: int, position: int) -> int:
        place = table + 8 * position
        if place + 8 > len(self._view) - 2 * self._width:
            raise ObjectDamaged(oid, "the pack's index points outside its table of offsets")
        far: int = struct.unpack_from(">Q", self._view, place)[0]
        return far

    def _name(self, position: int) -> bytes:
        start = _NAMES + position * self._width
        return self._view[start : start + self._width]

    def _find(self, oid: str) -> int | None:
        try:
            wanted = bytes.fromhex(oid)
        except ValueError:
            return None
        if len(wanted) != self._width:
            return None
        low = self._fanout[wanted[0] - 1] if wanted[0] else 0
        high = self._fanout[wanted[0]]
        while high - low > _SCANNED:
            middle = (low + high) // 2
            if self._name(middle) <= wanted:
                low = middle
            else:
                high = middle
        return self._scan(wanted, low, high)

    def _scan(self, wanted: bytes, low: int, high: int) -> int | None:
        """Finds a name among few by searching their bytes, which is faster than comparing name by name."""
        names = self._view[_NAMES + low * self._width : _NAMES + high * self._width]
        at = names.find(wanted)
        while at % self._width and at >= 0:
            at = names.find(wanted, at + 1)
        return None if at < 0 else low + at // self._width


class Base(NamedTuple):
    """An object that another one is like: an earlier version of the same file."""

    oid: Oid
    data: bytes


class _Place(NamedTuple):
    """What an index says of one object, and how many deltas lead to it."""

    crc: int
    offset: int
    depth: int = 0


class _Summary(NamedTuple):
    """What one pass over a file that ends in a checksum tells."""

    start: bytes
    end: bytes
    computed: bytes
    size: int


def write_pack(
    pack_dir: Path,
    objects: Iterable[tuple[Oid, str, bytes] | tuple[Oid, str, bytes, Base | None]],
    *,
    fsync: bool,
    algorithm: str = "sha1",
    compression: int = 1,
    announce: Callable[[str], None] | None = None,
) -> Path | None:
    """Writes objects (name, kind, bytes, what it is like) as one pack with its index; None if there are none.

    `announce` is told the pack's name before anybody can see it.
    """
    with PackWriter(pack_dir, fsync=fsync, algorithm=algorithm, compression=compression) as writer:
        for item in objects:
            writer.add(*item)
        return writer.finish(announce)


def clear_unfinished(pack_dir: Path) -> None:
    """Takes away what writers that were killed had begun; the caller knows that nobody is writing."""
    for path in pack_dir.glob(TEMPORARY.format("*", "*")):
        path.unlink(missing_ok=True)


def object_dirs(objects_dir: Path) -> list[Path]:
    """Returns an objects directory and those it borrows from, each once, nearest first, as deep as git follows."""
    found = [objects_dir]
    seen = {objects_dir.resolve()}
    level = found
    for _ in range(ALTERNATES_DEPTH):
        level = [path for lender in level for path in _alternates(lender) if not _is_known(path, seen)]
        found = found + level
    return found


def packs(objects_dir: Path) -> list[Path]:
    """Returns the packs that have an index, borrowed ones too; a pack without one is not in use yet."""
    return [
        path
        for directory in object_dirs(objects_dir)
        for path in sorted((directory / "pack").glob("*.pack"))
        if path.with_suffix(".idx").is_file()
    ]


def check_pack(path: Path, algorithm: str = "sha1") -> str | None:
    """Says what is wrong with the bytes of a pack or of its index, or None; any changed or missing byte is noticed.

    Reads both files once in bounded memory. It trusts whoever wrote them: that every name fits its object is for
    `git verify-pack` to say.
    """
    try:
        pack = _summary(path, algorithm, _PACK_HEADER)
        index = _summary(path.with_suffix(".idx"), algorithm, _NAMES)
    except OSError as fault:
        return f"'{Path(fault.filename or path).name}' cannot be read: {fault.strerror}"
    return _pack_fault(pack) or _checked_index_fault(index) or _pair_fault(pack, index)


def _entry_header(kind: int, size: int) -> bytes:
    """Returns the head of an object in a pack: its kind and its size, four bits and then seven to a byte."""
    head = bytearray()
    byte = kind << 4 | size & 0x0F
    size >>= 4
    while size:
        head.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    head.append(byte)
    return bytes(head)


def _distance(number: int) -> bytes:
    """Spells how far before a delta its base begins: seven bits to a byte; each but the last stands for one more."""
    spelled = [number & 0x7F]
    while number := number >> 7:
        number -= 1
        spelled.append(number & 0x7F | 0x80)
    return bytes(reversed(spelled))


def _index_bytes(places: dict[bytes, _Place], checksum: bytes, algorithm: str) -> bytes:
    """Returns the index of a pack: fan-out, names, CRCs, offsets, those that need 64 bits, and two checksums."""
    names = sorted(places)
    near: list[int] = []
    far: list[int] = []
    for name in names:
        offset = places[name].offset
        near.append(offset if offset < _FAR else _FAR | len(far))
        if offset >= _FAR:
            far.append(offset)
    parts = (
        _INDEX_START,
        _FANOUT.pack(*_fanout(names)),
        *names,
        struct.pack(f">{len(names)}I", *(places[name].crc for name in names)),
        struct.pack(f">{len(near)}I", *near),
        struct.pack(f">{len(far)}Q", *far),
        checksum,
    )
    index = b"".join(parts)
    return index + hashlib.new(algorithm, index, usedforsecurity=False).digest()


def _fanout(names: list[bytes]) -> list[int]:
    """Returns for every first byte how many names are not above it."""
    counts = [0] * 256
    for name in names:
        counts[name[0]] += 1
    total = 0
    for byte, count in enumerate(counts):
        total += count
        counts[byte] = total
    return counts


def _index_fault(start: bytes, size: int, width: int) -> str | None:
    """Says why an index that begins so and is so large cannot be one, or None."""
    if len(start) < _NAMES:
        return "its index is too short"
    if not start.startswith(_INDEX_START):
        return "its index is not of version 2"
    fanout = _FANOUT.unpack_from(start, len(_INDEX_START))
    if any(low > high for low, high in pairwise(fanout)):
        return "the fan-out of its index goes down"
    far, odd = divmod(size - _NAMES - fanout[-1] * (width + 8) - 2 * width, 8)
    if odd or not 0 <= far <= fanout[-1]:
        return "its index has not the size that its count asks for"
    return None


def _alternates(objects_dir: Path) -> list[Path]:
    """Returns the existing directories that `info/alternates` names, in its order."""
    try:
        with (objects_dir / "info" / "alternates").open("rb") as file:
            lines = file.read(_LONGEST_ALTERNATES).splitlines()
    except OSError:
        return []
    named = (objects_dir / os.fsdecode(line) for line in lines if line and not line.startswith(b"#"))
    return [path for path in named if path.is_dir()]


def _is_known(path: Path, seen: set[Path]) -> bool:
    real = path.resolve()
    known = real in seen
    seen.add(real)
    return known


def _summary(path: Path, algorithm: str, keep: int) -> _Summary:
    """Reads a file once: its first `keep` bytes, its last two checksums, and the hash of all but the last one."""
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, "there is no such file", str(path))
    hasher = hashlib.new(algorithm, usedforsecurity=False)
    width = hasher.digest_size
    start, end = b"", b""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        left = size - width
        while left > 0 and (chunk := file.read(min(_CHUNK, left))):
            hasher.update(chunk)
            start = start or chunk[:keep]
            end = (end + chunk[-width:])[-width:]
            left -= len(chunk)
        end += file.read(width)
    return _Summary(start, end, hasher.digest(), size)


def _pack_fault(pack: _Summary) -> str | None:
    if not pack.start.startswith(b"PACK"):
        return "the pack does not begin as one"
    if len(pack.start) < _PACK_HEADER or not pack.start.startswith(_PACK_START):
        return "the pack is not of version 2"
    if not pack.end.endswith(pack.computed):
        return "the bytes of the pack do not hash to its checksum"
    return None


def _checked_index_fault(index: _Summary) -> str | None:
    fault = _index_fault(index.start, index.size, len(index.computed))
    if fault is None and not index.end.endswith(index.computed):
        return "the bytes of its index do not hash to its checksum"
    return fault


def _pair_fault(pack: _Summary, index: _Summary) -> str | None:
    width = len(pack.computed)
    if index.end[:width] != pack.end[-width:]:
        return "its index is that of another pack"
    if index.start[-4:] != pack.start[8:_PACK_HEADER]:
        return "the pack and its index do not count the same objects"
    return None
