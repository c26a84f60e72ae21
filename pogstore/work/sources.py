"""Files outside the repository that an import reads. Follows no symbolic link and reads nothing but regular files."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from pogstore.errors import BadInput, PogError
from pogstore.store.gitcli import Git
from pogstore.store.layout import discover

MAX_FILE = 64 << 20
"""Bytes of one file of a folder that is imported whole."""


class Found(NamedTuple):
    """A file of a folder: its path below it, with `/`, and its bytes."""

    path: str
    data: bytes


class Lines:
    """The lines of a file, read anew each time they are gone through."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                yield from file
        except OSError as fault:
            raise BadInput(f"'{self.path}'", f"cannot be read: {fault.strerror}") from fault


def read_folder(folder: Path, wanted: Callable[[str], bool]) -> list[Found]:
    """Returns the wanted files below a folder, by path; raises `BadInput` if it is none."""
    if not folder.is_dir():
        raise BadInput(f"'{folder}'", "is not a directory")
    return sorted(_read(folder, wanted))


def lowest_root(folder: Path) -> str:
    """Returns the lowest oid among the root commits of the repository that holds a folder; empty if there is none."""
    try:
        place = discover(folder)
    except PogError:
        return ""
    done = Git(place.git_dir).run("rev-list", "--max-parents=0", "HEAD", check=False)
    return min(done.stdout.decode().split(), default="")


def _read(folder: Path, wanted: Callable[[str], bool]) -> Iterator[Found]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(place, name)
            relative = path.relative_to(folder).as_posix()
            if wanted(relative) and path.is_file() and not path.is_symlink():
                if path.stat().st_size > MAX_FILE:
                    raise BadInput(f"'{relative}'", f"is over {MAX_FILE} bytes")
                yield Found(relative, path.read_bytes())
