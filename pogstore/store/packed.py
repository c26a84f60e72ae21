"""Objects read out of packs, in time and memory that no byte of a pack can break.

libgit2 and git read packs faster; this reader is for where a pack cannot be trusted, or where nothing else should stand
between a verifier and the bytes. Every size is checked before anything is inflated and every object against its name.
Knows one pack at a time; that the checksums of the whole pack hold is for `pack.check_pack` to say.
"""

import hashlib
import mmap
import zlib
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from pogstore.errors import NotFound, ObjectDamaged
from pogstore.model import Oid
from pogstore.store.pack import PackIndex

DEEPEST = 4096
"""So many deltas may stand on each other; git itself writes no deeper chain."""

_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_NEAR_DELTA, _NAMED_DELTA = 6, 7
_HEAD = 12
_SMALL = 16 << 10  # inflated in one call, which is twice as fast: so few bytes cannot grow beyond 21 MB
_BASES_KEPT = 16 << 20  # bytes of delta bases that are kept, since the next object often rests on the same ones


class _Head(NamedTuple):
    """The head of one object in a pack: its type, its inflated size, where its deflated bytes begin, and its base."""

    type: int
    size: int
    start: int
    base: int


class Pack:
    """One pack and its index, both mapped; to be closed, or used with `with`. Raises `ObjectDamaged` for no pack."""

    def __init__(self, path: Path, algorithm: str = "sha1") -> None:
        self.path = path
        self._hasher = partial(getattr(hashlib, algorithm), usedforsecurity=False)
        self._width: int = self._hasher().digest_size
        self._index = PackIndex.open(path.with_suffix(".idx"), algorithm)
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as fault:
            self._index.close()
            raise ObjectDamaged(path.name, f"cannot be read: {fault}") from fault
        self._end = len(self._map) - self._width
        self._bases: dict[int, tuple[str, bytes]] = {}
        self._kept = 0

    def __contains__(self, oid: object) -> bool:
        return oid in self._index

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Unmaps both files; the pack answers nothing any more."""
        self._map.close()
        self._index.close()

    def read(self, oid: Oid, limit: int) -> tuple[str, bytes]:
        """Returns kind and bytes of an object; no step on the way to it inflates more than `limit` bytes.

        Raises `NotFound` when the pack does not hold it, `ObjectDamaged` when it is not exactly what its name says.
        """
        kind, data = self._read_at(oid, self._index.offset(oid), limit)
        hasher = self._hasher(b"%b %d\0" % (kind.encode(), len(data)))
        hasher.update(data)
        if hasher.hexdigest() != oid:
            raise ObjectDamaged(oid, "its bytes hash to another name")
        return kind, data

    def _read_at(self, oid: Oid, offset: int, limit: int) -> tuple[str, bytes]:
        deltas: list[_Head] = []
        while (found := self._bases.get(offset)) is None:
            head = self._head(oid, offset, limit)
            if head.type in _KINDS:
                found = _KINDS[head.type], self._inflate(oid, head)
                break
            if len(deltas) == DEEPEST:
                raise ObjectDamaged(oid, f"rests on more than {DEEPEST} deltas")
            deltas.append(head)
            offset = head.base
        kind, data = found
        for head in reversed(deltas):
            self._keep(head.base, kind, data)
            data = _applied(oid, data, self._inflate(oid, head), limit)
        return kind, data

    def _keep(self, offset: int, kind: str, data: bytes) -> None:
        if offset in self._bases or len(data) > _BASES_KEPT // 4:
            return
        if self._kept > _BASES_KEPT:
            self._bases.clear()
            self._kept = 0
        self._bases[offset] = kind, data
        self._kept += len(data)

    def _head(self, oid: Oid, offset: int, limit: int) -> _Head:
        if not _HEAD <= offset < self._end:
            raise ObjectDamaged(oid, "its index points outside the pack")
        at, byte = offset + 1, self._map[offset]
        number, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80 and at < self._end and shift < 60:
            byte = self._map[at]
            size |= (byte & 0x7F) << shift
            at += 1
            shift += 7
        if size > limit:
            raise ObjectDamaged(oid, f"claims {size} bytes, over the limit of {limit}")
        base = 0
        if number == _NEAR_DELTA:
            base, at = self._near_base(oid, offset, at)
        elif number == _NAMED_DELTA:
            base, at = self._named_base(oid, at), at + self._width
        elif number not in _KINDS:
            raise ObjectDamaged(oid, f"no object has the type {number}")
        return _Head(number, size, at, base)

    def _named_base(self, oid: Oid, at: int) -> int:
        try:
            return self._index.offset(self._map[at : at + self._width].hex())
        except NotFound as fault:
            raise ObjectDamaged(oid, f"the base of its delta, {fault.name}, is not in the pack") from fault

    def _near_base(self, oid: Oid, offset: int, at: int) -> tuple[int, int]:
        """Returns where the base of a delta stands, which is always before the delta, and what follows its distance."""
        byte = self._map[at]
        distance = byte & 0x7F
        while byte & 0x80 and at < self._end and distance < offset:
            at += 1
            byte = self._map[at]
            distance = (distance + 1) << 7 | byte & 0x7F
        if not 0 < distance <= offset - _HEAD:
            raise ObjectDamaged(oid, "the base of its delta lies outside the pack")
        return offset - distance, at + 1

    def _inflate(self, oid: Oid, head: _Head) -> bytes:
        # The worst encoder adds less than a quarter; what follows belongs to other objects.
        end = min(self._end, head.start + head.size + head.size // 4 + 64)
        deflated = self._map[head.start : end]
        try:
            data = zlib.decompress(deflated) if head.size <= _SMALL else _bounded(deflated, head.size)
        except zlib.error as fault:
            raise ObjectDamaged(oid, f"does not inflate: {fault}") from fault
        if len(data) != head.size:
            raise ObjectDamaged(oid, "has not the size that the pack claims")
        return data


def _bounded(deflated: bytes, size: int) -> bytes:
    """Inflates to one byte more than a size at most."""
    inflater = zlib.decompressobj()
    data = inflater.decompress(deflated, size + 1)
    if not inflater.eof and len(data) <= size:
        raise zlib.error("the stream ends too early")
    return data


def _applied(oid: Oid, base: bytes, delta: bytes, limit: int) -> bytes:
    """Returns what a delta makes of its base."""
    try:
        source, at = _size(delta, 0)
        target, at = _size(delta, at)
        if source != len(base) or target > limit:
            raise ObjectDamaged(oid, "its delta is for another base, or makes more than the limit")
        result = b"".join(_pieces(base, delta, at, target))
    except (IndexError, ValueError) as fault:
        raise ObjectDamaged(oid, "its delta is broken") from fault
    if len(result) != target:
        raise ObjectDamaged(oid, "its delta makes another size than it says")
    return result


def _pieces(base: bytes, delta: bytes, at: int, left: int) -> list[bytes]:
    """Returns what the instructions of a delta copy and insert, never more than `left` bytes."""
    pieces = []
    while at < len(delta):
        code = delta[at]
        at += 1
        if code & 0x80:
            start = length = 0
            for bit in range(4):
                if code >> bit & 1:
                    start |= delta[at] << 8 * bit
                    at += 1
            for bit in range(3):
                if code >> bit & 0x10:
                    length |= delta[at] << 8 * bit
                    at += 1
            length = length or 0x10000
            piece = base[start : start + length]
        else:
            length = code
            piece = delta[at : at + length]
            at += length
        left -= length
        if len(piece) != length or not length or left < 0:
            raise ValueError(code)
        pieces.append(piece)
    return pieces


def _size(delta: bytes, at: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = delta[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80 or shift > 60:
            return size, at
