"""Which files some patterns mean, as a person writes them where they are: paths, or globs (`*`, `?`, `[…]`, `**`)."""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pogstore import model
from pogstore.model import OddPath
from pogstore.work.held import path_of

MOST_BYTES = 256 * 1024
"""Bytes of all the paths of one list; an event has to hold them."""
OUTSIDE = OddPath(outside=True)


class Matched(NamedTuple):
    """The files that patterns mean, the patterns that mean none, and whether there were too many to name."""

    paths: tuple[model.Path, ...]
    unmatched: tuple[str, ...]
    cut: bool


def match(root: Path, cwd: Path, patterns: Sequence[str]) -> Matched:
    """Returns the files that patterns mean, seen from a folder; a folder means all files in it, git's own left out.

    What lies outside of the root is told as such, once.
    """
    found: dict[bytes | None, None] = {}
    unmatched: list[str] = []
    left = MOST_BYTES
    for pattern in patterns:
        nothing = True
        for path in _files(cwd, pattern):
            nothing = False
            name = _below(root, path)
            if name in found:
                continue
            left -= len(name or b"") + 3
            if left < 0:
                return Matched(_named(found), tuple(unmatched), True)
            found[name] = None
        unmatched += [pattern] if nothing else []
    return Matched(_named(found), tuple(unmatched), False)


def _named(found: "dict[bytes | None, None]") -> tuple[model.Path, ...]:
    inside = sorted(name for name in found if name is not None)
    return (*(path_of(name) for name in inside), *((OUTSIDE,) if None in found else ()))


def _files(cwd: Path, pattern: str) -> Iterator[Path]:
    literal = cwd / pattern
    names = (
        [pattern]
        if os.path.lexists(literal)
        else glob.iglob(pattern, root_dir=cwd, recursive=True, include_hidden=True)  # noqa: PTH207 - of pathlib none takes `..` and hidden files alike
    )
    for name in names:
        path = cwd / name
        if path.is_dir() and not path.is_symlink():
            yield from _files_in(path)
        elif os.path.lexists(path):
            yield path


def _files_in(folder: Path) -> Iterator[Path]:
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name.lower() != ".git")
        yield from (Path(above, name) for name in sorted(names))
        yield from (Path(above, name) for name in folders if Path(above, name).is_symlink())


def _below(root: Path, path: Path) -> bytes | None:
    """Returns the path from the root, whose last name may be a link; nothing for what is outside or git's own."""
    place = Path(os.path.realpath(path.parent), path.name)
    if not place.is_relative_to(root):
        return None
    below = place.relative_to(root)
    return None if ".git" in (part.lower() for part in below.parts) else os.fsencode(below)
