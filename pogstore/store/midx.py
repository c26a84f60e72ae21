"""Which packs a multi-pack-index names: git's maintenance relies on these, so nobody else may take them away."""

import os
import struct
from itertools import pairwise
from pathlib import Path

_HEAD = struct.Struct(">4s4BI")
_CHUNK = struct.Struct(">4sQ")
_LONGEST = 64 << 20


def packs_in(pack_dir: Path) -> frozenset[str]:
    """Returns the names, with `.idx`, of the packs that the multi-pack-index of a directory names.

    Raises `ValueError` for one that cannot be told: a chain of several, or one that is no such file.
    """
    if (pack_dir / "multi-pack-index.d").exists():
        raise ValueError("multi-pack-index.d")
    try:
        with (pack_dir / "multi-pack-index").open("rb") as file:
            start, end = _names_at(file.read(4096))
            return frozenset(os.pread(file.fileno(), min(end - start, _LONGEST), start).decode("ascii").split("\0"))
    except FileNotFoundError:
        return frozenset()


def _names_at(head: bytes) -> tuple[int, int]:
    """Returns where the names of the packs begin and end."""
    try:
        magic, _, _, chunks, _, _ = _HEAD.unpack_from(head)
        table = [_CHUNK.unpack_from(head, _HEAD.size + number * _CHUNK.size) for number in range(chunks + 1)]
    except struct.error as fault:
        raise ValueError("multi-pack-index") from fault
    for (name, start), (_, end) in pairwise(table):
        if magic == b"MIDX" and name == b"PNAM":
            return start, end
    raise ValueError("multi-pack-index")
