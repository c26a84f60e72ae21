"""What can be told of git's index without decoding it: whether it may hold attributes that the work tree lacks.

Where a directory has no `.gitattributes` in the work tree git takes the one in the index, and decodes all of it to find
that: with 50,000 files most of the time of a small question. A search for the name in its bytes is far cheaper.
Its form is in `gitformat-index` of git.
"""

import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

NAME = b".gitattributes"
_WHOLE = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")
"""How an index begins whose entries have their whole names; later versions cut what the name before begins with."""
_ELSEWHERE = ("sharedindex.*", "info/sparse-checkout")
"""What lies beside an index some entries of which are in another file, or in a directory that counts as one entry."""
_MOST = 10_000
"""So many comparisons are cheaper than to let git decode the index."""


def may_have_attributes(index: Path, work_tree: Path, paths: Iterable[str]) -> bool:
    """Says whether an index may hold attributes for some paths that the work tree lacks; if in doubt it may."""
    lacking = [os.fsencode(name) + b"\0" for name in _wanted(paths) if not _is_read(work_tree / name)]
    if not lacking:
        return False
    try:
        with index.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            is_whole = data[:8] in _WHOLE and not any(next(index.parent.glob(name), None) for name in _ELSEWHERE)
            return not is_whole or _holds(data, lacking)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True


def _is_read(path: Path) -> bool:
    """Says whether git reads a file in the work tree: a link is not followed."""
    return path.is_file() and not path.is_symlink()


def _wanted(paths: Iterable[str]) -> set[PurePosixPath]:
    """Returns the attribute files that count for some paths: those of the directories above them."""
    return {parent / NAME.decode() for path in paths for parent in PurePosixPath(path).parents}


def _holds(data: mmap.mmap, names: list[bytes]) -> bool:
    """Says whether bytes hold one of some names; each ends with that of the file and NUL."""
    compared = 0
    for end in _ends(data):
        compared += len(names)
        if compared > _MOST or any(data[max(0, end - len(name)) : end] == name for name in names):
            return True
    return False


def _ends(data: mmap.mmap) -> Iterator[int]:
    at = data.find(NAME + b"\0")
    while at >= 0:
        yield at + len(NAME) + 1
        at = data.find(NAME + b"\0", at + 1)
